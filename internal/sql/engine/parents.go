package engine

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/longitude-db/longitude/internal/kv"
)

// parentChecks are the parents that rows of a statement refer to. A plain INSERT looks them up together, instead of one
// by one as the rows come.
type parentChecks struct {
	keys []parentCheck
	seen map[string]bool
}

type parentCheck struct {
	t  *table
	x  *indexLayout
	r  reach
	fk sql.ForeignKeyConstraint
}

// add notes a parent, once.
func (p *parentChecks) add(c parentCheck) {
	k := string(c.r.span.Start)
	if p.seen[k] {
		return
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[k] = true
	p.keys = append(p.keys, c)
}

// deferParents makes the foreign keys of an insert look their parents up at the end of the statement.
func deferParents(s *statement, h *plan.ForeignKeyHandler) {
	for _, ref := range h.Editor.References {
		if e, ok := ref.RowMapper.Updater.(*fkEditor); ok && !ref.ForeignKey.IsSelfReferential() {
			ref.RowMapper.Updater = &deferredParent{fkEditor: e, s: s, fk: ref.ForeignKey}
		}
	}
}

// deferredParent stands for the parent table of one foreign key: it says that every parent is there, and notes what to
// look up.
type deferredParent struct {
	*fkEditor
	s  *statement
	fk sql.ForeignKeyConstraint
}

// IndexedAccess implements sql.IndexAddressable.
func (d *deferredParent) IndexedAccess(ctx *sql.Context, lookup sql.IndexLookup) sql.IndexedTable {
	return &deferredLookup{table: d.fkEditor.table, d: d, lookup: lookup}
}

type deferredLookup struct {
	*table
	d      *deferredParent
	lookup sql.IndexLookup
}

// PartitionRows implements sql.Table.
func (l *deferredLookup) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	i, ok := l.lookup.Index.(*index)
	if !ok {
		return nil, io.ErrUnexpectedEOF
	}
	x := l.l.indexByName(i.ID())
	rs, err := x.reaches(ctx, l.lookup)
	if err != nil {
		return nil, err
	}
	if len(rs) == 0 { // a value that no parent can have
		return sql.RowsToRowIter(), nil
	}
	p := &l.d.s.parents
	for _, r := range rs {
		p.add(parentCheck{t: l.table, x: x, r: r, fk: l.d.fk})
	}
	if len(p.keys) >= keysPerRound {
		if err := l.d.s.checkParents(ctx); err != nil {
			return nil, err
		}
	}
	return sql.RowsToRowIter(make(sql.Row, len(l.schema))), nil
}

// checkParents looks the noted parents up.
func (s *statement) checkParents(ctx *sql.Context) error {
	checks := s.parents.keys
	s.parents.keys = nil
	if len(checks) == 0 {
		return nil
	}
	_, tx, err := txOf(ctx)
	if err != nil {
		return err
	}
	var points []parentCheck
	var ks []kv.Key
	for _, c := range checks {
		if err := s.flushTable(ctx, c.t.l.desc.ID); err != nil {
			return err
		}
		if c.r.point {
			points, ks = append(points, c), append(ks, c.r.span.Start)
			continue
		}
		it, err := newRowReader(ctx, c.t, c.x, []reach{c.r}, false)
		if err != nil {
			return err
		}
		it.covered = true
		if _, err := it.Next(ctx); err == io.EOF {
			return c.missing()
		} else if err != nil {
			return err
		}
	}
	found, err := tx.getMany(ctx, ks)
	if err != nil {
		return err
	}
	for i, v := range found {
		if len(v) == 0 {
			return points[i].missing()
		}
	}
	return nil
}

func (c *parentCheck) missing() error {
	return sql.ErrForeignKeyChildViolation.New(c.fk.Name, c.fk.Table, c.fk.ParentTable, "")
}

// fkEditor is a table that a foreign key leads to, for reading and for cascades.
type fkEditor struct {
	*editor
	*table
}

var _ sql.ForeignKeyEditor = (*fkEditor)(nil)

// IndexedAccess implements sql.IndexAddressable.
func (f *fkEditor) IndexedAccess(_ *sql.Context, lookup sql.IndexLookup) sql.IndexedTable {
	return &fkLookup{table: f.table, s: f.editor.s}
}

// fkLookup is a look at a table in the middle of a statement: what the statement has done to it so far counts.
type fkLookup struct {
	*table
	s *Session
}

// LookupPartitions implements sql.IndexedTable.
func (f *fkLookup) LookupPartitions(ctx *sql.Context, lookup sql.IndexLookup) (sql.PartitionIter, error) {
	if f.s != nil {
		if err := f.s.stmt.flushTable(ctx, f.table.l.desc.ID); err != nil {
			return nil, err
		}
	}
	return f.table.LookupPartitions(ctx, lookup)
}
