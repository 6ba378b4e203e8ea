package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// cycleClass is one class of cycles: which edges it goes over, and of which it needs one.
type cycleClass struct {
	kind        Kind
	first       edgeKind // the cycle begins with one of these
	rest        edgeKind // and comes back over these
	nonadjacent bool     // no two rw edges next to each other
}

// cycleClasses are the classes without suffix, the worst first: what one class finds is no longer looked for in the next.
var cycleClasses = []cycleClass{
	{G0, edgeWW, edgeWW, false},
	{G1c, edgeWR, edgeWW | edgeWR, false},
	{GSingle, edgeRW, edgeWW | edgeWR, false},
	{GNonadjacent, edgeRW, edgeData, true},
	{G2Item, edgeRW, edgeData, false},
}

// orders are what the cycles may need besides: nothing, the order of clients, that of real time.
var orders = []struct {
	suffix string
	kinds  edgeKind
	needs  edgeKind
}{{"", 0, 0}, {Process, edgeProcess, edgeProcess}, {Realtime, edgeProcess | edgeRT, edgeRT}}

// maxSteps bounds the search for short cycles: in a history that is broken through and through most transactions hang
// together, and looking for the shortest cycle through each would take forever. Counted, not timed: a history is always
// judged alike.
const maxSteps = 60_000_000

// cycleFinder looks for cycles in one graph.
type cycleFinder struct {
	*analysis
	g     *graph
	key   bool            // g is byKey
	found [][]int32       // the nodes of each cycle that the model forbids
	known map[string]bool // cycles that have been reported
	// One entry for each state of the search: a node, whether a needed edge was used, and whether the last was rw.
	seen  []int32
	from  []int32
	via   []int32
	round int32
}

// pathEdge is one step of a cycle: from a transaction to the next, past auxiliary nodes.
type pathEdge struct {
	edge       // of its kind, with what a wrote or read (v1) and what b wrote (v2)
	a, b int32 // nodes
}

// cycles finds cycles in the graph, and reports at least one if there are any that the model forbids.
func (a *analysis) cycles(g *graph, key bool) {
	g.sort()
	of, members := g.components(edgeData|edgeProcess|edgeRT, nil)
	if len(members) == 0 {
		return
	}
	n := 4 * len(g.txn)
	s := &cycleFinder{analysis: a, g: g, key: key, known: map[string]bool{}, seen: make([]int32, n), from: make([]int32, n), via: make([]int32, n)}
	for _, o := range orders {
		if key && o.suffix != Realtime {
			continue // those are cycles of the whole graph as well
		}
		for _, q := range cycleClasses {
			q.rest |= o.kinds
			in, ms := g.components(q.first|q.rest, of)
			for i, m := range ms {
				if !s.covered(in, int32(i)) {
					s.findShortest(q, o.needs, in, m)
				}
			}
		}
		if len(s.found) > 0 || !a.model.Forbids(s.withSuffix(G2Item, o.suffix)) {
			continue
		}
		// The search has run out of steps, and there is a cycle nevertheless.
		if in, ms := g.components(edgeData|o.kinds, of); len(ms) > 0 {
			s.findAny(cycleClass{first: edgeData, rest: edgeData | o.kinds}, in, ms[0])
		}
	}
	a.rep.Incomplete = a.rep.Incomplete || a.left <= 0
}

// covered reports whether the component holds a whole cycle that has been reported and that the model forbids, or whether
// the search has to end.
func (s *cycleFinder) covered(in []int32, c int32) bool {
	return s.left <= 0 || slices.ContainsFunc(s.found, func(nodes []int32) bool {
		return !slices.ContainsFunc(nodes, func(n int32) bool { return in[n] != c })
	})
}

// start is an edge that a cycle may begin with, and how far it leads back in time.
type start struct {
	edge int32
	back int64
}

// startEdges lists the edges that a class of cycles may begin with, those that lead back far first: a cycle has to lead back in
// time somewhere, and most edges do not.
func (s *cycleFinder) startEdges(q cycleClass, in []int32, members []int32) (out []start) {
	first := map[int32]int64{} // of an auxiliary node: the earliest beginning of those behind it
	begin := func(n int32) int64 {
		if t := s.g.txn[n]; t >= 0 {
			return s.h[t].Invoke
		}
		f, ok := first[n]
		if !ok {
			f = math.MaxInt64
			for _, e := range s.g.out(n) {
				if t := s.g.txn[e.to]; t >= 0 && in[e.to] == in[n] {
					f = min(f, s.h[t].Invoke)
				}
			}
			first[n] = f
		}
		return f
	}
	for _, n := range members {
		for i := s.g.start[n]; i < s.g.start[n+1]; i++ {
			if e := &s.g.edges[i]; e.kind&q.first != 0 && in[e.to] == in[n] {
				out = append(out, start{i, s.h[s.g.txn[n]].Invoke - begin(e.to)})
			}
		}
	}
	slices.SortStableFunc(out, func(x, y start) int { return cmp.Compare(y.back, x.back) })
	return out
}

// findShortest looks for a short cycle of one class in one component.
func (s *cycleFinder) findShortest(q cycleClass, needs edgeKind, in []int32, members []int32) {
	const tries = 40 // to find a shorter one
	var best []pathEdge
	floor := s.left - maxSteps/20
	for i, st := range s.startEdges(q, in, members) {
		if s.left <= max(floor, 0) || len(best) == 2 || best != nil && i >= tries {
			break
		}
		if c := s.shortestCycle(st.edge, q, needs, in); c != nil && (best == nil || len(c) < len(best)) {
			best = c
		}
	}
	for _, c := range splitIntoSimple(best) {
		s.reportCycle(c)
	}
}

// findAny reports some cycle of a component.
func (s *cycleFinder) findAny(q cycleClass, in []int32, members []int32) {
	for _, c := range splitIntoSimple(s.shortestCycle(s.startEdges(q, in, members)[0].edge, q, 0, in)) {
		s.reportCycle(c)
	}
}

// shortestCycle is a shortest way around that begins with an edge, over one component, in breadth-first search. Steps from
// auxiliary nodes cost nothing. It may come past a node twice.
func (s *cycleFinder) shortestCycle(first int32, q cycleClass, needs edgeKind, in []int32) []pathEdge {
	s.round++
	e := &s.g.edges[first]
	goal, c := e.from, in[e.from]
	pack := func(n int32, met, rw bool) int32 {
		n *= 4
		if met {
			n += 2
		}
		if rw && q.nonadjacent {
			n++
		}
		return n
	}
	begin := pack(e.to, needs == 0, e.kind == edgeRW)
	s.seen[begin], s.via[begin], s.from[begin] = s.round, first, -1
	level := []int32{begin}
	for len(level) > 0 {
		var next []int32
		for i := 0; i < len(level); i++ {
			at := level[i]
			n, met, rw := at/4, at&2 != 0, at&1 != 0
			free := s.g.txn[n] < 0
			for x := s.g.start[n]; x < s.g.start[n+1]; x++ {
				e := &s.g.edges[x]
				s.left--
				if in[e.to] != c || e.kind&(q.rest|edgeOn) == 0 || q.nonadjacent && rw && e.kind == edgeRW {
					continue
				}
				to := pack(e.to, met || e.kind&needs != 0, e.kind == edgeRW || e.kind == edgeOn && rw)
				if s.seen[to] == s.round {
					continue
				}
				s.seen[to], s.via[to], s.from[to] = s.round, x, at
				if e.to == goal && to&3 == 2 {
					return s.pathTo(to)
				}
				if free {
					level = append(level, to)
				} else {
					next = append(next, to)
				}
			}
		}
		level = next
	}
	return nil
}

// pathTo is the way to a state, without the auxiliary nodes.
func (s *cycleFinder) pathTo(at int32) (out []pathEdge) {
	var way []edge
	for ; at >= 0; at = s.from[at] {
		way = append(way, s.g.edges[s.via[at]])
	}
	slices.Reverse(way)
	for len(way) > 0 {
		h, n := pathEdge{edge: way[0], a: way[0].from, b: way[0].to}, 1
		for s.g.txn[h.b] < 0 {
			h.b, h.v2 = way[n].to, way[n].v2
			n++
		}
		out = append(out, h)
		way = way[n:]
	}
	return out
}

// splitIntoSimple cuts a way around into cycles that come past no node twice.
func splitIntoSimple(way []pathEdge) (cycles [][]pathEdge) {
	var open []pathEdge
	for _, h := range way {
		open = append(open, h)
		if i := slices.IndexFunc(open, func(o pathEdge) bool { return o.a == h.b }); i >= 0 {
			cycles = append(cycles, slices.Clone(open[i:]))
			open = open[:i]
		}
	}
	return cycles
}

// reportCycle classifies a cycle and reports it.
func (s *cycleFinder) reportCycle(c []pathEdge) {
	c = shorten(c)
	least := 0
	for i := range c {
		if c[i].a < c[least].a {
			least = i
		}
	}
	c = append(c[least:len(c):len(c)], c[:least]...)
	kind := s.classify(c)
	id := string(kind)
	var nodes []int32
	for _, h := range c {
		nodes = append(nodes, h.a)
		id += fmt.Sprint(" ", h.a, h.kind)
	}
	if s.known[id] {
		return
	}
	s.known[id] = true
	if s.model.Forbids(kind) {
		s.found = append(s.found, nodes)
	}
	if s.n[kind]++; s.n[kind] <= perKind {
		s.report(s.explain(kind, c))
	}
}

// shorten makes one step of two in time: before is transitive.
func shorten(c []pathEdge) []pathEdge {
	for i := 0; len(c) > 2 && i < len(c); {
		j := (i + 1) % len(c)
		if c[i].kind != edgeRT || c[j].kind != edgeRT {
			i++
			continue
		}
		c[i].b = c[j].b
		c = slices.Delete(c, j, j+1)
		i = 0
	}
	return c
}

// classify names a cycle by its edges.
func (s *cycleFinder) classify(c []pathEdge) Kind {
	var wr, rw, adjacent, process, rt int
	for i, h := range c {
		switch h.kind {
		case edgeWR:
			wr++
		case edgeRW:
			rw++
			if c[(i+1)%len(c)].kind == edgeRW {
				adjacent++
			}
		case edgeProcess:
			process++
		case edgeRT:
			rt++
		}
	}
	suffix := ""
	switch {
	case rt > 0:
		suffix = Realtime
	case process > 0:
		suffix = Process
	}
	switch {
	case rw == 0 && wr == 0:
		return s.withSuffix(G0, suffix)
	case rw == 0:
		return s.withSuffix(G1c, suffix)
	case rw == 1:
		return s.withSuffix(GSingle, suffix)
	case adjacent == 0:
		return s.withSuffix(GNonadjacent, suffix)
	}
	return s.withSuffix(G2Item, suffix)
}

// withSuffix completes the name of a cycle: in the graph of single keys, time is the only order besides.
func (s *cycleFinder) withSuffix(k Kind, suffix string) Kind {
	if s.key && suffix != "" {
		suffix = KeyRealtime
	}
	return k + Kind(suffix)
}
