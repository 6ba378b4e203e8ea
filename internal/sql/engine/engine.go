// Package engine is SQL on top of transactions: it gives go-mysql-server databases, tables and indexes that live in the
// key-value store, and serves MySQL's protocol. It is the only package that knows go-mysql-server.
//
//	S1  Nothing leaves before rule 2 is paid: results are buffered until the statement's transaction has committed, or, in
//	    an open transaction and beyond the buffer's limit, until what was read is past (Release). Errors too: they may
//	    tell of rows.
//	S2  A statement that fails leaves no trace: its writes are taken back to where it began. A transaction that was lost
//	    to another one is over, and the session outside of any transaction.
//	S3  A statement outside a transaction, and the first statement of one, are repeated here when the attempt is lost,
//	    as long as nothing of the result has been sent. Later the client is told to repeat: error 1213, SQLSTATE 40001.
//	S4  A statement sees one version of the catalog, the one that holds at its timestamps (schemas, H1 to H3).
//	S5  A client's mistake is an error with MySQL's code and SQLSTATE; a mistake of ours is error 1105 with a log entry.
//	    Neither ends the connection or the process.
//
// Statements of common shapes are executed by plans of our own (compiled, P1 to P4), the others by go-mysql-server's. Both are
// ways to execute one attempt: what is above holds for both, in the same code (execution.repeat).
package engine

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/txn"
)

// Options of an Engine. DB, Router and Clock are required.
type Options struct {
	DB     *txn.DB
	Router Router
	Clock  interface {
		Now() (clock.Interval, error)
	}
	NodeID kv.NodeID
	// Refusal says, for people, why this node's clock gives no readings; "" if it does. Optional.
	Refusal func() string
	// SetClock changes the clock source of a node, or of all if it is 0, and tells line by line what was done. Optional.
	SetClock func(ctx context.Context, source string, node kv.NodeID) ([]ClockChange, error)
	// ClockStatus, Nodes and Ranges fill the tables longitude.clock, longitude.nodes and longitude.ranges.
	ClockStatus func() []ClockRow
	Nodes       func() []NodeRow
	Ranges      func() []RangeRow
	// DefaultOrdering is what longitude_ordering is for a new session.
	DefaultOrdering txn.Ordering
	// ResultBuffer is how many bytes of a result are held back so that a lost attempt can be repeated. Larger results are
	// sent while they are read, and the client has to repeat. Default 16 MiB.
	ResultBuffer int
	// CatalogLead is how far ahead of the clock the catalog is read, if leases reach so far. A change of the schema takes at least
	// so long, and two thirds of it is what a renewal may take before statements have to wait for it. Default 150 ms: half
	// of what a lease lasts.
	CatalogLead time.Duration
	// IDBlock is how many AUTO_INCREMENT values this node takes at once for a column of 8 bytes. Default 4096. What
	// is left of a block when the node stops is never used.
	IDBlock uint64
	// RetryLimit is how long a lost statement is repeated. Default 30 s.
	RetryLimit time.Duration
	// Unsafe turns rules off, for negative controls.
	Unsafe Unsafe
	// Fatal reports whether a panic is none of the statement's: it goes on. Default: each is the statement's.
	Fatal func(panicked any) bool
	// RT runs what the engine does by itself. Default: goroutines.
	RT rt.Runtime
	// Version is appended to MySQL's in what the server says it is.
	Version string
	Metrics *Metrics
	Log     *slog.Logger
}

// Router is what is needed of route.Router beside transactions.
type Router interface {
	Increment(ctx context.Context, name string, n uint64) (first uint64, err error)
	Split(ctx context.Context, key kv.Key) error
	TransferLease(ctx context.Context, key kv.Key, to kv.NodeID) error
	Lookup(ctx context.Context, key kv.Key) (*kv.RangeDescriptor, error)
	Leaseholder(id kv.RangeID) kv.NodeID // as far as known; 0: not
}

// MySQLVersion is the version whose dialect is spoken.
const MySQLVersion = "8.0.31"

// Engine is the SQL layer of one node.
type Engine struct {
	o          Options
	log        *slog.Logger
	m          *Metrics
	gms        *sqle.Engine
	provider   *provider
	schemas    *schemas
	ids        *idBlocks
	temporary  *temporaryIDs
	stats      *tableStats
	garbage    *collector
	statements *statements
	sessions   *sessions
	plans      *plans
	open       *transactions
	builds     builds
	// background is the context of work that no statement waits for, or several; Close ends it, because the rest of the
	// cluster may be gone by then, and such work would be tried until its time is up.
	background    context.Context
	endBackground context.CancelFunc

	began    time.Time    // see now
	started  time.Time    // when the node's SQL began to serve, for SHOW and the like
	active   atomic.Int64 // statements under way
	draining atomic.Bool  // connections end (shutdown.go)
	drained  atomic.Bool  // open transactions, too

	mu      sync.Mutex
	servers []*server.Server
	conns   map[*countedConn]struct{}
	closed  bool
}

// New makes an engine and starts its background work. Close ends it.
func New(o Options) *Engine {
	if o.ResultBuffer <= 0 {
		o.ResultBuffer = 16 << 20
	}
	if o.CatalogLead <= 0 {
		o.CatalogLead = 150 * time.Millisecond
	}
	if o.IDBlock == 0 {
		o.IDBlock = 4096
	}
	if o.RetryLimit <= 0 {
		o.RetryLimit = 30 * time.Second
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.RT == nil {
		o.RT = rt.New()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{o: o, log: o.Log, m: o.Metrics, began: time.Unix(1<<30, 0), started: time.Now(), conns: map[*countedConn]struct{}{}}
	e.background, e.endBackground = context.WithCancel(context.Background())
	once.Do(setupProcess)
	e.schemas = newSchemas(e, o.CatalogLead)
	e.ids = newIDBlocks(e)
	e.temporary = newTemporaryIDs(e)
	e.stats = newTableStats()
	e.garbage = newCollector(e)
	e.statements = newStatements()
	e.open = newTransactions()
	e.provider = &provider{e: e, external: sql.NewExternalStoredProcedureRegistry()}
	e.registerProcedures()
	a := analyzer.NewBuilder(e.provider).AddOverrides(sql.EngineOverrides{
		Builder: sql.BuilderOverrides{Parser: parser{sql.NewMysqlParser()}}}).AddPreAnalyzeRule(unionTypesID, unionTypes).Build()
	a.Catalog.InfoSchema = newInformationSchema()
	a.Coster = newCoster()
	a.Catalog.StatsProvider = newAnalyzed()
	a.ExecBuilder = rowexec.NewBuilder(&builder{e: e}, a.Overrides)
	e.gms = sqle.New(a, &sqle.Config{VersionPostfix: versionPostfix(o.Version)})
	e.sessions = newSessions(e.gms.ProcessList)
	e.gms.ProcessList = e.sessions
	e.plans = newPlans()
	e.gms.Analyzer.Catalog.MySQLDb.AddRootAccount()
	e.addRules()
	e.schemas.start()
	e.garbage.start()
	return e
}

// The numbers of our own rules; go-mysql-server's own end far below them.
const (
	fusePlanID analyzer.RuleId = 1<<20 + iota
	storePlanID
	unionTypesID
	fullRulesID
)

// once guards what go-mysql-server keeps per process.
var once sync.Once

func setupProcess() {
	addVariables()
	addWindowFunctions()
	addProcessRules()
	setupInformationSchema()
	for _, c := range plan.DescribeSchema { // of EXPLAIN: any may be NULL
		c.Nullable = true
	}
	quietLogs()
	extendBuiltIns()
	// go-mysql-server plans a SELECT of one table by a list of rules of its own (analyzer/node_batches.go), in which our last one is not,
	// unless there is a rule of ours in this list.
	analyzer.AlwaysBeforeDefault = append(analyzer.AlwaysBeforeDefault, analyzer.Rule{Id: fullRulesID, Apply: unchanged})
	analyzer.OnceAfterAll = append(analyzer.OnceAfterAll, analyzer.Rule{Id: fusePlanID, Apply: fusePlan}, analyzer.Rule{Id: storePlanID, Apply: storePlan})
}

func versionPostfix(v string) string {
	if v == "" {
		return "longitude"
	}
	return "longitude-" + v
}

// Context makes a context for statements that do not come over a connection.
func (e *Engine) context(ctx context.Context, s *Session) *sql.Context {
	return sql.NewContext(ctx, sql.WithSession(s), sql.WithMemoryManager(e.gms.MemoryManager), sql.WithProcessList(e.gms.ProcessList))
}
