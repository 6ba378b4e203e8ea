package bind

import (
	"slices"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// TableRules is what a table says of its rows, as syntax. The lists are by place of the column; nil: the column has none.
type TableRules struct {
	Defaults, OnUpdate, Generated []sqlparser.Expr
	// Kept says of a generated column whether its value is kept with the row: it is stored, or an index has it.
	Kept   []bool
	Checks []CheckRule // those that are enforced
	// Triggered: the table has triggers, which may read and assign all of its columns.
	Triggered bool
}

// CheckRule is a CHECK constraint.
type CheckRule struct {
	Name string
	Expr sqlparser.Expr
}

// ruled binds an expression that a table says of its rows.
func (b *binder) ruled(e sqlparser.Expr, s *scope, t rel.Table) (expr.Node, error) {
	database := b.database
	b.database = t.Database()
	n, err := b.scalar(e, s)
	b.database = database
	return n, err
}

// rules binds what the table says of its rows, as far as an UPDATE has to know it.
func (c *changed) rules(t *rel.Target) error {
	r, err := c.h.Rules(t.Table)
	if err != nil {
		return err
	}
	s := c.rowScope(t)
	set := make([]bool, len(t.New)) // what may have another value than before
	for at := range set {
		set[at] = r.Triggered && !c.out.Delete && r.Generated[at] == nil
	}
	for _, a := range t.Sets {
		set[a.Place] = set[a.Place] || r.Generated[a.Place] == nil
	}
	for at, e := range r.OnUpdate {
		if e == nil || slices.ContainsFunc(t.Sets, func(a rel.Assignment) bool { return a.Place == at }) {
			continue
		}
		n, err := c.b.ruled(e, s, t.Table)
		if err != nil {
			return err
		}
		set[at] = true
		t.OnUpdate = append(t.OnUpdate, rel.Assignment{Place: at, Value: n})
	}
	for _, k := range r.Checks {
		n, err := c.b.ruled(k.Expr, s, t.Table)
		if err != nil {
			return err
		}
		t.Checks = append(t.Checks, rel.Check{Name: k.Name, Cond: n})
	}
	return c.b.generated(t, r, s, set, false)
}

// generated binds the generated columns that have to be calculated: those that are not kept and that are read, before the assignments and behind
// them, and those that depend on what is assigned; of a row that is made, all: one may read no column.
func (b *binder) generated(t *rel.Target, r *TableRules, s *scope, set []bool, made bool) error {
	nodes := make([]expr.Node, len(t.New))
	reads := make([]rel.Cols, len(t.New))
	wanted := rel.Cols{} // what assignments and checks read
	for _, list := range [][]rel.Assignment{t.Sets, t.OnUpdate} {
		for _, a := range list {
			collect(wanted, a.Value)
		}
	}
	checked := rel.Cols{}
	for _, k := range t.Checks {
		collect(checked, k.Cond)
	}
	for at, e := range r.Generated {
		if e == nil {
			continue
		}
		n, err := b.ruled(e, s, t.Table)
		if err != nil {
			return err
		}
		nodes[at], reads[at] = n, rel.Cols{}
		collect(reads[at], n)
	}
	changes := func(at int) bool {
		if made {
			return true
		}
		for i, id := range t.New {
			if set[i] && reads[at][id] {
				return true
			}
		}
		return false
	}
	for at, n := range nodes { // generated columns read those before them only
		if n != nil {
			set[at] = changes(at)
		}
	}
	for at := len(nodes) - 1; at >= 0; at-- {
		n := nodes[at]
		if n == nil {
			continue
		}
		id := t.New[at]
		again := set[at] // though the value is perhaps not kept, it has to fit
		before := !r.Kept[at] && (wanted[id] || r.Triggered || checked[id] && !set[at])
		if again {
			for id := range reads[at] {
				checked[id] = true
			}
			t.Generated = append(t.Generated, rel.Assignment{Place: at, Value: n})
		}
		if before {
			for id := range reads[at] {
				wanted[id] = true
			}
			if again { // an expression stands in a tree once (R4)
				var err error
				if n, err = b.ruled(r.Generated[at], s, t.Table); err != nil {
					return err
				}
			}
			t.Virtual = append(t.Virtual, rel.Assignment{Place: at, Value: n})
		}
	}
	slices.Reverse(t.Generated)
	slices.Reverse(t.Virtual)
	return nil
}

// collect adds the columns that an expression reads, in its subqueries too: those are not finished yet.
func collect(into rel.Cols, n expr.Node) {
	rel.Walk(n, func(n expr.Node) bool {
		switch n := n.(type) {
		case *rel.Col:
			into[n.ID] = true
		case *rel.Subquery:
			collectPlan(into, n.Plan)
		}
		return true
	})
}

func collectPlan(into rel.Cols, p rel.Node) {
	rel.EachExpr(p, func(slot *expr.Node) { collect(into, *slot) })
	for _, c := range p.Children() {
		collectPlan(into, c)
	}
}
