package txn

import (
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/lock"
)

// fakeLocks are the locks of one fake range: the real table, asked again and again instead of waking anybody.
type fakeLocks struct {
	t       *lock.Table
	tickets map[string]lock.Ticket // by owner and key
	told    map[lock.Ticket]lock.Result
}

// lockLimit is how long a request waits for a lock: less than its call may take (CallLimit).
const lockLimit = 200 * time.Millisecond

// tooLong ends a request that has waited for a lock for too long.
func (w *world) tooLong(n *fakeNode, q *kv.Request, waited time.Duration) *kv.Error {
	if w.busy == nil || waited < lockLimit {
		return nil
	}
	name := w.busy.name
	w.busy.l.t.Cancel(n.rt.Now(), w.busy.l.tickets[name])
	delete(w.busy.l.tickets, name)
	if q.Write != nil {
		return kv.Errorf(kv.ErrConflict, "waited %s for a lock", waited)
	}
	return kv.Errorf(kv.ErrLockWait, "waited %s for a lock", waited)
}

// waiting is what the last step was blocked by, if that was a lock.
type waiting struct {
	l    *fakeLocks
	name string
}

func (r *fakeRange) table() *fakeLocks {
	if r.locks == nil {
		// Patience fits into lockLimit.
		r.locks = &fakeLocks{t: lock.New(lock.Options{Patience: 20 * time.Millisecond}), tickets: map[string]lock.Ticket{}, told: map[lock.Ticket]lock.Result{}}
	}
	return r.locks
}

// lock takes the locks that a request needs, as far as they are to be had. ok: it may go on; but for busy keys, if it skips.
func (w *world) lock(n *fakeNode, r *fakeRange, q *kv.Request) (skip []kv.Key, blocked bool, e *kv.Error) {
	w.busy = nil
	ask, policy, ks := lock.Request{Mode: kv.LockExclusive, Passing: true}, kv.LockQueue, []kv.Key(nil)
	switch {
	case q.Write != nil:
		ask.Owner = kv.LockOwner{ID: q.Write.Txn, Start: q.Write.Start}
		if q.Write.Owner != nil {
			ask.Owner = *q.Write.Owner
		}
		for _, p := range q.Write.Puts {
			ks = append(ks, p.Key)
		}
	case q.Read != nil && q.Read.Lock != nil:
		ask.Owner, ask.Mode, ask.Passing, policy = q.Read.Lock.Owner, q.Read.Lock.Mode, false, q.Read.Lock.Policy
		ks = append(ks, q.Read.Keys...)
		for _, s := range q.Read.Spans {
			ks = append(ks, w.in(s)...)
		}
	default:
		return nil, false, nil
	}
	l := r.table()
	for _, ask.Key = range ks {
		switch ask.NoWait = policy != kv.LockQueue; l.acquire(n, ask) {
		case lock.Busy:
			if policy == kv.LockNoWait {
				return nil, false, &kv.Error{Code: kv.ErrLocked, Key: ask.Key}
			}
			skip = append(skip, ask.Key)
		case lock.Waiting:
			w.busy = &waiting{l, ticketName(ask)}
			return nil, true, nil
		}
	}
	return skip, false, nil
}

func ticketName(r lock.Request) string { return string(r.Owner.ID[:]) + string(r.Key) }

func (l *fakeLocks) acquire(n *fakeNode, r lock.Request) lock.Result {
	name := ticketName(r)
	if t, ok := l.tickets[name]; ok {
		l.t.Retry(n.rt.Now(), t)
		for _, e := range l.t.Take() {
			l.told[e.Ticket] = e.Result
		}
		res, ok := l.told[t]
		if !ok {
			return lock.Waiting
		}
		delete(l.tickets, name)
		if res == lock.Granted {
			return res
		}
	}
	res, t := l.t.Acquire(n.rt.Now(), r)
	if res == lock.Waiting {
		l.tickets[name] = t
	}
	return res
}

// unlock is what a write, or word of the coordinator, does to locks.
func (w *world) unlock(n *fakeNode, r *fakeRange, q *kv.Request, resp *kv.Response) {
	t := r.table().t
	switch {
	case q.Write != nil:
		id := q.Write.Txn
		if q.Write.Owner != nil {
			id = q.Write.Owner.ID
		}
		if q.Write.OnePhase && q.Write.Owner != nil && resp.Err == nil {
			t.Release(n.rt.Now(), id)
		}
		for _, p := range q.Write.Puts {
			t.Drop(n.rt.Now(), id, p.Key)
		}
	case q.Locks != nil && q.Locks.Release:
		resp.Locks = &kv.LocksResponse{Held: t.Release(n.rt.Now(), q.Locks.Owner)}
	case q.Locks != nil:
		resp.Locks = &kv.LocksResponse{Held: t.Touch(n.rt.Now(), q.Locks.Owner)}
	}
}

// leaveOut takes skipped keys out of an answer.
func (w *world) leaveOut(q *kv.ReadRequest, a *kv.ReadResponse, skip []kv.Key) {
	held := func(k kv.Key) bool {
		for _, s := range skip {
			if s.Equal(k) {
				return true
			}
		}
		return false
	}
	a.Skipped = skip
	for i, k := range q.Keys {
		if held(k) {
			a.Values[i] = nil
		}
	}
	for i := range a.Rows {
		rows := kv.Rows{More: a.Rows[i].More, Resume: a.Rows[i].Resume}
		for j, k := range a.Rows[i].Keys {
			if !held(k) {
				rows.Keys, rows.Values = append(rows.Keys, k), append(rows.Values, a.Rows[i].Values[j])
			}
		}
		a.Rows[i] = rows
	}
}
