package txn

import (
	"slices"

	"github.com/longitude-db/longitude/internal/kv"
)

// maxReadSpans is how many spans a transaction remembers one by one. Beyond that neighbours are joined over what lies
// between them: a refresh may then fail for a key that was not read, but never succeed for one that has changed.
const maxReadSpans = 4096

// readSet is what a transaction has read, all of it at its r.
type readSet struct {
	spans []kv.Span
	limit int // maxReadSpans unless a test says otherwise
}

func (s *readSet) add(spans ...kv.Span) {
	for _, sp := range spans {
		if sp.Empty() {
			continue
		}
		if n := len(s.spans); n > 0 && s.spans[n-1].ContainsSpan(sp) {
			continue
		}
		s.spans = append(s.spans, sp)
	}
	limit := s.limit
	if limit == 0 {
		limit = maxReadSpans
	}
	if len(s.spans) <= limit {
		return
	}
	s.spans = join(s.spans)
	for len(s.spans) > limit/2+1 {
		out := s.spans[:0]
		for i := 0; i < len(s.spans); i += 2 {
			sp := s.spans[i]
			if i+1 < len(s.spans) {
				sp.End = s.spans[i+1].End
			}
			out = append(out, sp)
		}
		s.spans = out
	}
}

// remove takes a key out.
func (s *readSet) remove(k kv.Key) { s.spans = without(s.spans, []kv.Key{k}) }

// join sorts spans and unites those that touch.
func join(spans []kv.Span) []kv.Span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b kv.Span) int { return a.Start.Compare(b.Start) })
	out := spans[:0]
	for _, sp := range spans {
		if n := len(out); n > 0 && !out[n-1].End.Less(sp.Start) {
			if out[n-1].End.Less(sp.End) {
				out[n-1].End = sp.End
			}
			continue
		}
		out = append(out, sp)
	}
	return out
}

// list returns the spans in order, without overlaps.
func (s *readSet) list() []kv.Span { return join(s.spans) }

// clip returns the parts inside a range, and whether there are others.
func (s *readSet) clip(to kv.Span) (inside []kv.Span, outside bool) {
	for _, sp := range s.list() {
		if !to.ContainsSpan(sp) {
			outside = true
		}
		if !to.Overlaps(sp) {
			continue
		}
		if sp.Start.Less(to.Start) {
			sp.Start = to.Start
		}
		if to.End.Less(sp.End) {
			sp.End = to.End
		}
		inside = append(inside, sp)
	}
	return inside, outside
}
