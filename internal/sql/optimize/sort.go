package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A sort is saved where the rows come in its order already: from an index, through operators that keep the order of their (left) side.
// An index orders values as ORDER BY does, NULLs first, texts under the collation of the column; read backwards it is the descending
// order. Columns that a condition fixes to one value order nothing. Rows that are equal in ORDER BY may come in another order than from
// the sort: SQL leaves that open.

// physicalSort chooses how the rows below a sort are read, and drops the sort if they come in its order. If few rows are wanted, an index
// may be read for its order that would not be read otherwise: then the joins above the table are chosen for few rows, too.
func (z *optimizer) physicalSort(n *rel.Sort, want float64) rel.Node {
	s, keys := z.sortedScan(n)
	if s != nil && want < all && !z.fewByLookup(n.Child, want) && z.orderScan(s, keys, want, n.Child) {
		return z.physical(n.Child, want)
	}
	n.Child = z.physical(n.Child, all)
	if s, keys := z.sortedScan(n); s != nil && z.orderScan(s, keys, all, n.Child) {
		return n.Child
	}
	return n
}

// fewByLookup reports whether what is sorted is a semi join whose rows are found by the keys of its right side, and so few that finding and
// sorting them all takes no more than a few times what it takes, if things go well, to read the left side in order until enough rows have a
// partner. If things do not go well that takes the whole table.
func (z *optimizer) fewByLookup(n rel.Node, want float64) bool {
	for {
		switch m := n.(type) {
		case *rel.Filter:
			n = m.Child
			continue
		case *rel.Project:
			n = m.Child
			continue
		}
		break
	}
	j, ok := n.(*rel.Join)
	if !ok || z.semiByLookup(j, 1) == nil {
		return false
	}
	left, keys := z.estimate(j.Left), z.estimate(j.Right)
	found := left * selOther
	for _, c := range j.On {
		if col := equalColumn(c, given(j.Left)); col != nil {
			found = min(found, keys*z.partners(col, j.Left, left))
		}
	}
	const few = 4
	return found+keys*costAhead < few*want*left/max(fewest, found)
}

// sortedScan is the table that gives all columns of a sort, which are keys, and whose order the rows have; nil: none.
func (z *optimizer) sortedScan(n *rel.Sort) (*rel.Scan, []scanKey) {
	if z.o.NoSort {
		return nil, nil
	}
	s := orderedScan(n.Child)
	if s == nil {
		return nil, nil
	}
	keys, ok := z.scanKeys(n.Child, s, n.Keys)
	if !ok {
		return nil, nil
	}
	return s, keys
}

// orderedScan is the table whose order the rows of a plan have; nil: none.
func orderedScan(n rel.Node) *rel.Scan {
	for {
		switch m := n.(type) {
		case *rel.Scan:
			return m
		case *rel.Filter:
			n = m.Child
		case *rel.Project:
			n = m.Child
		case *rel.Distinct:
			n = m.Child
		case *rel.Join:
			n = m.Left
		case *rel.Group:
			if !m.Ordered {
				return nil
			}
			n = m.Child
		default:
			return nil
		}
	}
}

// scanKey is a column of a table that rows are sorted by.
type scanKey struct {
	place int
	desc  bool
}

// scanKeys are the sort keys as columns of the scan, through projections that rename them.
func (z *optimizer) scanKeys(n rel.Node, s *rel.Scan, keys []rel.SortKey) ([]scanKey, bool) {
	var out []scanKey
	for _, k := range keys {
		if expr.IsConst(k.Expr) {
			continue
		}
		col, ok := k.Expr.(*rel.Col)
		if !ok {
			return nil, false
		}
		id := sourceColumn(n, col.ID)
		at := slices.Index(s.Cols, id)
		if at < 0 {
			return nil, false
		}
		switch s.Table.Columns()[s.Places[at]].Type.Kind() {
		case expr.KindJSON, expr.KindOther:
			return nil, false
		}
		out = append(out, scanKey{s.Places[at], k.Desc})
	}
	return out, true
}

// sourceColumn follows a column through the projections that rename it.
func sourceColumn(n rel.Node, id rel.ColID) rel.ColID {
	for {
		if p, ok := n.(*rel.Project); ok {
			if i := slices.Index(p.Cols, id); i >= 0 {
				c, isCol := p.Exprs[i].(*rel.Col)
				if !isCol {
					return id
				}
				id = c.ID
			}
		}
		switch m := n.(type) {
		case *rel.Join:
			n = m.Left
		case *rel.Filter, *rel.Project, *rel.Distinct, *rel.Group:
			n = n.Children()[0]
		default:
			return id
		}
	}
}

// orderScan has a scan give its rows in an order, if that is cheaper than to sort them. above is what is sorted, want how many rows of it
// are asked for.
func (z *optimizer) orderScan(s *rel.Scan, keys []scanKey, want float64, above rel.Node) bool {
	fixed := fixedPlaces(s)
	if s.Access != nil {
		if reverse, ok := inOrder(s, s.Access.Index, keys, fixed); ok {
			s.Access.Reverse = reverse
			return true
		}
	}
	if z.o.NoAccess || hasGroup(above) || s.Access != nil && readsOthers(s) {
		return false
	}
	rows, passing, out := max(fewest, s.Table.Rows()), z.estimate(s), z.estimate(above)
	instead := rows + costSeek
	if p := z.bestPath(s, s.Filter, nil); p != nil {
		instead = p.cost
	}
	if want < all { // all rows of the joins above are made, too
		instead += out
	}
	instead += costHash * out
	var best *path
	for _, x := range usable(s, "order by") {
		reverse, ok := inOrder(s, x, keys, fixed)
		if !ok {
			continue
		}
		p := z.pathOf(s, x, z.restrictions(s, s.Filter), rows)
		if p == nil {
			p = &path{index: x, spans: []rel.Span{{}}, read: rows, covers: x.Covers(s.Places)}
		}
		if p.never {
			return false
		}
		read := p.read
		if want < out { // so many rows of the index are read until there are enough
			read = min(read, max(fewest, p.read*want/out))
		}
		cost := spansCost(len(p.spans)) + read
		if !p.covers {
			cost += costFetch * read
		}
		if cost < instead {
			instead, best = cost, p
			best.reverse = reverse
		}
	}
	if best == nil {
		return false
	}
	best.result = passing
	best.access(s)
	return true
}

// readsOthers reports whether the access of a scan reads columns of other tables: it is chosen for a join.
func readsOthers(s *rel.Scan) bool {
	cols := rel.Cols{}
	for _, p := range s.Access.Spans {
		rel.CollectCols(cols, p.Equal...)
		for _, b := range []*rel.Bound{p.Low, p.High} {
			if b != nil {
				rel.CollectCols(cols, b.Value)
			}
		}
	}
	return len(cols) > 0
}

// hasGroup reports whether groups are taken as they come from the scan below: its order must not change.
func hasGroup(n rel.Node) bool {
	for {
		switch m := n.(type) {
		case *rel.Group:
			return true
		case *rel.Join:
			n = m.Left
		case *rel.Filter, *rel.Project, *rel.Distinct:
			n = n.Children()[0]
		default:
			return false
		}
	}
}

// fixedPlaces are the columns that the conditions of a scan fix to one value.
func fixedPlaces(s *rel.Scan) map[int]bool {
	out := map[int]bool{}
	for _, c := range s.Filter {
		if col, _, ok := columnIsConstant(c); ok {
			if p := placeOf(s, col); p >= 0 {
				out[p] = true
			}
		}
	}
	return out
}

// inOrder reports whether the entries of an index, forwards or backwards, are in the order of the keys.
func inOrder(s *rel.Scan, x rel.Index, keys []scanKey, fixed map[int]bool) (reverse, ok bool) {
	parts := indexColumns(s, x)
	at, first, directed := 0, false, false
	for _, k := range keys {
		if fixed[k.place] {
			continue
		}
		for at < len(parts) && parts[at].Place != k.place && fixed[parts[at].Place] {
			at++
		}
		if at >= len(parts) {
			// all columns of a unique key are there: no two rows are equal in what comes before
			return first, (x.Unique() || len(x.Suffix()) > 0) && noNulls(s, x)
		}
		if parts[at].Place != k.place || parts[at].Prefix > 0 || directed && k.desc != first {
			return false, false
		}
		first, directed = k.desc, true
		at++
	}
	return first, true
}

func noNulls(s *rel.Scan, x rel.Index) bool {
	if !x.Unique() {
		return true // the primary key follows
	}
	return !slices.ContainsFunc(x.Parts(), func(p rel.IndexPart) bool { return s.Table.Columns()[p.Place].Nullable || p.Prefix > 0 })
}

// readEnd has MIN or MAX of one column, without GROUP BY, read one end of an index: the first row of its order in which the column is not
// NULL has it.
func (z *optimizer) readEnd(n *rel.Group) {
	if z.o.NoSort || !n.Scalar || len(n.Aggs) != 1 || len(n.Aggs[0].Args) != 1 {
		return
	}
	a := &n.Aggs[0]
	s, isScan := n.Child.(*rel.Scan)
	col, isCol := a.Args[0].(*rel.Col)
	if !isScan || !isCol || s.Limit > 0 || a.Name != "min" && a.Name != "max" {
		return
	}
	switch col.T.Kind() {
	case expr.KindEnum, expr.KindSet, expr.KindJSON, expr.KindOther, expr.KindBit: // MIN compares them otherwise than an index
		return
	}
	place := placeOf(s, col)
	if place < 0 || !z.orderScan(s, []scanKey{{place, a.Name == "max"}}, 1, s) {
		return
	}
	if c := s.Table.Columns()[place]; c.Nullable && a.Name == "min" && !rejects(s.Filter, rel.Cols{col.ID: true}) {
		e, ok := build("is not null", z.meta.Ref(col.ID))
		if !ok {
			return
		}
		s.Filter = append(s.Filter, e)
	}
	s.Limit = 1
}

// orderGroup lets a GROUP BY take groups as they come if its rows are read in the order of an index anyway.
func (z *optimizer) orderGroup(n *rel.Group) {
	if z.o.NoSort || n.Scalar || n.Rollup || len(n.Keys) == 0 {
		return
	}
	s := orderedScan(n.Child)
	if s == nil || s.Access == nil {
		return
	}
	wanted := map[int]bool{}
	for _, id := range n.Keys {
		at := slices.Index(s.Cols, sourceColumn(n.Child, id))
		if at < 0 {
			return
		}
		wanted[s.Places[at]] = true
	}
	fixed := fixedPlaces(s)
	for _, p := range indexColumns(s, s.Access.Index) {
		switch {
		case len(wanted) == 0:
		case p.Prefix > 0:
			return
		case wanted[p.Place]:
			delete(wanted, p.Place)
		case !fixed[p.Place]:
			return
		}
	}
	for p := range wanted {
		if !fixed[p] {
			return
		}
	}
	n.Ordered = true
}
