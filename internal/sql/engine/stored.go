package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// What a statement puts into a column passes through expr.Assign (XA1): a value of INSERT, REPLACE and LOAD DATA, a default, a
// generated column, the right side of UPDATE, ON DUPLICATE KEY UPDATE and SET NEW.x. go-mysql-server converts it once more afterwards
// and finds it to be of the column's type already. (Its own conversion in sql/expression/set.go and sql/rowexec/insert.go clamps and
// wraps around without a word.)

// stored is an expression whose value is assigned to a column. It gives values as the column holds them.
type stored struct {
	child  sql.Expression
	typ    sql.Type // of the column
	source sql.Type // of the value, if the child is a field that is declared with the column's type whatever it holds; nil: the child's
	target expr.Target
	counts bool // each evaluation is another row of the statement
	update bool // outside strict mode NULL becomes the implicit default where the column takes no NULL
	ignore bool // INSERT IGNORE, UPDATE IGNORE
	node   expr.Node
	run    *evaluation // of all columns of the statement
}

var (
	_ sql.Expression         = (*stored)(nil)
	_ sql.CollationCoercible = (*stored)(nil)
)

// Eval implements sql.Expression.
func (s *stored) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if s.node == nil {
		var err error
		if s.node, err = s.lower(ctx); err != nil {
			return nil, err
		}
	}
	if s.counts {
		s.target.Row++
	}
	s.run.prepare(ctx)
	s.run.env.Change, s.run.env.Ignore = true, s.ignore
	v, err := s.run.value(ctx, s.node, row)
	if err != nil {
		return nil, err
	}
	if v.IsNull() && s.update && !s.run.env.Strict() {
		s.run.env.Warning(1048, "Column '%s' cannot be null", s.target.Name)
		v = expr.ImplicitDefault(s.target.Type)
	}
	out, err := expr.Assign(s.run.env, v, &s.target)
	if failed := s.run.env.Failed(); err == nil {
		err = failed
	}
	if err != nil {
		return nil, clientSide(err)
	}
	host, err := toHost(out, s.target.Type)
	return host, clientSide(err)
}

func (s *stored) lower(ctx *sql.Context) (expr.Node, error) {
	if g, ok := s.child.(*expression.GetField); ok && s.source != nil {
		return &field{index: g.Index(), t: exprType(s.source, expr.Implicit), name: g.String()}, nil
	}
	return lowered(ctx, s.child)
}

// Type implements sql.Expression.
func (s *stored) Type(*sql.Context) sql.Type { return s.typ }

// CollationCoercibility implements sql.CollationCoercible.
func (s *stored) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, s.child)
}

// IsNullable implements sql.Expression.
func (s *stored) IsNullable(ctx *sql.Context) bool { return s.child.IsNullable(ctx) }

// Resolved implements sql.Expression.
func (s *stored) Resolved() bool { return s.child.Resolved() }

// String implements sql.Expression.
func (s *stored) String() string { return s.child.String() }

// Children implements sql.Expression.
func (s *stored) Children() []sql.Expression { return []sql.Expression{s.child} }

// WithChildren implements sql.Expression.
func (s *stored) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(cs), 1)
	}
	out := *s
	out.child, out.node = cs[0], nil
	return &out, nil
}

// storer makes the assignments of one statement.
type storer struct {
	run            *evaluation
	ignore, update bool
}

// targetType is a column's type for expr.Assign; false: its values are go-mysql-server's business.
func targetType(t sql.Type) (expr.Type, bool) {
	out := exprType(t, expr.Implicit)
	if s, ok := t.(types.StringType); ok {
		switch t.Type() {
		case sqltypes.Text:
			out.Length = int(s.MaxByteLength())
		case sqltypes.Binary, sqltypes.VarBinary, sqltypes.Blob:
			out.Length = int(min(s.MaxByteLength(), s.MaxCharacterLength()))
		}
	}
	return out, expr.Assignable(out)
}

// into makes the assignment of an expression to a column. row is its row in the statement, 0 if each evaluation is another row.
func (w *storer) into(ctx *sql.Context, e sql.Expression, typ sql.Type, name string, nullable bool, source sql.Type, row int) (sql.Expression, error) {
	t, ok := targetType(typ)
	if !ok {
		return e, nil
	}
	switch e := e.(type) {
	case *stored, *expression.AutoIncrement, nil:
		return e, nil
	case *expression.Wrapper:
		if d, ok := e.Unwrap().(*sql.ColumnDefaultValue); ok && d == nil && !nullable {
			return &stored{child: e, typ: typ, target: expr.Target{Type: t, Name: name, Row: row}, counts: row == 0, ignore: w.ignore,
				node: &missingDefault{name: name, t: t}, run: w.run}, nil
		}
		if e.Unwrap() == nil {
			return e, nil
		}
		return w.below(ctx, e, typ, name, nullable, row)
	case *sql.ColumnDefaultValue:
		// it stays what it is: go-mysql-server evaluates defaults after the columns that they may read
		if e == nil || e.Expr == nil {
			return e, nil
		}
		return w.below(ctx, e, typ, name, nullable, row)
	}
	return &stored{child: e, typ: typ, source: source, target: expr.Target{Type: t, Name: name, Row: row}, counts: row == 0,
		update: w.update && !nullable, ignore: w.ignore, run: w.run}, nil
}

// missingDefault is DEFAULT for a column that has none and takes no NULL.
type missingDefault struct {
	name string
	t    expr.Type
}

// Type implements expr.Node.
func (m *missingDefault) Type() expr.Type { return m.t }

// Eval implements expr.Node.
func (m *missingDefault) Eval(env *expr.Env) (expr.Value, error) {
	if err := env.StrictOrWarn(1364, "HY000", "Field '%s' doesn't have a default value", m.name); err != nil {
		return expr.Null, err
	}
	return expr.ImplicitDefault(m.t), nil
}

func (w *storer) below(ctx *sql.Context, e sql.Expression, typ sql.Type, name string, nullable bool, row int) (sql.Expression, error) {
	inner, err := w.into(ctx, e.Children()[0], typ, name, nullable, nil, row)
	if err != nil || inner == e.Children()[0] {
		return e, err
	}
	return e.WithChildren(ctx, inner)
}

// setField makes the assignment of SET column = value.
func (w *storer) setField(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	s, ok := e.(*expression.SetField)
	if !ok {
		return e, nil
	}
	g, ok := s.LeftChild.(*expression.GetField)
	if !ok {
		return e, nil
	}
	right, err := w.into(ctx, s.RightChild, g.Type(ctx), g.Name(), g.IsNullable(ctx), nil, 0)
	if err != nil || right == s.RightChild {
		return e, err
	}
	return s.WithChildren(ctx, s.LeftChild, right)
}

// setFields makes the assignments among expressions; nil: there are none.
func (w *storer) setFields(ctx *sql.Context, es []sql.Expression) ([]sql.Expression, error) {
	var out []sql.Expression
	for i, e := range es {
		n, err := w.setField(ctx, e)
		if err != nil {
			return nil, err
		}
		if n != e && out == nil {
			out = append([]sql.Expression{}, es...)
		}
		if out != nil {
			out[i] = n
		}
	}
	return out, nil
}

// storePlan is the rule behind fusePlan that puts the assignments into a finished plan.
func storePlan(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, q *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		w := &storer{run: &evaluation{}}
		switch n := n.(type) {
		case *plan.UpdateSource:
			w.ignore, w.update = n.Ignore, true
		case *plan.Set:
			w.update = true
		case *plan.InsertInto:
			return storeInsert(ctx, a, n, scope, sel, q)
		case *plan.ResolvedTable:
			return n, transform.SameTree, w.virtual(ctx, n.Table)
		case *plan.IndexedTableAccess:
			return n, transform.SameTree, w.virtual(ctx, n.Table)
		default:
			return n, transform.SameTree, nil
		}
		x := n.(sql.Expressioner)
		es, err := w.setFields(ctx, x.Expressions())
		if err != nil || es == nil {
			return n, transform.SameTree, err
		}
		out, err := x.WithExpressions(ctx, es...)
		return out, transform.NewTree, err
	})
}

// virtual makes the assignments of a table's virtual columns, which are computed when they are read: what a column does not hold
// because strict mode was off when its row was stored is read as the nearest value. The table belongs to this plan alone.
func (w *storer) virtual(ctx *sql.Context, t sql.Table) error {
	v, ok := plan.FindVirtualColumnTable(t)
	if !ok {
		return nil
	}
	w.ignore = true
	schema := v.Schema(ctx)
	for i, e := range v.Projections {
		if d, ok := e.(*sql.ColumnDefaultValue); ok && i < len(schema) {
			n, err := w.into(ctx, d, schema[i].Type, schema[i].Name, schema[i].Nullable, nil, 0)
			if err != nil {
				return err
			}
			v.Projections[i] = n
		}
	}
	return nil
}

func storeInsert(ctx *sql.Context, a *analyzer.Analyzer, n *plan.InsertInto, scope *plan.Scope, sel analyzer.RuleSelector, q *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	out := *n
	changed := transform.SameTree
	onDuplicate := &storer{run: &evaluation{}, ignore: n.Ignore, update: true}
	es, err := onDuplicate.setFields(ctx, n.Expressions())
	if err != nil {
		return nil, changed, err
	}
	if es != nil {
		m, err := n.WithExpressions(ctx, es...)
		if err != nil {
			return nil, changed, err
		}
		out, changed = *m.(*plan.InsertInto), transform.NewTree
	}
	w := &storer{run: &evaluation{}, ignore: n.Ignore}
	source, same, err := w.source(ctx, out.Source, n.Destination.Schema(ctx))
	if err != nil {
		return nil, changed, err
	}
	source, inner, err := storePlan(ctx, a, source, scope, sel, q) // triggers' statements
	if err != nil {
		return nil, changed, err
	}
	if !same || inner == transform.NewTree {
		out.Source, changed = source, transform.NewTree
	}
	return &out, changed, nil
}

// source makes the assignments of the rows of an INSERT: in the projection that brings them to the table's columns, or below it in
// VALUES, where it is known what was written as a literal.
func (w *storer) source(ctx *sql.Context, n sql.Node, schema sql.Schema) (out sql.Node, same bool, err error) {
	p, ok := n.(*plan.Project)
	if !ok || len(p.Projections) != len(schema) {
		cs := n.Children()
		if len(cs) == 0 {
			return n, true, nil
		}
		first, same, err := w.source(ctx, cs[0], schema)
		if err != nil || same {
			return n, true, err
		}
		cs = append([]sql.Node{first}, cs[1:]...)
		out, err := n.WithChildren(ctx, cs...)
		return out, false, err
	}
	values, _ := p.Child.(*plan.Values)
	var tuples [][]sql.Expression
	if values != nil {
		tuples = make([][]sql.Expression, len(values.ExpressionTuples))
		for i, t := range values.ExpressionTuples {
			tuples[i] = append([]sql.Expression{}, t...)
		}
	}
	from := p.Child.Schema(ctx)
	projections := append([]sql.Expression{}, p.Projections...)
	for i, e := range projections {
		col := schema[i]
		g := fieldBelow(e)
		switch {
		case g == nil || g.Index() >= len(from):
			if projections[i], err = w.into(ctx, e, col.Type, col.Name, col.Nullable, nil, 0); err != nil {
				return nil, false, err
			}
		case values != nil:
			for row, t := range tuples {
				if t[g.Index()], err = w.into(ctx, t[g.Index()], col.Type, col.Name, col.Nullable || col.AutoIncrement, nil, row+1); err != nil {
					return nil, false, err
				}
			}
		default:
			if projections[i], err = w.field(ctx, e, g, col, from[g.Index()].Type); err != nil {
				return nil, false, err
			}
		}
	}
	child := p.Child
	if values != nil {
		v := *values
		v.ExpressionTuples = tuples
		child = &v
	}
	return plan.NewProject(ctx, projections, child), false, nil
}

// fieldBelow is the field that a projection gives as it is, also behind AUTO_INCREMENT; nil: it is something else.
func fieldBelow(e sql.Expression) *expression.GetField {
	if a, ok := e.(*expression.AutoIncrement); ok {
		e = a.Child
	}
	g, _ := e.(*expression.GetField)
	return g
}

// field makes the assignment of a field of the source.
func (w *storer) field(ctx *sql.Context, e sql.Expression, g *expression.GetField, col *sql.Column, source sql.Type) (sql.Expression, error) {
	s, err := w.into(ctx, g, col.Type, col.Name, col.Nullable, source, 0)
	if err != nil || e == sql.Expression(g) {
		return s, err
	}
	return e.WithChildren(ctx, s)
}
