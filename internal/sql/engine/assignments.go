package engine

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// @a := b within expressions. The grammar lacks it. OR binds less than all other operators, as := does: the text is parsed with OR `:=` OR in
// the place of :=, and what stands around the mark becomes a call of := with the variable and the value.

const (
	assignName = ":="
	assignMark = "`" + assignName + "`"
)

// assignments are the edits that write := within expressions as the mark. What SET assigns to stays: SET @a := 1, @b := 2.
func assignments(q string) (out []edit) {
	if !strings.Contains(q, assignName) {
		return nil
	}
	set, depth := -1, 0 // the depth of parentheses at which a SET stands; -1: none
	target := false     // what follows is what SET assigns to
	for i := 0; i < len(q); {
		switch c := q[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = afterQuote(q, i)
			continue
		case c == '#' || strings.HasPrefix(q[i:], "-- "):
			i = after(q, i, "\n")
			continue
		case strings.HasPrefix(q[i:], "/*") && !strings.HasPrefix(q[i:], "/*!"):
			i = after(q, i+2, "*/")
			continue
		case isWord(c):
			from := i
			for i < len(q) && isWord(q[i]) {
				i++
			}
			if strings.EqualFold(q[from:i], "set") && !quotedOrQualified(q, word{from, i}) && lastBefore(q, from) != '@' {
				set, target = depth, true
			}
			continue
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ';':
			set = -1
		case c == ',' && set == depth:
			target = true
		case c == '=' && (i == 0 || q[i-1] != ':') && set == depth:
			target = false
		case strings.HasPrefix(q[i:], assignName):
			if set == depth && target {
				target = false
			} else if behindVariable(q, i) {
				out = append(out, edit{i, i + len(assignName), " OR " + assignMark + " OR "})
			}
			i += len(assignName)
			continue
		}
		i++
	}
	return out
}

// behindVariable reports whether a user variable stands before a place.
func behindVariable(q string, at int) bool {
	q = strings.TrimRight(q[:at], " \t\r\n")
	if q == "" {
		return false
	}
	if quote := q[len(q)-1]; quote == '`' || quote == '\'' || quote == '"' {
		q = q[:len(q)-1]
		from := strings.LastIndexByte(q, quote)
		return from > 0 && q[from-1] == '@'
	}
	for q != "" && (isWord(q[len(q)-1]) || q[len(q)-1] == '.') {
		q = q[:len(q)-1]
	}
	return strings.HasSuffix(q, "@") && !strings.HasSuffix(q, "@@")
}

// withAssignment makes an assignment of an OR with the mark before its right side. The innermost OR comes first: of @a := b OR c, which is parsed as
// ((@a OR mark) OR b) OR c, the value that has been found is continued.
func withAssignment(o *sqlparser.OrExpr) sqlparser.Expr {
	if isAssignMark(o.Right) {
		return o
	}
	if l, ok := o.Left.(*sqlparser.OrExpr); ok && isAssignMark(l.Right) {
		if at := lastOperand(&l.Left); at != nil {
			if _, ok := (*at).(*sqlparser.ColName); ok {
				*at = callNode(assignName, *at, o.Right)
				return l.Left
			}
		}
		return o
	}
	if at := lastOperand(&o.Left); at != nil {
		if f, ok := (*at).(*sqlparser.FuncExpr); ok && f.Name.String() == assignName {
			value := &f.Exprs[1].(*sqlparser.AliasedExpr).Expr
			*value = withAssignment(&sqlparser.OrExpr{Left: *value, Right: o.Right})
			return o.Left
		}
	}
	return o
}

func isAssignMark(e sqlparser.Expr) bool {
	c, ok := e.(*sqlparser.ColName)
	return ok && c.Qualifier.IsEmpty() && c.Name.String() == assignName
}

// lastOperand is the operand of an expression that stands last in its text, outside of parentheses.
func lastOperand(e *sqlparser.Expr) *sqlparser.Expr {
	switch x := (*e).(type) {
	case *sqlparser.ColName:
		return e
	case *sqlparser.FuncExpr:
		if x.Name.String() == assignName {
			value := &x.Exprs[1].(*sqlparser.AliasedExpr).Expr
			if at := lastOperand(value); at != nil {
				if _, ok := (*at).(*sqlparser.ColName); ok && isUserVariable(*at) {
					return at
				}
				if f, ok := (*at).(*sqlparser.FuncExpr); ok && f.Name.String() == assignName {
					return at
				}
			}
			return e
		}
	case *sqlparser.BinaryExpr:
		return lastOperand(&x.Right)
	case *sqlparser.ComparisonExpr:
		return lastOperand(&x.Right)
	case *sqlparser.AndExpr:
		return lastOperand(&x.Right)
	case *sqlparser.XorExpr:
		return lastOperand(&x.Right)
	case *sqlparser.OrExpr:
		return lastOperand(&x.Right)
	case *sqlparser.NotExpr:
		return lastOperand(&x.Expr)
	case *sqlparser.UnaryExpr:
		return lastOperand(&x.Expr)
	case *sqlparser.RangeCond:
		return lastOperand(&x.To)
	}
	return nil
}

func isUserVariable(e sqlparser.Expr) bool {
	c, ok := e.(*sqlparser.ColName)
	if !ok {
		return false
	}
	name := c.String()
	return strings.HasPrefix(name, "@") && !strings.HasPrefix(name, "@@")
}

// assignedVariables are the user variables that the expressions of a statement assign to, in lower case, and warns of each assignment.
func assignedVariables(env *expr.Env, text string, stmt sqlparser.SQLNode) map[string]bool {
	if !strings.Contains(text, assignName) {
		return nil
	}
	out := map[string]bool{}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		f, ok := n.(*sqlparser.FuncExpr)
		if !ok || f.Name.String() != assignName || len(f.Exprs) != 2 {
			return true, nil
		}
		env.Warn(1287, "Setting user variables within expressions is deprecated and will be removed in a future release. Consider alternatives: "+
			"'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'.")
		if name, ok := f.Exprs[0].(*sqlparser.AliasedExpr).Expr.(*sqlparser.ColName); ok {
			if v, _, _, err := sqlparser.VarScopeForColName(name); err == nil {
				out[strings.ToLower(v.Name.String())] = true
			}
		}
		return true, nil
	}, stmt)
	return out
}
