package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// membership is x IN (SELECT …), where the planner has not made a join of it. go-mysql-server's own
// (plan/insubquery.go) finds rows by a hash that ignores collations, and takes NULL for the text '<nil>'.
type membership struct {
	test *expr.Membership
	sub  *plan.Subquery
	t    []expr.Type
	rows *expr.Members // of a subquery that gives the same for each row
}

func lowerMembership(ctx *sql.Context, in *plan.InSubquery, sub *plan.Subquery) (expr.Node, error) {
	left, err := lowered(ctx, in.Left())
	if err != nil {
		return nil, err
	}
	m := &membership{sub: sub}
	for _, c := range sub.Query.Schema(ctx) {
		m.t = append(m.t, exprType(c.Type, expr.Implicit))
	}
	m.test, err = expr.NewMembership(left, m.t)
	return m, clientSide(err)
}

// Type implements expr.Node.
func (m *membership) Type() expr.Type { return expr.TBool }

// Eval implements expr.Node.
func (m *membership) Eval(env *expr.Env) (expr.Value, error) {
	rows := m.rows
	if rows == nil {
		at := env.Host.(*leaves)
		found, err := m.sub.EvalMultiple(at.ctx, at.row)
		if err != nil {
			return expr.Null, err
		}
		values := make([][]expr.Value, len(found))
		for i, f := range found {
			if values[i], err = m.valuesOf(at.ctx, f); err != nil {
				return expr.Null, err
			}
		}
		if rows, err = m.test.Gather(env, values); err != nil {
			return expr.Null, err
		}
		if m.sub.CanCacheResults() {
			m.rows = rows
		}
	}
	return m.test.Among(env, rows)
}

// valuesOf is a row of the subquery; of a single column it comes as the bare value.
func (m *membership) valuesOf(ctx *sql.Context, row any) ([]expr.Value, error) {
	parts := []any{row}
	if several, ok := row.([]any); ok && len(m.t) > 1 {
		parts = several
	}
	out := make([]expr.Value, len(parts))
	for i, p := range parts {
		v, err := fromHost(ctx, p, m.t[i])
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
