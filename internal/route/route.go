// Package route knows which range holds a key and who leads it, and gets requests there.
//
//	O1  What route remembers is only a guess at where to ask. A range checks its own bounds and lease, so a wrong guess
//	    costs a round trip and never a wrong answer.
//	O2  Of two descriptors that overlap, the one with the higher generation is the newer. The cache never goes back.
//	O3  A request is sent again, to whichever replica, until it is answered or its time is up. That is safe because the
//	    ranges execute a resent request at most once (package kv). If the last word is silence, the error says whether
//	    the request may have been executed (ErrAmbiguous) or was not (ErrUnavailable).
//	O4  A node never calls itself over the network: its own ranges are reached through Options.Local.
//
// A request for keys of several ranges is cut into pieces, one per range (Spread). The pieces for one node travel in one
// batch, the nodes are asked in parallel. When a range turns out to have been split, its piece is cut again.
package route

import (
	"context"
	"log/slog"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// Options of a Router.
type Options struct {
	RT   rt.Runtime
	Node kv.NodeID // this node: reached through Local
	// Local executes a batch on this node. Nil: the router belongs to no node, and everything goes over the Transport.
	Local     func(*kv.Batch) *kv.BatchReply
	Transport kv.Transport
	// Now reads the clock: swaps of unversioned keys say when they were first sent.
	Now func() (clock.Interval, error)
	// FirstRange is the range that holds meta, as far as is known (nil: not yet). It is where every lookup begins.
	FirstRange func() *kv.RangeDescriptor
	// Alive says whether a node was heard of lately. Nodes that were not are asked last, and an answer from them is
	// waited for no longer. Nil: all are alive.
	Alive func(kv.NodeID) bool
	// ClosesIn is how long this node's replica of a range will need, it seems, until it can serve a read at a timestamp as the
	// leaseholder would; false: that cannot be told. Nil: reads of the present go to leaseholders.
	ClosesIn func(kv.RangeID, clock.Timestamp) (time.Duration, bool)
	// Limit is how long a request is tried if its context has no earlier deadline (see WithDeadline). Default 20 s.
	Limit time.Duration
	// CallLimit is how long one answer is waited for. A range may let a request wait for other transactions for about
	// 10 s, and gives up by itself then; a shorter limit here only makes it wait twice. Default 12 s.
	CallLimit time.Duration
	Metrics   *Metrics
	Log       *slog.Logger
}

// Router sends requests to the ranges that hold their keys. It is used by any number of tasks.
type Router struct {
	o      Options
	cache  *cache
	flight *flights
	trips  trips
	m      *Metrics
	log    *slog.Logger
}

// New makes a router.
func New(o Options) *Router {
	if o.Limit <= 0 {
		o.Limit = 20 * time.Second
	}
	if o.CallLimit <= 0 {
		o.CallLimit = 12 * time.Second
	}
	alive := o.Alive
	o.Alive = func(n kv.NodeID) bool { return alive == nil || n == o.Node || alive(n) }
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Router{o: o, cache: newCache(), flight: newFlights(o.RT), m: o.Metrics, log: o.Log}
}

// Addressed is a request and where it goes.
type Addressed struct {
	// Key says which range is asked. Nil: it is taken from the request (first key, or the anchor of a record).
	Key     kv.Key
	Request kv.Request
	// Prepare, if set, completes the request for the node that it is about to be sent to, before each sending. It gets
	// a copy of Request of its own, and replaces what it changes behind the pointers. It runs in the caller's task.
	Prepare func(node kv.NodeID, req *kv.Request)
}

// Result is the outcome of one request, or of one piece of it.
type Result struct {
	Index   int        // of the request among those given
	Request kv.Request // as it was sent; with Spread, the piece
	Node    kv.NodeID  // that answered
	// Response is set if Err is nil.
	Response *kv.Response
	Err      *kv.Error
	// Maybe: some sending of this request was not answered, so it may have been executed, whatever Err says.
	Maybe bool
}

// Do sends one request to the range that holds the key. A nil key is taken from the request.
func (r *Router) Do(ctx context.Context, key kv.Key, req kv.Request) (*kv.Response, error) {
	res := r.DoMany(ctx, []Addressed{{Key: key, Request: req}})[0]
	if res.Err != nil {
		return nil, res.Err
	}
	return res.Response, nil
}

// DoMany sends requests to the ranges that hold their keys, all at once, and returns one result for each, in order.
// A request whose keys turn out to lie in several ranges fails with ErrRangeMismatch: see Spread.
func (r *Router) DoMany(ctx context.Context, reqs []Addressed) []Result {
	e := engine{r: r, ctx: ctx, deadline: r.deadline(ctx)}
	e.items = e.few.items[:0]
	for i := range reqs {
		e.items = append(e.items, newItem(i, reqs[i]))
	}
	e.run()
	return e.results()
}

// Spread is DoMany for requests whose keys may lie in any number of ranges: reads, refreshes, intents and resolves are
// cut into one piece per range, and there is a result for each piece. Pieces of one request come in the order in which
// their ranges were met. Other requests go where their key is.
func (r *Router) Spread(ctx context.Context, reqs []Addressed) []Result {
	e := engine{r: r, ctx: ctx, deadline: r.deadline(ctx), spread: true}
	e.items = e.few.items[:0]
	for i := range reqs {
		e.cut(newItem(i, reqs[i]))
	}
	e.run()
	return e.results()
}
