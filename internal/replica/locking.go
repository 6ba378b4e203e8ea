package replica

import (
	"fmt"
	"slices"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/eval"
	"github.com/longitude-db/longitude/internal/replica/lock"
)

// locking is what one request has to do with the locks of its range, over all its evaluations. It is used by one task. Nil:
// nothing.
//
//	before   without latches: wait for the keys that are known: those to be read, those to be written
//	claim    under latches, when an evaluation has met intents: lock the keys of those that will be removed (lock/K6)
//	during   under latches, when it is evaluated: look again, since much may have happened; lock the rows that were found.
//	         What is not to be had is waited for before the next evaluation
//	after    a write gives back what it held in passing; a commit ends its transaction's locks here
type locking struct {
	r      *Replica
	q      *kv.Request
	ask    lock.Request // but for the key
	policy kv.LockPolicy
	limit  time.Duration
	begun  time.Duration
	keys   []kv.Key           // known from the request
	wanted []kv.Key           // by whom an evaluation was stopped
	queue  []kv.Key           // to be claimed, but others hold them: waited for once the intents are out of the way
	claims map[string]claimed // by key; for checkClaims alone
	skip   map[string]bool    // LockSkip: what others hold
	// without: what it goes on without, because there was no room to wait for it. Else it would ask again and again, and
	// each time be told the same at once.
	without map[string]bool
}

// locking begins a request's dealings with locks.
func (r *Replica) locking(q *kv.Request) *locking {
	if q.Write == nil && (q.Read == nil || q.Read.Lock == nil) {
		return nil
	}
	l := &locking{r: r, q: q, limit: r.store.opts.RequestLimit, begun: r.store.opts.RT.Now()}
	switch {
	case q.Read != nil && q.Read.Lock != nil:
		k := q.Read.Lock
		l.ask, l.policy, l.keys = lock.Request{Owner: k.Owner, Mode: k.Mode}, k.Policy, q.Read.Keys
		if k.Wait > 0 {
			l.limit = min(l.limit, k.Wait)
		}
		return l
	case q.Write != nil:
		l.ask = lock.Request{Owner: kv.LockOwner{ID: q.Write.Txn, Start: q.Write.Start, Coord: q.Write.Coord}, Mode: kv.LockExclusive, Passing: true}
		if q.Write.Wait > 0 {
			l.limit = min(l.limit, q.Write.Wait)
		}
		if q.Write.Owner != nil {
			l.ask.Owner = *q.Write.Owner
		}
		l.keys = make([]kv.Key, len(q.Write.Puts))
		for i := range q.Write.Puts {
			l.keys[i] = q.Write.Puts[i].Key
		}
		return l
	}
	return nil
}

// before waits for its turn at the keys that are known. When it returns nil they need not all be its own: see during.
func (l *locking) before() *kv.Error {
	if l == nil || (l.ask.Passing && !l.r.locks.used.Load()) {
		return nil
	}
	if _, kerr := l.r.lease.check(clock.Timestamp{}); kerr != nil {
		return kerr
	}
	want := l.wanted
	if want == nil {
		want = l.keys
	}
	if len(l.queue) > 0 {
		want = slices.Concat(want, l.queue)
	}
	l.wanted, l.queue = nil, nil
	busy, kerr := l.take(want)
	if kerr != nil {
		return kerr
	}
	for _, k := range busy {
		l.ask.Key = k
		switch res := l.r.locks.acquire(l.ask, l.limit-(l.r.store.opts.RT.Now()-l.begun)); res {
		case lock.Ended:
			return &kv.Error{Code: kv.ErrConflict, Key: k, Msg: "the transaction has ended"}
		case lock.Gone:
			return nil // so have the lease or the key, as will be found
		case lock.Waiting:
			return l.tooLong(k)
		case lock.Unlocked:
			if l.without == nil {
				l.without = map[string]bool{}
			}
			l.without[string(k)] = true
		}
	}
	return nil
}

// take takes what is to be had at once and returns what has to be waited for. Those that do not wait fail, or skip.
func (l *locking) take(ks []kv.Key) (busy []kv.Key, _ *kv.Error) {
	if len(l.skip)+len(l.without) > 0 {
		ks = slices.DeleteFunc(slices.Clone(ks), func(k kv.Key) bool { return l.skip[string(k)] || l.without[string(k)] })
	}
	busy = l.r.locks.try(l.ask, ks)
	if len(busy) == 0 || l.policy == kv.LockQueue {
		return busy, nil
	}
	return nil, l.refused(busy)
}

// refused is what happens to keys that others hold where nobody waits for them.
func (l *locking) refused(ks []kv.Key) *kv.Error {
	if len(ks) == 0 {
		return nil
	}
	if l.policy == kv.LockNoWait {
		return &kv.Error{Code: kv.ErrLocked, Key: ks[0], Msg: "another transaction holds it"}
	}
	if l.skip == nil {
		l.skip = map[string]bool{}
	}
	for _, k := range ks {
		l.skip[string(k)] = true
	}
	return nil
}

func (l *locking) tooLong(k kv.Key) *kv.Error {
	e := &kv.Error{Code: kv.ErrLockWait, Key: k, Msg: "waited " + l.limit.String() + " for a lock that another transaction holds"}
	if l.q.Write != nil {
		e.Code = kv.ErrWaited
	}
	return e
}

// during is called under latches with the answer of an evaluation. It reports whether the answer stands; else wanted says
// what has to be waited for first.
func (l *locking) during(resp *kv.Response) (stands bool, _ *kv.Error) {
	if l == nil {
		return true, nil
	}
	want := l.keys
	if resp.Read != nil && l.few() {
		return true, l.takeFew(resp.Read)
	}
	if rd := resp.Read; rd != nil && len(rd.Rows) > 0 {
		want = slices.Clone(want)
		for i := range rd.Rows {
			want = append(want, rd.Rows[i].Keys...)
		}
	}
	busy, kerr := l.take(want)
	if kerr != nil || len(busy) > 0 {
		l.wanted = busy
		return false, kerr
	}
	if resp.Read != nil && len(l.skip) > 0 {
		l.leaveOut(resp.Read)
	}
	return true, nil
}

// claimed says of a key that a request holds whose intent it has met there.
type claimed struct {
	by    kv.TxnID
	since time.Duration // when the request got the lock
}

// claim is called under latches with the intents that an evaluation has met, before they are waited for. It locks the keys of those
// of younger transactions (lock/K6): these intents go, and without the lock another writer could lay the next one there before
// this request is evaluated again. A request that queues behind older transactions claims nothing: it has to wait for those in any case,
// and they may write there again. Nor does one that does not wait.
func (l *locking) claim(met []eval.Conflict) {
	if l == nil || l.policy != kv.LockQueue {
		return
	}
	me := eval.Who{Txn: l.ask.Owner.ID, Start: l.ask.Owner.Start}
	var ks []kv.Key
	for _, c := range met {
		if me.OlderThan(eval.Who{Txn: c.Intent.Txn, Start: c.Intent.Start}) && !l.without[string(c.Key)] {
			ks = append(ks, c.Key)
		}
	}
	if len(ks) == 0 {
		return
	}
	ask := l.ask
	ask.Claim = true
	l.queue = l.r.locks.try(ask, ks)
	if checked {
		l.checkClaims(met)
	}
}

// checkClaims is K6: on a key that the request has held since it met an intent there it meets no other transaction's.
func (l *locking) checkClaims(met []eval.Conflict) {
	if l.claims == nil {
		l.claims = map[string]claimed{}
	}
	for _, c := range met {
		since, alone := l.r.locks.alone(l.ask.Owner.ID, c.Key)
		if was, ok := l.claims[string(c.Key)]; ok && alone && since == was.since && c.Intent.Txn != was.by {
			panic(fmt.Sprintf("replica: K6: transaction %s holds %s since %s, met %s there, and now %s", l.ask.Owner.ID, c.Key, since, was.by, c.Intent.Txn))
		}
		if alone {
			l.claims[string(c.Key)] = claimed{c.Intent.Txn, since}
		}
	}
}

// extraRows is how many rows more than wanted a read looks at that skips what others hold, so that it need not come back for
// each of them.
const extraRows = 64

// few reports whether the request wants a number of rows of one span, whichever are free: the head of a list of jobs, of
// which each worker takes one. Then no more than those may be locked.
func (l *locking) few() bool {
	return l.policy == kv.LockSkip && l.q.Read != nil && l.q.Read.MaxRows > 0 && len(l.q.Read.Spans) == 1 && len(l.q.Read.Keys) == 0
}

// wider is the request as it is evaluated.
func (l *locking) wider(q *kv.Request) *kv.Request {
	if l == nil || !l.few() {
		return q
	}
	wide, read := *q, *q.Read
	read.MaxRows += extraRows
	wide.Read = &read
	return &wide
}

// takeFew locks rows in order until it has as many as were asked for, and cuts the answer off behind them.
func (l *locking) takeFew(rd *kv.ReadResponse) *kv.Error {
	rows, free := &rd.Rows[0], 0
	for i, k := range rows.Keys {
		if free == l.q.Read.MaxRows {
			rest := kv.Span{Start: k, End: l.q.Read.Spans[0].End}
			if l.q.Read.Reverse {
				rest = kv.Span{Start: l.q.Read.Spans[0].Start, End: keys.Next(k)}
			}
			rows.More, rows.Resume = true, rest
			rows.Keys, rows.Values = rows.Keys[:i], rows.Values[:i]
			break
		}
		if _, kerr := l.take([]kv.Key{k}); kerr != nil {
			return kerr
		}
		if !l.skip[string(k)] {
			free++
		}
	}
	l.leaveOut(rd)
	return nil
}

// leaveOut takes what is skipped out of an answer.
func (l *locking) leaveOut(rd *kv.ReadResponse) {
	for i, k := range l.q.Read.Keys {
		if l.skip[string(k)] {
			rd.Values[i] = nil
			rd.Skipped = append(rd.Skipped, k)
		}
	}
	for i := range rd.Rows {
		rows := &rd.Rows[i]
		ks, values := rows.Keys[:0], rows.Values[:0]
		for j, k := range rows.Keys {
			if l.skip[string(k)] {
				rd.Skipped = append(rd.Skipped, k)
				continue
			}
			ks, values = append(ks, k), append(values, rows.Values[j])
		}
		rows.Keys, rows.Values = ks, values
	}
}

// after gives back what the request does not need any more, now that it is answered.
func (l *locking) after(resp *kv.Response) {
	if l == nil || !l.ask.Passing || !l.r.locks.used.Load() {
		return
	}
	if w := l.q.Write; w.Owner != nil && w.OnePhase && resp.Err == nil {
		l.r.locks.release(w.Owner.ID)
		return
	}
	l.r.locks.do(func(t *lock.Table, now time.Duration) {
		for _, k := range l.keys {
			t.Drop(now, l.ask.Owner.ID, k)
		}
	})
}

// glances reports whether the request does not wait for intents either.
func (l *locking) glances() bool { return l != nil && l.policy != kv.LockQueue }

// waits reports whether the latest evaluation was stopped by locks.
func (l *locking) waits() bool { return l != nil && len(l.wanted) > 0 }

// skipped goes into eval.Env.
func (l *locking) skipped() map[string]bool {
	if l == nil {
		return nil
	}
	return l.skip
}
