package explain

import (
	"fmt"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/optimize"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Tree is EXPLAIN FORMAT=TREE of an optimized query: an operator in a line, those that it reads below it, indented. With what the operators
// did it is EXPLAIN ANALYZE; m is nil for EXPLAIN.
func Tree(q *rel.Query, env *expr.Env, m *exec.Measure) string {
	t := &treeWriter{namer: newNamer(q), q: q, env: env, m: m, shared: map[*rel.Shared]bool{}}
	t.node(q.Root, 0)
	return t.b.String()
}

type treeWriter struct {
	*namer
	q      *rel.Query
	env    *expr.Env
	m      *exec.Measure
	b      strings.Builder
	shared map[*rel.Shared]bool
}

func newNamer(q *rel.Query) *namer { return &namer{meta: q.Meta, numbers: numbered(q.Root)} }

// line writes one operator.
func (t *treeWriter) line(n rel.Node, depth int, text string) {
	fmt.Fprintf(&t.b, "%s-> %s", strings.Repeat("    ", depth), text)
	if n != nil {
		fmt.Fprintf(&t.b, "  (rows=%.3g)", optimize.Rows(t.q, t.env, n))
		if t.m != nil {
			t.b.WriteString(" " + actual(t.m.Nodes[n]))
		}
	}
	t.b.WriteByte('\n')
}

// actual is what an operator did: the time until its first row and until its last one, in milliseconds, and its rows, each for one time
// that it was opened.
func actual(a *exec.Actual) string {
	if a == nil || a.Loops == 0 {
		return "(never executed)"
	}
	loops := float64(a.Loops)
	ms := func(d float64) string { return fmt.Sprintf("%.3g", d/1e6/loops) }
	return fmt.Sprintf("(actual time=%s..%s rows=%.3g loops=%d)", ms(float64(a.First)), ms(float64(a.Total)), float64(a.Rows)/loops, a.Loops)
}

func (t *treeWriter) node(n rel.Node, depth int) {
	switch n := n.(type) {
	case *rel.Scan:
		if checks(n) {
			t.line(n, depth, "Filter: "+t.conditions(n.Filter))
			depth++
			t.line(nil, depth, t.scanText(n))
		} else {
			t.line(n, depth, t.scanText(n))
		}
	case *rel.Project: // MySQL shows no operator for what is calculated
		t.node(n.Child, depth)
		t.subqueries(n, depth)
		return
	case *rel.Join:
		t.join(n, depth)
		return
	case *rel.SharedScan:
		t.line(n, depth, "Table scan on "+n.From.Name)
		if t.shared[n.From] {
			t.line(nil, depth+1, fmt.Sprintf("Materialize CTE %s if needed (query plan printed elsewhere)", n.From.Name))
			return
		}
		t.shared[n.From] = true
		t.line(nil, depth+1, fmt.Sprintf("Materialize CTE %s if needed", n.From.Name))
		t.node(n.From.Plan, depth+2)
		return
	default:
		t.line(n, depth, t.text(n))
	}
	for _, c := range n.Children() {
		t.node(c, depth+1)
	}
	t.subqueries(n, depth)
}

// text is the line of an operator without special form.
func (t *treeWriter) text(n rel.Node) string {
	switch n := n.(type) {
	case *rel.Values:
		if len(n.Rows) == 0 {
			return "Zero rows (Impossible WHERE)"
		}
		return "Rows fetched before execution"
	case *rel.Filter:
		return "Filter: " + t.conditions(n.Conds)
	case *rel.Group:
		return t.groupText(n)
	case *rel.Sort:
		s := "Sort: " + t.keys(n.Keys)
		if n.Limit != nil {
			s += ", limit input to " + t.expr(n.Limit) + " row(s) per chunk"
		}
		return s
	case *rel.Limit:
		count := "all"
		if n.Count != nil {
			count = t.expr(n.Count)
		}
		if n.Offset != nil {
			return fmt.Sprintf("Limit/Offset: %s/%s row(s)", count, t.expr(n.Offset))
		}
		return "Limit: " + count + " row(s)"
	case *rel.Distinct:
		return "Remove duplicates from input grouped on " + t.columns(n.Cols)
	case *rel.Window:
		var fs []string
		for _, f := range n.Funcs {
			fs = append(fs, t.column(f.Col))
		}
		return "Window aggregate with buffering: " + strings.Join(fs, ", ")
	case *rel.SetOp:
		name := [...]string{"Union", "Intersect", "Except"}[n.Kind]
		if n.All {
			if n.Kind == rel.Union {
				return "Append"
			}
			return name + " all materialize"
		}
		return name + " materialize with deduplication"
	case *rel.Recursive:
		return "Recursive CTE " + n.Name
	case *rel.WorkScan:
		return "Scan new records on " + n.From.Name
	case *rel.One:
		return "Limit: 1 row(s)"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", n), "*rel.")
}

func (t *treeWriter) columns(ids []rel.ColID) string {
	var out []string
	for _, id := range ids {
		out = append(out, t.column(id))
	}
	return strings.Join(out, ", ")
}

func (t *treeWriter) groupText(n *rel.Group) string {
	var as []string
	for i := range n.Aggs {
		as = append(as, t.aggregate(&n.Aggs[i]))
	}
	what := strings.Join(as, ", ")
	switch {
	case n.Rollup:
		return "Group aggregate with rollup: " + what
	case n.Scalar:
		return "Aggregate: " + what
	case n.Ordered && len(as) == 0:
		return "Group (no aggregates)"
	case n.Ordered:
		return "Group aggregate: " + what
	}
	return "Aggregate using temporary table"
}

func (x *namer) aggregate(a *rel.Agg) string {
	inner := x.list(a.Args)
	if a.Star {
		inner = "0"
	}
	if a.Distinct {
		inner = "distinct " + inner
	}
	return a.Name + "(" + inner + ")"
}

var joinNames = [...]string{"inner join", "left join", "semijoin", "antijoin"}

func (t *treeWriter) join(n *rel.Join, depth int) {
	if n.Hash != nil {
		var eq []string
		for _, k := range n.Hash {
			op := " = "
			if k.NullSafe {
				op = " <=> "
			}
			eq = append(eq, "("+t.expr(k.Right)+op+t.expr(k.Left)+")")
		}
		name := [...]string{"Inner hash join", "Left hash join", "Hash semijoin", "Hash antijoin"}[n.Kind]
		s := name + " " + strings.Join(eq, ", ")
		if len(n.On) > 0 {
			s += ", extra conditions: " + t.conditions(n.On)
		}
		t.line(n, depth, s)
		t.node(n.Left, depth+1)
		t.line(nil, depth+1, "Hash")
		t.node(n.Right, depth+2)
		t.subqueries(n, depth)
		return
	}
	name := "Nested loop " + joinNames[n.Kind]
	if on := t.unlooked(n); len(on) > 0 && n.Kind == rel.Inner {
		t.line(n, depth, "Filter: "+t.conditions(on))
		depth++
		t.line(nil, depth, name)
	} else if len(on) > 0 {
		t.line(n, depth, name+", conditions: "+t.conditions(on))
	} else {
		t.line(n, depth, name)
	}
	t.node(n.Left, depth+1)
	t.node(n.Right, depth+1)
	t.subqueries(n, depth)
}

// unlooked are the conditions of a join that its lookup does not apply.
func (t *treeWriter) unlooked(n *rel.Join) []expr.Node {
	s, ok := n.Right.(*rel.Scan)
	if !ok || s.Access == nil {
		return n.On
	}
	copied := *s
	var out []expr.Node
	for _, c := range n.On {
		copied.Filter = []expr.Node{c}
		if checks(&copied) {
			out = append(out, c)
		}
	}
	return out
}

// subqueries writes the plans of those in an operator's expressions.
func (t *treeWriter) subqueries(n rel.Node, depth int) {
	where := "condition"
	if _, ok := n.(*rel.Project); ok {
		where = "projection"
	}
	seen := map[*rel.Subquery]bool{}
	rel.EachExpr(n, func(slot *expr.Node) {
		rel.Walk(*slot, func(e expr.Node) bool {
			if s, ok := e.(*rel.Subquery); ok && !seen[s] {
				seen[s] = true
				how := "run only once"
				if len(s.Outer) > 0 || s.Volatile {
					how = "dependent"
				}
				t.line(nil, depth, fmt.Sprintf("Select #%d (subquery in %s; %s)", t.numbers[s], where, how))
				t.node(s.Plan, depth+1)
			}
			return true
		})
	})
}
