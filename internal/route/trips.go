package route

import (
	"context"
	"sync/atomic"
	"time"
)

// Trips counts what requests cost that are sent under a context (WithTrips).
type Trips struct {
	Rounds   atomic.Int64 // batches that are sent at the same time are one round
	Messages atomic.Int64 // batches, those to this node included
}

// scope is what a context says to this package.
type scope struct {
	deadline time.Duration // 0: none
	trips    *Trips
	punctual bool // see WithoutWaiting
}

type scopeKey struct{}

func scopeOf(ctx context.Context) scope {
	s, _ := ctx.Value(scopeKey{}).(*scope)
	if s == nil {
		return scope{}
	}
	return *s
}

// WithDeadline bounds what is done under the context by an instant of the runtime's monotonic time. (A context's own
// deadline would run on the system's clock and on its own goroutine.)
func WithDeadline(ctx context.Context, at time.Duration) context.Context {
	s := scopeOf(ctx)
	if s.deadline != 0 && s.deadline <= at {
		return ctx
	}
	s.deadline = at
	return context.WithValue(ctx, scopeKey{}, &s)
}

// WithNewDeadline is WithDeadline that may also extend: for a part of something long that is bounded by itself.
func WithNewDeadline(ctx context.Context, at time.Duration) context.Context {
	s := scopeOf(ctx)
	s.deadline = at
	return context.WithValue(ctx, scopeKey{}, &s)
}

// WithTrips is WithDeadline, and counts in t what is sent under the context.
func WithTrips(ctx context.Context, at time.Duration, t *Trips) context.Context {
	s := scopeOf(ctx)
	if s.deadline == 0 || at < s.deadline {
		s.deadline = at
	}
	s.trips = t
	return context.WithValue(ctx, scopeKey{}, &s)
}

// WithoutWaiting has a request fail at once with kv.ErrTooEarly if its leaseholder's lease does not reach its timestamp yet. The
// caller may then ask for another timestamp.
func WithoutWaiting(ctx context.Context) context.Context {
	s := scopeOf(ctx)
	s.punctual = true
	return context.WithValue(ctx, scopeKey{}, &s)
}

func (s scope) sent(messages int) {
	if s.trips != nil && messages > 0 {
		s.trips.Rounds.Add(1)
		s.trips.Messages.Add(int64(messages))
	}
}

// Deadline is when requests under a context stop being tried, by the runtime's clock.
func (r *Router) Deadline(ctx context.Context) time.Duration { return r.deadline(ctx) }

// deadline is when requests under this context stop being tried.
func (r *Router) deadline(ctx context.Context) time.Duration {
	at := r.o.RT.Now() + r.o.Limit
	if d := scopeOf(ctx).deadline; d != 0 {
		at = min(at, d)
	}
	return at
}
