package check

import (
	"cmp"
	"slices"
	"strings"
)

// moment is a beginning or an end of a node's operation.
type moment struct {
	at   int64
	end  bool
	node int32
	v    int64 // what it wrote, if the edges are about that
}

// linkTime lets every node come after all that ended before it began. A node for each stretch of ends without a beginning
// among them stands for its moment: those that end lead to it, it leads to the next moment, and to those that begin after it.
// That makes three edges for each operation, however many run at once. Those that end get edges like another.
func (g *graph) linkTime(like edge, ms []moment) {
	slices.SortFunc(ms, func(a, b moment) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		if a.end != b.end { // what begins when another ends does not begin after it
			if b.end {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.node, b.node)
	})
	now, fresh := int32(-1), false // fresh: nothing has begun since
	for _, m := range ms {
		if !m.end {
			if now >= 0 {
				g.edges = append(g.edges, edge{from: now, to: m.node, kind: edgeOn, key: like.key, v2: m.v})
			}
			fresh = false
			continue
		}
		if !fresh {
			next := g.node(-1)
			if now >= 0 {
				g.edges = append(g.edges, edge{from: now, to: next, kind: edgeOn, key: like.key})
			}
			now, fresh = next, true
		}
		like.from, like.to, like.v1 = m.node, now, m.v
		g.edges = append(g.edges, like)
	}
}

// moments appends those of a transaction. One of unknown outcome does not end: it may take effect at any time.
func (a *analysis) moments(ms []moment, txn, node int32, v int64) []moment {
	t := &a.h[txn]
	ms = append(ms, moment{t.Invoke, false, node, v})
	if t.Outcome == OK {
		ms = append(ms, moment{t.Return, true, node, v})
	}
	return ms
}

// times adds the orders of real time and of each client.
func (a *analysis) times() {
	ms := make([]moment, 0, 2*len(a.h))
	var by []int32
	for i := range a.h {
		if a.in[i] {
			ms = a.moments(ms, int32(i), a.node[i], 0)
			by = append(by, int32(i))
		}
	}
	a.g.linkTime(edge{kind: edgeRT}, ms)
	slices.SortStableFunc(by, func(x, y int32) int {
		return cmp.Or(strings.Compare(a.h[x].Client, a.h[y].Client), cmp.Compare(a.h[x].Invoke, a.h[y].Invoke))
	})
	last := int32(-1)
	for i, t := range by {
		if i > 0 && a.h[by[i-1]].Client != a.h[t].Client {
			last = -1
		}
		if last >= 0 && a.h[last].Return < a.h[t].Invoke {
			a.g.link(edge{kind: edgeProcess, key: -1}, a.node[last], target{node: a.node[t]})
		}
		if a.h[t].Outcome == OK {
			last = t
		}
	}
}

// byKey is the graph in which each transaction has a node for each key that it touches, and edges do not lead from key
// to key. A cycle in it is one that a single key shows by itself.
func (a *analysis) byKey() *graph {
	out := &graph{}
	at := map[[2]int32]int32{} // node and key in the whole graph -> node
	node := func(n, key int32) int32 {
		id, ok := at[[2]int32{n, key}]
		if !ok {
			id = out.node(a.g.txn[n])
			at[[2]int32{n, key}] = id
		}
		return id
	}
	for _, e := range a.g.edges {
		if e.kind&(edgeProcess|edgeRT) == 0 {
			e.from, e.to = node(e.from, e.key), node(e.to, e.key)
			out.edges = append(out.edges, e)
		}
	}
	var ms []moment
	for k := range a.refs {
		ms = ms[:0]
		a.perTxn(k, func(txn int32, _ []ref) {
			if a.in[txn] {
				ms = a.moments(ms, txn, node(a.node[txn], int32(k)), 0)
			}
		})
		out.linkTime(edge{kind: edgeRT}, ms)
	}
	return out
}
