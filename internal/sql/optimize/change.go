package optimize

import (
	"fmt"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Change optimizes a statement that changes rows. What it evaluates beside its query takes part, as if the query calculated it at its
// end: constants are evaluated, subqueries optimized, and what is read of the query's tables is known.
func Change(c *rel.Change, env *expr.Env, o Options) error {
	q := c.Query
	top := &rel.Project{Child: q.Root}
	var slots []*expr.Node
	c.EachExpr(func(slot *expr.Node) {
		if c.Insert != nil && !reading(*slot) {
			return // evaluated once
		}
		slots = append(slots, slot)
		id := q.Meta.Add(rel.Column{Type: (*slot).Type(), Nullable: true})
		top.Exprs, top.Cols = append(top.Exprs, *slot), append(top.Cols, id)
		q.Out = append(q.Out, rel.Output{Col: id})
	})
	rows := len(q.Out) - len(slots)
	c.Reads = nil
	if len(slots) == 0 {
		return Optimize(q, env, o)
	}
	q.Root = top
	if err := Optimize(q, env, o); err != nil {
		return err
	}
	if isEmpty(q.Root) { // nothing is found, so nothing else is evaluated
		q.Out = q.Out[:rows]
		return nil
	}
	if q.Root != rel.Node(top) || len(top.Exprs) != len(slots) {
		return fmt.Errorf("package optimize has lost the end of a statement that changes rows: %T", q.Root)
	}
	reads := rel.Cols{}
	for i, slot := range slots {
		*slot = top.Exprs[i]
		rel.CollectCols(reads, *slot)
	}
	q.Root, q.Out = top.Child, q.Out[:rows]
	for _, id := range top.Child.Columns() {
		if reads[id] {
			c.Reads = append(c.Reads, id)
			q.Out = append(q.Out, rel.Output{Col: id})
		}
	}
	return nil
}

// reading reports whether an expression reads columns, or has a subquery.
func reading(n expr.Node) (yes bool) {
	rel.Walk(n, func(n expr.Node) bool {
		switch n.(type) {
		case *rel.Col, *rel.Subquery:
			yes = true
		}
		return !yes
	})
	return yes
}
