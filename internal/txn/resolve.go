package txn

import (
	"context"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// The intents of a large transaction are resolved by the spans that hold them: each range does some hundred at a time and
// answers what is left of its part, so that others get in between. All ranges are asked in parallel.

// maxResolveFailures is how many rounds in a row may bring nothing before resolving is given up. The collector of records
// begins again a minute later, and whoever meets an intent resolves that.
const maxResolveFailures = 3

// large resolves a finished transaction's intents in a task of its own.
func (c *cleanup) large(j job) {
	c.tasks.Go("txn-resolve-spans", func() {
		outcome := "resolved"
		if err := c.db.Resolve(&kv.ResolveRequest{Txn: j.txn, Status: j.status, Spans: j.spans}); err != nil {
			outcome = "left"
			c.db.log.Info("the intents of a large transaction are not all resolved: the collector of records will go on", "txn", j.txn.String(), "err", err)
		}
		c.db.m.Cleanups.WithLabelValues(outcome).Inc()
	})
}

// Resolve makes a finished transaction's intents go, in whatever ranges they are.
func (db *DB) Resolve(q *kv.ResolveRequest) error {
	rest := []kv.ResolveRequest{*q}
	for failures := 0; len(rest) > 0; {
		if db.cleanup.closed.Load() {
			return kv.Errorf(kv.ErrUnavailable, "the node is stopping")
		}
		reqs := make([]route.Addressed, len(rest))
		for i := range rest {
			reqs[i] = route.Addressed{Request: kv.Request{Resolve: &rest[i]}}
		}
		ctx := route.WithDeadline(context.Background(), db.o.RT.Now()+cleanupLimit)
		var more []kv.ResolveRequest
		var failure error
		progress := false
		for _, res := range db.o.Router.Spread(ctx, reqs) {
			switch {
			case res.Err != nil:
				failure = res.Err
				part := rest[res.Index]
				if sent := res.Request.Resolve; sent != nil {
					part = *sent
				}
				more = append(more, part)
			case res.Response.Resolve != nil && len(res.Response.Resolve.More) > 0:
				progress = true
				more = append(more, kv.ResolveRequest{Txn: q.Txn, Status: q.Status, Spans: res.Response.Resolve.More})
			default:
				progress = true
			}
		}
		if failures++; progress {
			failures = 0
		}
		if failures >= maxResolveFailures {
			return failure
		}
		rest = more
	}
	return nil
}
