package eval

import (
	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/latch"
)

// Latches returns what a request has to hold while it is evaluated. Admin requests are not evaluated and have none.
func Latches(q *kv.Request) (out []latch.Latch) {
	switch {
	case q.Read != nil:
		out = make([]latch.Latch, 0, len(q.Read.Keys)+len(q.Read.Spans))
		limit := q.Read.Limit.Forward(q.Read.MaxLimit)
		if q.Read.Lock != nil {
			limit = clock.Timestamp{} // it looks at the newest versions, however new
		}
		for _, k := range q.Read.Keys {
			out = append(out, latch.Read(k, limit))
		}
		for _, s := range q.Read.Spans {
			out = append(out, latch.Latch{Span: s, TS: limit})
		}
	case q.Refresh != nil: // a word (Note), too: see serving without latches in docs/replication.md
		for _, s := range q.Refresh.Spans {
			out = append(out, latch.Latch{Span: s, TS: q.Refresh.To})
		}
	case q.Write != nil:
		out = make([]latch.Latch, 0, len(q.Write.Puts)+len(q.Write.Refresh)+1)
		for i := range q.Write.Puts {
			out = append(out, latch.Write(q.Write.Puts[i].Key, q.Write.CommitTS))
		}
		if q.Write.OnePhase {
			for _, s := range q.Write.Refresh {
				out = append(out, latch.Latch{Span: s}) // how high it will look is not known yet
			}
			out = append(out, recordLatch(q.Write.Anchor, q.Write.Txn))
		}
	case q.Resolve != nil:
		for _, k := range q.Resolve.Keys {
			out = append(out, latch.Write(k, clock.Timestamp{}))
		}
	case q.EndTxn != nil:
		out = append(out, recordLatch(q.EndTxn.Anchor, q.EndTxn.Txn))
	case q.Push != nil:
		out = append(out, recordLatch(q.Push.Anchor, q.Push.Txn))
	case q.Query != nil:
		for _, k := range q.Query.Keys {
			out = append(out, latch.Read(k, q.Query.TS))
		}
	case q.Recover != nil:
		out = append(out, recordLatch(q.Recover.Push.Anchor, q.Recover.Push.Txn))
	case q.Heartbeat != nil:
		out = append(out, recordLatch(q.Heartbeat.Anchor, q.Heartbeat.Txn))
	case q.Inline != nil && q.Inline.Swap:
		out = append(out, latch.Write(q.Inline.Key, clock.Timestamp{}), recordLatch(q.Inline.Key, q.Inline.ID))
	case q.Inline != nil:
		out = append(out, latch.Latch{Span: q.Inline.Span})
	}
	return out
}

func recordLatch(anchor kv.Key, id kv.TxnID) latch.Latch {
	return latch.Write(keys.Record(anchor, id), clock.Timestamp{})
}

// InBounds reports whether all that a request touches lies in the range.
func InBounds(d *kv.RangeDescriptor, q *kv.Request) bool {
	in := true
	key := func(k kv.Key) { in = in && d.Span.Contains(k) }
	span := func(s kv.Span) { in = in && (s.Empty() || d.Span.ContainsSpan(s)) }
	switch {
	case q.Read != nil:
		each(q.Read.Keys, key)
		each(q.Read.Spans, span)
	case q.Refresh != nil:
		each(q.Refresh.Spans, span)
	case q.Write != nil:
		for i := range q.Write.Puts {
			key(q.Write.Puts[i].Key)
		}
		if q.Write.OnePhase {
			key(q.Write.Anchor)
			each(q.Write.Refresh, span)
		}
	case q.EndTxn != nil:
		key(q.EndTxn.Anchor)
	case q.Resolve != nil:
		each(q.Resolve.Keys, key)
		each(q.Resolve.Spans, span)
	case q.Push != nil:
		key(q.Push.Anchor)
	case q.Query != nil:
		each(q.Query.Keys, key)
	case q.Recover != nil:
		key(q.Recover.Push.Anchor)
	case q.Heartbeat != nil:
		key(q.Heartbeat.Anchor)
	case q.Locks != nil:
		key(q.Locks.Key)
	case q.Inline != nil && q.Inline.Swap:
		key(q.Inline.Key)
	case q.Inline != nil:
		span(q.Inline.Span)
	}
	return in
}

func each[T any](list []T, fn func(T)) {
	for _, v := range list {
		fn(v)
	}
}
