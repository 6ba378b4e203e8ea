package engine

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// EXPLAIN in MySQL's form: one row for each table in the order in which they are read. (go-mysql-server answers with one row of the text
// 'NULL', in columns of whole numbers too; drivers that convert them by type fail at it: sql/rowexec/show.go, buildDescribeQuery.)
// EXPLAIN FORMAT=TREE shows the plan itself; this is a summary of it for tools that know MySQL's.

// explained is a row of EXPLAIN. Empty texts are NULL.
type explained struct {
	id                     int
	kind, table, access    string
	possible               []string
	key, ref               string
	rows                   uint64
	where, sort, temporary bool
	note                   string
}

// explainer collects them.
type explainer struct {
	ctx  *sql.Context
	rows []*explained
	last int // select number
}

// queryBlock is one SELECT.
type queryBlock struct {
	id                     int
	kind                   string
	where, sort, temporary bool // said of the next table that is found
}

// explainPlan describes a plan.
func explainPlan(ctx *sql.Context, n sql.Node) []*explained {
	x := &explainer{ctx: ctx, last: 1}
	b := &queryBlock{id: 1, kind: "SIMPLE"}
	x.node(n, b)
	for _, r := range x.rows {
		if x.last > 1 && r.kind == "SIMPLE" {
			r.kind = "PRIMARY"
		}
	}
	if len(x.rows) == 0 {
		x.rows = append(x.rows, &explained{id: 1, kind: b.kind, note: "No tables used"})
	}
	return x.rows
}

// node walks over a plan.
func (x *explainer) node(n sql.Node, b *queryBlock) {
	x.subqueries(n)
	switch n := n.(type) {
	case *plan.Filter:
		b.where = true
		x.node(n.Child, b)
	case *plan.Having:
		x.node(n.Child, b)
	case *plan.Sort:
		b.sort = true
		x.node(n.Child, b)
	case *plan.TopN:
		b.sort = true
		x.node(n.Child, b)
	case *plan.GroupBy:
		b.temporary = b.temporary || len(n.GroupByExprs) > 0
		x.node(n.Child, b)
	case *plan.Window:
		b.temporary = true
		x.node(n.Child, b)
	case *plan.Distinct:
		b.temporary = true
		x.node(n.Child, b)
	case *plan.InsertInto:
		x.change("INSERT", n.Destination, b)
		if _, values := n.Source.(*plan.Values); !values {
			x.node(n.Source, &queryBlock{id: 1, kind: "SIMPLE"})
		}
	case *plan.Update:
		b.kind = "UPDATE"
		x.node(n.Child, b)
	case *plan.DeleteFrom:
		b.kind = "DELETE"
		x.node(n.Child, b)
	case *plan.SetOp:
		x.node(n.Left(), b)
		x.last++
		x.node(n.Right(), &queryBlock{id: x.last, kind: "UNION"})
		if n.Distinct {
			x.rows = append(x.rows, &explained{kind: "UNION RESULT", table: "<union>", access: "ALL", temporary: true})
		}
	case *plan.SubqueryAlias:
		x.last++
		id := x.last
		x.found(&explained{table: n.Name(), access: "ALL"}, b)
		x.node(n.Child, &queryBlock{id: id, kind: "DERIVED"})
	case *plan.IndexedTableAccess:
		x.indexed(n, n.Name(), b)
	case *plan.TableAlias:
		if access, ok := n.Child.(*plan.IndexedTableAccess); ok {
			x.indexed(access, n.Name(), b)
			return
		}
		x.scan(n.Child, n.Name(), b)
	case *plan.ResolvedTable:
		x.scan(n, n.Name(), b)
	case *plan.EmptyTable:
		x.found(&explained{note: "Impossible WHERE"}, b)
	case *plan.RecursiveCte:
		x.found(&explained{table: n.Name(), access: "ALL"}, b)
	case *plan.RecursiveTable:
		x.found(&explained{table: n.Name(), access: "ALL"}, b)
	default:
		for _, c := range n.Children() {
			x.node(c, b)
		}
	}
}

// subqueries describes those in a node's expressions.
func (x *explainer) subqueries(n sql.Node) {
	e, ok := n.(sql.Expressioner)
	if !ok {
		return
	}
	for _, e := range e.Expressions() {
		transform.InspectExpr(x.ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if s, ok := e.(*plan.Subquery); ok {
				x.last++
				kind := "SUBQUERY"
				if !s.Correlated().Empty() {
					kind = "DEPENDENT SUBQUERY"
				}
				x.node(s.Query, &queryBlock{id: x.last, kind: kind})
			}
			return false
		})
	}
}

// found adds a row of a block.
func (x *explainer) found(r *explained, b *queryBlock) {
	r.id, r.kind = b.id, b.kind
	r.where, r.sort, r.temporary = b.where, b.sort, b.temporary
	b.where, b.sort, b.temporary = false, false, false
	x.rows = append(x.rows, r)
}

func (x *explainer) change(kind string, n sql.Node, b *queryBlock) {
	name := ""
	if t, ok := n.(sql.Nameable); ok {
		name = t.Name()
	}
	x.rows = append(x.rows, &explained{id: b.id, kind: kind, table: name, access: "ALL"})
}

// scan is a table that is read as a whole.
func (x *explainer) scan(n sql.Node, name string, b *queryBlock) {
	r, ok := n.(*plan.ResolvedTable)
	if !ok {
		x.node(n, b)
		return
	}
	if plan.IsDualTable(r.Table) {
		return
	}
	out := &explained{table: name, access: "ALL"}
	out.rows = x.size(r.Table)
	x.found(out, b)
}

// size is how many rows a table is thought to have.
func (x *explainer) size(t sql.Table) uint64 {
	s, ok := t.(sql.StatisticsTable)
	if !ok {
		return 0
	}
	n, _, err := s.RowCount(x.ctx)
	if err != nil {
		return 0
	}
	return n
}

// indexed is a table of which an index is used.
func (x *explainer) indexed(n *plan.IndexedTableAccess, name string, b *queryBlock) {
	out := &explained{table: name, key: n.Index().ID(), rows: x.size(n.Table)}
	out.possible = []string{out.key}
	columns := len(n.Index().Expressions())
	if !n.IsStatic() {
		out.access = "ref"
		if n.IsStrictLookup(x.ctx) {
			out.access, out.rows = "eq_ref", 1
		}
		var refs []string
		for _, e := range n.Expressions() {
			refs = append(refs, strings.ReplaceAll(e.String(), "`", ""))
		}
		out.ref = strings.Join(refs, ",")
		x.found(out, b)
		return
	}
	lookup, _, err := n.GetLookup(x.ctx, nil)
	equal, ok := 0, false
	if err == nil {
		equal, ok = equalColumns(lookup)
	}
	switch {
	case ok && equal == columns && n.Index().IsUnique():
		out.access, out.rows = "const", 1
	case ok && equal > 0:
		out.access = "ref"
	case ok:
		out.access = "index"
	default:
		out.access = "range"
	}
	if ok && equal > 0 {
		out.ref = strings.TrimSuffix(strings.Repeat("const,", equal), ",")
	}
	x.found(out, b)
}

// equalColumns is how many of the first columns of an index are equal to constants in a lookup; not ok: there are other bounds.
func equalColumns(l sql.IndexLookup) (n int, ok bool) {
	ranges, isMySQL := l.Ranges.(sql.MySQLRangeCollection)
	if !isMySQL || len(ranges) != 1 {
		return 0, false
	}
	for _, c := range ranges[0] {
		if unbounded(c) {
			continue
		}
		low, lowOK := c.LowerBound.(sql.Below)
		high, highOK := c.UpperBound.(sql.Above)
		if !lowOK || !highOK || !reflect.DeepEqual(low.Key, high.Key) {
			return 0, false
		}
		n++
	}
	return n, true
}

func (r *explained) extra() string {
	var out []string
	for _, e := range []struct {
		on   bool
		text string
	}{{r.note != "", r.note}, {r.where, "Using where"}, {r.temporary, "Using temporary"}, {r.sort, "Using filesort"}} {
		if e.on {
			out = append(out, e.text)
		}
	}
	return strings.Join(out, "; ")
}

// row is one row of the twelve columns.
func (r *explained) row() sql.Row {
	text := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	var id, rows, filtered any
	if r.id > 0 {
		id = uint64(r.id)
	}
	if r.access != "" && r.kind != "UNION RESULT" && r.kind != "INSERT" {
		rows, filtered = max(1, r.rows), 100.0
	}
	return sql.Row{id, r.kind, text(r.table), nil, text(r.access), text(strings.Join(r.possible, ",")), text(r.key), nil, text(r.ref), rows, filtered, text(r.extra())}
}

// explainTable answers EXPLAIN without a format.
func explainTable(ctx *sql.Context, n *plan.DescribeQuery) (sql.RowIter, error) {
	var out []sql.Row
	for _, r := range explainPlan(ctx, n.Query()) {
		out = append(out, r.row())
	}
	return sql.RowsToRowIter(out...), nil
}

// explainJSON answers EXPLAIN FORMAT=JSON.
func explainJSON(ctx *sql.Context, n *plan.DescribeQuery) (sql.RowIter, error) {
	var tables []any
	for _, r := range explainPlan(ctx, n.Query()) {
		t := map[string]any{"select_id": r.id, "select_type": r.kind}
		for name, v := range map[string]string{"table_name": r.table, "access_type": r.access, "key": r.key, "message": r.note} {
			if v != "" {
				t[name] = v
			}
		}
		if r.possible != nil {
			t["possible_keys"] = r.possible
		}
		if r.ref != "" {
			t["ref"] = strings.Split(r.ref, ",")
		}
		if r.access != "" {
			t["rows_examined_per_scan"], t["filtered"] = max(1, r.rows), "100.00"
		}
		if r.where {
			t["attached_condition"] = true
		}
		if r.sort {
			t["using_filesort"] = true
		}
		if r.temporary {
			t["using_temporary_table"] = true
		}
		tables = append(tables, map[string]any{"table": t})
	}
	block := map[string]any{"select_id": 1, "nested_loop": tables}
	if len(tables) == 1 {
		block = map[string]any{"select_id": 1, "table": tables[0].(map[string]any)["table"]}
	}
	text, err := json.MarshalIndent(map[string]any{"query_block": block}, "", "  ")
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(sql.Row{string(text)}), nil
}
