package txn

import (
	"bytes"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
)

func said(a *kv.Response) string {
	if a.EndTxn == nil {
		return ""
	}
	return ": " + a.EndTxn.State.String()
}

// describe is the notation of traces.
func describe(q *kv.Request, a *kv.Response) string {
	name := func(k kv.Key) string { return string(bytes.TrimPrefix(k, keys.DataPrefix)) }
	var s string
	switch {
	case q.Read != nil:
		s = "read"
		if q.Read.Groups != nil {
			s = "count"
		}
		for _, k := range q.Read.Keys {
			s += " " + name(k)
		}
		for _, sp := range q.Read.Spans {
			s += " [" + name(sp.Start) + "," + name(sp.End) + ")"
		}
	case q.Refresh != nil:
		s = "refresh"
		if q.Refresh.Note {
			s = "note"
		}
		for _, sp := range q.Refresh.Spans {
			if sp.End.Equal(keys.Next(sp.Start)) {
				s += " " + name(sp.Start)
			} else {
				s += " [" + name(sp.Start) + "," + name(sp.End) + ")"
			}
		}
	case q.Write != nil:
		s = "intents"
		if q.Write.OnePhase {
			s = "one-phase"
		}
		for _, p := range q.Write.Puts {
			s += " " + name(p.Key)
		}
	case q.EndTxn != nil && q.EndTxn.Stage:
		s = "stage record at " + name(q.EndTxn.Anchor)
	case q.Push != nil:
		s = "push" + said(a)
	case q.Query != nil:
		s = "query"
		for _, k := range q.Query.Keys {
			s += " " + name(k)
		}
		if a.Query != nil && len(a.Query.Missing) > 0 {
			s += ": missing"
		}
	case q.Recover != nil:
		s = "recover" + said(a)
	case q.EndTxn != nil && q.EndTxn.Commit:
		s = "commit record at " + name(q.EndTxn.Anchor)
	case q.EndTxn != nil:
		s = "abort record at " + name(q.EndTxn.Anchor)
	case q.Resolve != nil:
		s = "resolve " + q.Resolve.Status.State.String()
		for _, k := range q.Resolve.Keys {
			s += " " + name(k)
		}
	case q.Heartbeat != nil:
		s = "heartbeat"
	case q.Inline != nil:
		return "lookup"
	}
	if a.Err != nil {
		return s + ": " + a.Err.Code.String()
	}
	if a.Read != nil && a.Read.Bumped > 0 {
		s += " (moved up by the leaseholder)"
	}
	return s
}
