package replica

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/lock"
	"github.com/longitude-db/longitude/internal/rt"
)

// locks are the locks of one range, as requests in any task use them: the table, and the signals of those that wait. They
// are emptied when the lease ends and when another begins, and lose what a split takes away.
type locks struct {
	rt      rt.Runtime
	m       *Metrics
	o       lock.Options
	mu      sync.Mutex
	table   *lock.Table
	waiting map[lock.Ticket]*lockWait
	counted lock.Stats
	used    atomic.Bool // whether anything is held: a range without locks costs writes nothing
}

type lockWait struct {
	told   rt.Signal
	result lock.Result // once told
}

func newLocks(o *Options) *locks {
	l := &locks{rt: o.RT, m: o.Metrics, waiting: map[lock.Ticket]*lockWait{}, o: lock.Options{Patience: o.LockPatience, Gone: o.Cluster.Gone,
		MaxLocks: o.LockLimit, MaxPerOwner: o.LockLimit / 4}}
	l.table = lock.New(l.o)
	return l
}

// do works on the table and wakes those of whom something has become.
func (l *locks) do(fn func(t *lock.Table, now time.Duration)) {
	var told []rt.Signal
	l.mu.Lock()
	fn(l.table, l.rt.Now())
	for _, e := range l.table.Take() {
		if w := l.waiting[e.Ticket]; w != nil {
			w.result = e.Result
			told = append(told, w.told)
			delete(l.waiting, e.Ticket)
		}
	}
	l.used.Store(!l.table.Empty())
	s := l.table.Stats()
	if s != l.counted {
		l.m.Locks.Add(float64(s.Locks - l.counted.Locks))
		l.m.LockWaiters.Add(float64(s.Waiters - l.counted.Waiters))
		l.m.LockWounds.Add(float64(s.Wounds - l.counted.Wounds))
		l.m.LocksExpired.Add(float64(s.Expired - l.counted.Expired))
		l.m.LocksForgone.Add(float64(s.Unlocked - l.counted.Unlocked))
		l.counted = s
	}
	l.mu.Unlock()
	for _, s := range told {
		s.Fire()
	}
}

func (l *locks) clear() { l.do(func(t *lock.Table, _ time.Duration) { t.Clear() }) }

func (l *locks) keep(s kv.Span) { l.do(func(t *lock.Table, now time.Duration) { t.Keep(now, s) }) }

func (l *locks) release(id kv.TxnID) {
	l.do(func(t *lock.Table, now time.Duration) { t.Release(now, id) })
}

// try takes those of the locks that are to be had at once, and returns the keys of the others.
func (l *locks) try(r lock.Request, ks []kv.Key) (busy []kv.Key) {
	if len(ks) == 0 || (r.Passing && !r.Claim && !l.used.Load()) {
		return nil
	}
	r.NoWait = true
	l.do(func(t *lock.Table, now time.Duration) {
		for _, r.Key = range ks {
			if res, _ := t.Acquire(now, r); res == lock.Busy {
				busy = append(busy, r.Key)
			}
		}
	})
	return busy
}

// alone is lock.Table.Alone.
func (l *locks) alone(id kv.TxnID, k kv.Key) (since time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.table.Alone(id, k)
}

// acquire waits for one lock. The result Waiting means that the time is up.
func (l *locks) acquire(r lock.Request, limit time.Duration) lock.Result {
	var res lock.Result
	var ticket lock.Ticket
	w := &lockWait{told: l.rt.NewSignal()}
	l.do(func(t *lock.Table, now time.Duration) {
		if res, ticket = t.Acquire(now, r); res == lock.Waiting {
			l.waiting[ticket] = w
			t.Retry(now, ticket) // perhaps those that hold it wait themselves
		}
	})
	if res != lock.Waiting {
		return res
	}
	began := l.rt.Now()
	for {
		left := limit - (l.rt.Now() - began)
		if w.told.Wait(min(left, l.o.Patience)) {
			break
		}
		if left > l.o.Patience {
			l.do(func(t *lock.Table, now time.Duration) { t.Retry(now, ticket) })
			continue
		}
		w.result = lock.Waiting
		l.do(func(t *lock.Table, now time.Duration) {
			if l.waiting[ticket] == w { // else its turn has come just now
				delete(l.waiting, ticket)
				t.Cancel(now, ticket)
			}
		})
		break
	}
	l.m.LockWait.Observe((l.rt.Now() - began).Seconds())
	return w.result
}

// serveLocks serves a LocksRequest. It is only about memory, and needs no latches.
func (r *Replica) serveLocks(q *kv.Request) kv.Response {
	if !r.desc.Load().Span.Contains(q.Locks.Key) {
		return failed(r.mismatch(q))
	}
	if _, kerr := r.lease.check(clock.Timestamp{}); kerr != nil {
		return failed(kerr)
	}
	out := &kv.LocksResponse{}
	r.locks.do(func(t *lock.Table, now time.Duration) {
		if q.Locks.Release {
			out.Held = t.Release(now, q.Locks.Owner)
		} else {
			out.Held = t.Touch(now, q.Locks.Owner)
		}
	})
	return kv.Response{Locks: out}
}
