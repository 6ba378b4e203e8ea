package engine

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// go-mysql-server leaves an UPDATE away if the old and the new row are equal under the collations of their columns
// (rowexec/update.go, insert.go): 'abc' never became 'ABC'. It is shown schemas here under which texts are equal only if all
// their bytes are. Its counts of affected rows (rowexec/dml_iters.go) compare by the same schemas.

// exactText is a type of texts of which those that differ in a byte are not equal.
type exactText struct{ sql.StringType }

// Compare implements sql.Type.
func (t exactText) Compare(ctx context.Context, a, b any) (int, error) {
	x, err := textBytes(ctx, a)
	if err != nil {
		return 0, err
	}
	y, err := textBytes(ctx, b)
	switch {
	case err != nil:
		return 0, err
	case x == nil && y == nil:
		return 0, nil
	case x == nil:
		return -1, nil
	case y == nil:
		return 1, nil
	}
	return bytes.Compare(x, y), nil
}

func textBytes(ctx context.Context, v any) ([]byte, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return append([]byte{}, v...), nil
	case []byte:
		return append([]byte{}, v...), nil
	}
	c, _, err := types.LongText.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	return append([]byte{}, c.(string)...), nil
}

// exactSchema is a schema whose texts are exactTexts.
func exactSchema(s sql.Schema) sql.Schema {
	out := make(sql.Schema, len(s))
	for i, c := range s {
		out[i] = c
		if t, ok := c.Type.(sql.StringType); ok {
			exact := *c
			exact.Type = exactText{t}
			out[i] = &exact
		}
	}
	return out
}

// exactTarget is what an UPDATE or INSERT changes, with such a schema. It stands in the place of the node that it executes.
type exactTarget struct {
	sql.UpdatableTable
	node sql.Node
}

// Schema implements sql.Node and sql.Table.
func (e *exactTarget) Schema(ctx *sql.Context) sql.Schema {
	return exactSchema(e.UpdatableTable.Schema(ctx))
}

// Updater implements sql.UpdatableTable.
func (e *exactTarget) Updater(ctx *sql.Context) sql.RowUpdater {
	if h, ok := e.UpdatableTable.(*plan.ForeignKeyHandler); ok {
		exact := *h
		exact.Sch = exactSchema(h.Sch)
		return exact.Updater(ctx)
	}
	return e.UpdatableTable.Updater(ctx)
}

// Inserter implements sql.InsertableTable.
func (e *exactTarget) Inserter(ctx *sql.Context) sql.RowInserter {
	return e.UpdatableTable.(sql.InsertableTable).Inserter(ctx)
}

// Underlying implements sql.TableWrapper.
func (e *exactTarget) Underlying() sql.Table { return e.UpdatableTable }

// String implements sql.Node.
func (e *exactTarget) String() string { return e.node.String() }

// Resolved implements sql.Node.
func (e *exactTarget) Resolved() bool { return e.node.Resolved() }

// IsReadOnly implements sql.Node.
func (e *exactTarget) IsReadOnly() bool { return e.node.IsReadOnly() }

// Children implements sql.Node.
func (e *exactTarget) Children() []sql.Node { return []sql.Node{e.node} }

// WithChildren implements sql.Node.
func (e *exactTarget) WithChildren(_ *sql.Context, cs ...sql.Node) (sql.Node, error) {
	return &exactTarget{UpdatableTable: e.UpdatableTable, node: cs[0]}, nil
}

// exactUpdate is the UPDATE with exact comparisons; nil if it has them.
func (b *builder) exactUpdate(ctx *sql.Context, n *plan.Update) (sql.Node, error) {
	if _, done := n.Child.(*exactTarget); done {
		return nil, nil
	}
	target, err := plan.GetUpdatable(n.Child)
	if err != nil {
		return nil, err
	}
	node := n.Child
	if u, ok := node.(*plan.UpdateSource); ok { // it decides on ON UPDATE CURRENT_TIMESTAMP by the schema below it
		if node, err = u.WithChildren(ctx, &exactTarget{UpdatableTable: target, node: u.Child}); err != nil {
			return nil, err
		}
	}
	if j, ok := node.(*plan.UpdateJoin); ok {
		schema := j.Child.(*plan.UpdateSource).Child.Schema(ctx)
		target = &joinTarget{UpdatableTable: target, n: j, schema: schema}
		node = &joinSource{UpdateJoin: j, parts: partsOf(schema, slices.Sorted(maps.Keys(j.UpdateTargets)))}
	}
	return n.WithChildren(ctx, &exactTarget{UpdatableTable: target, node: node})
}

// exactInsert is INSERT ... ON DUPLICATE KEY UPDATE with exact comparisons; nil if it has them.
func (b *builder) exactInsert(n *plan.InsertInto) (sql.Node, error) {
	if _, done := n.Destination.(*exactTarget); done {
		return nil, nil
	}
	to, err := plan.GetInsertable(n.Destination)
	if err != nil {
		return nil, err
	}
	target, ok := to.(sql.UpdatableTable)
	if !ok {
		return nil, nil
	}
	out := *n
	out.Destination = &exactTarget{UpdatableTable: target, node: n.Destination}
	return &out, nil
}

// joinTarget is the tables that an UPDATE of a join changes.
type joinTarget struct {
	sql.UpdatableTable
	n      *plan.UpdateJoin
	schema sql.Schema
}

// Updater implements sql.UpdatableTable.
func (j *joinTarget) Updater(ctx *sql.Context) sql.RowUpdater {
	us, err := j.n.GetUpdaters(ctx)
	return &joinUpdater{updaters: us, err: err, parts: partsOf(j.schema, slices.Sorted(maps.Keys(us)))}
}

// joinPart is where a table's columns stand in a joined row.
type joinPart struct {
	name     string
	from, to int
	schema   sql.Schema
}

func partsOf(s sql.Schema, tables []string) (out []joinPart) {
	for _, name := range tables {
		p := joinPart{name: name, from: -1}
		for i, c := range s {
			if strings.EqualFold(c.Source, name) {
				if p.from < 0 {
					p.from = i
				}
				p.to = i + 1
			}
		}
		if p.from >= 0 {
			p.schema = exactSchema(s[p.from:p.to])
			out = append(out, p)
		}
	}
	return out
}

// joinSource gives an old and a new row for each row of a table that an UPDATE of a join matches, once, with the columns of the
// other tables as they were.
type joinSource struct {
	*plan.UpdateJoin
	parts []joinPart
}

func (b *builder) joinSource(ctx *sql.Context, n *joinSource, row sql.Row) (sql.RowIter, error) {
	child, err := b.e.gms.Analyzer.ExecBuilder.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	it := &joinSourceIter{RowIter: child, parts: n.parts, key: newRowKey(nil)}
	for range n.parts {
		it.seen = append(it.seen, map[string]struct{}{})
	}
	return it, nil
}

type joinSourceIter struct {
	sql.RowIter
	parts []joinPart
	key   *rowKey
	seen  []map[string]struct{}
	next  []sql.Row
}

// Next implements sql.RowIter.
func (j *joinSourceIter) Next(ctx *sql.Context) (sql.Row, error) {
	for len(j.next) == 0 {
		row, err := j.RowIter.Next(ctx)
		if err != nil {
			return nil, err
		}
		old, changed := row[:len(row)/2], row[len(row)/2:]
		for i, p := range j.parts {
			id := old[p.from:p.to]
			if allNull(id) { // the outer join has found no row
				continue
			}
			k, err := j.key.of(ctx, id)
			if err != nil {
				return nil, err
			}
			if _, ok := j.seen[i][k]; ok {
				continue
			}
			j.seen[i][k] = struct{}{}
			both := append(slices.Clone(old), old...)
			copy(both[len(old)+p.from:], changed[p.from:p.to])
			j.next = append(j.next, both)
		}
	}
	row := j.next[0]
	j.next = j.next[1:]
	return row, nil
}

// joinUpdater passes each table its part of a joined row, if it has changed.
type joinUpdater struct {
	updaters map[string]sql.RowUpdater
	parts    []joinPart
	err      error
}

// StatementBegin implements sql.EditOpenerCloser.
func (j *joinUpdater) StatementBegin(ctx *sql.Context) {
	for _, u := range j.updaters {
		u.StatementBegin(ctx)
	}
}

func (j *joinUpdater) all(fn func(sql.RowUpdater) error) (err error) {
	for _, u := range j.updaters {
		err = errors.Join(err, fn(u))
	}
	return err
}

// DiscardChanges implements sql.EditOpenerCloser.
func (j *joinUpdater) DiscardChanges(ctx *sql.Context, why error) error {
	return j.all(func(u sql.RowUpdater) error { return u.DiscardChanges(ctx, why) })
}

// StatementComplete implements sql.EditOpenerCloser.
func (j *joinUpdater) StatementComplete(ctx *sql.Context) error {
	return j.first(func(u sql.RowUpdater) error { return u.StatementComplete(ctx) })
}

// first stops at the first error, which stays as it is.
func (j *joinUpdater) first(fn func(sql.RowUpdater) error) error {
	for _, u := range j.updaters {
		if err := fn(u); err != nil {
			return err
		}
	}
	return nil
}

// Close implements sql.Closer.
func (j *joinUpdater) Close(ctx *sql.Context) error {
	return j.first(func(u sql.RowUpdater) error { return u.Close(ctx) })
}

// Update implements sql.RowUpdater.
func (j *joinUpdater) Update(ctx *sql.Context, old, new sql.Row) error {
	if j.err != nil {
		return j.err
	}
	for _, p := range j.parts {
		was, will := old[p.from:p.to], new[p.from:p.to]
		same, err := was.Equals(ctx, will, p.schema)
		if err != nil {
			return err
		}
		if same {
			continue
		}
		if err := j.updaters[p.name].Update(ctx, was, will); err != nil {
			return err
		}
	}
	return nil
}

// deleteTarget is a table that a DELETE of a join deletes from: each row once, and none where an outer join has put NULLs.
// go-mysql-server (rowexec/delete.go) deletes and counts a row once for each joined row that it is in.
type deleteTarget struct {
	sql.DeletableTable
	node sql.Node
}

// joinDeletes reports whether the DELETE names its tables.
func joinDeletes(n *plan.DeleteFrom) bool {
	if len(n.GetDeleteTargets()) == 0 || !n.HasExplicitTargets() {
		return false
	}
	_, done := n.GetDeleteTargets()[0].(*deleteTarget)
	return !done
}

// deleteOnce has the DELETE of a join count as MySQL does.
func (b *builder) deleteOnce(n *plan.DeleteFrom) (sql.Node, error) {
	var targets []sql.Node
	for _, t := range n.GetDeleteTargets() {
		d, err := plan.GetDeletable(t)
		if err != nil {
			return nil, err
		}
		targets = append(targets, &deleteTarget{DeletableTable: d, node: t})
	}
	return n.WithExplicitTargets(targets), nil
}

// Deleter implements sql.DeletableTable.
func (d *deleteTarget) Deleter(ctx *sql.Context) sql.RowDeleter {
	s := d.DeletableTable.Schema(ctx)
	out := &onceDeleter{RowDeleter: d.DeletableTable.Deleter(ctx), seen: map[string]struct{}{}, key: newRowKey(nil)}
	for i, c := range s {
		if c.PrimaryKey {
			out.at = append(out.at, i)
		}
	}
	if s, err := sessionOf(ctx); err == nil {
		out.stmt = s.stmt
	}
	return out
}

// String implements sql.Node.
func (d *deleteTarget) String() string { return d.node.String() }

// Resolved implements sql.Node.
func (d *deleteTarget) Resolved() bool { return d.node.Resolved() }

// IsReadOnly implements sql.Node.
func (d *deleteTarget) IsReadOnly() bool { return d.node.IsReadOnly() }

// Children implements sql.Node.
func (d *deleteTarget) Children() []sql.Node { return []sql.Node{d.node} }

// WithChildren implements sql.Node.
func (d *deleteTarget) WithChildren(_ *sql.Context, cs ...sql.Node) (sql.Node, error) {
	return &deleteTarget{DeletableTable: d.DeletableTable, node: cs[0]}, nil
}

type onceDeleter struct {
	sql.RowDeleter
	at   []int // the primary key
	key  *rowKey
	seen map[string]struct{}
	stmt *statement
}

// Delete implements sql.RowDeleter.
func (o *onceDeleter) Delete(ctx *sql.Context, row sql.Row) error {
	id := row
	if len(o.at) > 0 {
		id = make(sql.Row, len(o.at))
		for i, at := range o.at {
			if id[i] = row[at]; id[i] == nil {
				return nil // the outer join has found no row
			}
		}
	} else if allNull(row) {
		return nil
	}
	k, err := o.key.of(ctx, id)
	if err != nil {
		return err
	}
	if _, ok := o.seen[k]; ok {
		return nil
	}
	o.seen[k] = struct{}{}
	if o.stmt != nil {
		o.stmt.counts.deleted++
	}
	return o.RowDeleter.Delete(ctx, row)
}

func allNull(row sql.Row) bool {
	for _, v := range row {
		if v != nil {
			return false
		}
	}
	return true
}

// changeCounts is what a statement has done to its own table, as far as go-mysql-server does not count it as MySQL does.
type changeCounts struct {
	table     uint64 // into which it inserts; 0: none
	deleted   uint64 // rows, by the DELETE of a join or REPLACE
	inserted  uint64 // rows, by REPLACE
	generated uint64 // the first AUTO_INCREMENT value that was generated for a row that is there now
	given     uint64 // the value of the row that was last inserted or changed
}

// insertsInto notes the table of the client's statement.
func (s *statement) insertsInto(t *table) {
	if s.counts.table == 0 {
		s.counts.table = t.l.desc.ID
	}
}

// noteInserted notes the AUTO_INCREMENT value of a row that is there now.
func (s *statement) noteInserted(ctx *sql.Context, l *layout, row sql.Row, generated bool) {
	if s.counts.table != l.desc.ID {
		return
	}
	s.counts.inserted++
	if l.autoInc < 0 {
		return
	}
	v, in, err := sqlUint64(ctx, row[l.autoInc])
	if err != nil || !in {
		return
	}
	if s.counts.given = v; generated && s.counts.generated == 0 {
		s.counts.generated = v
	}
}

// countAsMySQL corrects what is told of a statement that has changed rows: the numbers of rows, and the insert id.
//
// The insert id is the first value that was generated; without any, the value of LAST_INSERT_ID(value) if the statement has
// called it; else the AUTO_INCREMENT value of the row that was last inserted, or changed by ON DUPLICATE KEY UPDATE unless the rows come from a SELECT that inserts none.
func (x *execution) countAsMySQL(sc *sql.Context, r *types.OkResult) {
	c := &x.s.stmt.counts
	info := sc.GetLastQueryInfo()
	switch s := x.ast.(type) {
	case *sqlparser.Delete:
		if len(s.Targets) > 0 {
			r.RowsAffected = c.deleted
		}
	case *sqlparser.Insert:
		if strings.EqualFold(s.Action, sqlparser.ReplaceStr) && c.inserted > 0 {
			r.RowsAffected = c.inserted + c.deleted
		}
		switch {
		case c.generated > 0:
			r.InsertID = c.generated
			info.LastInsertId.Store(int64(c.generated))
		case callsLastInsertID(s):
			r.InsertID = uint64(info.LastInsertId.Load())
		case r.RowsAffected > 0 && (c.inserted > 0 || !ofSelect(s)):
			r.InsertID = c.given
		default:
			r.InsertID = 0
		}
	case *sqlparser.Update:
		if r.InsertID = 0; callsLastInsertID(s) && r.RowsAffected > 0 {
			r.InsertID = uint64(info.LastInsertId.Load())
		}
	default:
		return
	}
	info.RowCount.Store(int64(r.RowsAffected))
}

// callsLastInsertID reports whether a statement has a LAST_INSERT_ID(value).
func callsLastInsertID(n sqlparser.SQLNode) (found bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if f, ok := n.(*sqlparser.FuncExpr); ok && f.Name.Lowered() == "last_insert_id" && len(f.Exprs) > 0 {
			found = true
		}
		return !found, nil
	}, n)
	return found
}
