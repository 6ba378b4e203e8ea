package rel

import (
	"fmt"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// Format writes a plan as a tree, one operator in a line: for tests and for looking at. Plans of subqueries in expressions stand
// below the operator that has the expression; the plan of a Shared stands below the first of its SharedScans.
func Format(n Node) string {
	p := printer{seen: map[*Shared]bool{}}
	p.node(n, 0)
	return p.b.String()
}

type printer struct {
	b    strings.Builder
	seen map[*Shared]bool
}

func (p *printer) node(n Node, depth int) {
	line := append([]string{strings.TrimPrefix(fmt.Sprintf("%T", n), "*rel.")}, details(n)...)
	fmt.Fprintf(&p.b, "%s%s\n", strings.Repeat("  ", depth), strings.Join(line, " "))
	EachExpr(n, func(slot *expr.Node) {
		Walk(*slot, func(e expr.Node) bool {
			if s, ok := e.(*Subquery); ok {
				fmt.Fprintf(&p.b, "%s- subquery %s outer %v\n", strings.Repeat("  ", depth+1), ExprText(s), s.Outer)
				p.node(s.Plan, depth+2)
			}
			return true
		})
	})
	if s, ok := n.(*SharedScan); ok && !p.seen[s.From] {
		p.seen[s.From] = true
		p.node(s.From.Plan, depth+1)
	}
	for _, c := range n.Children() {
		p.node(c, depth+1)
	}
}

// details are what an operator holds beside its children.
func details(n Node) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	flag := func(on bool, name string) {
		if on {
			out = append(out, name)
		}
	}
	switch n := n.(type) {
	case *Scan:
		add("%s", n.Alias)
		var cs []string
		for i, at := range n.Places {
			cs = append(cs, fmt.Sprintf("%s:%d", n.Table.Columns()[at].Name, n.Cols[i]))
		}
		add("[%s]", strings.Join(cs, " "))
		if n.Access != nil {
			add("index %s", n.Access.Index.Name())
			flag(n.Access.Reverse, "reverse")
			for i := range n.Access.Spans {
				add("%s", SpanText(n.Access.Index, n.Table, &n.Access.Spans[i]))
			}
		}
		if len(n.Filter) > 0 {
			add("filter %s", exprTexts(n.Filter))
		}
		if n.Limit > 0 {
			add("limit %d", n.Limit)
		}
	case *Values:
		add("%d rows %v", len(n.Rows), n.Cols)
	case *Filter:
		add("%s", exprTexts(n.Conds))
	case *Project:
		for i, e := range n.Exprs {
			add("%d=%s", n.Cols[i], ExprText(e))
		}
	case *Join:
		add("%s", [...]string{"inner", "left", "semi", "anti"}[n.Kind])
		flag(n.Lateral, "lateral")
		flag(n.Straight, "straight")
		flag(n.NullAware, "nullaware")
		flag(n.Keep, "keep")
		for _, k := range n.Hash {
			op := "="
			if k.NullSafe {
				op = "<=>"
			}
			add("hash %s%s%s", ExprText(k.Left), op, ExprText(k.Right))
		}
		if len(n.On) > 0 {
			add("on %s", exprTexts(n.On))
		}
	case *Group:
		add("%v", n.Keys)
		for _, a := range n.Aggs {
			add("%d=%s", a.Col, aggText(&a))
		}
		flag(n.Rollup, "rollup")
		flag(n.Scalar, "scalar")
		flag(n.Ordered, "ordered")
	case *Sort:
		add("%s", keyTexts(n.Keys))
		if n.Keep != nil {
			add("keep %v", n.Keep)
		}
		if n.Limit != nil {
			add("limit %s", ExprText(n.Limit))
		}
	case *Limit:
		if n.Count != nil {
			add("%s", ExprText(n.Count))
		}
		if n.Offset != nil {
			add("offset %s", ExprText(n.Offset))
		}
		flag(n.FoundRows, "foundrows")
	case *Distinct:
		add("%v", n.Cols)
	case *Window:
		if len(n.Partition) > 0 {
			add("partition %s", exprTexts(n.Partition))
		}
		if len(n.Order) > 0 {
			add("order %s", keyTexts(n.Order))
		}
		for _, f := range n.Funcs {
			if f.Agg != nil {
				add("%d=%s", f.Col, aggText(f.Agg))
				continue
			}
			add("%d=%s%s", f.Col, f.Name, exprTexts(f.Args))
		}
	case *SetOp:
		add("%s", [...]string{"union", "intersect", "except"}[n.Kind])
		flag(n.All, "all")
		add("%v = %v, %v", n.Cols, n.LeftCols, n.RightCols)
	case *SharedScan:
		add("%s %v of %v", n.From.Name, n.Cols, n.From.Cols)
	case *Recursive:
		add("%s %v = %v, %v", n.Name, n.Cols, n.SeedCols, n.StepCols)
		flag(n.Distinct, "distinct")
	case *WorkScan:
		add("%s %v", n.From.Name, n.Cols)
	}
	return out
}

func aggText(a *Agg) string {
	inner := strings.Trim(exprTexts(a.Args), "[]")
	if a.Star {
		inner = "*"
	}
	if a.Distinct {
		inner = "distinct " + inner
	}
	return fmt.Sprintf("%s(%s)", a.Name, inner)
}

func keyTexts(ks []SortKey) string {
	var out []string
	for _, k := range ks {
		s := ExprText(k.Expr)
		if k.Desc {
			s += " desc"
		}
		out = append(out, s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func exprTexts(es []expr.Node) string {
	var out []string
	for _, e := range es {
		out = append(out, ExprText(e))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// SpanText writes a part of an index: the values of its first columns and the bounds of the next one.
func SpanText(x Index, t Table, s *Span) string {
	var out []string
	parts := append(append([]IndexPart{}, x.Parts()...), x.Suffix()...)
	name := func(i int) string { return t.Columns()[parts[i].Place].Name }
	for i, e := range s.Equal {
		op := "="
		if s.NullSafe != nil && s.NullSafe[i] {
			op = "<=>"
		}
		out = append(out, name(i)+op+ExprText(e))
	}
	bound := func(b *Bound, open, closed string) {
		if b == nil {
			return
		}
		if b.Open {
			closed = open
		}
		out = append(out, name(len(s.Equal))+closed+ExprText(b.Value))
	}
	bound(s.Low, ">", ">=")
	bound(s.High, "<", "<=")
	if s.Prefix != nil {
		out = append(out, name(len(s.Equal))+" begins "+ExprText(s.Prefix))
	}
	return "(" + strings.Join(out, " ") + ")"
}

// infix are the calls that are written between their arguments.
var infix = map[string]bool{"=": true, "<=>": true, "<>": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true, "and": true,
	"or": true, "xor": true, "+": true, "-": true, "*": true, "/": true, "%": true, "like": true}

// ExprText writes an expression with the ids of its columns.
func ExprText(n expr.Node) string {
	switch n := n.(type) {
	case *Col:
		return fmt.Sprintf("#%d", n.ID)
	case *expr.Lit:
		return litText(n.V)
	case *expr.Tuple:
		return "(" + strings.Trim(exprTexts(n.Nodes), "[]") + ")"
	case *expr.Call:
		var args []string
		for _, a := range n.Args {
			args = append(args, ExprText(a))
		}
		if n.Name == "silent" { // it says nothing of the value
			return args[0]
		}
		if infix[n.Name] && len(args) > 1 {
			return "(" + strings.Join(args, " "+n.Name+" ") + ")"
		}
		return n.Name + "(" + strings.Join(args, ", ") + ")"
	case *Subquery:
		s := [...]string{"scalar", "exists", "in", "any", "all", "row"}[n.Kind]
		if n.Negated {
			s = "not " + s
		}
		if len(n.Left) > 0 {
			s += exprTexts(n.Left)
		}
		return fmt.Sprintf("%s%s%v", s, n.Op, n.Out)
	case Parent:
		return strings.TrimPrefix(fmt.Sprintf("%T", n), "*") + "(" + strings.Trim(exprTexts(n.Args()), "[]") + ")"
	}
	return fmt.Sprintf("%T", n)
}

func litText(v expr.Value) string {
	switch v.Kind() {
	case expr.KindNull:
		return "NULL"
	case expr.KindText, expr.KindBytes:
		return "'" + v.RawText() + "'"
	}
	s, err := expr.ToText(&expr.Env{}, v)
	if err != nil {
		return "?"
	}
	return s
}
