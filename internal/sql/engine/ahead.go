package engine

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// A lookup join asks for the rows of its right side once for each row of its left side. Here the left rows are read
// ahead in batches, and what the right side will ask for them is fetched in one round, or two if the index does not hold
// all columns. The engine's own join then finds it in memory.

// aheadFirst and aheadMost bound a batch: the first ones are small, because many joins end early.
const (
	aheadFirst = 16
	aheadMost  = 512
)

// fetched is what was read ahead, for the present batch of one join.
type fetched struct {
	spans map[string][]txn.KeyValue
	rows  map[string][]byte
}

func spanName(s kv.Span) string { return string(s.Start) + "\x00\x00" + string(s.End) }

// join replaces the left side of a lookup join by one that reads ahead. Nil: not such a join.
func (b *builder) join(ctx *sql.Context, n *plan.JoinNode, row sql.Row) (sql.RowIter, error) {
	s, err := sessionOf(ctx)
	if err != nil || s.stmt.kind != reading || n.Op.IsFullOuter() || n.Op.IsMerge() || n.Op.IsRange() || n.Op.IsLateral() {
		return nil, nil
	}
	if _, done := n.Left().(*ahead); done {
		return nil, nil
	}
	access := indexedAccess(n.Right())
	if access == nil || access.IsStatic() {
		return nil, nil
	}
	t, ok := access.Table.(*table)
	if !ok || s.stmt.lockFor(t, false).Mode != kv.NoLock { // locked is what is wanted, not what might be
		return nil, nil
	}
	left := &ahead{Node: n.Left(), b: b, access: access, t: t, leftLen: len(n.Left().Schema(ctx))}
	joined, err := n.WithChildren(ctx, left, n.Right())
	if err != nil {
		return nil, err
	}
	return b.e.gms.Analyzer.ExecBuilder.Build(ctx, joined, row)
}

// indexedAccess finds the lookup at the bottom of the right side of a join.
func indexedAccess(n sql.Node) *plan.IndexedTableAccess {
	for {
		switch x := n.(type) {
		case *plan.IndexedTableAccess:
			return x
		case *plan.Filter:
			n = x.Child
		case *plan.Project:
			n = x.Child
		case *plan.TableAlias:
			n = x.Child
		default:
			return nil
		}
	}
}

// ahead is the left side of a lookup join.
type ahead struct {
	sql.Node
	b       *builder
	access  *plan.IndexedTableAccess
	t       *table
	leftLen int
}

func (a *ahead) rowIter(ctx *sql.Context, parent sql.Row) (sql.RowIter, error) {
	child, err := a.b.e.gms.Analyzer.ExecBuilder.Build(ctx, a.Node, parent)
	if err != nil {
		return nil, err
	}
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	return &aheadIter{a: a, s: s, child: child, parent: parent, size: aheadFirst}, nil
}

type aheadIter struct {
	a      *ahead
	s      *Session
	child  sql.RowIter
	parent sql.Row
	batch  []sql.Row
	size   int
	err    error
}

// Next implements sql.RowIter.
func (i *aheadIter) Next(ctx *sql.Context) (sql.Row, error) {
	if len(i.batch) == 0 {
		if i.err != nil {
			return nil, i.err
		}
		if err := i.fill(ctx); err != nil {
			return nil, err
		}
		if len(i.batch) == 0 {
			return nil, i.err
		}
	}
	row := i.batch[0]
	i.batch = i.batch[1:]
	return row, nil
}

// fill reads the next batch of left rows, and what belongs to them on the right.
func (i *aheadIter) fill(ctx *sql.Context) error {
	for len(i.batch) < i.size {
		row, err := i.child.Next(ctx)
		if err != nil {
			if i.err = err; err != io.EOF {
				return err
			}
			break
		}
		i.batch = append(i.batch, row)
	}
	i.size = min(i.size*4, aheadMost)
	if len(i.batch) < 2 {
		i.s.stmt.ahead = nil // one look is as good as another
		return nil
	}
	return i.fetch(ctx)
}

func (i *aheadIter) fetch(ctx *sql.Context) error {
	t := i.a.t
	idx, ok := i.a.access.Index().(*index)
	if !ok {
		return nil
	}
	x := t.l.indexByName(idx.ID())
	if x == nil {
		return nil
	}
	var rs []reach
	seen := map[string]bool{}
	for _, row := range i.batch {
		full := append(append(make(sql.Row, 0, len(i.parent)+i.a.leftLen), i.parent...), row[len(row)-i.a.leftLen:]...)
		lookup, inRange, err := i.a.access.GetLookup(ctx, full)
		if err != nil {
			return err
		}
		if !inRange {
			continue
		}
		more, err := x.reaches(ctx, lookup)
		if err != nil {
			return err
		}
		for _, r := range more {
			if name := spanName(r.span); !seen[name] {
				seen[name] = true
				rs = append(rs, r)
			}
		}
	}
	f := &fetched{spans: map[string][]txn.KeyValue{}, rows: map[string][]byte{}}
	r, err := newRowReader(ctx, t, x, rs, false)
	if err != nil {
		return err
	}
	if err := r.readAhead(ctx, f); err != nil {
		if tooLarge(err) {
			return nil
		}
		return err
	}
	if i.s.stmt.ahead == nil {
		i.s.stmt.ahead = map[uint64]*fetched{}
	}
	i.s.stmt.ahead[t.l.desc.ID] = f
	return nil
}

// Close implements sql.RowIter.
func (i *aheadIter) Close(ctx *sql.Context) error {
	i.batch = nil
	return i.child.Close(ctx)
}

// readAhead fetches all spans, and the rows that their entries stand for.
func (r *rowReader) readAhead(ctx *sql.Context, f *fetched) error {
	var points []kv.Key
	var spans []kv.Span
	var names []string
	for _, re := range r.reaches {
		if re.point {
			points = append(points, re.span.Start)
		} else {
			spans, names = append(spans, re.span), append(names, spanName(re.span))
		}
	}
	values, err := r.tx.getMany(ctx, points)
	if err != nil {
		return err
	}
	var entries []txn.KeyValue
	at := 0
	for _, re := range r.reaches {
		if !re.point {
			continue
		}
		name := spanName(re.span)
		f.spans[name] = nil
		if v := values[at]; len(v) > 0 {
			e := txn.KeyValue{Key: re.span.Start, Value: v}
			f.spans[name] = []txn.KeyValue{e}
			entries = append(entries, e)
		}
		at++
	}
	if len(spans) > 0 {
		found, err := r.tx.scanMany(ctx, spans)
		if err != nil {
			return err
		}
		for i, rows := range found {
			f.spans[names[i]] = rows
			entries = append(entries, rows...)
		}
	}
	if r.covered {
		return nil
	}
	var ks []kv.Key
	for _, e := range entries {
		d, err := r.x.decodeEntry(e.Key, e.Value)
		if err != nil {
			return err
		}
		k, err := r.t.l.primaryKey(d)
		if err != nil {
			return err
		}
		if _, ok := f.rows[string(k)]; !ok {
			f.rows[string(k)] = nil
			ks = append(ks, k)
		}
	}
	if values, err = r.tx.getMany(ctx, ks); err != nil {
		return err
	}
	for i, k := range ks {
		f.rows[string(k)] = values[i]
	}
	return nil
}
