package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// builder is asked before go-mysql-server executes a node of a plan.
type builder struct{ e *Engine }

var _ sql.NodeExecBuilder = (*builder)(nil)

// Build implements sql.NodeExecBuilder. Nil: the engine's own way.
func (b *builder) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	if s, err := sessionOf(ctx); err == nil {
		s.stmt.keepTransaction()
	}
	if it, err := b.watchRows(ctx, n, row); it != nil || err != nil {
		return it, err
	}
	switch n := n.(type) {
	case *plan.InsertInto:
		if err := refusedTriggers(ctx, n); err != nil {
			return nil, err
		}
		b.insert(ctx, n)
		if n.OnDupExprs.HasUpdates() {
			return b.instead(ctx, row)(b.exactInsert(n))
		}
	case *plan.Update:
		b.changes(ctx, n.Child)
		return b.instead(ctx, row)(b.exactUpdate(ctx, n))
	case *plan.DeleteFrom:
		if joinDeletes(n) {
			return b.instead(ctx, row)(b.deleteOnce(n))
		}
		if len(n.GetDeleteTargets()) == 1 {
			b.changes(ctx, n.GetDeleteTargets()[0])
		}
	case *joinSource:
		return b.joinSource(ctx, n, row)
	case *exactTarget:
		return b.e.gms.Analyzer.ExecBuilder.Build(ctx, n.node, row)
	case *plan.TriggerExecutor:
		return b.triggered(ctx, n, row)
	case *plan.Set:
		if t := bodyOf(n); t != nil {
			return t.run(ctx, row)
		}
	case *plan.Distinct:
		return b.distinct(ctx, n, row)
	case *plan.SetOp:
		return b.setOp(ctx, n, row)
	case *plan.RecursiveCte:
		return b.recursive(ctx, n, row)
	case *plan.Sort:
		return b.sort(ctx, n, row)
	case *plan.TopN:
		return b.topN(ctx, n, row)
	case *plan.JoinNode:
		if n.Op.IsRange() {
			return b.instead(ctx, row)(withoutHeap(ctx, n))
		}
		return b.join(ctx, n, row)
	case *plan.HashLookup:
		return b.hashLookup(ctx, n, row)
	case *plan.GroupBy:
		if it, err := b.inPlace(ctx, n, row); it != nil || err != nil {
			return it, err
		}
	case *ahead:
		return n.rowIter(ctx, row)
	case *plan.LoadData:
		return loadData(ctx, n)
	case *plan.ShowCreateTable:
		if r, ok := n.Child.(*plan.ResolvedTable); ok && !n.IsView {
			if t, ok := sql.GetUnderlyingTable(r.Table).(*table); ok {
				text, err := t.createText(ctx, n.TargetSchema())
				return sql.RowsToRowIter(sql.Row{t.l.desc.Name, text}), err
			}
		}
		if v, ok := n.Child.(*plan.SubqueryAlias); ok && len(v.ColumnNames) > 0 {
			return showCreateView(ctx, v)
		}
	case *plan.ShowColumns:
		return showColumns(ctx, n)
	case *plan.ShowIndexes:
		return showIndexes(ctx, n)
	case *plan.DescribeQuery:
		switch s, err := sessionOf(ctx); {
		case err == nil && s.stmt.explainJSON:
			return explainJSON(ctx, n)
		case !n.Format.Plan && !n.Format.Analyze:
			return explainTable(ctx, n)
		}
	}
	n, err := withCheckedArithmetic(ctx, n)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, nil
	}
	switch n := n.(type) {
	case *plan.GroupBy:
		if ownGroupBy(n) {
			return b.groupBy(ctx, n, row)
		}
	case *plan.Window:
		return b.window(ctx, n, row)
	}
	return b.e.gms.Analyzer.ExecBuilder.Build(ctx, n, row)
}

// instead executes another node in the place of one; of none, the engine's own way.
func (b *builder) instead(ctx *sql.Context, row sql.Row) func(sql.Node, error) (sql.RowIter, error) {
	return func(n sql.Node, err error) (sql.RowIter, error) {
		if n == nil || err != nil {
			return nil, err
		}
		return b.e.gms.Analyzer.ExecBuilder.Build(ctx, n, row)
	}
}

// withCheckedArithmetic returns the node with integer arithmetic that does not wrap around, or nil if it is as it should be
// and the engine may execute it. (A node that was changed comes back here, and is then as it should be.)
func withCheckedArithmetic(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	own := func() (sql.Node, error) {
		if g, ok := n.(*plan.GroupBy); ok && ownGroupBy(g) {
			return g, nil
		}
		if w, ok := n.(*plan.Window); ok {
			return w, nil
		}
		return nil, nil
	}
	switch n.(type) {
	case *plan.Project, *plan.Filter, *plan.GroupBy, *plan.Having, *plan.Values, *plan.UpdateSource, *plan.Sort, *plan.TopN, *plan.Window, *plan.Set:
	default:
		return own()
	}
	x := n.(sql.Expressioner)
	es := x.Expressions()
	changed := false
	out := make([]sql.Expression, len(es))
	for i, e := range es {
		c, same, err := checkArithmetic(ctx, e)
		if err != nil {
			return nil, err
		}
		out[i] = c
		changed = changed || same == transform.NewTree
	}
	if !changed {
		return own()
	}
	return x.WithExpressions(ctx, out...)
}

// insert decides how a statement's inserts find out whether keys are taken.
// changes has the reads of a table locked that is about to be changed, where the statement as the client wrote it did not
// say so: the change is made by a trigger or a procedure. From there on it is locked wherever the
// client's statement reads it.
func (b *builder) changes(ctx *sql.Context, n sql.Node) {
	s, err := sessionOf(ctx)
	if err != nil {
		return
	}
	var found []*table
	transform.Inspect(n, func(n sql.Node) bool {
		if tn, ok := n.(sql.TableNode); ok {
			if t, ok := tn.UnderlyingTable().(*table); ok {
				found = append(found, t)
			}
		}
		return true
	})
	if len(found) != 1 || s.stmt.lockFor(found[0], false).Mode != kv.NoLock { // of several it does not say which
		return
	}
	t := found[0]
	s.stmt.locks.tables = append(s.stmt.locks.tables, lockedTable{db: strings.ToLower(t.db.name), name: strings.ToLower(t.l.desc.Name),
		lock: txn.Lock{Mode: kv.LockExclusive, Wait: lockWait(ctx)}, implicit: true})
}

func (b *builder) insert(ctx *sql.Context, n *plan.InsertInto) {
	s, err := sessionOf(ctx)
	if err != nil {
		return
	}
	if to, err := plan.GetInsertable(n.Destination); err == nil {
		if t, ok := sql.GetUnderlyingTable(to).(*table); ok {
			s.stmt.insertsInto(t)
		}
	}
	if n.Ignore || n.IsReplace || n.OnDupExprs.HasUpdates() {
		s.stmt.deferred, s.stmt.atCommit = false, false
		return
	}
	if h, ok := n.Destination.(*plan.ForeignKeyHandler); ok && s.stmt.deferred {
		deferParents(s.stmt, h)
	}
}
