package engine

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// querySource reads the tables of one statement in the session's transaction.
type querySource struct {
	ctx *sql.Context
	s   *Session
	// before is what was read of tables in one round with something else; the next reader of a table takes it.
	before map[uint64]*fetched
}

var _ exec.Source = (*querySource)(nil)

// Read implements exec.Source.
func (q *querySource) Read(r *exec.Request) (exec.Rows, error) {
	switch t := r.Table.(type) {
	case *queryTable:
		return q.readTable(t, r)
	case *rowTable:
		return q.readTable(t.queryTable, r)
	case *hostTable:
		return q.readHost(t, r)
	}
	return nil, fmt.Errorf("queries cannot read a table of Go type %T", r.Table)
}

func (q *querySource) readTable(t *queryTable, r *exec.Request) (exec.Rows, error) {
	l := t.t.l
	if err := q.s.stmt.flushTable(q.ctx, l.desc.ID); err != nil {
		return nil, err
	}
	x, rs, err := reachesOf(l, r)
	if err != nil {
		return nil, err
	}
	rows, err := q.reader(t, r, x, rs)
	if err != nil || r.Ahead && rows.it.lock.Mode != kv.NoLock { // what is wanted is locked, not what might be
		return nil, err
	}
	return rows, nil
}

// reachesOf says what a request reads of which index.
func reachesOf(l *layout, r *exec.Request) (x *indexLayout, rs []reach, err error) {
	if r.Index == nil {
		return l.primary, []reach{{span: l.primary.whole()}}, nil
	}
	i, ok := r.Index.(*queryIndex)
	if !ok || i.x.table != l {
		return nil, nil, fmt.Errorf("%s is no index of table %s as it is read", r.Index.Name(), l.desc.Name)
	}
	if r.Spans == nil {
		return i.x, []reach{{span: i.x.whole()}}, nil
	}
	rs, err = i.x.keyReaches(r.Spans)
	return i.x, rs, err
}

// reader reads what a request asks for: parts of an index.
func (q *querySource) reader(t *queryTable, r *exec.Request, x *indexLayout, rs []reach) (*queryRows, error) {
	tbl := *t.t
	tbl.columns = r.Places
	whole := slices.Index(r.Places, len(t.q.columns)) // where the row itself is wanted
	if whole >= 0 {
		tbl.columns = slices.Delete(slices.Clone(r.Places), whole, whole+1)
	}
	var calculate []int
	if t.virtual != nil {
		tbl.columns, calculate = t.virtual.plan(tbl.columns)
	}
	read := tbl.columns
	if whole >= 0 {
		tbl.columns = nil
	}
	it, err := newRowReader(q.ctx, &tbl, x, rs, r.Reverse)
	if err != nil {
		return nil, err
	}
	if r.Index == nil {
		if it.lock = it.stmt.lockFor(&tbl, true); whole >= 0 && it.lock.Mode == kv.NoLock {
			it.lockSome(&tbl)
		}
	}
	if it.lock.Mode == kv.NoLock {
		it.limit, it.uses = r.Limit, r.Uses
	}
	it.counts = x.isPK && len(rs) == 1 && x.isAll(rs[0].span) && r.Limit == 0 && it.lock.Policy != kv.LockSkip
	if f := q.before[t.t.l.desc.ID]; f != nil && it.lock.Mode == kv.NoLock {
		if delete(q.before, t.t.l.desc.ID); x.isPK && len(rs) == 1 {
			it.ahead = f
		}
	}
	out := &queryRows{ctx: q.ctx, it: it, left: -1, places: r.Places, q: t.q}
	if r.Limit > 0 {
		out.left = r.Limit
	}
	if len(calculate) > 0 {
		out.virtual = &calculation{v: t.virtual, read: read, calculate: calculate, row: make(sql.Row, len(t.t.l.columns))}
	}
	return out, nil
}

// isAll reports whether a span is that of all entries of the index.
func (x *indexLayout) isAll(s kv.Span) bool {
	all := x.whole()
	return s.Start.Equal(all.Start) && s.End.Equal(all.End)
}

// queryRows are rows of a table of the catalog.
type queryRows struct {
	ctx     *sql.Context
	it      *rowReader
	q       *queryLayout
	places  []int
	left    int          // -1: all
	virtual *calculation // nil: no column that is wanted is virtual
}

// Next implements exec.Rows.
func (q *queryRows) Next(regs []expr.Value, cols []rel.ColID) (bool, error) {
	if q.left == 0 {
		return false, nil
	}
	d, err := q.it.next(q.ctx)
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	q.left--
	if q.virtual != nil {
		if err := q.virtual.fill(q.ctx, q.it.t.l, d); err != nil {
			return false, err
		}
	}
	for i, at := range q.places {
		switch {
		case at == len(q.q.columns):
			regs[cols[i]] = expr.Other(d)
		case q.virtual != nil && q.virtual.v.exprs[at] != nil:
			regs[cols[i]], err = valueOfType(q.ctx, q.virtual.row[at], q.it.t.l.schema.Schema[at].Type, q.q.columns[at].Type)
		case d[at].IsNull():
			regs[cols[i]] = expr.Null
		default:
			regs[cols[i]], err = q.q.read[at](d[at])
		}
		if err != nil {
			return false, fmt.Errorf("table %s, column %s: %w", q.it.t.l.desc.Name, q.it.t.l.desc.Columns[at].Name, err)
		}
	}
	return true, nil
}

// Close implements exec.Rows.
func (q *queryRows) Close() error { return q.it.Close(q.ctx) }

// readHost reads a table that go-mysql-server, or the node, makes up: all of it.
func (q *querySource) readHost(t *hostTable, r *exec.Request) (exec.Rows, error) {
	it, err := t.rows(q.ctx, q.s.e)
	if err != nil {
		return nil, err
	}
	return &hostRows{ctx: q.ctx, t: t, it: it, places: r.Places}, nil
}

// hostRows are rows of such a table.
type hostRows struct {
	ctx    *sql.Context
	t      *hostTable
	it     sql.RowIter
	places []int
}

// Next implements exec.Rows.
func (h *hostRows) Next(regs []expr.Value, cols []rel.ColID) (bool, error) {
	row, err := h.it.Next(h.ctx)
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for i, at := range h.places {
		v, err := valueOfType(h.ctx, row[at], h.t.schema[at].Type, h.t.columns[at].Type)
		if err != nil {
			return false, fmt.Errorf("table %s, column %s: %w", h.t.Name(), h.t.columns[at].Name, err)
		}
		regs[cols[i]] = v
	}
	return true, nil
}

// Close implements exec.Rows.
func (h *hostRows) Close() error { return h.it.Close(h.ctx) }

// valueOfType is a value of go-mysql-server, which may be of another Go type than its column's values, as one of the column's type.
func valueOfType(ctx *sql.Context, v any, from sql.Type, t expr.Type) (expr.Value, error) {
	if v == nil {
		return expr.Null, nil
	}
	out, err := fromHost(ctx, v, t)
	if err == nil && out.Kind() == t.Kind() {
		return out, nil
	}
	c, _, err := from.Convert(ctx, v)
	if err != nil {
		return expr.Null, err
	}
	if out, err = fromHost(ctx, c, t); err == nil && out.Kind() != t.Kind() && !out.IsNull() {
		err = fmt.Errorf("a value of Go type %T is none of type %s", v, from)
	}
	return out, err
}

// rows are all of the table's. Tables of information_schema are given by go-mysql-server's planner what they show: columns with resolved
// defaults, procedures.
func (t *hostTable) rows(ctx *sql.Context, e *Engine) (sql.RowIter, error) {
	if !strings.EqualFold(t.db, sql.InformationSchemaDatabaseName) {
		ps, err := t.t.Partitions(ctx)
		if err != nil {
			return nil, err
		}
		return sql.NewTableRowIter(ctx, t.t, ps), nil
	}
	if s, err := sessionOf(ctx); err == nil { // M1
		s.temporary.plain++
		defer func() { s.temporary.plain-- }()
	}
	text := "SELECT * FROM information_schema.`" + t.t.Name() + "`"
	stmt, err := e.gms.Parser.ParseSimple(text)
	if err != nil {
		return nil, err
	}
	n, flags, err := planbuilder.New(ctx, e.gms.Analyzer.Catalog, nil).BindOnly(stmt, text, nil)
	if err != nil {
		return nil, err
	}
	if n, err = e.gms.Analyzer.Analyze(ctx, n, nil, flags); err != nil {
		return nil, err
	}
	it, err := e.gms.Analyzer.ExecBuilder.Build(ctx, n, nil)
	if err != nil || !strings.EqualFold(t.t.Name(), information_schema.CheckConstraintsTableName) {
		return it, err
	}
	return eachRow(ctx, it, func(row sql.Row) error {
		if text, ok := row[checkClause].(string); ok {
			row[checkClause] = schemaText(text)
		}
		return nil
	})
}

// checkClause is the place of the expression in a row of information_schema.CHECK_CONSTRAINTS.
const checkClause = 3
