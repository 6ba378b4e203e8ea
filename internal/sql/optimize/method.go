package optimize

import (
	"math"
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// How a join is executed. All three ways give the pairs of rows that satisfy the conditions:
//
//	lookup       the right side is a table that is read by an index for each row of the left side; the conditions are checked of what is
//	             found (O6)
//	hash         an equality whose values have hash keys finds the pairs that satisfy it; the other conditions are checked of them
//	nested loop  the right side is kept in memory, unless it reads columns of the left one, and the conditions are checked of all pairs
//
// Lookup is chosen if it costs less: a seek for each row of the left side against the whole right side once.

// physical chooses how tables are read and how joins are executed. want is how many rows of the plan will probably be asked for.
func (z *optimizer) physical(n rel.Node, want float64) rel.Node {
	switch n := n.(type) {
	case *rel.Join:
		return z.physicalJoin(n, want)
	case *rel.Sort:
		return z.physicalSort(n, want)
	case *rel.Scan:
		return z.readScan(n)
	case *rel.Group:
		z.countBelow(n)
	}
	for i, c := range n.Children() {
		if d := z.physical(c, z.wantBelow(n, want)); d != c {
			n.SetChild(i, d)
		}
	}
	switch n := n.(type) {
	case *rel.Group:
		z.orderGroup(n)
		z.readEnd(n)
	case *rel.Limit:
		z.pushLimit(n)
	}
	return n
}

// all is want where all rows are asked for.
var all = math.Inf(1)

// wantBelow is how many rows an operator asks its child for, if so many are asked of it.
func (z *optimizer) wantBelow(n rel.Node, want float64) float64 {
	switch n := n.(type) {
	case *rel.Limit:
		count, ok := limitOf(n)
		if n.FoundRows || !ok {
			return all
		}
		return min(want, float64(count))
	case *rel.One:
		return 1
	case *rel.Project:
		return want
	case *rel.Filter:
		return want / selectivityOf(n.Conds)
	case *rel.Distinct:
		return 3 * want
	}
	return all
}

// readScan chooses how a table is read.
func (z *optimizer) readScan(s *rel.Scan) rel.Node {
	if s.Access != nil { // for the order that it has
		return s
	}
	if p := z.bestPath(s, s.Filter, nil); p != nil {
		if p.never {
			return empty(s)
		}
		p.access(s)
		return s
	}
	if n := z.byIndexes(s); n != nil {
		return n
	}
	s.Rows = z.estimate(s)
	z.coverScan(s)
	return s
}

// coverScan reads an index instead of the table if it holds all columns that are wanted, is not the primary one, and is narrower.
func (z *optimizer) coverScan(s *rel.Scan) {
	if z.o.NoAccess || len(s.Places) == 0 || s.Access != nil {
		return
	}
	var best rel.Index
	for _, x := range usable(s, "join") {
		narrower := len(x.Parts())+len(x.Suffix()) < len(s.Table.Columns())
		if !x.Primary() && noPrefix(x) && narrower && x.Covers(s.Places) && (best == nil || len(x.Parts()) < len(best.Parts())) {
			best = x
		}
	}
	if best != nil {
		s.Access = &rel.Access{Index: best, Spans: []rel.Span{{}}}
	}
}

func (z *optimizer) physicalJoin(j *rel.Join, want float64) rel.Node {
	leftRows := z.estimate(j.Left)
	part := 1.0
	if want < all {
		want *= leftRows / z.estimate(j)
		part = min(1, max(fewest, want)/leftRows)
		leftRows *= part
	}
	if other := z.semiByLookup(j, part); other != nil {
		return z.physicalJoin(other, all)
	}
	j.Left = z.physical(j.Left, want)
	if z.o.NoJoinMethods {
		j.Right = z.physical(j.Right, all)
		return emptyJoin(j)
	}
	hash, rest := z.hashKeys(j)
	if s := tableBelow(j.Right); s != nil {
		// what a projection of the right side calculates is not known before the table is read
		above, own := given(j.Right), given(s)
		on := slices.DeleteFunc(slices.Clone(j.On), func(c expr.Node) bool {
			for id := range reads(c) {
				if above[id] && !own[id] {
					return true
				}
			}
			return false
		})
		if p := z.bestPath(s, s.Filter, on); p != nil && !p.never && readsLeft(p, given(j.Left)) {
			whole := z.wholeCost(s)
			if len(hash) > 0 {
				whole += costHash*leftRows + costBuild*z.estimate(s)
			} else {
				whole += leftRows * z.estimate(s)
			}
			if leftRows*p.lookupCost() <= whole {
				p.access(s)
				return j
			}
		}
	}
	j.Right = z.physical(j.Right, all)
	if isEmpty(j.Right) || isEmpty(j.Left) {
		return emptyJoin(j)
	}
	depends := j.Lateral || meets(outerOf(j.Right), given(j.Left))
	switch {
	case depends:
	case len(hash) > 0 && !j.NullAware:
		j.Hash, j.On = hash, rest
	default:
		j.Keep = true
	}
	return j
}

// readsLeft reports whether a path uses columns of the left side: else it is a way to read the table once.
func readsLeft(p *path, left rel.Cols) bool {
	for _, s := range p.spans {
		es := slices.Clone(s.Equal)
		for _, b := range []*rel.Bound{s.Low, s.High} {
			if b != nil {
				es = append(es, b.Value)
			}
		}
		if meets(reads(es...), left) {
			return true
		}
	}
	return false
}

func (z *optimizer) wholeCost(s *rel.Scan) float64 {
	if p := z.bestPath(s, s.Filter, nil); p != nil {
		return p.cost
	}
	return s.Table.Rows() + costSeek
}

// hashKeys are the conditions of a join that hold when both sides have equal hash keys, and the others.
func (z *optimizer) hashKeys(j *rel.Join) (keys []rel.HashKey, rest []expr.Node) {
	left, right := given(j.Left), given(j.Right)
	for _, c := range j.On {
		if k, ok := hashKey(c, left, right); ok {
			keys = append(keys, k)
		} else {
			rest = append(rest, c)
		}
	}
	return keys, rest
}

func hashKey(c expr.Node, left, right rel.Cols) (k rel.HashKey, ok bool) {
	call, isCall := c.(*expr.Call)
	if !isCall || call.Name != "=" && call.Name != "<=>" || !rowless(call) || subqueriesIn(c) || volatile(c) {
		return k, false
	}
	how, err := expr.ComparisonOf(call.Name, call.Args...)
	if err != nil || !hashable(how, call.Args[0].Type(), call.Args[1].Type()) {
		return k, false
	}
	for i := range 2 {
		l, r := call.Args[i], call.Args[1-i]
		ls, rs := reads(l), reads(r)
		if meets(ls, left) && !meets(ls, right) && meets(rs, right) && !meets(rs, left) {
			return rel.HashKey{Left: l, Right: r, NullSafe: call.Name == "<=>"}, true
		}
	}
	return k, false
}
