package replica

import (
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/eval"
	"github.com/longitude-db/longitude/internal/rt"
)

// obstacles is how one request gets past the intents of others: it waits a moment, since most transactions are about to
// end, then asks the range of the transaction's record what has become of it. What has ended is resolved here at once; a
// reader may pass under one that will commit later; anything else is waited for and asked again.
type obstacles struct {
	r      *Replica
	txn    kv.TxnID
	start  clock.Timestamp
	pushed map[kv.TxnID]clock.Timestamp
	end    time.Duration
	met    map[kv.TxnID]bool // transactions that have had their first moment
}

// The first wait, and the time between two pushes of a transaction that goes on.
const (
	firstWait = 5 * time.Millisecond
	pushEvery = 50 * time.Millisecond
)

func newObstacles(r *Replica, q *kv.Request) *obstacles {
	w := &obstacles{r: r, end: r.store.opts.RT.Now() + r.store.opts.RequestLimit}
	switch {
	case q.Read != nil:
		w.txn, w.start = q.Read.Txn, q.Read.Start
	case q.Refresh != nil:
		w.txn, w.start = q.Refresh.Txn, q.Refresh.Start
	case q.Write != nil:
		w.txn, w.start = q.Write.Txn, q.Write.Start
	}
	return w
}

// clear returns nil when it is worth evaluating again. No latches are held meanwhile.
func (w *obstacles) clear(conflicts []eval.Conflict) *kv.Error {
	if w.pushed == nil {
		w.pushed, w.met = map[kv.TxnID]clock.Timestamp{}, map[kv.TxnID]bool{}
	}
	first := &conflicts[0]
	wait := pushEvery
	if !w.met[first.Intent.Txn] {
		wait = firstWait
	}
	if w.r.intents.wait(w.r.store.opts.RT, first.Key, wait) {
		return nil
	}
	resolve, order := map[kv.TxnID]*kv.ResolveRequest{}, []*kv.ResolveRequest{}
	asked := map[kv.TxnID]*kv.TxnStatus{}
	for i := range conflicts {
		c := &conflicts[i]
		id := c.Intent.Txn
		w.met[id] = true
		st := asked[id]
		if st == nil {
			var kerr *kv.Error
			if st, kerr = w.push(c); kerr != nil {
				return kerr
			}
			if st == nil {
				continue // could not be asked: try again
			}
			asked[id] = st
		}
		switch {
		case st.State != kv.Pending:
			q := resolve[id]
			if q == nil {
				q = &kv.ResolveRequest{Txn: id, Status: *st}
				resolve[id] = q
				order = append(order, q)
			}
			q.Keys = append(q.Keys, c.Key)
		case c.Kind == kv.PushTimestamp && c.To.Less(st.CommitTS):
			w.pushed[id] = st.CommitTS
		case c.Yield:
			e := kv.Errorf(kv.ErrRefresh, "transaction %s is writing what was read", id)
			e.Key = c.Key
			return e
		}
	}
	for _, q := range order {
		// Whatever comes of it, the next evaluation sees.
		w.r.attempt(&kv.Request{Range: w.r.id, Resolve: q}, nil)
	}
	return nil
}

// push asks for the transaction's state; nil: not now.
func (w *obstacles) push(c *eval.Conflict) (*kv.TxnStatus, *kv.Error) {
	if w.r.store.opts.RT.Now() >= w.end {
		e := kv.Errorf(kv.ErrConflict, "transaction %s was in the way for %s", c.Intent.Txn, w.r.store.opts.RequestLimit)
		e.Key = c.Key
		return nil, e
	}
	if w.r.store.opts.Push == nil {
		return nil, kv.Errorf(kv.ErrConflict, "transaction %s is in the way, and nobody can be asked about it", c.Intent.Txn)
	}
	w.r.store.opts.Metrics.Pushes.Inc()
	st, err := w.r.store.opts.Push(&kv.PushRequest{
		Txn: c.Intent.Txn, Start: c.Intent.Start, Anchor: c.Intent.Anchor, Laid: c.Intent.Laid, Kind: c.Kind,
		Pusher: w.txn, PusherStart: w.start, To: c.To,
	})
	if err != nil {
		w.r.log.Debug("push", "txn", c.Intent.Txn, "err", err)
		return nil, nil
	}
	return st, nil
}

// intentWaits are requests that wait for an intent to go, by its key.
type intentWaits struct {
	mu    sync.Mutex
	byKey map[string]rt.Signal
}

// wait waits for the intent on a key to be removed, and reports whether it was.
func (iw *intentWaits) wait(r rt.Runtime, k kv.Key, limit time.Duration) bool {
	iw.mu.Lock()
	if iw.byKey == nil {
		iw.byKey = map[string]rt.Signal{}
	}
	s := iw.byKey[string(k)]
	if s == nil {
		s = r.NewSignal()
		iw.byKey[string(k)] = s
	}
	iw.mu.Unlock()
	if s.Wait(limit) {
		return true
	}
	iw.mu.Lock()
	defer iw.mu.Unlock()
	if iw.byKey[string(k)] == s {
		delete(iw.byKey, string(k)) // others that wait on it time out by themselves
	}
	return false
}

// removed wakes who waits for intents on keys.
func (iw *intentWaits) removed(ks []kv.Key) {
	if len(ks) == 0 {
		return
	}
	iw.mu.Lock()
	defer iw.mu.Unlock()
	for _, k := range ks {
		if s := iw.byKey[string(k)]; s != nil {
			delete(iw.byKey, string(k))
			s.Fire()
		}
	}
}
