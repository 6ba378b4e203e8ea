package check

import "slices"

// edgeKind says why one transaction comes before another. Kinds are bits, so that a set of them is a mask.
type edgeKind uint8

const (
	edgeWW      edgeKind = 1 << iota // overwrote, or appended behind, what the other wrote
	edgeWR                           // saw what the other wrote
	edgeRW                           // did not see what the other wrote
	edgeProcess                      // the same client did it before the other
	edgeRT                           // ended before the other began
	edgeOn                           // from an auxiliary node onwards; costs nothing and is always permitted
)

const edgeData = edgeWW | edgeWR | edgeRW

// edge is one reason for an order. v1 is what from wrote or read, v2 what to wrote; absent: from read the initial state.
type edge struct {
	from, to int32
	kind     edgeKind
	absent   bool
	key      int32
	v1, v2   int64
}

// graph has a node for each transaction that took effect, and auxiliary nodes, which stand between many sources and many
// destinations so that the number of edges stays linear: moments of time, and what all readers of a version come before.
type graph struct {
	txn   []int32 // of each node; -1: auxiliary
	edges []edge
	start []int32 // of each node's edges, when sorted
}

// node adds a node.
func (g *graph) node(txn int32) int32 {
	g.txn = append(g.txn, txn)
	return int32(len(g.txn) - 1)
}

// sort orders the edges by where they come from, in linear time.
func (g *graph) sort() {
	g.start = make([]int32, len(g.txn)+1)
	for i := range g.edges {
		g.start[g.edges[i].from+1]++
	}
	for i := range g.txn {
		g.start[i+1] += g.start[i]
	}
	at, out := slices.Clone(g.start), make([]edge, len(g.edges))
	for _, e := range g.edges {
		out[at[e.from]] = e
		at[e.from]++
	}
	g.edges = out
}

func (g *graph) out(n int32) []edge { return g.edges[g.start[n]:g.start[n+1]] }

// target is something that comes after all of a set of readers: a transaction and what it wrote.
type target struct {
	node int32
	v    int64
}

// fan lets each of from come before each of to, itself excepted, with a number of edges that is linear in both. Those who
// are on both sides (they read a version and replaced it, as others did) come before one another in a ring.
func (g *graph) fan(like edge, from []int32, to []target) {
	if len(from)*len(to) <= 16 {
		for _, a := range from {
			for _, b := range to {
				g.link(like, a, b)
			}
		}
		return
	}
	inFrom := make(map[int32]bool, len(from))
	for _, a := range from {
		inFrom[a] = true
	}
	both := make(map[int32]bool)
	var ring, rest []target
	for _, b := range to {
		if inFrom[b.node] {
			both[b.node] = true
			ring = append(ring, b)
		} else {
			rest = append(rest, b)
		}
	}
	for i, b := range ring {
		g.link(like, b.node, ring[(i+1)%len(ring)])
	}
	hub := func(to []target, skip map[int32]bool) {
		if len(to) == 0 {
			return
		}
		h := g.node(-1)
		for _, a := range from {
			if !skip[a] {
				g.link(like, a, target{h, 0})
			}
		}
		for _, b := range to {
			g.edges = append(g.edges, edge{from: h, to: b.node, kind: edgeOn, key: like.key, v2: b.v})
		}
	}
	hub(rest, nil)
	hub(ring, both)
}

// link adds an edge like another, unless it would lead from a node to itself.
func (g *graph) link(like edge, a int32, b target) {
	if a != b.node {
		like.from, like.to, like.v2 = a, b.node, b.v
		g.edges = append(g.edges, like)
	}
}

// components finds the strongly connected components that have more than one node, over edges of the kinds in mask and
// among the nodes for which within is not negative and the same (nil: all). It returns each node's component (-1: alone)
// and the members of each. This is Tarjan's algorithm with a stack of its own: histories are deeper than goroutines' stacks.
func (g *graph) components(mask edgeKind, within []int32) (of []int32, members [][]int32) {
	n := len(g.txn)
	of = make([]int32, n)
	index, low := make([]int32, n), make([]int32, n) // index 0: not visited
	next := slices.Clone(g.start[:n])
	onStack := make([]bool, n)
	var stack, path []int32
	count := int32(0)
	visit := func(v int32) {
		count++
		index[v], low[v] = count, count
		stack, path = append(stack, v), append(path, v)
		onStack[v] = true
	}
	for i := range of {
		of[i] = -1
	}
	mask |= edgeOn
	for root := range int32(n) {
		if index[root] != 0 || (within != nil && within[root] < 0) {
			continue
		}
		visit(root)
		for len(path) > 0 {
			v := path[len(path)-1]
			descended := false
			for next[v] < g.start[v+1] {
				e := &g.edges[next[v]]
				next[v]++
				w := e.to
				if e.kind&mask == 0 || (within != nil && within[w] != within[v]) {
					continue
				}
				if index[w] == 0 {
					visit(w)
					descended = true
					break
				}
				if onStack[w] {
					low[v] = min(low[v], index[w])
				}
			}
			if descended {
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				p := path[len(path)-1]
				low[p] = min(low[p], low[v])
			}
			if low[v] != index[v] {
				continue
			}
			i := len(stack) - 1
			for stack[i] != v {
				i--
			}
			if len(stack)-i > 1 {
				ms := slices.Clone(stack[i:])
				slices.Sort(ms)
				for _, m := range ms {
					of[m] = int32(len(members))
				}
				members = append(members, ms)
			}
			for _, m := range stack[i:] {
				onStack[m] = false
			}
			stack = stack[:i]
		}
	}
	return of, members
}
