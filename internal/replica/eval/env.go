// Package eval evaluates requests at a range's leaseholder: what a request answers, and the batch that makes its effect
// once it is replicated. It reads and computes; it waits for nothing, and nothing it returns has happened yet.
//
// The caller holds the latches (Latches) from before Evaluate until the result is used up: reads recorded in the
// timestamp cache, the batch applied. It checks the lease for Result.Served.
//
//	V1  A read at r with limit g returns the newest version of each key at or below r, provided that there is none in
//	    (r, g] and no foreign intent at or below g. A version in (r, g] makes it uncertain: rule 1. A locking read
//	    returns the newest versions: for it g is infinite (locking.go).
//	V2  A write lands above every version of its keys, and at or above every read of them that was served; at the same
//	    timestamp only if its own transaction alone read there.
//	V3  c >= r (rule 3): a write never lands below the timestamp that its transaction read at, or the one it asked for.
//	V4  A one-phase commit takes effect at most once, however often it is sent: in the same batch is a record, or the version
//	    at its anchor names it (onceOnly, record; why that will do: docs/transactions.md). EndTxn takes effect at most once,
//	    too, and so does a swap of an unversioned key. What has neither and began before records are kept is refused.
//	V5  What is committed is never aborted, and what is aborted is never committed.
//	V6  A committed transaction's intents become versions at its commit timestamp, which is not below any of them.
//	V7  Observed is forwarded before anything is acknowledged.
//
// What recovery of a staged transaction rests on (staged.go):
//
//	P1  An intent is laid once. A copy of the write that finds it leaves it where it is and reports that. Only a later
//	    write of the same transaction, one with a higher number, takes its place, and lands as any write does (V2).
//	P2  A transaction that was pushed is neither staged nor committed at or below that timestamp. One that is staged is
//	    not pushed.
//	P3  A write that was reported missing at S will never land at or below S.
//	P4  A staged record is made anything but committed at S only by its own coordinator, which has not acknowledged
//	    then, or after one of its writes was reported missing.
//
// HAZARD: expiry (pushes abort a transaction that has not been heard of for Expiry) and the age of records compare
// instants of different nodes. A broken bound may abort a live transaction: it is told so, nothing is lost. If a clock is
// off by the greater part of Retention, a request delayed as long could commit a transaction that was aborted meanwhile.
package eval

import (
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
	"github.com/longitude-db/longitude/internal/replica/tscache"
	"github.com/longitude-db/longitude/internal/storage"
)

const (
	// Expiry is how long a transaction may go without a sign of life before a push aborts it. Coordinators send a
	// heartbeat each second. One whose coordinator's process is gone (Env.Gone) is aborted at once.
	Expiry = 3 * time.Second
	// Retention is how long records are kept after the last change. A transaction older than this whose record is not
	// there may have had one, so it cannot commit any more: coordinators send a heartbeat, which makes a record, well
	// before.
	Retention = 10 * time.Minute
	// MaxPageBytes bounds the rows that one read returns.
	MaxPageBytes = 1 << 20
	// MaxConflicts bounds the intents that one evaluation reports; the others are found when these are gone.
	MaxConflicts = 256
)

// Env is what evaluation depends on beside the request.
type Env struct {
	Reader storage.Reader // the state instance
	// IntentFilter of state. Nil: there is none, or no latches are held.
	IntentFilter *mvcc.IntentFilter
	Desc         *kv.RangeDescriptor
	Cache        *tscache.Cache
	// Now is read after the latches were acquired: what another request did before, it did before this reading.
	Now  clock.Interval
	Node kv.NodeID
	// Observed is the store's: the highest timestamp of any write that its leases have evaluated, and of any that they began with; a
	// lease raises it to its low water before it serves. A transaction that reads it need not look for versions above it here: they
	// were not acknowledged before it began.
	Observed *Highest
	// LeaseStart is the low water that the lease began with: nothing acknowledged under an earlier lease is above it.
	LeaseStart clock.Timestamp
	// Pushed are transactions known to be pending that will commit above a timestamp, so that reads below it may pass
	// over their intents. It grows while one request is repeated (package conflict) and is not shared between requests.
	Pushed map[kv.TxnID]clock.Timestamp
	// Gone reports whether a coordinator's process has ended, or seems to. Nil: nobody knows. It decides about patience
	// alone: a transaction that is aborted for it has not committed, and cannot any more.
	Gone func(kv.Process) bool
	// Finished are transactions that are decided, and of whose intents a read has met many: it reads them as what they will
	// become, and leaves it to others to resolve them. Likewise of one request.
	Finished map[kv.TxnID]kv.TxnStatus
	// Skip are keys that a locking read leaves out, because others hold them: intents there are not in its way.
	Skip map[string]bool
}

// Result is what an evaluation came to. If Conflicts is not empty nothing else is set: they have to go first, and then
// the request is evaluated again. Otherwise Response is set.
type Result struct {
	Conflicts []Conflict
	Response  kv.Response
	// Batch is what to write to state, in Pebble's representation; empty: nothing to propose.
	Batch []byte
	// Reads go into the timestamp cache before the latches are released.
	Reads Reads
	// Served is the highest timestamp that the answer guarantees something about: the lease has to cover it (L2), and the
	// next lease has to begin at or above it (L3). Zero: none.
	Served clock.Timestamp
	// Marked: Reads are all that Served guarantees something about. The next lease need begin above Served only for those keys.
	Marked bool
	// Released are keys whose intents the batch removes: who waits for them can go on once it is applied.
	Released []kv.Key
}

// Conflict is a foreign intent in the way, and what to ask of its transaction.
type Conflict struct {
	Key    kv.Key
	Intent kv.Intent
	Kind   kv.PushKind
	To     clock.Timestamp // with PushTimestamp: above which it has to commit
	// Limit is up to where the request has to observe what is committed: never below To. A transaction that is known not to
	// commit at or below Limit is no concern of the request, whatever has become of it.
	Limit clock.Timestamp
	// Yield: the request gives up with ErrRefresh if the transaction turns out to be pending and cannot be pushed. A
	// refresh must not push an older transaction, else two that refresh across each other's intents could push each
	// other for ever.
	Yield bool
}

// Reads are what a request has read.
type Reads struct {
	Txn   kv.TxnID
	TS    clock.Timestamp
	Keys  []kv.Key
	Spans []kv.Span
}

// Record puts them into the cache.
func (r *Reads) Record(c *tscache.Cache) {
	for _, k := range r.Keys {
		c.AddPoint(k, r.TS, r.Txn)
	}
	for _, s := range r.Spans {
		c.Add(s, r.TS, r.Txn)
	}
}

// Highest is a timestamp that many tasks raise.
type Highest struct {
	mu sync.Mutex
	ts clock.Timestamp
}

// Forward raises it.
func (h *Highest) Forward(ts clock.Timestamp) {
	h.mu.Lock()
	h.ts = h.ts.Forward(ts)
	h.mu.Unlock()
}

// Get returns it.
func (h *Highest) Get() clock.Timestamp {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ts
}
