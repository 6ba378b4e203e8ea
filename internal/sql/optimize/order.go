package optimize

import (
	"math"
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Inner joins are ordered so that few rows are read. An inner join gives the pairs of rows that satisfy its conditions, whichever side is
// read first, and conditions of several inner joins are checked as soon as their columns are there. STRAIGHT_JOIN is not changed, nor is
// a join moved out of or into a side of an outer, semi or anti join. The written order stays unless another one costs less than half: the
// estimates are guesses, and who wrote the statement may know better.

// mostOrdered is how many tables are ordered by looking at all left-deep orders (2^n states); more are ordered greedily.
const mostOrdered = 10

func (z *optimizer) orderJoins(n rel.Node) rel.Node {
	if j, ok := n.(*rel.Join); ok && reorderable(j) {
		g := &joinGraph{z: z, known: map[[2]uint64]extension{}}
		if g.flatten(j); len(g.leaves) > 64 { // sets of leaves are bits: so many stay as they are written
			return z.orderSides(j)
		}
		for i, l := range g.leaves {
			g.leaves[i] = z.orderJoins(l)
		}
		return g.build(g.best())
	}
	return z.orderSides(n)
}

// orderSides orders the joins below an operator.
func (z *optimizer) orderSides(n rel.Node) rel.Node {
	if j, ok := n.(*rel.Join); ok && reorderable(j) {
		for i, c := range n.Children() {
			if d, ok := c.(*rel.Join); ok && reorderable(d) { // one of those that are too many
				z.orderSides(d)
			} else {
				n.SetChild(i, z.orderJoins(c))
			}
		}
		return n
	}
	for i, c := range n.Children() {
		if d := z.orderJoins(c); d != c {
			n.SetChild(i, d)
		}
	}
	return n
}

func reorderable(j *rel.Join) bool { return j.Kind == rel.Inner && !j.Straight }

// joinGraph is the tables of inner joins and the conditions between them.
type joinGraph struct {
	z      *optimizer
	leaves []rel.Node
	conds  []expr.Node
	// of each leaf
	gives []rel.Cols
	needs []uint64 // leaves whose columns it reads (LATERAL)
	rows  []float64
	once  []float64 // the cost of reading it once
	// of each condition: the leaves that it reads
	reads []uint64
	known map[[2]uint64]extension
}

// flatten collects the leaves and conditions of inner joins that stand directly below each other.
func (g *joinGraph) flatten(n rel.Node) {
	if j, ok := n.(*rel.Join); ok && reorderable(j) {
		g.flatten(j.Left)
		g.flatten(j.Right)
		g.conds = append(g.conds, j.On...)
		return
	}
	g.leaves = append(g.leaves, n)
}

func (g *joinGraph) leavesOf(cols rel.Cols) (set uint64) {
	for i, own := range g.gives {
		if meets(cols, own) {
			set |= 1 << i
		}
	}
	return set
}

// best is the order in which the leaves are joined.
func (g *joinGraph) best() []int {
	n := len(g.leaves)
	written := make([]int, n)
	for i, l := range g.leaves {
		written[i] = i
		g.gives = append(g.gives, given(l))
	}
	lateral := false
	for i, l := range g.leaves {
		needs := g.leavesOf(outerOf(l)) &^ (1 << i)
		g.needs = append(g.needs, needs)
		lateral = lateral || needs != 0
		g.rows = append(g.rows, g.z.estimate(l))
		g.once = append(g.once, g.readCost(i))
	}
	for _, c := range g.conds {
		g.reads = append(g.reads, g.leavesOf(reads(c)))
	}
	if n > 63 || anyFn(g.conds, volatile) {
		return written
	}
	var order []int
	if n <= mostOrdered {
		order = g.cheapest()
	} else {
		order = g.greedy()
	}
	if order == nil || 2*g.cost(order) > g.cost(written) {
		return written
	}
	return order
}

// state is the cheapest way to have joined a set of leaves.
type state struct {
	cost, rows float64
	last       int
}

func (g *joinGraph) cheapest() []int {
	n := len(g.leaves)
	states := make([]state, 1<<n)
	for set := 1; set < 1<<n; set++ {
		states[set].cost = math.Inf(1)
		for i := range n {
			bit := 1 << i
			if set&bit == 0 || g.needs[i]&^uint64(set&^bit) != 0 {
				continue
			}
			before := states[set&^bit]
			if set != bit && math.IsInf(before.cost, 1) {
				continue
			}
			cost, rows := g.step(uint64(set&^bit), before.rows, i)
			if before.cost+cost < states[set].cost {
				states[set] = state{before.cost + cost, rows, i}
			}
		}
	}
	full := 1<<n - 1
	if math.IsInf(states[full].cost, 1) {
		return nil
	}
	order := make([]int, n)
	for set, at := full, n-1; at >= 0; at-- {
		order[at] = states[set].last
		set &^= 1 << order[at]
	}
	return order
}

func (g *joinGraph) greedy() []int {
	var order []int
	set, rows := uint64(0), 1.0
	for len(order) < len(g.leaves) {
		best, bestCost, bestRows := -1, math.Inf(1), 0.0
		for i := range g.leaves {
			if set>>i&1 == 1 || g.needs[i]&^set != 0 {
				continue
			}
			cost, r := g.step(set, rows, i)
			if cost+r < bestCost {
				best, bestCost, bestRows = i, cost+r, r
			}
		}
		if best < 0 {
			return nil
		}
		order, set, rows = append(order, best), set|1<<best, bestRows
	}
	return order
}

func (g *joinGraph) cost(order []int) float64 {
	set, rows, sum := uint64(0), 1.0, 0.0
	for _, i := range order {
		cost, r := g.step(set, rows, i)
		sum, rows, set = sum+cost, r, set|1<<i
	}
	return sum
}

// step is what it costs to join leaf i to the rows of a set of leaves, and how many rows there are then.
func (g *joinGraph) step(set uint64, rows float64, i int) (cost, out float64) {
	if set == 0 {
		return g.once[i], g.rows[i]
	}
	e := g.extend(set, i)
	out = max(fewest, rows*g.rows[i]*e.sel)
	if e.hashes {
		cost = g.once[i] + costBuild*g.rows[i] + costHash*rows + out
	} else {
		cost = g.once[i] + rows*g.rows[i]
	}
	return min(cost, rows*e.lookup), out
}

// extension is what is known of joining one leaf with certain conditions, however many rows it is joined to.
type extension struct {
	sel    float64 // the part of all pairs
	hashes bool    // there is an equality
	lookup float64 // the cost of a lookup for one row
}

// extend looks at the conditions between leaf i and a set; the same conditions are looked at once.
func (g *joinGraph) extend(set uint64, i int) extension {
	var mask uint64
	var on []expr.Node
	for k, c := range g.conds {
		if g.reads[k]>>i&1 == 1 && g.reads[k]&^(set|1<<i) == 0 {
			on = append(on, c)
			mask |= 1 << (k & 63)
		}
	}
	key := [2]uint64{uint64(i), mask}
	if e, ok := g.known[key]; ok && len(g.conds) <= 64 {
		return e
	}
	e := extension{sel: g.z.joinSelectivity(on, g.leaves[i], g.rows[i]), lookup: math.Inf(1)}
	e.hashes = slices.ContainsFunc(on, func(c expr.Node) bool { return equalColumn(c, g.gives[i]) != nil })
	if s, ok := g.leaves[i].(*rel.Scan); ok && len(on) > 0 {
		if p := g.z.bestPath(s, s.Filter, on); p != nil && !p.never {
			e.lookup = p.lookupCost()
		}
	}
	g.known[key] = e
	return e
}

// readCost is what it costs to read a leaf once.
func (g *joinGraph) readCost(i int) float64 {
	s, ok := g.leaves[i].(*rel.Scan)
	if !ok {
		return g.rows[i] + costSeek
	}
	return g.z.wholeCost(s)
}

// build joins the leaves in an order. Each condition stands at the first join that gives its columns, in the order in which it was.
func (g *joinGraph) build(order []int) rel.Node {
	out := g.leaves[order[0]]
	set := uint64(1) << order[0]
	used := make([]bool, len(g.conds))
	for _, i := range order[1:] {
		set |= 1 << i
		j := &rel.Join{Kind: rel.Inner, Left: out, Right: g.leaves[i], Lateral: g.needs[i] != 0}
		for k, c := range g.conds {
			if !used[k] && g.reads[k]&^set == 0 {
				used[k] = true
				j.On = append(j.On, c)
			}
		}
		out = j
	}
	return out
}
