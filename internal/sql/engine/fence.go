package engine

import (
	"math"
	"regexp"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// Indexes and hash joins find what is equal under the index's own type and collation. go-mysql-server
// (analyzer/costed_index_scan.go, analyzer/indexed_joins.go, sql/index_builder.go) uses them for every comparison of a column and
// leaves the condition itself away, also where MySQL compares otherwise: a text column with a number, a whole number with '1.5',
// two columns of different collations. Such comparisons are fenced: they are evaluated for each row, which costs a scan.

// fence hides an expression from the rules that look for indexes and joins.
type fence struct{ sql.Expression }

// WithChildren implements sql.Expression.
func (f *fence) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := f.Expression.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	return &fence{e}, nil
}

// fencing has a rule work on conditions in which comparisons that no index answers are hidden.
func fencing(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		hidden, same, err := transform.Node(ctx, n, fenceNode)
		if err != nil || same == transform.SameTree {
			return apply(ctx, a, n, scope, sel, flags)
		}
		out, changed, err := apply(ctx, a, hidden, scope, sel, flags)
		if err != nil {
			return n, transform.SameTree, err
		}
		if changed == transform.SameTree {
			return n, transform.SameTree, nil
		}
		shown, _, err := transform.NodeExprs(ctx, out, unfence)
		return shown, transform.NewTree, err
	}
}

func unfence(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if f, ok := e.(*fence); ok {
		return f.Expression, transform.NewTree, nil
	}
	return e, transform.SameTree, nil
}

// fenceNode fences the conditions of filters and joins.
func fenceNode(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	switch x := n.(type) {
	case *plan.Filter:
		e, same := fenceCondition(ctx, x.Expression)
		if e, same = fenceOuter(ctx, e, tableColumns(x.Child), same); same {
			return n, transform.SameTree, nil
		}
		return plan.NewFilter(ctx, e, x.Child), transform.NewTree, nil
	case *plan.JoinNode:
		if x.Filter == nil {
			return n, transform.SameTree, nil
		}
		e, same := fenceCondition(ctx, x.Filter)
		if e, same = fenceRanges(ctx, e, same); same {
			return n, transform.SameTree, nil
		}
		out, err := x.WithExpressions(ctx, e)
		return out, transform.NewTree, err
	}
	return n, transform.SameTree, nil
}

// fenceCondition fences the comparisons of a condition that no index answers.
func fenceCondition(ctx *sql.Context, e sql.Expression) (_ sql.Expression, same bool) {
	switch x := e.(type) {
	case *expression.And:
		l, ls := fenceCondition(ctx, x.LeftChild)
		r, rs := fenceCondition(ctx, x.RightChild)
		if ls && rs {
			return e, true
		}
		return expression.NewAnd(l, r), false
	case *expression.Or:
		l, ls := fenceCondition(ctx, x.LeftChild)
		r, rs := fenceCondition(ctx, x.RightChild)
		if ls && rs {
			return e, true
		}
		return expression.NewOr(l, r), false
	case *expression.Not:
		if _, isNull := x.Child.(sql.IsNullExpression); isNull {
			return e, true
		}
		if _, in := x.Child.(*expression.InTuple); !in {
			if _, eq := x.Child.(*expression.Equals); !eq {
				return e, true // no index is looked for below it
			}
		}
		if _, fine := fenceCondition(ctx, x.Child); fine {
			return e, true
		}
		return &fence{e}, false
	case *expression.Between:
		if indexed(ctx, x.Val, x.Lower) && indexed(ctx, x.Val, x.Upper) {
			return e, true
		}
		return &fence{e}, false
	case *expression.InTuple, *expression.HashInTuple:
		c := x.(expression.Comparer)
		if inIndexed(ctx, c.Left(), c.Right()) {
			return e, true
		}
		return &fence{e}, false
	case *expression.Equals:
		if indexed(ctx, x.Left(), x.Right()) || namesMember(ctx, x.Left(), x.Right()) || namesMember(ctx, x.Right(), x.Left()) {
			return e, true
		}
		return &fence{e}, false
	case *expression.NullSafeEquals, *expression.GreaterThan, *expression.GreaterThanOrEqual, *expression.LessThan,
		*expression.LessThanOrEqual:
		c := x.(expression.Comparer)
		if indexed(ctx, c.Left(), c.Right()) {
			return e, true
		}
		return &fence{e}, false
	}
	return e, true
}

// fenceOuter fences the conditions of a filter that are about columns of outer queries: an index is chosen for a column by its name
// alone, so that of a table here would be used for the value of another one (analyzer/costed_index_scan.go). What compares a column
// of this query with one of an outer query stays: a look-up is made of that.
func fenceOuter(ctx *sql.Context, e sql.Expression, own sql.ColSet, same bool) (sql.Expression, bool) {
	if own.Empty() {
		return e, same
	}
	isOwn := func(e sql.Expression) bool {
		g, ok := e.(*expression.GetField)
		return ok && own.Contains(g.Id())
	}
	conds := expression.SplitConjunction(ctx, e)
	for i, c := range conds {
		switch x := c.(type) {
		case *fence:
			continue
		case *expression.Equals, *expression.NullSafeEquals:
			if cmp := x.(expression.Comparer); isOwn(cmp.Left()) || isOwn(cmp.Right()) {
				continue
			}
		}
		if mentionsOther(ctx, c, own) {
			conds[i], same = &fence{c}, false
		}
	}
	return expression.JoinAnd(conds...), same
}

// simpleChange reports whether go-mysql-server analyzes a statement by a list of rules of its own (analyzer/node_batches.go), among
// which those that are wrapped here are not.
func simpleChange(n sql.Node) bool {
	switch n.(type) {
	case *plan.Update, *plan.DeleteFrom:
		return true
	}
	return false
}

// Rules that are not go-mysql-server's.
const (
	fenceChangesID analyzer.RuleId = 1000 + iota
	unfenceID
)

// addProcessRules adds the rules that go-mysql-server keeps per process: they also see the UPDATE and DELETE of one table.
func addProcessRules() {
	analyzer.AlwaysBeforeDefault = append(analyzer.AlwaysBeforeDefault, analyzer.Rule{Id: fenceChangesID, Apply: fenceChanges})
	analyzer.OnceAfterAll = append([]analyzer.Rule{{Id: unfenceID, Apply: unfenceAll}}, analyzer.OnceAfterAll...)
}

func fenceChanges(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if !simpleChange(n) {
		return n, transform.SameTree, nil
	}
	return transform.Node(ctx, n, fenceNode)
}

// unfenceAll shows everything again, and has IN lists compare values, not hashes.
func unfenceAll(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if !simpleChange(n) {
		return n, transform.SameTree, nil
	}
	return transform.NodeExprs(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if h, ok := e.(*expression.HashInTuple); ok {
			return expression.NewInTuple(h.Left(), h.Right()), transform.NewTree, nil
		}
		return unfence(ctx, e)
	})
}

// fenceRanges fences the comparisons other than = of a join: no lookup and no hash is made of them, only a heap of ranges, which
// loses the conditions that the rows of its left side have to satisfy (memo/exec_builder.go, buildRangeHeapJoin).
func fenceRanges(ctx *sql.Context, e sql.Expression, same bool) (sql.Expression, bool) {
	conds := expression.SplitConjunction(ctx, e)
	for i, c := range conds {
		switch c.(type) {
		case *expression.Between, *expression.GreaterThan, *expression.GreaterThanOrEqual, *expression.LessThan, *expression.LessThanOrEqual:
			conds[i], same = &fence{c}, false
		}
	}
	return expression.JoinAnd(conds...), same
}

// inIndexed is indexed for each member of a list.
func inIndexed(ctx *sql.Context, left, list sql.Expression) bool {
	t, ok := list.(expression.Tuple)
	if !ok {
		return false
	}
	for _, e := range t {
		if !indexed(ctx, left, e) && !namesMember(ctx, left, e) {
			return false
		}
	}
	return true
}

// namesMember reports whether the constant b is one of the values of the ENUM column a. (An index has them in the order of their
// definition, so it answers = and IN, not <.)
func namesMember(ctx *sql.Context, a, b sql.Expression) bool {
	t, enum := a.Type(ctx).(sql.EnumType)
	l, constant := b.(*expression.Literal)
	if !enum || !constant {
		return false
	}
	text, ok := l.Value().(string)
	return ok && t.IndexOf(text) > 0
}

// indexed reports whether two expressions are compared as an index on one of them compares: whole numbers with whole numbers,
// decimals with exact constants, texts of one collation, and otherwise values of one type.
func indexed(ctx *sql.Context, a, b sql.Expression) bool {
	if ta, ok := a.(expression.Tuple); ok {
		tb, ok := b.(expression.Tuple)
		if !ok || len(ta) != len(tb) {
			return false
		}
		for i := range ta {
			if !indexed(ctx, ta[i], tb[i]) {
				return false
			}
		}
		return true
	}
	ta, tb := a.Type(ctx), b.Type(ctx)
	if ta == types.Null || tb == types.Null || types.IsInteger(ta) && types.IsInteger(tb) {
		return true
	}
	if isPlainText(ta) && isPlainText(tb) {
		return sameCollation(ctx, a, b)
	}
	la, constA := a.(*expression.Literal)
	lb, constB := b.(*expression.Literal)
	switch {
	case constA && constB:
		return true
	case constB:
		return fits(ctx, ta, lb.Value())
	case constA:
		return fits(ctx, tb, la.Value())
	}
	return ta.Equals(tb)
}

var (
	wholeText   = regexp.MustCompile(`^-?[0-9]{1,18}$`)
	decimalText = regexp.MustCompile(`^-?[0-9]{1,15}(\.[0-9]{1,15})?$`)
)

// fits reports whether a constant is a value of a column's type, so that it is its place in an index as well.
func fits(ctx *sql.Context, t sql.Type, v any) bool {
	if v == nil {
		return true
	}
	text, isText := v.(string)
	switch {
	case types.IsInteger(t):
		return isText && wholeText.MatchString(text) || !isText && isWhole(v)
	case types.IsDecimal(t), types.IsFloat(t):
		if isText && !decimalText.MatchString(text) {
			return false
		}
		c, in, err := t.Convert(ctx, v)
		if err != nil || in != sql.InRange || c == nil {
			return false
		}
		exact, _, err := types.InternalDecimalType.Convert(ctx, v)
		if err != nil || exact == nil {
			return false
		}
		own, _, err := types.InternalDecimalType.Convert(ctx, c)
		if err != nil || own == nil {
			return false
		}
		return t == types.Float64 || own.(*apd.Decimal).Cmp(exact.(*apd.Decimal)) == 0
	case types.IsTime(t):
		if !isText {
			return false
		}
		if t.Type() == sqltypes.Date {
			return len(text) <= len("2006-01-02")
		}
		return !strings.Contains(text, ".")
	}
	return false
}

// isWhole reports whether a number has no digits behind the point.
func isWhole(v any) bool {
	switch v := v.(type) {
	case float32:
		return float64(v) == math.Trunc(float64(v))
	case float64:
		return v == math.Trunc(v)
	case *apd.Decimal:
		var r apd.Decimal
		r.Reduce(v)
		return r.Exponent >= 0
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, bool:
		return true
	}
	return false
}

// isPlainText reports whether values of a type are texts or bytes (no ENUM, no SET, no JSON).
func isPlainText(t sql.Type) bool {
	_, ok := t.(sql.StringType)
	return ok
}

// sameCollation reports whether two texts are compared by the collation of the one that is a column.
func sameCollation(ctx *sql.Context, a, b sql.Expression) bool {
	ca, wa := sql.GetCoercibility(ctx, a)
	cb, wb := sql.GetCoercibility(ctx, b)
	if ca == cb {
		return true
	}
	_, fa := a.(*expression.GetField)
	_, fb := b.(*expression.GetField)
	switch {
	case fa && !fb:
		return wa < wb
	case fb && !fa:
		return wb < wa
	}
	return false
}
