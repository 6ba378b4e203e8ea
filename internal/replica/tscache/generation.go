package tscache

import (
	"bytes"
	"slices"

	"github.com/google/btree"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// generation holds reads of single keys in a map, and reads of spans as a step function over the key space: each step
// runs from its key to the next step's, the last one (a zero read) to the end. A scan of a span that was scanned before
// at lower timestamps replaces all steps within it, so scans repeated over the same spans stay a few steps.
// Invariant: two neighbouring steps differ.
type generation struct {
	points map[string]*read
	steps  *btree.BTreeG[step]
	max    clock.Timestamp
	bytes  int
}

type step struct {
	from kv.Key
	read
}

// What a map entry and a tree item take beside the key, roughly.
const overhead = 96

func newGeneration() *generation {
	return &generation{
		points: map[string]*read{},
		steps:  btree.NewG(16, func(a, b step) bool { return bytes.Compare(a.from, b.from) < 0 }),
	}
}

func (g *generation) addPoint(k kv.Key, r read) {
	g.max = g.max.Forward(r.ts)
	if p := g.points[string(k)]; p != nil {
		*p = p.join(r)
		return
	}
	first := r // so that r itself stays off the heap
	g.points[string(k)] = &first
	g.bytes += len(k) + overhead
}

func (g *generation) getPoint(k kv.Key) read {
	r := g.stepAt(k).read
	if p := g.points[string(k)]; p != nil {
		r = r.join(*p)
	}
	return r
}

// stepAt is the step that the key lies in; the zero step if it lies before all.
func (g *generation) stepAt(k kv.Key) (at step) {
	g.steps.DescendLessOrEqual(step{from: k}, func(s step) bool {
		at = s
		return false
	})
	return at
}

func (g *generation) getSpan(s kv.Span) read {
	if s.Empty() {
		return read{}
	}
	r := g.stepAt(s.Start).read
	g.steps.AscendRange(step{from: s.Start}, step{from: s.End}, func(st step) bool {
		r = r.join(st.read)
		return true
	})
	for k, p := range g.points { // join does not depend on the order
		if k >= string(s.Start) && k < string(s.End) {
			r = r.join(*p)
		}
	}
	return r
}

// above appends what was read above a timestamp.
func (g *generation) above(low clock.Timestamp, to []Mark) []Mark {
	if g.max.LessEq(low) {
		return to
	}
	for k, p := range g.points {
		if low.Less(p.ts) {
			to = append(to, Mark{kv.Point(kv.Key(k)), p.ts})
		}
	}
	var before step
	g.steps.Ascend(func(st step) bool {
		if low.Less(before.ts) {
			to = append(to, Mark{kv.Span{Start: slices.Clone(before.from), End: slices.Clone(st.from)}, before.ts})
		}
		before = st
		return true
	})
	return to
}

// addSpan raises the function on [Start, End): it collects what the steps there become, then puts those in their place.
func (g *generation) addSpan(s kv.Span, r read) {
	g.max = g.max.Forward(r.ts)
	first := g.stepAt(s.Start)
	within := []step{{s.Start, first.read.join(r)}}
	last := first.read // the value just before End
	var gone []step
	g.steps.AscendRange(step{from: s.Start}, step{from: s.End}, func(st step) bool {
		gone = append(gone, st)
		last = st.read
		now := step{st.from, st.read.join(r)}
		if now.from.Equal(s.Start) {
			within[0] = now
		} else if now.read != within[len(within)-1].read {
			within = append(within, now)
		}
		return true
	})
	if len(gone) == len(within) && slices.EqualFunc(gone, within, func(a, b step) bool {
		return a.read == b.read && a.from.Equal(b.from)
	}) && g.steps.Has(step{from: s.End}) {
		return // nothing is raised
	}
	for _, st := range gone {
		g.steps.Delete(st)
		g.bytes -= len(st.from) + overhead
	}
	for _, st := range within {
		g.put(st)
	}
	if !g.steps.Has(step{from: s.End}) {
		g.put(step{s.End, last})
	}
	g.merge(s.Start)
	g.merge(s.End)
}

func (g *generation) put(st step) {
	st.from = slices.Clone(st.from)
	g.steps.ReplaceOrInsert(st)
	g.bytes += len(st.from) + overhead
}

// merge removes the step at a key if it equals the one before it.
func (g *generation) merge(k kv.Key) {
	st, ok := g.steps.Get(step{from: k})
	if !ok {
		return
	}
	var before read
	g.steps.DescendLessOrEqual(st, func(s step) bool {
		if s.from.Equal(k) {
			return true
		}
		before = s.read
		return false
	})
	if before == st.read {
		g.steps.Delete(st)
		g.bytes -= len(k) + overhead
	}
}
