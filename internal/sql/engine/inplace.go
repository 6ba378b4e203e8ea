package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// Rows that are only counted are counted where they are (txn.Count): what a GROUP BY needs of a table is then how many entries
// of one of its indexes begin with which columns. This is done for
//
//	one table (countgroups.go)  whole or by ranges of an index; groups are first columns of an index
//	a join (countjoin.go)       of anything with a table of which only the number of rows that fit matters
//
// and only where it is certain that the answer is the same:
//
//	I1  Two entries are of one group iff their columns are equal in SQL: the key holds the whole column, as the weights of
//	    its collation. (No index on the beginning of a column, none on virtual columns.)
//	I2  Every row has exactly one entry in the index. (None that is still being filled.)
//	I3  What is shown of a group is the group's columns, as its first row has them; or counts, minima and maxima.
//	I4  Nothing lies between the table and the GROUP BY that drops, multiplies or changes rows.
//
// Everything else falls through to the ordinary operators, and so does a statement that locks what it reads, or writes.

// inPlaceVariable turns all this off for a session.
const inPlaceVariable = "longitude_count_in_place"

func (b *builder) inPlace(ctx *sql.Context, g *plan.GroupBy, row sql.Row) (sql.RowIter, error) {
	s, err := sessionOf(ctx)
	if err != nil || s.stmt.kind != reading || len(row) > 0 { // with a row around it, columns are elsewhere in it
		return nil, nil
	}
	if v, err := s.GetSessionVariable(ctx, inPlaceVariable); err != nil || v != int8(1) {
		return nil, nil
	}
	if j, ok := g.Child.(*plan.JoinNode); ok {
		return b.countJoin(ctx, s, g, j)
	}
	return b.countGroups(ctx, s, g)
}

// source is a table as a plan reads it.
type source struct {
	t      *table
	access *plan.IndexedTableAccess // nil: the whole table
}

// sourceOf finds the table that a node reads and gives on as it is. Nil: it is something else, or locks.
func sourceOf(s *Session, n sql.Node) *source {
	for {
		switch x := n.(type) {
		case *plan.TableAlias:
			n = x.Child
			continue
		case *plan.HashLookup:
			n = x.Child
			continue
		case *plan.IndexedTableAccess:
			if t, ok := x.Table.(*table); ok && t.isCountable(s) {
				return &source{t, x}
			}
		case *plan.ResolvedTable:
			u := x.Table
			if p, ok := u.(*plan.ProcessTable); ok {
				u = p.Underlying()
			}
			if t, ok := u.(*table); ok && t.lookup == nil && t.isCountable(s) {
				return &source{t, nil}
			}
		}
		return nil
	}
}

func (t *table) isCountable(s *Session) bool {
	return !t.noRows && !t.refOnly && s.stmt.lockFor(t, false).Mode == kv.NoLock && s.stmt.lockFor(t, true).Mode == kv.NoLock
}

// column is the place in the table's schema of what an expression names, if it names the i-th column that is read.
func (t *table) column(f *expression.GetField, i int) (at int, ok bool) {
	if t.columns == nil {
		at = i
	} else if i >= 0 && i < len(t.columns) {
		at = t.columns[i]
	} else {
		return 0, false
	}
	return at, at >= 0 && at < len(t.l.columns) && strings.EqualFold(t.l.desc.Columns[at].Name, f.Name()) && !t.l.virtual[at]
}

// spans are what the source reads of its index, and whether that is all of it. ok is false if not all of the rows in the
// spans are meant.
func (src *source) spans(ctx *sql.Context) (x *indexLayout, spans []kv.Span, whole, ok bool, err error) {
	l := src.t.l
	if src.access == nil {
		return l.primary, []kv.Span{l.primary.whole()}, true, true, nil
	}
	i, isOurs := src.access.Index().(*index)
	if !isOurs || !src.access.IsStatic() {
		return nil, nil, false, false, nil
	}
	if x = l.indexByName(i.ID()); x == nil {
		return nil, nil, false, false, nil
	}
	lookup, inRange, err := src.access.GetLookup(ctx, nil)
	if err != nil {
		return nil, nil, false, false, err
	}
	if inRange && !asksNothing(lookup) {
		rs, err := x.reaches(ctx, lookup)
		if err != nil {
			return nil, nil, false, false, err
		}
		for i := range rs {
			if len(rs[i].rest) > 0 || i > 0 && rs[i].span.Start.Less(rs[i-1].span.End) {
				return nil, nil, false, false, nil
			}
			spans = append(spans, rs[i].span)
		}
	}
	all := x.whole()
	whole = len(spans) == 1 && spans[0].Start.Equal(all.Start) && spans[0].End.Equal(all.End)
	return x, spans, whole, true, nil
}

// whole is all entries of the index.
func (x *indexLayout) whole() kv.Span { return kv.Span{Start: x.prefix, End: keys.PrefixEnd(x.prefix)} }

// countable reports I1 and I2 for an index whose first n columns are of interest.
func (x *indexLayout) countable(n int) bool {
	if !x.isPK && x.desc.State != catalog.Public || n > len(x.parts) {
		return false
	}
	for i := range x.parts {
		if x.table.virtual[x.parts[i].at] || i < n && x.parts[i].col.Prefix > 0 {
			return false
		}
	}
	return true
}

// beginsWith reports whether the first columns of the index are these, in any order.
func (x *indexLayout) beginsWith(places []int) bool {
	if !x.countable(len(places)) {
		return false
	}
	for i := range places {
		if !slices.Contains(places, x.parts[i].at) {
			return false
		}
	}
	return true
}

// indexFor is the index that is cheapest to count by these first columns: a secondary one if there is one, since its
// entries are small.
func (l *layout) indexFor(places []int) *indexLayout {
	var best *indexLayout
	for _, x := range l.indexes {
		if x.beginsWith(places) && (best == nil || len(x.covering) < len(best.covering)) {
			best = x
		}
	}
	if best == nil && l.primary.beginsWith(places) {
		best = l.primary
	}
	return best
}

// grouping is by the first n columns. If the key does not give them all back, the first row's value is wanted.
func (x *indexLayout) grouping(n int) kv.Grouping {
	g := kv.Grouping{Prefix: len(x.prefix)}
	for i := range x.parts[:n] {
		g.Columns = append(g.Columns, byte(x.parts[i].col.Shape()))
		g.First = g.First || x.parts[i].col.Lossy()
	}
	return g
}

// groupColumns decodes the first n columns of a group.
func (x *indexLayout) groupColumns(g *txn.Group, n int) (datums, error) {
	if len(g.Value) > 0 && x.isPK {
		return x.table.decodeRow(g.Key, g.Value)
	}
	if len(g.Value) > 0 {
		return x.decodeEntry(g.Key, g.Value)
	}
	d := make(datums, len(x.table.columns)+1)
	rest := []byte(g.Key[len(x.prefix):])
	for i := range x.parts[:n] {
		v, r, err := rowcodec.DecodeKey(rest, &x.parts[i].col)
		if err != nil {
			return nil, x.table.corrupt(g.Key, err)
		}
		d[x.parts[i].at], rest = v, r
	}
	return d, nil
}

// notNull is the part of an index in which its first column is not NULL.
func (x *indexLayout) notNull() kv.Span {
	s := x.whole()
	s.Start = append(slices.Clone(s.Start), rowcodec.AfterNull)
	return s
}

// countArgument tells what COUNT counts: every row (a constant), or the rows where a field is not NULL.
func countArgument(e sql.Expression) (f *expression.GetField, ok bool) {
	switch e := e.(type) {
	case *expression.Literal:
		return nil, e.Value() != nil
	case *expression.GetField:
		return e, true
	}
	return nil, false
}

// fieldOf is the column that an expression is, perhaps by another name.
func fieldOf(e sql.Expression) (*expression.GetField, bool) {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	f, ok := e.(*expression.GetField)
	return f, ok
}

// prefixSpan is all keys that begin so.
func prefixSpan(k kv.Key) kv.Span { return kv.Span{Start: k, End: keys.PrefixEnd(k)} }
