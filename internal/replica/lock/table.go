package lock

import (
	"bytes"
	"slices"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// Options bound a Table.
type Options struct {
	// Patience is how long a key stays with its holders before an older transaction takes it from them; default 250 ms.
	// Shorter: deadlocks between ranges are resolved sooner, and more transactions that were only slow are wounded.
	Patience time.Duration
	// Expiry is how long an owner may go without a sign of life; default 3 s. Coordinators give one each second.
	Expiry time.Duration
	// Gone reports whether a coordinator's process has ended, or seems to: its owners lose their locks at once. Nil: nobody
	// knows.
	Gone func(kv.Process) bool
	// MaxLocks bounds the locks held in the range, MaxPerOwner those of one owner among them; defaults 65536, 16384. A lock
	// takes about 200 bytes beside its key. Those that wait have no bound here: each is a request with a task of its own,
	// which takes more than its place in a queue.
	MaxLocks, MaxPerOwner int
}

func (o *Options) fill() {
	set(&o.Patience, 250*time.Millisecond)
	set(&o.Expiry, 3*time.Second)
	set(&o.MaxLocks, 1<<16)
	set(&o.MaxPerOwner, 1<<14)
}

func set[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// Result is what has become of a request for a lock.
type Result uint8

// Granted: the owner holds the key, in the mode asked for or a higher one. Waiting: the ticket tells, some time, of one of the
// others but Busy. Gone: the queue is no more, because the lease or the key has left; ask again, wherever that is.
// Ended: so has the owner. Busy: others hold the key, and the request did not want to wait. Unlocked: it is the request's turn, but
// there is no room for its lock; it goes on without.
const (
	Granted Result = iota
	Waiting
	Gone
	Ended
	Busy
	Unlocked
)

func (r Result) String() string {
	return [...]string{"granted", "waiting", "gone", "ended", "busy", "unlocked"}[r]
}

// Ticket names a waiting request; 0 names none.
type Ticket uint64

// Event is what has become of one.
type Event struct {
	Ticket Ticket
	Result Result // Granted, Unlocked, Gone or Ended
}

// Request asks for a lock.
type Request struct {
	Owner kv.LockOwner
	Key   kv.Key
	Mode  kv.LockMode
	// Passing is for a write: it waits for its turn, and holds the key only until Drop. If nobody holds the key it needs no
	// lock at all, since latches keep writes apart.
	Passing bool
	// Claim has a request that only passes take the key if no transaction holds it: the request has met a younger transaction's intent there (K6).
	Claim bool
	// NoWait answers Busy instead of Waiting.
	NoWait bool
}

// Stats counts what has happened to a Table.
type Stats struct {
	Locks, Waiters, Owners    int
	Wounds, Expired, Unlocked uint64
}

// Table is the locks of one range. It is used by one task at a time.
type Table struct {
	o       Options
	queues  map[string]*queue
	owners  map[kv.TxnID]*owner
	waiters map[Ticket]*waiter
	last    Ticket
	locks   int
	swept   time.Duration
	events  []Event
	stats   Stats
}

// queue is one key: who holds it and who waits for it.
type queue struct {
	key     string
	holders []*hold   // Invariant: not empty; K1
	waiters []*waiter // Invariant: ordered by before (K2)
	since   time.Duration
}

// hold is one owner's lock on one key.
type hold struct {
	q       *queue
	o       *owner
	mode    kv.LockMode
	passing bool
	at      int // in o.held
}

// owner is a transaction as this range knows it.
type owner struct {
	kv.LockOwner
	touched time.Duration
	held    []*hold
	waiting int
}

func (o *owner) olderThan(p *owner) bool { return older(o.LockOwner, p.LockOwner) }

// older is the order of age: total, and the same everywhere.
func older(a, b kv.LockOwner) bool {
	if c := a.Start.Compare(b.Start); c != 0 {
		return c < 0
	}
	return bytes.Compare(a.ID[:], b.ID[:]) < 0
}

type waiter struct {
	ticket  Ticket
	q       *queue
	o       *owner
	mode    kv.LockMode
	passing bool
	upgrade bool // the owner holds the key shared
	since   time.Duration
}

// before is the order of a queue.
func (w *waiter) before(v *waiter) bool {
	switch {
	case w.upgrade != v.upgrade:
		return w.upgrade
	case w.o != v.o:
		return w.o.olderThan(v.o)
	}
	return w.ticket < v.ticket
}

func compatible(a, b kv.LockMode) bool { return a == kv.LockShared && b == kv.LockShared }

// New makes an empty table.
func New(o Options) *Table {
	o.fill()
	t := &Table{o: o}
	t.reset()
	return t
}

func (t *Table) reset() {
	t.queues, t.owners, t.waiters, t.locks = map[string]*queue{}, map[kv.TxnID]*owner{}, map[Ticket]*waiter{}, 0
}

// Take returns what has become of waiting requests since the last call, in the order in which it happened.
func (t *Table) Take() []Event {
	out := t.events
	t.events = nil
	return out
}

// Stats returns the present sizes and what has happened so far.
func (t *Table) Stats() Stats {
	s := t.stats
	s.Locks, s.Waiters, s.Owners = t.locks, len(t.waiters), len(t.owners)
	return s
}

// Empty reports whether nobody holds anything.
func (t *Table) Empty() bool { return t.locks == 0 }

// Alone returns since when an owner has held a key exclusively without a break; false: it does not.
func (t *Table) Alone(id kv.TxnID, k kv.Key) (since time.Duration, ok bool) {
	q, o := t.queues[string(k)], t.owners[id]
	if q == nil || o == nil {
		return 0, false
	}
	h := q.holdOf(o)
	return q.since, h != nil && h.mode == kv.LockExclusive
}

// Held counts the locks of an owner.
func (t *Table) Held(id kv.TxnID) int {
	if o := t.owners[id]; o != nil {
		return len(o.held)
	}
	return 0
}

func (q *queue) holdOf(o *owner) *hold {
	for _, h := range q.holders {
		if h.o == o {
			return h
		}
	}
	return nil
}

// conflicts lists the holds of others that keep an owner from a mode.
func (q *queue) conflicts(o *owner, m kv.LockMode) (out []*hold) {
	for _, h := range q.holders {
		if h.o != o && !compatible(h.mode, m) {
			out = append(out, h)
		}
	}
	return out
}

func (t *Table) owner(now time.Duration, who kv.LockOwner) *owner {
	o := t.owners[who.ID]
	if o == nil {
		o = &owner{LockOwner: who}
		t.owners[who.ID] = o
	}
	o.touched = max(o.touched, now)
	return o
}

// forget drops an owner of whom nothing is here.
func (t *Table) forget(o *owner) {
	if len(o.held) == 0 && o.waiting == 0 {
		delete(t.owners, o.ID)
	}
}

// hold gives a key to an owner, or raises the mode that it has.
func (t *Table) hold(now time.Duration, q *queue, o *owner, m kv.LockMode, passing bool) {
	q.since, o.touched = now, max(o.touched, now) // whoever is let in was waiting, or is asking
	if h := q.holdOf(o); h != nil {
		h.mode, h.passing = max(h.mode, m), h.passing && passing
		return
	}
	q.setUpgrade(o, true)
	h := &hold{q: q, o: o, mode: m, passing: passing, at: len(o.held)}
	q.holders = append(q.holders, h)
	o.held = append(o.held, h)
	t.locks++
}

// release takes a key from an owner; the caller lets the next one in.
func (t *Table) release(now time.Duration, h *hold) {
	h.q.since = now
	h.q.holders = slices.DeleteFunc(h.q.holders, func(x *hold) bool { return x == h })
	last := len(h.o.held) - 1
	h.o.held[h.at] = h.o.held[last]
	h.o.held[h.at].at = h.at
	h.o.held[last] = nil
	h.o.held = h.o.held[:last]
	t.locks--
	h.q.setUpgrade(h.o, false) // it lost what it wanted to raise, and queues like others
}

// setUpgrade moves an owner's requests in a queue to where they belong, as it gets the key or loses it.
func (q *queue) setUpgrade(o *owner, upgrade bool) {
	changed := false
	for _, w := range q.waiters {
		if w.o == o && w.upgrade != upgrade {
			w.upgrade, changed = upgrade, true
		}
	}
	if changed {
		slices.SortFunc(q.waiters, compareWaiters)
	}
}

func compareWaiters(a, b *waiter) int {
	switch {
	case a == b:
		return 0
	case a.before(b):
		return -1
	}
	return 1
}

// removeWaiter takes a request out of its queue, with an event unless the result is Waiting.
func (t *Table) removeWaiter(w *waiter, r Result) {
	w.q.waiters = slices.DeleteFunc(w.q.waiters, func(x *waiter) bool { return x == w })
	delete(t.waiters, w.ticket)
	w.o.waiting--
	if r != Waiting {
		t.events = append(t.events, Event{w.ticket, r})
	}
}

// admit lets in, from the front, who can be let in (K2).
func (t *Table) admit(now time.Duration, q *queue) {
	for len(q.waiters) > 0 {
		w := q.waiters[0]
		if len(q.conflicts(w.o, w.mode)) > 0 {
			break
		}
		t.removeWaiter(w, t.let(now, w))
		t.forget(w.o)
	}
	t.drop(q)
}

// drop drops a key that nobody holds.
func (t *Table) drop(q *queue) {
	if len(q.holders) == 0 {
		delete(t.queues, q.key)
	}
}
