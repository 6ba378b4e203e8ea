package bind

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/aggregate"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// aggregateCall is an aggregate whose arguments are being bound. It belongs to the innermost query whose columns its arguments name, if
// an aggregate may stand there, else to the next query inwards where one may (manual, Aggregate Function Descriptions; the numbers of
// levels are those of MySQL's Item_sum::check_sum_func).
type aggregateCall struct {
	s      *scope // the query that it is written in
	around *aggregateCall
	refs   []aggregateRef
	level  int // of the innermost query whose columns the arguments name; -1: they name none
	inner  int // of the innermost query that an aggregate among the arguments belongs to; -1: there is none
}

// aggregateRef is a column that the arguments of an aggregate read, of the query s or above its grouping.
type aggregateRef struct {
	col *rel.Col
	p   place
}

// isAggregate reports whether a function without OVER is an aggregate.
func isAggregate(name string) bool {
	return name != "any_value" && (aggregate.Known(name) || name == "st_collect")
}

var errGroupFunction = expr.Errorf(1111, "HY000", "Invalid use of group function")

// aggregateFunc is what an aggregate's syntax says.
type aggregateFunc struct {
	name      string
	args      sqlparser.SelectExprs
	distinct  bool
	order     sqlparser.OrderBy
	separator string
	text      func() string
}

// aggregate binds an aggregate: what it gives is a column of the query that it belongs to.
func (b *binder) aggregate(f *aggregateFunc, s *scope) (expr.Node, error) {
	call := &aggregateCall{s: s, around: b.agg, level: -1, inner: -1}
	b.agg = call
	agg, err := b.aggregateArgs(f, s)
	b.agg = call.around
	if err != nil {
		return nil, err
	}
	owner := call.owner()
	if owner == nil || owner.level <= call.inner {
		return nil, errGroupFunction
	}
	if call.around != nil {
		if call.around.s.level >= owner.level {
			call.around.inner = max(call.around.inner, owner.level)
		}
		call.around.inner = max(call.around.inner, call.inner)
	}
	if owner.group == nil {
		return nil, &regroup{sel: owner.sel, grouped: true}
	}
	for _, r := range call.refs {
		if r.p.s.level < owner.level {
			b.settle(r.col, r.p)
		}
	}
	if owner.clause == orderClause && !owner.group.explicit && !owner.group.called {
		return nil, expr.Errorf(3029, "HY000", "Expression #%d of ORDER BY contains aggregate function and applies to the result of a "+
			"non-aggregated query", owner.number)
	}
	owner.group.called = true
	if err := b.aggregateType(agg); err != nil {
		return nil, err
	}
	id := b.addAggregate(agg, owner)
	col := b.ref(id)
	if owner != s {
		if b.outer == nil {
			b.outer = map[*rel.Col]bool{}
		}
		b.outer[col] = true
	}
	return col, nil
}

// owner is the query that an aggregate belongs to; nil: there is none where it may stand.
func (a *aggregateCall) owner() *scope {
	s := a.s
	if a.level == s.level {
		if !s.allowAggregates {
			return nil
		}
		return s
	}
	if a.level < 0 && s.allowAggregates {
		return s
	}
	var out *scope
	around := s.outer
	for ; around != nil && around.level > a.level; around = around.outer {
		if out == nil && around.allowAggregates {
			out = around
		}
	}
	if around != nil && around.allowAggregates {
		out = around
	}
	if out == nil && s.allowAggregates {
		out = s
	}
	return out
}

func (b *binder) aggregateArgs(f *aggregateFunc, s *scope) (*rel.Agg, error) {
	agg := &rel.Agg{Name: f.name, Distinct: f.distinct, Separator: f.separator, Text: f.text()}
	for _, e := range f.args {
		switch e := e.(type) {
		case *sqlparser.StarExpr:
			if f.name != "count" || f.distinct || len(f.args) != 1 || !e.TableName.IsEmpty() {
				return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near '*'")
			}
			agg.Star = true
		case *sqlparser.AliasedExpr:
			n, err := b.scalar(e.Expr, s)
			if err != nil {
				return nil, err
			}
			agg.Args = append(agg.Args, n)
		default:
			return nil, unsupported("%T", e)
		}
	}
	for _, o := range f.order {
		e := inParens(o.Expr)
		if v, ok := e.(*sqlparser.SQLVal); ok && v.Type == sqlparser.IntVal { // GROUP_CONCAT(a ORDER BY 1): the first argument
			at := int(literalInt(v)) - 1
			if at < 0 || at >= len(f.args) {
				return nil, expr.Errorf(1054, "42S22", "Unknown column '%s' in 'order clause'", v.Val)
			}
			e = f.args[at].(*sqlparser.AliasedExpr).Expr
		}
		in := s.clause
		s.clause = orderClause
		n, err := b.scalar(e, s)
		s.clause = in
		if err != nil {
			return nil, err
		}
		agg.Order = append(agg.Order, rel.SortKey{Expr: n, Desc: o.Direction == sqlparser.DescScr})
	}
	return agg, nil
}

func (b *binder) aggregateType(agg *rel.Agg) error {
	types := make([]expr.Type, len(agg.Args))
	for i, a := range agg.Args {
		types[i] = a.Type()
	}
	t, known, err := aggregate.Resolve(agg.Name, types, agg.Distinct, b.set.Env)
	if err == nil && !known {
		return b.unknownFunction(agg.Name)
	}
	agg.T = t
	return err
}

// addAggregate gives the column of an aggregate of a query, the same for the same aggregate.
func (b *binder) addAggregate(agg *rel.Agg, s *scope) rel.ColID {
	for i := range s.group.aggs {
		o := &s.group.aggs[i]
		if o.Name == agg.Name && o.Distinct == agg.Distinct && o.Star == agg.Star && o.Separator == agg.Separator &&
			rel.AllSame(o.Args, agg.Args) && b.sameOrder(o.Order, agg.Order) && o.Name != "any_value" {
			return o.Col
		}
	}
	agg.Col = b.add(rel.Column{Name: agg.Text, Type: agg.T, Nullable: aggregate.Nullable(agg.Name)})
	s.group.aggs = append(s.group.aggs, *agg)
	return agg.Col
}

func (b *binder) sameOrder(x, y []rel.SortKey) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].Desc != y[i].Desc || !rel.Same(x[i].Expr, y[i].Expr) {
			return false
		}
	}
	return true
}

// groupConcat is GROUP_CONCAT.
func (b *binder) groupConcat(e *sqlparser.GroupConcatExpr, s *scope) (expr.Node, error) {
	sep := ","
	if !e.Separator.DefaultSeparator {
		sep = e.Separator.SeparatorString
	}
	return b.aggregate(&aggregateFunc{name: "group_concat", args: e.Exprs, distinct: strings.TrimSpace(e.Distinct) == "distinct",
		order:     e.OrderBy,
		separator: sep, text: func() string { return sqlparser.String(e) }}, s)
}
