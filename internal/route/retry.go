package route

import (
	"context"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

const (
	firstPause = 4 * time.Millisecond
	lastPause  = 100 * time.Millisecond
	// slice is how often a task that waits for an answer looks whether it still makes sense to wait.
	slice = 100 * time.Millisecond
)

// pauseAfter is how long to wait before the next try of a request that has led nowhere for so long: a part of that, so that a
// range that is served again after a failover is found within a part of the time that this took, and a range that is gone for
// long is not asked all the time.
func (r *Router) pauseAfter(failing time.Duration) time.Duration {
	return rt.Jitter(r.o.RT, min(max(failing/pausePart, firstPause), lastPause))
}

// pausePart: a pause is a sixth to a quarter of the time for which the request has failed.
const pausePart = 6

// backoff is how long to wait after the given number of fruitless tries.
func (r *Router) backoff(try int) time.Duration {
	return rt.Jitter(r.o.RT, min(firstPause<<min(try, 10), lastPause))
}

// pause backs off, or says why there is nothing to wait for any more.
func (r *Router) pause(ctx context.Context, try int, deadline time.Duration) *kv.Error {
	if err := r.over(ctx, deadline); err != nil {
		return err
	}
	r.o.RT.Sleep(min(r.backoff(try), deadline-r.o.RT.Now()))
	return nil
}

// over says whether the caller has gone or the time is up.
func (r *Router) over(ctx context.Context, deadline time.Duration) *kv.Error {
	if ctx.Err() != nil {
		return kv.Errorf(kv.ErrUnavailable, "cancelled by the caller")
	}
	if r.o.RT.Now() >= deadline {
		return kv.Errorf(kv.ErrUnavailable, "time is up")
	}
	return nil
}

// call sends a batch to a node and waits for the answer. Nil: none came; then the batch may have been executed, unless
// the answer says otherwise. It gives up early on a node that has gone silent, so that others are tried.
func (r *Router) call(ctx context.Context, n kv.NodeID, b *kv.Batch, deadline time.Duration) *kv.BatchReply {
	r.m.Batches.Inc()
	r.m.Requests.Add(float64(len(b.Requests)))
	if n == r.o.Node && r.o.Local != nil {
		return r.o.Local(b) // O4
	}
	limit := min(r.o.CallLimit, deadline-r.o.RT.Now())
	if limit <= 0 {
		return nil
	}
	fut := rt.NewFuture[*kv.BatchReply](r.o.RT)
	r.o.RT.Go("route-call", func() {
		m, err := r.o.Transport.Call(n, &kv.Message{Batch: b}, limit)
		if err != nil || m == nil {
			fut.Set(nil, nil)
			return
		}
		fut.Set(m.BatchReply, nil)
	})
	began := r.o.RT.Now()
	end := began + limit
	for {
		reply, err := fut.Get(min(slice, end-r.o.RT.Now()))
		if err == nil {
			if reply != nil {
				r.trips.note(n, r.o.RT.Now()-began)
			}
			return reply
		}
		if r.o.RT.Now() >= end || ctx.Err() != nil || !r.o.Alive(n) {
			return nil
		}
	}
}
