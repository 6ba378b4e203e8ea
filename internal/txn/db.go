package txn

import (
	"log/slog"
	"sync/atomic"
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
	// Process is this one, which others may find out is gone. The zero value: they do not.
	Process kv.Process
	// SafeTime is what the replicas of this node have closed. Nil: they are not asked.
	SafeTime func() clock.Timestamp
	// Limit bounds each operation, each commit, and Run with all its repetitions; but of a large transaction (SpillBytes) each
	// operation alone. Default 30 s.
	Limit time.Duration
	// MaxBytes bounds what one ScanMany may return. Default 64 MiB.
	MaxBytes int
	// SpillBytes is how much memory a transaction's buffered writes may take before they are sent as intents; twice that is
	// what a large one needs. Default 16 MiB; negative: all writes are kept until the commit. Smaller: transactions of some
	// size commit in two rounds, and others meet their intents for longer. Larger: more memory for each.
	SpillBytes int
	// MaxWriteBytes and MaxWrites bound what one transaction may write. Default 4 GiB and 20 million. More: what one failure
	// undoes, and has to be done again, is larger, and so is the time for which others may have to wait.
	MaxWriteBytes int64
	MaxWrites     int
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
	// NoElsewhereWait is rule 2 for what another transaction has read for this one (ReadElsewhere): a schema.
	NoElsewhereWait bool
	SkipRefresh     bool // rule 3: c may pass r without looking at what was read
	TrustStaged     bool // recovery takes a staged record for committed without asking its writes
	ForgetMoved     bool // Z4: intents laid before the commit count as landed where they were wanted
	// ForgetTakenBack is Z6: what was laid, and then taken back, is committed.
	ForgetTakenBack bool
	TellNobody      bool // Z5
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
	lastAge atomic.Int64
}

// Open makes a DB. Close ends its background work.
func Open(o DBOptions) *DB {
	if o.Limit <= 0 {
		o.Limit = 30 * time.Second
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	if o.SpillBytes == 0 {
		o.SpillBytes = defaultSpill
	}
	if o.MaxWriteBytes <= 0 {
		o.MaxWriteBytes = defaultMaxWriteBytes
	}
	if o.MaxWrites <= 0 {
		o.MaxWrites = defaultMaxWrites
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
	t.account.begin(o.StatsOf)
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

// newAge is the age of a transaction that begins with a reading: no two of this node are the same. Among transactions of one
// age locks go by the id of the first attempt, and intents by that of the present one, so that two of them could wait for
// each other.
func (db *DB) newAge(now clock.Interval) clock.Timestamp {
	for {
		last := db.lastAge.Load()
		at := now.Start().Wall
		age := max(at, last+1)
		if age-at > int64(time.Millisecond) {
			age = at // the clock has gone back
		}
		if db.lastAge.CompareAndSwap(last, age) {
			return clock.Timestamp{Wall: age}
		}
	}
}

// reading takes a clock reading.
func (db *DB) reading() (clock.Interval, error) {
	iv, err := db.o.Now()
	if err != nil {
		return iv, kv.Errorf(kv.ErrFenced, "the clock gives no reading that transactions could be ordered by: %v", err)
	}
	return iv, nil
}
