package bind

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// What can be said only when the whole tree is there: which columns of the queries around it a subquery reads, and which joins have a
// right side that reads the left one.

// finish fills that in for a statement.
func (b *binder) finish(q *rel.Query) error {
	f := &finisher{shared: map[*rel.Shared]bool{}}
	f.node(q.Root)
	return nil
}

type finisher struct {
	shared   map[*rel.Shared]bool
	volatile bool
}

// node gives the columns that a tree reads but does not give.
func (f *finisher) node(n rel.Node) rel.Cols {
	free := rel.Cols{}
	rel.EachExpr(n, func(slot *expr.Node) { f.expression(*slot, free) })
	switch n := n.(type) {
	case *rel.Group:
		for _, k := range n.Keys {
			free[k] = true
		}
	case *rel.Distinct:
		for _, c := range n.Cols {
			free[c] = true
		}
	case *rel.SharedScan:
		f.sharedQuery(n.From)
		for _, c := range n.From.Outer {
			free[c] = true
		}
	case *rel.Project: // an expression may read those before it
		for _, c := range n.Cols {
			delete(free, c)
		}
	}
	given := rel.Cols{}
	for i, c := range n.Children() {
		below := f.node(c)
		if j, ok := n.(*rel.Join); ok && i == 1 {
			for id := range below {
				j.Lateral = j.Lateral || given[id]
			}
		}
		for id := range below {
			free[id] = true
		}
		for _, id := range c.Columns() {
			given[id] = true
		}
	}
	if r, ok := n.(*rel.Recursive); ok {
		for _, id := range r.Cols {
			given[id] = true
		}
	}
	for id := range given {
		delete(free, id)
	}
	for _, id := range n.Columns() { // those of a Window or a Group, in its own expressions
		delete(free, id)
	}
	return free
}

// expression adds the columns that an expression reads.
func (f *finisher) expression(n expr.Node, free rel.Cols) {
	rel.Walk(n, func(n expr.Node) bool {
		switch n := n.(type) {
		case *rel.Col:
			free[n.ID] = true
		case *rel.Subquery:
			volatile := f.volatile
			f.volatile = false
			n.Outer = sorted(f.node(n.Plan), n.Out, n.Plan)
			n.Volatile = f.volatile
			f.volatile = f.volatile || volatile
			for _, id := range n.Outer {
				free[id] = true
			}
		case *expr.Call:
			f.volatile = f.volatile || n.Volatile
		case rel.Volatile:
			f.volatile = f.volatile || n.Volatile()
		}
		return true
	})
}

// sorted are the free columns of a plan and those of its outputs that it does not give itself.
func sorted(free rel.Cols, out []rel.ColID, plan rel.Node) []rel.ColID {
	var given rel.Cols
	for _, id := range out {
		if given == nil {
			given = rel.Cols{}
			for _, c := range plan.Columns() {
				given[c] = true
			}
		}
		if !given[id] {
			free[id] = true
		}
	}
	ids := make([]rel.ColID, 0, len(free))
	for id := range free {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return nil
	}
	return ids
}

func (f *finisher) sharedQuery(s *rel.Shared) {
	if f.shared[s] {
		return
	}
	f.shared[s] = true
	s.Outer = sorted(f.node(s.Plan), s.Cols, s.Plan)
}
