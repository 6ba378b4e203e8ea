package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/aggregate"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A GROUP BY over a join of which only the number of rows matters on one side:
//
//	SELECT l.x, COUNT(*) FROM l JOIN r ON l.a = r.b GROUP BY l.x
//
// The rows of r are counted for each value of b first, which a table with an index on b can do where the rows are, and the join gives
// one row, with their number, in place of all of them. What is counted is the sum of the numbers then. Minima, maxima and aggregates
// with DISTINCT of the other side are the same for one row as for many.

// fewKept is how many rows of the one side have to be for each row of the other at least: for fewer the partners are better looked up.
const fewKept = 1.0 / 200

// countBelow counts one side of a join below a Group, if that makes sense.
func (z *optimizer) countBelow(g *rel.Group) {
	j, ok := g.Child.(*rel.Join)
	if !ok || z.o.NoCount || g.Rollup || len(g.Grouping) > 0 || j.Kind != rel.Inner && j.Kind != rel.Left || j.Lateral || j.Straight ||
		len(j.On) != 1 {
		return
	}
	if z.countSide(g, j, j.Left, j.Right) {
		return
	}
	if j.Kind == rel.Inner && z.countSide(g, j, j.Right, j.Left) {
		j.Left, j.Right = j.Right, j.Left
	}
}

// countSide counts one side of the join, if only the number of its rows matters.
func (z *optimizer) countSide(g *rel.Group, j *rel.Join, kept, side rel.Node) bool {
	s, ok := side.(*rel.Scan)
	if !ok || len(s.Filter) > 0 || s.Access != nil || s.Limit > 0 || len(s.Hints) > 0 || z.estimate(kept) < fewKept*s.Table.Rows() {
		return false
	}
	by := z.joinedBy(j.On[0], given(kept), s)
	if by == nil || !countedBy(s, placeOf(s, by)) {
		return false
	}
	left := given(kept)
	for _, k := range g.Keys {
		if !left[k] {
			return false
		}
	}
	weights := make([]countWeight, len(g.Aggs))
	some := false
	for i := range g.Aggs {
		w, ok := z.weightOf(&g.Aggs[i], left, s, by)
		if !ok {
			return false
		}
		weights[i] = w
		some = some || w != once
	}
	if !some {
		return false
	}
	number := z.meta.Add(rel.Column{Name: "COUNT(*)", Type: expr.TInt})
	counted := &rel.Group{Child: s, Keys: []rel.ColID{by.ID}, Out: []rel.ColID{by.ID},
		Aggs: []rel.Agg{{Name: "count", Star: true, Col: number, T: expr.TInt, Text: "count(*)"}}}
	aggs := slices.Clone(g.Aggs)
	for i, w := range weights {
		if w == once {
			continue
		}
		n, err := z.numberOf(number, w, &aggs[i], j.Kind == rel.Left)
		if err != nil {
			return false
		}
		aggs[i].Name, aggs[i].Star, aggs[i].Args = aggregate.SumCounts, false, []expr.Node{n}
	}
	at := slices.Index(s.Cols, by.ID)
	s.Places, s.Cols = []int{s.Places[at]}, []rel.ColID{by.ID}
	g.Aggs = aggs
	if j.Right == side {
		j.Right = counted
	} else {
		j.Left = counted
	}
	return true
}

// countedBy reports whether an index begins with a column, by which its entries can be counted: not with a unique one, whose numbers are 1.
func countedBy(s *rel.Scan, place int) bool {
	some := false
	for _, x := range s.Table.Indexes() {
		p := x.Parts()
		if p[0].Place == place && x.Unique() && len(p) == 1 {
			return false
		}
		some = some || p[0].Place == place && p[0].Prefix == 0
	}
	return some
}

// joinedBy is the column of a scan that a condition says is equal to a column of the other side; nil: it says something else.
func (z *optimizer) joinedBy(cond expr.Node, other rel.Cols, s *rel.Scan) *rel.Col {
	c, ok := cond.(*expr.Call)
	if !ok || c.Name != "=" {
		return nil
	}
	a, ok1 := c.Args[0].(*rel.Col)
	b, ok2 := c.Args[1].(*rel.Col)
	if !ok1 || !ok2 {
		return nil
	}
	if other[b.ID] {
		a, b = b, a
	}
	if !other[a.ID] || placeOf(s, b) < 0 || !distinguished(b.T) && a.T.Kind() == expr.KindText && a.T.Collation != b.T.Collation {
		return nil
	}
	switch b.T.Kind() { // values that are equal under the column's own type are equal to the same others
	case expr.KindInt, expr.KindUint, expr.KindDecimal, expr.KindDate, expr.KindDatetime, expr.KindTime, expr.KindBytes:
		return b
	case expr.KindText:
		if a.T.Kind() == expr.KindText && a.T.Collation == b.T.Collation {
			return b
		}
	}
	return nil
}

// countWeight says how an aggregate takes in a row that stands for several.
type countWeight uint8

const (
	once      countWeight = iota // as one row
	each                         // COUNT(*): as many
	partnered                    // COUNT(column of the counted side): as many as partners were found
	notNull                      // COUNT(column of the other side): as many, unless it is NULL
)

func (z *optimizer) weightOf(a *rel.Agg, left rel.Cols, s *rel.Scan, by *rel.Col) (countWeight, bool) {
	inLeft := within(reads(a.Args...), left)
	switch a.Name {
	case "count":
		if a.Distinct {
			return once, inLeft
		}
		if a.Star {
			return each, true
		}
		if len(a.Args) != 1 {
			return once, false
		}
		switch arg := a.Args[0].(type) {
		case *expr.Lit:
			return each, !arg.V.IsNull()
		case *rel.Col:
			if left[arg.ID] {
				return notNull, true
			}
			at := placeOf(s, arg)
			return partnered, at >= 0 && (arg.ID == by.ID || !s.Table.Columns()[at].Nullable)
		}
		return once, false
	case "min", "max", "any_value", "bit_and", "bit_or":
		return once, inLeft && !slices.ContainsFunc(a.Args, volatile)
	case "sum", "avg":
		return once, a.Distinct && inLeft && !slices.ContainsFunc(a.Args, volatile)
	}
	return once, false
}

// numberOf is for how many rows a row stands.
func (z *optimizer) numberOf(number rel.ColID, w countWeight, a *rel.Agg, outer bool) (expr.Node, error) {
	var n expr.Node = z.meta.Ref(number)
	whole := func(v int64) expr.Node { return &expr.Lit{V: expr.Int(v), T: expr.TInt} }
	if outer {
		without := int64(1)
		if w == partnered {
			without = 0
		}
		c, err := expr.Build("ifnull", "", nil, n, whole(without))
		if err != nil {
			return nil, err
		}
		n = c
	}
	if w == notNull {
		null, err := expr.Build("is null", "", nil, a.Args[0])
		if err != nil {
			return nil, err
		}
		return expr.Build("if", "", nil, null, whole(0), n)
	}
	return n, nil
}
