package txn

import (
	"context"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// refreshRequest asks all ranges that hold the spans whether reads at from would have read the same at to.
func (t *Txn) refreshRequest(spans []kv.Span, from, to clock.Timestamp) route.Addressed {
	return route.Addressed{Request: kv.Request{Refresh: &kv.RefreshRequest{Txn: t.id, Start: t.age, From: from, To: to, Spans: spans}}}
}

// holds asks whether what was read is the same in all of (from, to], up to from it is known to be. r stays.
func (t *Txn) holds(ctx context.Context, from, to clock.Timestamp) error {
	t.mu.Lock()
	spans := t.reads.list()
	t.mu.Unlock()
	if !from.Less(to) || len(spans) == 0 || t.db.o.Unsafe.SkipRefresh {
		return nil
	}
	for _, res := range t.db.o.Router.Spread(ctx, []route.Addressed{t.refreshRequest(spans, from, to)}) {
		if res.Err != nil {
			t.db.m.Refreshes.WithLabelValues("failed").Inc()
			return res.Err
		}
	}
	t.db.m.Refreshes.WithLabelValues("ok").Inc()
	return nil
}

// refreshTo moves r up to a timestamp, if everything that was read is still so there (X3). Otherwise the attempt is over.
func (t *Txn) refreshTo(ctx context.Context, to clock.Timestamp) error {
	t.mu.Lock()
	from := t.ord.r
	t.mu.Unlock()
	if !from.Less(to) {
		return nil
	}
	if err := t.holds(ctx, from, to); err != nil {
		if e, ok := err.(*kv.Error); ok {
			return t.failed(e)
		}
		return err
	}
	t.mu.Lock()
	t.ord.forward(to)
	t.mu.Unlock()
	return nil
}

// stale ends the attempt because an uncertain version moves r up and something read before has changed since.
func (t *Txn) stale(err *kv.Error, to clock.Timestamp) error {
	t.db.m.Refreshes.WithLabelValues("failed").Inc()
	if !Retryable(err) {
		return err
	}
	t.db.countUncertain(false)
	return t.restart(&kv.Error{Code: kv.ErrUncertain, Key: err.Key, TS: to,
		Msg: "an uncertain version must be read, and something read before it has changed (" + err.Error() + ")"})
}
