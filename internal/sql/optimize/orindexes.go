package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// An OR whose parts are each found by an index of their own, but not all by one: the primary keys that the parts find are put together,
// each once, and looked up in the table.
//
//	WHERE id = 5 OR email = 'x'    the union of two index lookups, joined with the table by its primary key
//
// The condition is checked of the rows all the same (O6). MySQL calls this index merge.

// byIndexes is a scan as a lookup of the keys that the parts of an OR find; nil: that is not cheaper than reading the whole table, or
// cannot be.
func (z *optimizer) byIndexes(s *rel.Scan) rel.Node {
	if z.o.NoAccess || z.o.NoJoinMethods || s.Limit > 0 || len(s.Hints) > 0 || anyFn(s.Filter, volatile) {
		return nil
	}
	at := slices.IndexFunc(s.Table.Indexes(), rel.Index.Primary)
	columns := s.Table.Columns()
	if at < 0 || columns[len(columns)-1].Name == rel.RowColumn { // rows that are changed are read once, as they are kept
		return nil
	}
	key := s.Table.Indexes()[at].Parts()
	for _, c := range s.Filter {
		or, ok := c.(*expr.Call)
		if !ok || or.Name != "or" || subqueriesIn(c) {
			continue
		}
		cost, parts := 0.0, branches(or)
		for _, part := range parts {
			p := z.bestPath(s, part, nil)
			if p == nil || p.never || p.index == nil {
				cost = all
				break
			}
			cost += p.cost + p.result*(costAhead+costBuild)
		}
		if 2*cost > s.Table.Rows()+costSeek {
			continue
		}
		return z.keysOf(s, key, parts)
	}
	return nil
}

// keysOf joins the keys that conditions find, each part by an index, with the table.
func (z *optimizer) keysOf(s *rel.Scan, key []rel.IndexPart, parts [][]expr.Node) rel.Node {
	var union rel.Node
	var keys []rel.ColID
	for _, part := range parts {
		scan, cols := z.keyScan(s, key, part)
		if scan == nil {
			return nil
		}
		if union == nil {
			union, keys = scan, cols
			continue
		}
		op := &rel.SetOp{Kind: rel.Union, Left: union, LeftCols: keys, Right: scan, RightCols: cols}
		for _, id := range cols {
			op.Cols = append(op.Cols, z.meta.Add(z.meta.Columns[id]))
		}
		union, keys = op, op.Cols
	}
	var on []expr.Node
	for i, k := range key {
		place := slices.Index(s.Places, k.Place)
		if place < 0 { // nothing else reads this column of the key
			place = len(s.Places)
			s.Places, s.Cols = append(s.Places, k.Place), append(s.Cols, z.meta.Add(z.meta.Columns[keys[i]]))
		}
		e, ok := build("=", z.meta.Ref(s.Cols[place]), z.meta.Ref(keys[i]))
		if !ok {
			return nil
		}
		on = append(on, e)
	}
	p := z.bestPath(s, s.Filter, on)
	given := rel.Cols{}
	addCols(given, keys)
	if p == nil || !p.one || !p.index.Primary() || !readsLeft(p, given) {
		return nil
	}
	p.access(s)
	return &rel.Join{Kind: rel.Inner, Left: union, Right: s, On: on}
}

// keyScan reads the keys of the rows of a table that satisfy conditions by an index; nil: there is none.
func (z *optimizer) keyScan(of *rel.Scan, key []rel.IndexPart, conds []expr.Node) (*rel.Scan, []rel.ColID) {
	s := &rel.Scan{Table: of.Table, Alias: of.Alias}
	ids := map[rel.ColID]rel.ColID{}
	column := func(place int) rel.ColID {
		if i := slices.Index(s.Places, place); i >= 0 {
			return s.Cols[i]
		}
		c := of.Table.Columns()[place]
		meta := rel.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
		if i := slices.Index(of.Places, place); i >= 0 {
			meta = z.meta.Columns[of.Cols[i]]
		}
		id := z.meta.Add(meta)
		s.Places, s.Cols = append(s.Places, place), append(s.Cols, id)
		return id
	}
	var keys []rel.ColID
	for _, k := range key {
		keys = append(keys, column(k.Place))
	}
	for i, id := range of.Cols {
		for _, c := range conds {
			if reads(c)[id] {
				ids[id] = column(of.Places[i])
			}
		}
	}
	for _, c := range conds {
		d, ok := clone(c, func(col *rel.Col) expr.Node {
			if id, ok := ids[col.ID]; ok {
				return z.meta.Ref(id)
			}
			return nil
		})
		if !ok {
			return nil, nil
		}
		s.Filter = append(s.Filter, d)
	}
	p := z.bestPath(s, s.Filter, nil)
	if p == nil || p.never || p.index == nil {
		return nil, nil
	}
	p.access(s)
	return s, keys
}
