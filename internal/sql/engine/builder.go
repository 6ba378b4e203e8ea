package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// builder is asked before go-mysql-server executes a node of a plan.
type builder struct{ e *Engine }

var _ sql.NodeExecBuilder = (*builder)(nil)

// Build implements sql.NodeExecBuilder. Nil: the engine's own way.
func (b *builder) Build(ctx *sql.Context, n sql.Node, _ sql.Row) (sql.RowIter, error) {
	switch n := n.(type) {
	case *plan.InsertInto:
		b.insert(ctx, n)
	}
	return nil, nil
}

// insert decides how a statement's inserts find out whether keys are taken.
func (b *builder) insert(ctx *sql.Context, n *plan.InsertInto) {
	s, err := sessionOf(ctx)
	if err != nil {
		return
	}
	if n.Ignore || n.IsReplace || n.OnDupExprs.HasUpdates() {
		s.stmt.deferred, s.stmt.atCommit = false, false
		return
	}
	if h, ok := n.Destination.(*plan.ForeignKeyHandler); ok && s.stmt.deferred {
		deferParents(s.stmt, h)
	}
}
