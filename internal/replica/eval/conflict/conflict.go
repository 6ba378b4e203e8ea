// Package conflict is what a request does about the intents in its way: it waits a little, since most transactions are
// about to finish; then it asks the transaction's record, has finished ones resolved, and tries again.
//
//	W1  A request registers (Watch) while it still holds the latches under which it found the intent, so that it cannot
//	    miss the removal; it blocks (Clear) only after it has released them.
//	W2  Among writers the older wins: it aborts the younger, the younger waits. Who waits for whom is so ordered by age,
//	    and there are no deadlocks. Readers wait for no one but the record's range.
//	W3  Every wait ends: a writer gives up with ErrWaited after Options.Limit, or its own limit, as does whoever cannot
//	    reach the record.
//	W4  A transaction is passed over only if its record, asked after the intent was met, said pending, and it is bound
//	    to commit above the read; or if it is known, from whenever, not to commit at or below the read's limit (push.go).
//	    One whose record is staged is neither: it may be committed.
//	W5  What is decided stays so: a read may take the intents of a decided transaction for what they will become, and that a
//	    transaction is decided need be asked once.
//	W6  A request that has met many intents of a decided transaction, and cannot read through them, has all of them resolved
//	    that lie in what is left of its spans, and not as many as one evaluation reports.
//
//	evaluate ─▶ intents in the way ─▶ Watch, release latches ─▶ Clear: wait ─▶ push ─┬─ finished: resolve ───▶ again
//	    ▲                                                                            ├─ pushed: pass over ───▶ again
//	    └───────────────────────────────────────────────────────────────────── pending, staged: wait longer, push
package conflict

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/eval"
	"github.com/longitude-db/longitude/internal/rt"
)

// Options of a range's Waits.
type Options struct {
	RT rt.Runtime
	// Pushes are the node's: they ask the range of a transaction's record, and may block.
	Pushes *Pushes
	// Resolve makes intents of this range go, as the status says. It may block, and takes the latches itself. With spans it may
	// leave a part.
	Resolve func(*kv.ResolveRequest) error
	// Behind is told of many intents in these spans that a read has read through: perhaps no other process resolves them. coord
	// is the process that should. It does not block. Nil: no process is told.
	Behind func(q *kv.ResolveRequest, coord kv.Process)

	// First is the wait before the first push; default 5 ms. Shorter: more pushes that were not needed. Longer: more
	// latency where coordinators are gone.
	First time.Duration
	// Limit bounds the time that one request spends on others in all; default 10 s.
	Limit time.Duration
	// Through is how many intents of a decided transaction a read meets at least before it reads them as what they will become
	// instead of resolving them (W5); default 32. Fewer: less work for readers, and more is left to others.
	Through int
	// Patience is how long a refresh that may not push waits for an older transaction; default 50 ms.
	Patience time.Duration
}

const (
	recheck     = time.Second            // after which a request is evaluated again in any case: its range may have gone
	maxWait     = 100 * time.Millisecond // between pushes of one transaction
	maxParallel = 16                     // pushes under way for one request
)

// Waits are the requests of one range that wait for intents.
type Waits struct {
	o  Options
	mu sync.Mutex
	on map[string][]rt.Signal // by key; fired when the intent there goes
}

// New makes an empty Waits.
func New(o Options) *Waits {
	for _, d := range []struct {
		p     *time.Duration
		value time.Duration
	}{{&o.First, 5 * time.Millisecond}, {&o.Limit, 10 * time.Second}, {&o.Patience, 50 * time.Millisecond}} {
		if *d.p == 0 {
			*d.p = d.value
		}
	}
	if o.Through == 0 {
		o.Through = 32
	}
	return &Waits{o: o, on: map[string][]rt.Signal{}}
}

// Released wakes who waits for the intents on these keys: see eval.Result.Released.
func (w *Waits) Released(ks []kv.Key) {
	var fire []rt.Signal
	w.mu.Lock()
	for _, k := range ks {
		fire = append(fire, w.on[string(k)]...)
		delete(w.on, string(k))
	}
	w.mu.Unlock()
	for _, s := range fire {
		s.Fire()
	}
}

// Waiting counts the waits registered.
func (w *Waits) Waiting() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.on {
		n += len(l)
	}
	return n
}

// Request is one request over all its evaluations. It is used by one task.
type Request struct {
	// Pushed and Finished go into eval.Env.
	Pushed   map[kv.TxnID]clock.Timestamp
	Finished map[kv.TxnID]kv.TxnStatus

	w       *Waits
	who     eval.Who
	reads   bool // plainly: others could not do with Finished
	spans   []kv.Span
	begun   time.Duration
	limit   time.Duration
	waiting []*group
}

// group is the conflicts with one transaction.
type group struct {
	eval.Conflict // the first; To and Kind are those that ask for most
	keys          []kv.Key
	gone          rt.Signal // fires when the first intent goes
}

// Request begins one.
func (w *Waits) Request(q *kv.Request) *Request {
	limit := w.o.Limit
	if q.Write != nil && q.Write.Wait > 0 {
		limit = min(limit, q.Write.Wait)
	}
	r := &Request{w: w, who: eval.Requester(q), reads: q.Read != nil && q.Read.Lock == nil, begun: w.o.RT.Now(), limit: limit,
		Pushed: map[kv.TxnID]clock.Timestamp{}}
	switch {
	case q.Read != nil:
		r.spans = q.Read.Spans
	case q.Refresh != nil:
		r.spans = q.Refresh.Spans
	}
	return r
}

// from is what is left of the request's spans at the first of these keys. An evaluation goes through them in order.
func (r *Request) from(ks []kv.Key) (left []kv.Span) {
	first := slices.MinFunc(ks, kv.Key.Compare)
	for _, s := range r.spans {
		if s.Start.Less(first) {
			s.Start = first
		}
		if !s.Empty() {
			left = append(left, s)
		}
	}
	return left
}

// Watch takes the conflicts that an evaluation reported. It does not block (W1).
func (r *Request) Watch(list []eval.Conflict) {
	r.waiting = nil
	byTxn := map[kv.TxnID]*group{}
	for _, c := range list {
		g := byTxn[c.Intent.Txn]
		if g == nil {
			g = &group{Conflict: c, gone: r.w.o.RT.NewSignal()}
			byTxn[c.Intent.Txn] = g
			r.waiting = append(r.waiting, g)
		}
		g.keys = append(g.keys, c.Key)
		g.Intent.Laid = max(g.Intent.Laid, c.Intent.Laid)
		if g.Intent.TS.Less(c.Intent.TS) {
			g.Intent.TS = c.Intent.TS // the transaction commits at or above all of them
		}
		if c.Kind > g.Kind {
			g.Kind, g.Yield = c.Kind, c.Yield
		}
		g.To, g.Limit = g.To.Forward(c.To), g.Limit.Forward(c.Limit)
	}
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	for _, g := range r.waiting {
		k := string(g.Key)
		r.w.on[k] = append(r.w.on[k], g.gone)
	}
}

// Clear does what it can about the conflicts, and returns nil when the request is to be evaluated again.
func (r *Request) Clear() error {
	defer r.forget()
	entered := r.w.o.RT.Now()
	left := r.passOver()
	if len(left) == 0 {
		return nil
	}
	if !r.w.o.Pushes.lasting(left[0].Intent.Laid) {
		left[0].gone.Wait(rt.Jitter(r.w.o.RT, r.w.o.First))
	}
	for wait := r.w.o.First; ; {
		pending, err := r.round()
		if err != nil || len(pending) == 0 {
			return err
		}
		waited := r.w.o.RT.Now() - r.begun
		for _, g := range pending {
			if g.Yield && waited >= r.w.o.Patience {
				return &kv.Error{Code: kv.ErrRefresh, Key: g.Key, TS: g.Intent.TS,
					Msg: fmt.Sprintf("an older transaction, %s, is writing there", g.Intent.Txn)}
			}
		}
		if waited >= r.limit {
			return r.tooLong(pending[0], waited)
		}
		wait = min(2*wait, maxWait)
		if pending[0].gone.Wait(rt.Jitter(r.w.o.RT, wait)) || r.w.o.RT.Now()-entered >= recheck {
			return nil
		}
	}
}

// Glance asks once about the transactions in the way, has those that are decided resolved, and returns the keys where others
// are not: for requests that do not wait.
func (r *Request) Glance() (held []kv.Key, err error) {
	defer r.forget()
	pending, err := r.round()
	for _, g := range pending {
		held = append(held, g.keys...)
	}
	return held, err
}

// passOver passes over what it is known that it may be passed over, without asking, and returns the rest.
func (r *Request) passOver() (left []*group) {
	for _, g := range r.waiting {
		if r.manyOf(g) {
			if st := r.w.o.Pushes.decided(g.Intent.Txn); st != nil { // W5
				r.readThrough(g, st)
				continue
			}
		}
		if g.Kind == kv.PushTimestamp {
			if floor, ok := r.w.o.Pushes.known(g.Intent.Txn, g.Limit); ok {
				r.Pushed[g.Intent.Txn] = floor // W4
				g.gone.Fire()
				continue
			}
		}
		left = append(left, g)
	}
	return left
}

// round pushes every transaction once and returns those that are still in the way.
func (r *Request) round() (pending []*group, err error) {
	var ask []*group
	for _, g := range r.waiting {
		if !g.gone.Fired() {
			ask = append(ask, g)
		}
	}
	answers := r.pushAll(ask)
	for i, g := range ask {
		a := answers[i]
		switch {
		case a.err != nil:
			if err := r.unreachable(g, a.err); err != nil {
				return nil, err
			}
			pending = append(pending, g)
		case a.status.State.Final() && r.manyOf(g):
			r.w.o.Pushes.remember(g.Intent.Txn, a.status)
			r.readThrough(g, a.status)
			if r.w.o.Behind != nil {
				r.w.o.Behind(&kv.ResolveRequest{Txn: g.Intent.Txn, Status: *a.status, Spans: r.from(g.keys)}, g.Intent.Coord)
			}
		case a.status.State.Final():
			q := &kv.ResolveRequest{Txn: g.Intent.Txn, Status: *a.status, Keys: g.keys}
			if len(g.keys) >= r.w.o.Through {
				q.Spans = r.from(g.keys) // W6
				q.Keys = slices.DeleteFunc(slices.Clone(g.keys), func(k kv.Key) bool {
					return slices.ContainsFunc(q.Spans, func(s kv.Span) bool { return s.Contains(k) })
				})
			}
			if err := r.w.o.Resolve(q); err != nil {
				return nil, err
			}
			g.gone.Fire()
		case a.status.State == kv.Pending && g.Kind != kv.PushAbort && g.To.Less(a.status.CommitTS): // W4
			r.Pushed[g.Intent.Txn] = a.status.CommitTS
			g.gone.Fire()
		default:
			pending = append(pending, g)
		}
	}
	return pending, nil
}

type answer struct {
	status *kv.TxnStatus
	err    error
}

func (r *Request) pushAll(ask []*group) []answer {
	answers := make([]answer, len(ask))
	push := func(i int) {
		g := ask[i]
		answers[i].status, answers[i].err = r.w.o.Pushes.ask(&kv.PushRequest{
			Txn: g.Intent.Txn, Start: g.Intent.Start, Anchor: g.Intent.Anchor, Laid: g.Intent.Laid, Coord: g.Intent.Coord, TS: g.Intent.TS,
			Kind: g.Kind, Pusher: r.who.Txn, PusherStart: r.who.Start, To: g.To}, g.Limit, r.w.o.Limit)
	}
	if len(ask) == 1 {
		push(0)
		return answers
	}
	for first := 0; first < len(ask); first += maxParallel {
		tasks := rt.NewGroup(r.w.o.RT)
		for i := first; i < min(first+maxParallel, len(ask)); i++ {
			tasks.Go("push", func() { push(i) })
		}
		tasks.Wait(rt.Forever) // Push has a limit of its own
	}
	return answers
}

// manyOf reports whether the request reads through a transaction's intents, if that is decided.
func (r *Request) manyOf(g *group) bool {
	return r.reads && len(g.keys) >= r.w.o.Through && !r.throughs(g.Intent.Txn)
}

func (r *Request) readThrough(g *group, st *kv.TxnStatus) {
	if r.Finished == nil {
		r.Finished = map[kv.TxnID]kv.TxnStatus{}
	}
	r.Finished[g.Intent.Txn] = *st // W5
	g.gone.Fire()
}

// throughs reports whether the request reads through the intents of a transaction already. If it meets them all the same it
// is of a kind that cannot.
func (r *Request) throughs(id kv.TxnID) bool {
	_, ok := r.Finished[id]
	return ok
}

// unreachable decides about a push that failed: it is tried again until the request's time is up.
func (r *Request) unreachable(g *group, err error) error {
	waited := r.w.o.RT.Now() - r.begun
	if waited < r.limit {
		return nil
	}
	return kv.Errorf(kv.ErrUnavailable, "transaction %s is in the way at %s, and its record cannot be reached for %s: %s",
		g.Intent.Txn, g.Key, waited.Round(time.Millisecond), err)
}

func (r *Request) tooLong(g *group, waited time.Duration) error {
	return &kv.Error{Code: kv.ErrWaited, Key: g.Key,
		Msg: fmt.Sprintf("waited %s for transaction %s, which is older and not finished", waited.Round(time.Millisecond), g.Intent.Txn)}
}

// forget takes the request's signals out of the queues.
func (r *Request) forget() {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	for _, g := range r.waiting {
		k := string(g.Key)
		list := r.w.on[k]
		for i, s := range list {
			if s == g.gone {
				list = append(list[:i], list[i+1:]...)
				break
			}
		}
		if len(list) == 0 {
			delete(r.w.on, k)
		} else {
			r.w.on[k] = list
		}
	}
}
