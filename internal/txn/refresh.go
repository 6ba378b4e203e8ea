package txn

import (
	"cmp"
	"context"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// refreshRequest asks all ranges that hold the spans whether reads at from would have read the same at to.
func (t *Txn) refreshRequest(spans []kv.Span, from, to clock.Timestamp) route.Addressed {
	return route.Addressed{Request: kv.Request{Refresh: &kv.RefreshRequest{Txn: t.id, Start: t.age, From: from, To: to, Spans: spans}}}
}

// firm asks whether what was read is the same in all of (from, to], up to from it is known to be, and tells the ranges of
// spans that the transaction may commit as high as to (X5). Both go out in one round; told is what became of the second. r stays.
func (t *Txn) firm(ctx context.Context, from, to clock.Timestamp, spans []kv.Span) (told bool, err error) {
	t.mu.Lock()
	read := t.reads.list()
	t.mu.Unlock()
	if !from.Less(to) || t.db.o.Unsafe.SkipRefresh {
		read = nil
	}
	var reqs []route.Addressed
	if len(read) > 0 {
		reqs = append(reqs, t.refreshRequest(read, from, to))
	}
	if told = len(spans) == 0; !told {
		reqs = append(reqs, t.word(spans, to))
	}
	if len(reqs) == 0 {
		return true, nil
	}
	var refused, silent *kv.Error
	for _, res := range t.db.o.Router.Spread(ctx, reqs) {
		switch {
		case res.Err == nil:
		case len(read) > 0 && res.Index == 0:
			refused = cmp.Or(refused, res.Err)
		default:
			silent = cmp.Or(silent, res.Err)
		}
	}
	if len(read) > 0 {
		outcome := "ok"
		if refused != nil {
			outcome = "failed"
		}
		t.db.m.Refreshes.WithLabelValues(outcome).Inc()
	}
	if e := cmp.Or(refused, silent); e != nil {
		return silent == nil, e
	}
	return true, nil
}

// holds is firm about what was read alone.
func (t *Txn) holds(ctx context.Context, from, to clock.Timestamp) error {
	_, err := t.firm(ctx, from, to, nil)
	return err
}

// word tells ranges of a commit timestamp that they have not heard of.
func (t *Txn) word(spans []kv.Span, c clock.Timestamp) route.Addressed {
	note := t.refreshRequest(spans, c, c)
	note.Request.Refresh.Note = true
	return note
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
