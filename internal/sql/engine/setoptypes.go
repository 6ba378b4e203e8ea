package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// unionTypes gives the columns of UNION, INTERSECT and EXCEPT the types that MySQL gives them. go-mysql-server
// (planbuilder/set_op.go, mergeSetOpSchemas) makes a text of most types that differ; the conversions that it has put below the
// operation are replaced.
func unionTypes(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		u, ok := n.(*plan.SetOp)
		if !ok {
			return n, transform.SameTree, nil
		}
		left, right := mergedSide(ctx, u.Left()), mergedSide(ctx, u.Right())
		if left == nil || right == nil || len(left.columns) != len(right.columns) {
			return n, transform.SameTree, nil
		}
		for i := range left.columns {
			l, r := left.columns[i], right.columns[i]
			t, err := expr.Union("UNION", l.t, r.t)
			if err != nil {
				return nil, transform.SameTree, clientSide(err)
			}
			left.columns[i].to, right.columns[i].to = t, t
		}
		out, err := u.WithChildren(ctx, left.node(ctx), right.node(ctx))
		return out, transform.NewTree, err
	})
}

// side is one of the two below a set operation, without go-mysql-server's conversions.
type side struct {
	below   sql.Node
	columns []sideColumn
}

type sideColumn struct {
	field *expression.GetField
	name  string
	t, to expr.Type
}

// mergedSide recognizes a side that go-mysql-server has put conversions on; nil: it has not, the types are equal.
func mergedSide(ctx *sql.Context, n sql.Node) *side {
	p, ok := n.(*plan.Project)
	if !ok {
		return nil
	}
	s := &side{below: p.Child}
	converted := false
	for _, e := range p.Projections {
		c := sideColumn{}
		if a, ok := e.(*expression.Alias); ok {
			c.name, e = a.Name(), a.Child
		}
		if conv, ok := e.(*expression.Convert); ok {
			converted = true
			e = conv.Child
		}
		if en, ok := e.(*expression.EnumToString); ok {
			e = en.Enum
		}
		f, ok := e.(*expression.GetField)
		if !ok {
			return nil
		}
		if c.name == "" {
			c.name = f.Name()
		}
		c.field, c.t = f, exprType(f.Type(ctx), expr.Implicit)
		s.columns = append(s.columns, c)
	}
	// Of the two sides one may need no conversion; its aliases say that it belongs to the other.
	_, aliased := p.Projections[0].(*expression.Alias)
	if !converted && !aliased && !mergeProject(p) {
		return nil
	}
	return s
}

// mergeProject reports whether a projection is only of columns, or their aliases: what go-mysql-server puts on a side whose columns
// have the right type already.
func mergeProject(p *plan.Project) bool {
	for _, e := range p.Projections {
		switch e := e.(type) {
		case *expression.GetField:
		case *expression.Alias:
			if _, ok := e.Child.(*expression.GetField); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (s *side) node(ctx *sql.Context) sql.Node {
	es := make([]sql.Expression, len(s.columns))
	for i, c := range s.columns {
		es[i] = expression.NewAlias(ctx, c.name, &scalar{name: "as", args: []sql.Expression{c.field}, extra: c.to})
	}
	return plan.NewProject(ctx, es, s.below)
}
