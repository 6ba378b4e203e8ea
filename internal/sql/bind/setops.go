package bind

import (
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// operand is a query of a set operation, with how it is joined to those before it.
type operand struct {
	stmt sqlparser.SelectStatement
	all  bool
}

// setKind is what the parser calls an operation.
func setKind(s *sqlparser.SetOp) (kind rel.SetKind, all bool) {
	word, quantifier, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s.Type)), " ")
	switch word {
	case "intersect":
		kind = rel.Intersect
	case "except":
		kind = rel.Except
	}
	return kind, strings.TrimSpace(quantifier) == "all"
}

// bare reports whether a set operation has nothing but its operands: it can become a part of the one around it.
func bare(s *sqlparser.SetOp) bool {
	return s.With == nil && len(s.OrderBy) == 0 && s.Limit == nil && s.Into == nil && (s.Lock == nil || s.Lock.Type == "")
}

// withoutParens is a query without the parentheses around it.
func queryInParens(stmt sqlparser.SelectStatement) sqlparser.SelectStatement {
	for {
		p, ok := stmt.(*sqlparser.ParenSelect)
		if !ok {
			return stmt
		}
		stmt = p.Select
	}
}

// operands are the queries of a chain of the same operation: a UNION b UNION ALL c. Their columns get their types together.
func operands(s *sqlparser.SetOp) []operand {
	kind, all := setKind(s)
	var out []operand
	left, ok := queryInParens(s.Left).(*sqlparser.SetOp)
	if k := rel.SetKind(255); ok {
		if k, _ = setKind(left); k == kind && bare(left) {
			out = operands(left)
		}
	}
	if out == nil {
		out = []operand{{stmt: s.Left}}
	}
	return append(out, operand{stmt: s.Right, all: all})
}

// setOp binds UNION, INTERSECT and EXCEPT.
func (b *binder) setOp(s *sqlparser.SetOp, outer *scope) (*query, error) {
	switch {
	case s.Into != nil:
		return nil, unsupported("SELECT INTO")
	case s.Lock != nil && s.Lock.Type != "":
		return nil, unsupported("locking reads")
	}
	if s.With != nil {
		ctes := b.ctes
		defer func() { b.ctes = ctes }()
		if err := b.with(s.With, s, outer); err != nil {
			return nil, err
		}
	}
	kind, _ := setKind(s)
	q, err := b.combine(kind, operands(s), outer)
	if err != nil {
		return nil, err
	}
	return b.orderedSet(s, q, outer)
}

// combine binds the operands of a chain of one operation.
func (b *binder) combine(kind rel.SetKind, list []operand, outer *scope) (*query, error) {
	queries := make([]*query, len(list))
	for i, o := range list {
		q, err := b.statement(o.stmt, outer)
		if err != nil {
			return nil, err
		}
		if i > 0 && len(q.cols) != len(queries[0].cols) {
			return nil, errColumnCount
		}
		queries[i] = q
	}
	types, err := b.setTypes(queries)
	if err != nil {
		return nil, err
	}
	for _, q := range queries {
		b.bringTo(q, types)
	}
	out := queries[0]
	for i, right := range queries[1:] {
		op := &rel.SetOp{Kind: kind, All: list[i+1].all, Left: out.plan, LeftCols: columnIDs(out.cols), Right: right.plan, RightCols: columnIDs(right.cols)}
		cols := make([]column, len(out.cols))
		for j, c := range out.cols {
			l, r := b.mayBeNull(c.id), b.mayBeNull(right.cols[j].id)
			switch kind { // what all sides have, and what is taken away from the left one
			case rel.Union:
				l = l || r
			case rel.Intersect:
				l = l && r
			}
			cols[j] = column{name: c.name, id: b.add(rel.Column{Name: c.name, Type: types[j], Nullable: l})}
			op.Cols = append(op.Cols, cols[j].id)
		}
		out = &query{plan: op, cols: cols, foundRows: queries[0].foundRows}
	}
	return out, nil
}

var errColumnCount = expr.Errorf(1222, "21000", "The used SELECT statements have a different number of columns")

func columnIDs(cs []column) []rel.ColID {
	out := make([]rel.ColID, len(cs))
	for i, c := range cs {
		out[i] = c.id
	}
	return out
}

// setTypes are the types that the columns of several queries have together.
func (b *binder) setTypes(queries []*query) ([]expr.Type, error) {
	out := make([]expr.Type, len(queries[0].cols))
	ts := make([]expr.Type, len(queries))
	for i := range out {
		for j, q := range queries {
			ts[j] = b.meta.Columns[q.cols[i].id].Type
		}
		t, err := expr.Union("UNION", ts...)
		if err != nil {
			return nil, err
		}
		if t.IsString() && t.Coerc == expr.NoneCoerc {
			// the texts have no collation together: the error is that of comparing them
			nodes := make([]expr.Node, len(ts))
			for j, t := range ts {
				nodes[j] = &expr.Lit{T: t}
			}
			if _, err := expr.ComparisonOf("UNION", nodes...); err != nil {
				return nil, err
			}
		}
		out[i] = storedType(t)
	}
	return out, nil
}

// storedType is the type of a column that is nothing but NULL: MySQL makes it a binary string without a byte.
func storedType(t expr.Type) expr.Type {
	if t.Name == expr.NullType {
		return expr.Type{Name: expr.Varbinary, Collation: expr.BinaryCollation, Coerc: expr.Ignorable}
	}
	return t
}

// bringTo puts conversions of a query's columns to types on its plan, where they are needed.
func (b *binder) bringTo(q *query, types []expr.Type) {
	var p *rel.Project
	cols := make([]column, len(q.cols))
	for i, c := range q.cols {
		cols[i] = c
		from := &b.meta.Columns[c.id]
		if sameValues(from, types[i]) {
			continue
		}
		as, err := expr.Build("as", c.name, types[i], b.ref(c.id))
		if err != nil {
			panic(err) // "as" takes every type
		}
		if p == nil {
			p = &rel.Project{Child: q.plan}
		}
		cols[i].id = b.add(rel.Column{Name: c.name, Type: types[i], Nullable: b.mayBeNull(c.id)})
		p.Exprs, p.Cols = append(p.Exprs, as), append(p.Cols, cols[i].id)
	}
	if p != nil {
		q.plan, q.cols = p, cols
	}
}

// sameValues reports whether the values of a column are values of a type as they are.
func sameValues(c *rel.Column, t expr.Type) bool {
	switch {
	case c.Type.Name == expr.NullType:
		return true
	case c.Type.Kind() != t.Kind():
		return false
	}
	switch t.Kind() {
	case expr.KindDecimal: // expressions hold more digits than they show
		return c.Type.Scale == t.Scale && c.Origin != nil
	case expr.KindDatetime, expr.KindTime:
		return c.Type.Scale == t.Scale
	case expr.KindFloat:
		return c.Type.Name == t.Name && c.Type.Scale == t.Scale
	}
	return true
}

// orderedSet puts ORDER BY and LIMIT of a whole set operation on it.
func (b *binder) orderedSet(set *sqlparser.SetOp, q *query, outer *scope) (*query, error) {
	s := newScope(outer)
	s.from = sideBySide([]*source{{cols: q.cols}})
	limit, err := b.limit(set.Limit, s)
	if err != nil {
		return nil, err
	}
	s.clause = orderClause
	var keys []rel.SortKey
	for i, o := range set.OrderBy {
		n, err := b.setOrderKey(inParens(o.Expr), i+1, q, s)
		if err != nil {
			return nil, err
		}
		if !expr.IsConst(n) {
			keys = append(keys, rel.SortKey{Expr: n, Desc: o.Direction == sqlparser.DescScr})
		}
	}
	out := &query{plan: q.plan, cols: q.cols, foundRows: q.foundRows}
	if len(keys) > 0 {
		out.plan = &rel.Sort{Child: out.plan, Keys: keys}
	}
	if limit != nil || q.foundRows {
		if limit == nil {
			limit = &rel.Limit{}
		}
		limit.Child, limit.FoundRows = out.plan, q.foundRows
		out.plan = limit
	}
	return out, nil
}

// setOrderKey is one of the expressions of ORDER BY of a set operation: a column of the result by its place or name, or an expression
// of these.
func (b *binder) setOrderKey(e sqlparser.Expr, number int, q *query, s *scope) (expr.Node, error) {
	if v, ok := e.(*sqlparser.SQLVal); ok && v.Type == sqlparser.IntVal {
		at := literalInt(v)
		if at < 1 || at > int64(len(q.cols)) {
			return nil, expr.Errorf(1054, "42S22", "Unknown column '%s' in 'order clause'", v.Val)
		}
		return b.ref(q.cols[at-1].id), nil
	}
	if table := tableNamed(e); table != "" {
		return nil, expr.Errorf(1250, "42000", "Table '%s' from one of the SELECTs cannot be used in global ORDER clause", table)
	}
	if aggregates(e) || callsWindow(e) {
		return nil, expr.Errorf(3028, "HY000", "Expression #%d of ORDER BY contains aggregate function and applies to a UNION, EXCEPT or INTERSECT", number)
	}
	return b.scalar(e, s)
}

// tableNamed is the table that a column in an expression, outside of subqueries, is qualified with; "": none is.
func tableNamed(e sqlparser.Expr) (table string) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery:
			return false, nil
		case *sqlparser.ColName:
			if table == "" && !n.Qualifier.IsEmpty() && !isVariable(n) {
				table = n.Qualifier.Name.String()
			}
		}
		return true, nil
	}, e)
	return table
}

// callsWindow reports whether an expression has a function with OVER outside of subqueries.
func callsWindow(e sqlparser.Expr) (found bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery:
			return false, nil
		case *sqlparser.FuncExpr:
			found = found || n.Over != nil
		}
		return true, nil
	}, e)
	return found
}

// values binds VALUES ROW(...), ...: the columns are called column_0 and so on.
func (b *binder) values(v *sqlparser.ValuesStatement, outer *scope) (*query, error) {
	s := newScope(outer)
	out := &rel.Values{}
	var types []expr.Type
	var null []bool
	for i, row := range v.Rows {
		if i > 0 && len(row) != len(out.Rows[0]) {
			return nil, expr.Errorf(1136, "21S01", "Column count doesn't match value count at row %d", i+1)
		}
		nodes := make([]expr.Node, len(row))
		for j, e := range row {
			n, err := b.scalar(e, s)
			if err != nil {
				return nil, err
			}
			nodes[j] = n
			if i == 0 {
				types, null = append(types, n.Type()), append(null, b.nullable(n))
				continue
			}
			null[j] = null[j] || b.nullable(n)
		}
		out.Rows = append(out.Rows, nodes)
	}
	q := &query{plan: out}
	for j := range types {
		ts := make([]expr.Type, len(out.Rows))
		for i, row := range out.Rows {
			ts[i] = row[j].Type()
		}
		t, err := expr.Union("UNION", ts...)
		if err != nil {
			return nil, err
		}
		t = storedType(t)
		for i, row := range out.Rows {
			if row[j].Type().Name == expr.NullType {
				continue
			}
			if row[j], err = expr.Build("as", "VALUES", t, row[j]); err != nil {
				return nil, err
			}
			out.Rows[i] = row
		}
		name := columnPrefix + strconv.Itoa(j)
		c := column{name: name, id: b.add(rel.Column{Name: name, Type: t, Nullable: null[j]})}
		if len(v.Columns) > j {
			c.name = v.Columns[j].String()
		}
		q.cols, out.Cols = append(q.cols, c), append(out.Cols, c.id)
	}
	return q, nil
}

// columnPrefix begins the names of the columns of VALUES.
const columnPrefix = "column_"
