package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/collation"
)

// go-mysql-server adds a bound to LIKE so that an index can be used (sql/analyzer/optimization_rules.go): LIKE 'ab%' becomes
// >= 'ab' AND LIKE 'ab%', and LIKE 'ab' becomes = 'ab'. That is wrong where spaces are added to the shorter text ('ab\t' is less
// than 'ab'), where one character is equal to two ('ß' = 'ss', which LIKE denies), and if the pattern has escapes. The rule does not
// see any LIKE here, and gets bounds that hold in every collation instead.

// longestFill bounds the text that is the lower bound in a PAD SPACE collation, in characters.
const longestFill = 1024

// boundLikes has a rule work on expressions whose LIKEs it does not see.
func boundLikes(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector,
		flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		hidden, same, err := transform.NodeExprsWithNode(ctx, n, hideLike)
		if err != nil || same == transform.SameTree {
			return apply(ctx, a, n, scope, sel, flags)
		}
		out, _, err := apply(ctx, a, hidden, scope, sel, flags)
		if err != nil {
			return n, transform.SameTree, err
		}
		shown, _, err := transform.NodeExprs(ctx, out, showLike)
		return shown, transform.NewTree, err
	}
}

// hiddenLike is a LIKE that the rule does not recognize.
type hiddenLike struct{ *expression.Like }

// WithChildren implements sql.Expression.
func (h *hiddenLike) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	n, err := h.Like.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	return &hiddenLike{n.(*expression.Like)}, nil
}

func hideLike(ctx *sql.Context, n sql.Node, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	l, ok := e.(*expression.Like)
	if !ok {
		return e, transform.SameTree, nil
	}
	h := &hiddenLike{l}
	switch n.(type) {
	case *plan.Filter, *plan.JoinNode:
	default:
		return h, transform.NewTree, nil
	}
	if bound := likeBound(ctx, l); bound != nil {
		return expression.NewAnd(bound, h), transform.NewTree, nil
	}
	return h, transform.NewTree, nil
}

func showLike(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if h, ok := e.(*hiddenLike); ok {
		return h.Like, transform.NewTree, nil
	}
	return e, transform.SameTree, nil
}

// likeBound is a comparison that holds for every text of a column that matches; nil: none is known.
func likeBound(ctx *sql.Context, l *expression.Like) sql.Expression {
	column, isColumn := l.LeftChild.(*expression.GetField)
	lit, isLiteral := l.RightChild.(*expression.Literal)
	if !isColumn || !isLiteral || l.Escape != nil {
		return nil
	}
	pattern, isText := lit.Value().(string)
	t, isString := column.Type(ctx).(types.StringType)
	if !isText || !isString {
		return nil
	}
	order, err := orderOf(t)
	if err != nil || order == nil || order.Contracts() {
		return nil
	}
	prefix, exact := order.Pattern(pattern, '\\').Prefix()
	switch {
	case exact:
		return expression.NewEquals(column, expression.NewLiteral(prefix, lit.Type(ctx)))
	case prefix == "":
		return nil
	case !order.NoPad:
		fill := t.MaxCharacterLength() - int64(order.Length(prefix))
		if fill < 0 || t.MaxCharacterLength() > longestFill {
			return nil
		}
		prefix += strings.Repeat(least(order), int(fill))
	}
	return expression.NewGreaterThanOrEqual(column, expression.NewLiteral(prefix, lit.Type(ctx)))
}

// least is the character that sorts first in a PAD SPACE collation, of those that are not ignored.
func least(order *collation.Collation) string {
	if order.Equal("a", "a\x00") || order.Equal("a\x00b", "ab") {
		return "\t" // Unicode ignores control characters
	}
	return "\x00"
}
