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

// operands are the queries of a chain of the same operation: a UNION b UNION ALL c. Their columns get their types together. A UNION in
// parentheses on the right side is a part of the chain if nothing depends on the parentheses.
func operands(s *sqlparser.SetOp) []operand {
	kind, all := setKind(s)
	chain := func(stmt sqlparser.SelectStatement) []operand {
		in, ok := queryInParens(stmt).(*sqlparser.SetOp)
		if !ok || !bare(in) {
			return nil
		}
		if k, _ := setKind(in); k != kind {
			return nil
		}
		return operands(in)
	}
	// MySQL makes one operation of two unless the inner one drops duplicates and the outer one does not, and of INTERSECT unless both keep
	// them.
	mergeable := func(inner []operand) bool {
		for _, o := range inner[min(1, len(inner)):] {
			if all && o.all == (kind == rel.Intersect) {
				return false
			}
		}
		return inner != nil
	}
	out := chain(s.Left)
	if !mergeable(out) {
		out = []operand{{stmt: s.Left}}
	}
	right := chain(s.Right)
	if kind == rel.Except || !mergeable(right) {
		return append(out, operand{stmt: s.Right, all: all})
	}
	for i, o := range right {
		out = append(out, operand{stmt: o.stmt, all: all && (i == 0 || o.all)})
	}
	return out
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
	q, err := b.setTerm(s, outer)
	if err != nil {
		return nil, err
	}
	for _, c := range q.cols {
		t := &b.meta.Columns[c.id].Type
		if t.Kind() == expr.KindText && t.Coerc == expr.NoneCoerc {
			return nil, errUnionMix
		}
		*t = storedType(*t)
	}
	return q, nil
}

// setTerm binds a set operation that may be an operand of another one: its texts may have no collation together.
func (b *binder) setTerm(s *sqlparser.SetOp, outer *scope) (*query, error) {
	kind, _ := setKind(s)
	q, err := b.combine(kind, operands(s), outer)
	if err != nil {
		return nil, err
	}
	return b.orderedSet(s, q, outer)
}

// setOperand binds a query of a set operation.
func (b *binder) setOperand(stmt sqlparser.SelectStatement, outer *scope) (*query, error) {
	if s, ok := queryInParens(stmt).(*sqlparser.SetOp); ok && s.With == nil && s.Into == nil && (s.Lock == nil || s.Lock.Type == "") {
		return b.setTerm(s, outer)
	}
	return b.statement(stmt, outer)
}

// combine binds the operands of a chain of one operation.
func (b *binder) combine(kind rel.SetKind, list []operand, outer *scope) (*query, error) {
	queries := make([]*query, len(list))
	for i, o := range list {
		q, err := b.setOperand(o.stmt, outer)
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
		op := &rel.SetOp{Kind: kind, All: list[i+1].all, Left: out.plan, LeftCols: columnIDs(out.cols), Right: right.plan,
			RightCols: columnIDs(right.cols)}
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
		if t.Kind() == expr.KindBytes && fixedBytes(ts) {
			t.Name = expr.Binary
		}
		if t.Kind() == expr.KindText || t.Kind() == expr.KindBytes && someText(ts) {
			coll, coerc, err := setCollation(ts)
			if err != nil {
				return nil, err
			}
			switch {
			case coll == expr.BinaryCollation && t.Kind() == expr.KindText:
				t = expr.TBytes(t.Length)
			case coll != expr.BinaryCollation && t.Kind() == expr.KindBytes:
				t = expr.TText(t.Length, coll, coerc)
			}
			t.Collation, t.Coerc = coll, coerc
		}
		out[i] = t
	}
	return out, nil
}

func someText(ts []expr.Type) bool {
	for _, t := range ts {
		if t.Kind() == expr.KindText {
			return true
		}
	}
	return false
}

// fixedBytes reports whether the columns are BINARY(n), or whole numbers beside those: so is the column that they make together.
func fixedBytes(ts []expr.Type) bool {
	for _, t := range ts {
		if t.Name != expr.Binary && t.Name != expr.NullType && !t.IsInteger() {
			return false
		}
	}
	return true
}

// setCollation is the collation that the texts among columns have together; NoneCoerc: they have none. MySQL finds it column after column:
// one with a collation of its own decides where those before it have none together, and an operand that is a set operation without a
// collation gives way to all others, numbers and NULL too (as MySQL 9.7 answers; the manual does not say).
func setCollation(ts []expr.Type) (uint16, expr.Coercibility, error) {
	var out, without expr.Type
	some, number, null := false, false, false
	for _, t := range ts {
		switch {
		case t.Name == expr.NullType:
			null = true
			continue
		case !t.IsString() && t.Kind() != expr.KindJSON && t.Kind() != expr.KindBit:
			number = true
			continue
		case t.Coerc == expr.NoneCoerc:
			without = t
			continue
		case !some:
			out, some = t, true
			continue
		case out.Coerc == expr.NoneCoerc:
			if t.Coerc <= expr.Implicit && t.Collation != out.Collation {
				out = t
			}
			continue
		}
		both, err := expr.Union("UNION", out, t)
		if err != nil {
			return 0, 0, err
		}
		out = both
	}
	switch {
	case some:
		return out.Collation, out.Coerc, nil
	case number:
		return expr.DefaultCollation, expr.Coercible, nil
	case null:
		return expr.BinaryCollation, expr.Ignorable, nil
	}
	return without.Collation, expr.NoneCoerc, nil
}

var errUnionMix = expr.Errorf(1271, "HY000", "Illegal mix of collations for operation 'UNION'")

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
	case expr.KindBytes:
		return t.Name != expr.Binary || c.Type.Name == expr.Binary && c.Type.Length == t.Length
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
		return nil, expr.Errorf(3028, "HY000",
			"Expression #%d of ORDER BY contains aggregate function and applies to a UNION, EXCEPT or INTERSECT", number)
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
