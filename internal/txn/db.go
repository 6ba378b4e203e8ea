package txn

import (
	"log/slog"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
)

// DBOptions of a DB.
type DBOptions struct {
	RT     rt.Runtime
	Router *route.Router
	// Now reads the clock. It is asked afresh at every start and after every wait.
	Now func() (clock.Interval, error)
	// Stamp, if set, is told the latest end of a reading before timestamps are made of it, and returns once that is safe
	// to do: the node keeps a durable high water of the stamps it has given out.
	Stamp func(clock.Instant) error
	// SafeTime is what the replicas of this node have closed. Nil: they are not asked.
	SafeTime func() clock.Timestamp
	// Limit bounds each operation, each commit, and Run with all its repetitions. Default 30 s.
	Limit time.Duration
	// MaxBytes bounds what one transaction may buffer, and what one ScanMany may return. Default 64 MiB.
	MaxBytes int
	// MaxReadSpans is how many spans a transaction remembers one by one of what it has read; default 4096. Beyond, neighbours
	// are joined, and more transactions are repeated for something that they have not read.
	MaxReadSpans int
	Metrics      *Metrics
	Log          *slog.Logger
	Unsafe       Unsafe
}

// Unsafe turns rules off. It is for tests only: for the negative controls, which show that the checkers find what each
// rule prevents.
type Unsafe struct {
	NoCommitWait bool // rule 2 for the transaction's own commit timestamp
	NoReadWait   bool // rule 2 for the versions that were read
	SkipRefresh  bool // rule 3: c may pass r without looking at what was read
	TrustStaged  bool // recovery takes a staged record for committed without asking its writes
	// StaleReading is how old the reading may be that a transaction starts from (rule 1).
	StaleReading time.Duration
}

// DB begins transactions on one node. It is used by any number of tasks.
type DB struct {
	o       DBOptions
	m       *Metrics
	log     *slog.Logger
	stats   counters
	cleanup *cleanup
	locks   *lockKeeper
	kept    keptReading
}

// Open makes a DB. Close ends its background work.
func Open(o DBOptions) *DB {
	if o.Limit <= 0 {
		o.Limit = 30 * time.Second
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	db := &DB{o: o, m: o.Metrics, log: o.Log}
	db.cleanup = newCleanup(db)
	db.locks = newLockKeeper(db)
	return db
}

// Close lets the background work that is under way finish, at most for the limit. What it leaves is done by whoever
// meets it.
func (db *DB) Close(limit time.Duration) {
	db.cleanup.close(limit)
	db.locks.close(limit)
}

// Begin makes a transaction. It takes its clock reading at its first access.
func (db *DB) Begin(o Options) *Txn {
	o.ReadOnly = o.ReadOnly || !o.Past.Present()
	t := &Txn{db: db, o: o, id: db.newID(), observed: observed{}, locks: o.Locks, reads: readSet{limit: db.o.MaxReadSpans}}
	o.Locks.heldBy(t)
	return t
}

func (db *DB) newID() (id kv.TxnID) {
	for i := 0; i < len(id); i += 8 {
		v := db.o.RT.Uint64()
		for j := range 8 {
			id[i+j] = byte(v >> (8 * j))
		}
	}
	return id
}

// reading takes a clock reading.
func (db *DB) reading() (clock.Interval, error) {
	iv, err := db.o.Now()
	if err != nil {
		return iv, kv.Errorf(kv.ErrFenced, "the clock gives no reading that transactions could be ordered by: %v", err)
	}
	return iv, nil
}
