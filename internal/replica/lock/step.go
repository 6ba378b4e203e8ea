package lock

import (
	"maps"
	"slices"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// Acquire asks for a lock at a monotonic time of this node. The ticket is set if the result is Waiting.
func (t *Table) Acquire(now time.Duration, r Request) (Result, Ticket) {
	if now-t.swept > t.o.Expiry {
		t.Sweep(now)
	}
	q := t.queues[string(r.Key)]
	switch {
	case q == nil && r.Passing && !r.Claim:
		return Granted, 0
	case t.has(now, q, r):
		return Granted, 0
	}
	t.owner(now, r.Owner) // alive from now on
	if q != nil {
		t.expire(now, q)
	}
	if t.locks >= t.o.MaxLocks && now-t.swept >= t.o.Expiry/5 {
		t.Sweep(now)
	}
	o := t.owner(now, r.Owner)  // perhaps what was known of it has just gone
	q = t.queues[string(r.Key)] // perhaps it was a dead owner's alone
	if q == nil {
		q = &queue{key: string(r.Key)}
		t.queues[q.key] = q
	}
	w := &waiter{q: q, o: o, mode: r.Mode, passing: r.Passing, upgrade: q.holdOf(o) != nil, since: now, ticket: t.last + 1}
	switch {
	case !t.behind(w):
		res := t.let(now, w)
		t.drop(q)
		t.forget(o)
		return res, 0
	case r.NoWait:
		t.forget(o)
		return Busy, 0
	}
	t.enqueue(w)
	return Waiting, w.ticket
}

// has reports whether the owner holds what it asks for.
func (t *Table) has(now time.Duration, q *queue, r Request) bool {
	o := t.owners[r.Owner.ID]
	if q == nil || o == nil {
		return false
	}
	h := q.holdOf(o)
	if h == nil || h.mode < r.Mode {
		return false
	}
	h.passing = h.passing && r.Passing
	o.touched = max(o.touched, now)
	return true
}

func (t *Table) enqueue(w *waiter) {
	t.last = w.ticket
	w.o.waiting++
	t.waiters[w.ticket] = w
	at, _ := slices.BinarySearchFunc(w.q.waiters, w, compareWaiters)
	w.q.waiters = slices.Insert(w.q.waiters, at, w)
}

// behind reports whether a request has to wait: for holders, or for those in front of it (K2).
func (t *Table) behind(w *waiter) bool {
	if len(w.q.conflicts(w.o, w.mode)) > 0 {
		return true
	}
	return slices.ContainsFunc(w.q.waiters, func(v *waiter) bool {
		return v.before(w) && v.o != w.o && !compatible(v.mode, w.mode)
	})
}

// full reports whether an owner can have no other lock (K4).
func (t *Table) full(o *owner) bool { return len(o.held) >= t.o.MaxPerOwner || t.locks >= t.o.MaxLocks }

// let lets in a request whose turn it is: with its lock, or without if there is no room for another one (K4).
func (t *Table) let(now time.Duration, w *waiter) Result {
	if w.q.holdOf(w.o) == nil && t.full(w.o) {
		t.stats.Unlocked++
		return Unlocked
	}
	t.hold(now, w.q, w.o, w.mode, w.passing)
	return Granted
}

// Sweep drops all owners that have expired (K5).
func (t *Table) Sweep(now time.Duration) {
	t.swept = now
	var dead []*owner
	for _, o := range t.owners {
		if t.dead(now, o) {
			dead = append(dead, o)
		}
	}
	slices.SortFunc(dead, func(a, b *owner) int { return slices.Compare(a.ID[:], b.ID[:]) })
	for _, o := range dead {
		t.stats.Expired++
		t.end(now, o)
	}
}

func (t *Table) dead(now time.Duration, o *owner) bool {
	return o.waiting == 0 && now-o.touched > t.o.Expiry || t.o.Gone != nil && t.o.Gone(o.Coord)
}

// expire drops the holders of a key that have expired, and reports whether there were any.
func (t *Table) expire(now time.Duration, q *queue) bool {
	var dead []*owner
	for _, h := range q.holders {
		if t.dead(now, h.o) {
			dead = append(dead, h.o)
		}
	}
	for _, o := range dead {
		t.stats.Expired++
		t.end(now, o)
	}
	return len(dead) > 0
}

// Retry is asked by a waiting request from time to time, at least each Patience: the time may have come to take the key
// from dead or younger holders (K3, K5).
func (t *Table) Retry(now time.Duration, ticket Ticket) {
	w := t.waiters[ticket]
	if w == nil {
		return
	}
	q := w.q
	if t.expire(now, q) && t.waiters[ticket] == nil {
		return
	}
	tried := [2]bool{}
	for _, w := range slices.Clone(q.waiters) { // the first of those in front, and the oldest of the others
		kind := 0
		if w.upgrade {
			kind = 1
		}
		if tried[kind] {
			continue
		}
		tried[kind] = true
		if t.waiters[w.ticket] == w && t.ripe(now, w) {
			t.wound(now, w)
		}
	}
}

// ripe reports whether a request may take the key from those that hold it.
func (t *Table) ripe(now time.Duration, w *waiter) bool {
	in := w.q.conflicts(w.o, w.mode)
	stuck := len(in) > 0
	for _, h := range in {
		if h.o.olderThan(w.o) {
			return false
		}
		stuck = stuck && h.o.waiting > 0
	}
	for _, v := range w.q.waiters { // in front of the oldest there may be those of K2
		if v.before(w) && v.o.olderThan(w.o) && !compatible(v.mode, w.mode) {
			return false
		}
	}
	return stuck || now-max(w.since, w.q.since) >= t.o.Patience
}

func (t *Table) wound(now time.Duration, w *waiter) {
	q := w.q
	for _, h := range q.conflicts(w.o, w.mode) {
		t.stats.Wounds++
		o := h.o
		t.release(now, h)
		t.forget(o)
	}
	t.removeWaiter(w, t.let(now, w))
	t.forget(w.o)
	t.admit(now, q)
}

// Cancel takes a waiting request out: its time is up.
func (t *Table) Cancel(now time.Duration, ticket Ticket) {
	w := t.waiters[ticket]
	if w == nil {
		return
	}
	t.removeWaiter(w, Waiting)
	t.forget(w.o)
	t.admit(now, w.q)
}

// Drop ends what a write has held in passing. A lock that its transaction has taken otherwise stays.
func (t *Table) Drop(now time.Duration, id kv.TxnID, k kv.Key) {
	q, o := t.queues[string(k)], t.owners[id]
	if q == nil || o == nil {
		return
	}
	if h := q.holdOf(o); h != nil && h.passing {
		t.release(now, h)
		t.forget(o)
		t.admit(now, q)
	}
}

// Release ends an owner here: its transaction has committed, or has ended otherwise. It returns how many locks it had.
func (t *Table) Release(now time.Duration, id kv.TxnID) int {
	o := t.owners[id]
	if o == nil {
		return 0
	}
	n := len(o.held)
	t.end(now, o)
	return n
}

// end removes an owner: first from all queues, so that it does not let itself in, then from what it holds.
func (t *Table) end(now time.Duration, o *owner) {
	if o.waiting > 0 {
		var mine []*waiter
		for _, w := range t.waiters {
			if w.o == o {
				mine = append(mine, w)
			}
		}
		slices.SortFunc(mine, func(a, b *waiter) int { return int(a.ticket) - int(b.ticket) })
		for _, w := range mine {
			t.removeWaiter(w, Ended)
		}
		for _, w := range mine {
			t.admit(now, w.q)
		}
	}
	for len(o.held) > 0 {
		h := o.held[len(o.held)-1]
		t.release(now, h)
		t.admit(now, h.q)
	}
	delete(t.owners, o.ID)
}

// Touch is an owner's sign of life. It returns how many locks it has.
func (t *Table) Touch(now time.Duration, id kv.TxnID) int {
	o := t.owners[id]
	if o == nil {
		return 0
	}
	o.touched = max(o.touched, now)
	return len(o.held)
}

// Clear forgets everything: the lease has ended, or another begins.
func (t *Table) Clear() {
	for _, w := range t.inOrder() {
		t.events = append(t.events, Event{w.ticket, Gone})
	}
	t.reset()
}

// inOrder lists all waiting requests as they came.
func (t *Table) inOrder() []*waiter {
	out := make([]*waiter, 0, len(t.waiters))
	for _, w := range t.waiters {
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b *waiter) int { return int(a.ticket) - int(b.ticket) })
	return out
}

// Keep forgets the keys outside a span: the range was split.
func (t *Table) Keep(now time.Duration, span kv.Span) {
	for _, w := range t.inOrder() {
		if !span.Contains(kv.Key(w.q.key)) {
			t.removeWaiter(w, Gone)
			t.forget(w.o)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(t.queues)) {
		q := t.queues[k]
		if span.Contains(kv.Key(k)) {
			continue
		}
		for len(q.holders) > 0 {
			h := q.holders[0]
			t.release(now, h)
			t.forget(h.o)
		}
		delete(t.queues, k)
	}
}
