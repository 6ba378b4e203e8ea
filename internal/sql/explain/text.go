package explain

import (
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// namer writes expressions with the names of columns.
type namer struct {
	meta    *rel.Metadata
	numbers map[any]int // of subqueries and derived tables
}

// infix are the calls that are written between their arguments, with what is written.
var infix = map[string]string{"=": "=", "<=>": "<=>", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "and": "and",
	"or": "or", "xor": "xor", "+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "div": "DIV", "like": "like", "not like": "not like",
	"<<": "<<", ">>": ">>", "&": "&", "|": "|", "^": "^"}

// behind are those that are written behind their argument.
var behind = map[string]string{"is null": "is null", "isnull": "is null", "is not null": "is not null", "is true": "is true",
	"is false": "is false", "is not true": "is not true", "is not false": "is not false"}

func (x *namer) expr(n expr.Node) string {
	switch n := n.(type) {
	case *rel.Col:
		return x.column(n.ID)
	case *expr.Lit:
		return literal(n)
	case *expr.Tuple:
		return "(" + x.list(n.Nodes) + ")"
	case *expr.Call:
		return x.call(n)
	case *rel.Subquery:
		return x.subquery(n)
	case rel.Parent:
		if as := n.Args(); len(as) == 1 && expr.IsConst(n) {
			return x.expr(as[0])
		}
		return "f(" + x.list(n.Args()) + ")"
	}
	return "?"
}

// column is a column's name with that of its table; of one that is calculated, its text.
func (x *namer) column(id rel.ColID) string {
	c := &x.meta.Columns[id]
	if c.Origin != nil && c.Origin.Alias != "" {
		return c.Origin.Alias + "." + c.Name
	}
	return c.Name
}

func literal(l *expr.Lit) string {
	switch l.V.Kind() {
	case expr.KindNull:
		return "NULL"
	case expr.KindInt, expr.KindUint, expr.KindDecimal, expr.KindFloat:
		s, err := expr.ToText(&expr.Env{}, l.V)
		if err == nil {
			return s
		}
	}
	s, err := expr.ToText(&expr.Env{}, l.V)
	if err != nil {
		return "?"
	}
	return "'" + strings.ReplaceAll(s, "'", "\\'") + "'"
}

func (x *namer) list(ns []expr.Node) string {
	var out []string
	for _, n := range ns {
		out = append(out, x.expr(n))
	}
	return strings.Join(out, ",")
}

func (x *namer) call(c *expr.Call) string {
	var args []string
	for _, a := range c.Args {
		args = append(args, x.expr(a))
	}
	switch {
	case infix[c.Name] != "" && len(args) > 1:
		return "(" + strings.Join(args, " "+infix[c.Name]+" ") + ")"
	case behind[c.Name] != "" && len(args) == 1:
		return "(" + args[0] + " " + behind[c.Name] + ")"
	case (c.Name == "between" || c.Name == "not between") && len(args) == 3:
		return "(" + args[0] + " " + c.Name + " " + args[1] + " and " + args[2] + ")"
	case (c.Name == "in" || c.Name == "not in") && len(args) > 1:
		return "(" + args[0] + " " + c.Name + " (" + strings.Join(args[1:], ",") + "))"
	case (c.Name == "as" || c.Name == "store as") && len(args) == 1: // a conversion between the sides of a union
		return args[0]
	}
	return c.Name + "(" + strings.Join(args, ",") + ")"
}

func (x *namer) subquery(s *rel.Subquery) string {
	text := "(select #" + number(x.numbers[s]) + ")"
	not := ""
	if s.Negated {
		not = "not "
	}
	left := x.list(s.Left)
	if len(s.Left) > 1 {
		left = "(" + left + ")"
	}
	switch s.Kind {
	case rel.Exists:
		return not + "exists" + text
	case rel.In:
		return left + " " + not + "in " + text
	case rel.AnyOf:
		return left + " " + s.Op + " any " + text
	case rel.AllOf:
		return left + " " + s.Op + " all " + text
	case rel.RowEquals:
		return left + " " + s.Op + " " + text
	}
	return text
}

// conditions joins conditions by AND.
func (x *namer) conditions(cs []expr.Node) string {
	var out []string
	for _, c := range cs {
		out = append(out, x.expr(c))
	}
	if len(out) == 1 {
		return out[0]
	}
	return "(" + strings.Join(out, " and ") + ")"
}

func (x *namer) keys(ks []rel.SortKey) string {
	var out []string
	for _, k := range ks {
		s := x.expr(k.Expr)
		if k.Desc {
			s += " DESC"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// span is a part of an index as conditions.
func (x *namer) span(s *rel.Scan, p *rel.Span) string {
	parts := append(append([]rel.IndexPart{}, s.Access.Index.Parts()...), s.Access.Index.Suffix()...)
	name := func(i int) string { return s.Table.Columns()[parts[i].Place].Name }
	var out []string
	for i, e := range p.Equal {
		op := " = "
		if p.NullSafe != nil && p.NullSafe[i] {
			op = " <=> "
		}
		out = append(out, name(i)+op+x.expr(e))
	}
	at := len(p.Equal)
	switch {
	case p.Low != nil && p.High != nil:
		out = append(out, x.expr(p.Low.Value)+comparison(p.Low, "<")+name(at)+comparison(p.High, "<")+x.expr(p.High.Value))
	case p.Low != nil:
		out = append(out, x.expr(p.Low.Value)+comparison(p.Low, "<")+name(at))
	case p.High != nil:
		out = append(out, name(at)+comparison(p.High, "<")+x.expr(p.High.Value))
	case p.Prefix != nil:
		out = append(out, name(at)+" begins with "+x.expr(p.Prefix))
	}
	return strings.Join(out, ", ")
}

func comparison(b *rel.Bound, open string) string {
	if b.Open {
		return " " + open + " "
	}
	return " " + open + "= "
}
