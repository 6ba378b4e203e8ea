package txn

import (
	"context"
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

type state uint8

const (
	open state = iota
	committing
	committed
	aborted
)

func (s state) String() string { return [...]string{"open", "committing", "committed", "aborted"}[s] }

// Txn is one attempt of a transaction.
type Txn struct {
	db *DB
	o  Options
	id kv.TxnID

	mu       sync.Mutex // never held while waiting
	state    state
	failure  error           // why the attempt is over
	misuse   error           // a write that could not be buffered; the commit fails with it
	started  bool            // ord and age are set
	age      clock.Timestamp // of the first attempt
	ord      order
	standing standing // whether ord may still be lowered
	observed observed
	reads    readSet
	takes    int // how often answers were added to reads
	writes   buffer
	newest   clock.Timestamp // the newest version that was read
	owed     clock.Timestamp // the newest that rule 2 is owed for
	commitTS clock.Timestamp
	past     bool            // commitTS is: rule 2 is paid for it
	tries    uint32          // sendings of one-phase commits
	since    clock.Timestamp // WriteRequest.Since, once it was sent
	paid     paid
	sent     bool
	guard    Guard // asked before a commit (ahead.go)
	locks    *Locks
	wait     time.Duration // Txn.WaitAtMost
	account  account
	total    int64 // bytes written so far
	spill    spill
}

// start takes the reading at the first access (X1).
func (t *Txn) start() error {
	t.mu.Lock()
	started := t.started
	t.mu.Unlock()
	if started {
		return nil
	}
	now, err := t.db.startReading()
	if err != nil {
		return err
	}
	if t.db.o.Stamp != nil {
		if err := t.db.o.Stamp(now.Latest); err != nil {
			return kv.Errorf(kv.ErrUnavailable, "the high water of timestamps cannot be kept: %v", err)
		}
	}
	ord, err := t.placed(now)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.started { // another task of this transaction may have been faster
		t.started, t.ord, t.age = true, ord, t.o.AgeOf
		if t.age.IsZero() {
			t.age = t.db.newAge(now)
		}
	}
	return nil
}

// placed is where a transaction stands that takes its reading now.
func (t *Txn) placed(now clock.Interval) (order, error) {
	if t.o.Past.Present() {
		return startHigh(t.o.Ordering, now), nil
	}
	var safe clock.Timestamp
	if t.db.o.SafeTime != nil {
		safe = t.db.o.SafeTime()
	}
	return t.o.Past.order(now, safe)
}

// ready is called before each operation: it starts the transaction, and says why it can do nothing more.
func (t *Txn) ready(ctx context.Context) (context.Context, error) {
	if ctx.Err() != nil {
		return ctx, kv.Errorf(kv.ErrUnavailable, "cancelled by the caller")
	}
	t.mu.Lock()
	st, failure, large := t.state, t.failure, t.spill.anchor != nil
	t.mu.Unlock()
	if failure != nil {
		return ctx, t.told(t.within(ctx, t.db.o.RT.Now()+t.db.o.Limit))
	}
	if st != open {
		return ctx, kv.Errorf(kv.ErrInternal, "transaction %s is %s", t.id, st)
	}
	if err := t.start(); err != nil {
		return ctx, err
	}
	at := t.db.o.RT.Now() + t.db.o.Limit
	if large { // it takes as long as it takes, while it gets on
		ctx = route.WithNewDeadline(ctx, at)
	}
	return t.within(ctx, at), nil
}

// restart ends the attempt with an error that Retryable knows.
func (t *Txn) restart(err *kv.Error) error {
	t.mu.Lock()
	was := t.state
	over := was == aborted
	if !over {
		t.state, t.failure = aborted, err
	}
	t.mu.Unlock()
	if !over {
		t.db.countAbort()
		t.db.countRestart(reason(err))
		if was == open {
			t.endSpill() // else the commit does
		}
	}
	return err
}

// revive takes a restart back: it turned out that the attempt was committed.
func (t *Txn) revive() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == aborted {
		t.state, t.failure = committing, nil
	}
}

// doubt takes back that the attempt is over for a reason that a repetition cures: nobody knows what has become of it, and it
// must not be repeated (X6).
func (t *Txn) doubt(err *kv.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure != nil {
		t.failure = err
	}
}

// reason is the label of a restart in metrics.
func reason(err *kv.Error) string {
	switch err.Code {
	case kv.ErrUncertain:
		return "uncertainty"
	case kv.ErrRefresh:
		return "refresh"
	case kv.ErrRetryAt:
		return "pushed"
	case kv.ErrAborted:
		return "aborted"
	case kv.ErrConflict:
		return "conflict"
	case kv.ErrTooOld:
		return "too old"
	case kv.ErrWaited:
		return "waited"
	}
	return "other"
}

// failed sorts an error of a range: retryable ones end the attempt.
func (t *Txn) failed(err *kv.Error) error {
	if Retryable(err) {
		return t.restart(err)
	}
	return err
}

// Put buffers a write. Key and value are kept: the caller does not change them afterwards. A value is never empty.
func (t *Txn) Put(key kv.Key, value []byte) {
	if len(value) == 0 {
		panic("txn: Put with an empty value")
	}
	_ = t.write(key, value, false)
}

// Insert is Put for a key that must have no value: the commit fails with kv.ErrCondition if it has. It fails at once
// if the transaction itself has given the key a value.
func (t *Txn) Insert(key kv.Key, value []byte) error {
	if len(value) == 0 {
		panic("txn: Insert with an empty value")
	}
	return t.write(key, value, true)
}

// Delete buffers the removal of a key.
func (t *Txn) Delete(key kv.Key) { _ = t.write(key, nil, false) }

func (t *Txn) write(key kv.Key, value []byte, insert bool) error {
	_ = t.start() // an early reading hides more of the commit wait; if there is none, the commit will say so
	full, err := t.buffered(key, value, insert)
	if full {
		t.spillIfFull()
	}
	return err
}

// buffered puts a write into the buffer, and reports whether that is full.
func (t *Txn) buffered(key kv.Key, value []byte, insert bool) (full bool, err error) {
	t.mu.Lock()
	switch {
	case t.state != open:
		t.mu.Unlock()
		return false, nil // Commit returns why
	case t.o.ReadOnly:
		t.misuse = kv.Errorf(kv.ErrInternal, "write to %s in a read-only transaction", key)
		t.mu.Unlock()
		return false, t.misuse
	}
	if !t.writes.put(key, value, insert) {
		t.mu.Unlock()
		return false, &kv.Error{Code: kv.ErrCondition, Key: key, Msg: "the transaction itself has written the key"}
	}
	t.total += int64(len(key) + len(value))
	tooMuch := t.tooMuch()
	full = t.started && t.writes.size() >= t.db.o.SpillBytes
	t.mu.Unlock()
	if tooMuch != nil {
		t.giveUp(tooMuch)
		return false, tooMuch
	}
	return full, nil
}

// Savepoint remembers the writes so far. It can be rolled back to until it is given to Forget, or left out of KeepOnly.
func (t *Txn) Savepoint() Savepoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Savepoint{seq: t.writes.mark()}
}

// RollbackTo takes back the writes since the savepoint. What was read since then stays read.
func (t *Txn) RollbackTo(s Savepoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes.rollback(s.seq)
}

// Forget gives a savepoint back: nobody will go back there. What was overwritten since then need not be kept.
func (t *Txn) Forget(s Savepoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes.marks.drop(s.seq)
}

// KeepOnly gives all savepoints back but these, and those of scans that were not read to their end.
func (t *Txn) KeepOnly(list ...Savepoint) {
	seqs := make([]uint64, 0, len(list))
	for _, s := range list {
		seqs = append(seqs, s.seq)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes.marks.keep(seqs)
}

// Rollback ends the transaction without effect. What it has sent before (spill.go) is undone in the background.
func (t *Txn) Rollback(context.Context) {
	t.mu.Lock()
	over := t.state != open
	if !over {
		t.state = aborted
	}
	t.mu.Unlock()
	if !over {
		t.db.countAbort()
	}
	t.endLocks()
	t.endSpill()
}

// ReadTimestamp is the timestamp at which the transaction reads. It can still move up, and from now on not down.
func (t *Txn) ReadTimestamp(ctx context.Context) (clock.Timestamp, error) {
	ord, err := t.window(ctx, func(s *standing) { s.told = true })
	return ord.r, err
}

// CommitTimestamp is the timestamp of a committed transaction that has written something.
func (t *Txn) CommitTimestamp() clock.Timestamp {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.commitTS
}

// Token is no lower than the timestamp of anything that the transaction has committed or read: who reads there sees it.
func (t *Txn) Token() clock.Timestamp {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.commitTS.Forward(t.newest)
}

// SentRows says that rows have left: a restart is the client's from now on.
func (t *Txn) SentRows() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = true
}

// WaitAtMost bounds how long the commit waits for locks of others and for older transactions at one range; then it fails
// with kv.ErrWaited, which is Retryable. 0, as it begins: as long as ranges let anybody wait, which is some seconds.
func (t *Txn) WaitAtMost(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wait = d
}

// Age is passed to the attempt that repeats this transaction (Options.AgeOf).
func (t *Txn) Age() clock.Timestamp {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.age
}

// Finished reports whether the transaction has ended, by commit, rollback or a retryable error.
func (t *Txn) Finished() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state == committed || t.state == aborted
}
