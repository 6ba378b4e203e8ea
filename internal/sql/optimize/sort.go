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

// saveSort drops a sort that an index makes needless.
func (z *optimizer) saveSort(n *rel.Sort) rel.Node {
	if z.o.NoSort {
		return n
	}
	s := orderedScan(n.Child)
	if s == nil {
		return n
	}
	keys, ok := z.scanKeys(n.Child, s, n.Keys)
	if !ok {
		return n
	}
	limit := -1.0
	if c, ok := literalCount(n.Limit); ok {
		limit = c
	}
	if !z.orderScan(s, keys, limit, n.Child) {
		return n
	}
	return n.Child
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
		case *rel.Filter, *rel.Project, *rel.Distinct:
			n = n.Children()[0]
		default:
			return id
		}
	}
}

// orderScan has a scan give its rows in an order, if that is cheaper than to sort them; limit is how many are wanted, -1: all.
func (z *optimizer) orderScan(s *rel.Scan, keys []scanKey, limit float64, above rel.Node) bool {
	fixed := fixedPlaces(s)
	if s.Access != nil {
		if reverse, ok := inOrder(s, s.Access.Index, keys, fixed); ok {
			s.Access.Reverse = reverse
			return true
		}
	}
	if z.o.NoAccess {
		return false
	}
	rows := max(fewest, s.Table.Rows())
	now := rows + costSeek
	if s.Access != nil {
		p := z.bestPath(s, s.Filter, nil)
		if p == nil {
			now = s.Rows * (1 + costFetch)
		} else {
			now = p.cost
		}
	}
	sortCost := costHash * z.estimate(s)
	passes := max(fewest, z.estimate(s)) / rows // the part of the rows that is wanted
	var best *path
	bestCost := now + sortCost
	for _, x := range usable(s, "order by") {
		reverse, ok := inOrder(s, x, keys, fixed)
		if !ok {
			continue
		}
		p := z.pathOf(s, x, z.restrictions(s, s.Filter), rows)
		if p == nil {
			p = &path{index: x, spans: []rel.Span{{}}, read: rows, covers: x.Covers(s.Places)}
			if !noPrefix(x) {
				continue
			}
		}
		read := p.read
		if limit >= 0 && !hasJoinAbove(above) {
			read = min(read, max(fewest, limit)/min(1, passes*rows/max(fewest, p.read)))
		}
		cost := costSeek*float64(len(p.spans)) + read
		if !p.covers {
			cost += costFetch * read
		}
		if cost < bestCost {
			bestCost, best = cost, p
			best.reverse = reverse
		}
	}
	if best == nil {
		return false
	}
	best.result = s.Rows
	best.access(s)
	return true
}

func hasJoinAbove(n rel.Node) bool {
	for {
		switch m := n.(type) {
		case *rel.Join, *rel.Distinct:
			return true
		case *rel.Filter:
			n = m.Child
		case *rel.Project:
			n = m.Child
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
