package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// column is the place of a column that the statement names; -1: it is not one of the table's.
func (c *compiler) column(e sqlparser.Expr) int {
	n, ok := e.(*sqlparser.ColName)
	if !ok || n.StoredProcVal != nil {
		return -1
	}
	if q := n.Qualifier; !q.IsEmpty() {
		if !q.DbQualifier.IsEmpty() || !q.SchemaQualifier.IsEmpty() || !strings.EqualFold(q.Name.String(), c.alias) {
			return -1
		}
	}
	return c.columnNamed(n.Name.String())
}

func (c *compiler) columnNamed(name string) int {
	for i := range c.l.desc.Columns {
		if strings.EqualFold(c.l.desc.Columns[i].Name, name) {
			return i
		}
	}
	return -1
}

// operand reads a constant or a parameter.
func (c *compiler) operand(e sqlparser.Expr) (operand, bool) {
	switch v := e.(type) {
	case *sqlparser.NullVal:
		return operand{parameter: -1}, true
	case *sqlparser.UnaryExpr:
		o, ok := c.operand(v.Expr)
		if !ok || v.Operator != sqlparser.UMinusStr || o.negative || o.parameter < 0 {
			return o, false
		}
		o.negative = true
		return o, true
	case *sqlparser.SQLVal:
		o := operand{parameter: -1, constant: literal{text: v.Val}}
		switch v.Type {
		case sqlparser.ValArg:
			name := strings.TrimPrefix(string(v.Val), ":v")
			n, err := strconv.Atoi(name)
			if err != nil || n < 1 || n > maxConstants {
				return o, false
			}
			return operand{parameter: n - 1}, true
		case sqlparser.IntVal:
			o.constant.kind = intLiteral
		case sqlparser.StrVal:
			o.constant.kind = textLiteral
		case sqlparser.FloatVal:
			o.constant.kind = decimalLiteral
		default:
			return o, false
		}
		return o, true
	}
	return operand{}, false
}

// where reads a condition that fixes all columns of the primary key: a = 1 AND b = 2, or a IN (1, 2).
func (c *compiler) where(w *sqlparser.Where) *keyCondition {
	if w == nil || w.Type != sqlparser.WhereStr {
		return nil
	}
	parts := c.l.primary.parts
	k := &keyCondition{l: c.l}
	for i := range parts {
		k.assign = append(k.assign, c.l.keyOf(&parts[i]))
	}
	if cmp, ok := w.Expr.(*sqlparser.ComparisonExpr); ok && cmp.Operator == sqlparser.InStr && cmp.Escape == nil {
		list, ok := cmp.Right.(sqlparser.ValTuple)
		if !ok || len(parts) != 1 || c.column(cmp.Left) != parts[0].at {
			return nil
		}
		for _, e := range list {
			o, ok := c.operand(e)
			if !ok {
				return nil
			}
			k.keys = append(k.keys, []operand{o})
		}
		return k
	}
	fixed := make([]*operand, len(parts))
	if !c.equations(w.Expr, fixed) {
		return nil
	}
	key := make([]operand, len(parts))
	for i, o := range fixed {
		if o == nil {
			return nil
		}
		key[i] = *o
	}
	k.keys = [][]operand{key}
	return k
}

// equations reads a = 1 AND b = 2. Each column of the key may be there once.
func (c *compiler) equations(e sqlparser.Expr, fixed []*operand) bool {
	switch e := e.(type) {
	case *sqlparser.AndExpr:
		return c.equations(e.Left, fixed) && c.equations(e.Right, fixed)
	case *sqlparser.ParenExpr:
		return c.equations(e.Expr, fixed)
	case *sqlparser.ComparisonExpr:
		if e.Operator != sqlparser.EqualStr || e.Escape != nil {
			return false
		}
		left, right := e.Left, e.Right
		if c.column(left) < 0 {
			left, right = right, left
		}
		at := c.column(left)
		o, ok := c.operand(right)
		if at < 0 || !ok {
			return false
		}
		for i, p := range c.l.primary.parts {
			if p.at == at {
				if fixed[i] != nil {
					return false
				}
				fixed[i] = &o
				return true
			}
		}
	}
	return false
}

// defaults evaluates the columns' defaults, as far as they are constants; nil: one that is not.
func (c *compiler) defaultOf(at int) *operand {
	col := &c.l.desc.Columns[at]
	if col.Default == "" {
		return &operand{parameter: -1}
	}
	stmt, err := sql.DefaultMySQLParser.ParseSimple("SELECT " + col.Default)
	if err != nil {
		return nil
	}
	s, ok := stmt.(*sqlparser.Select)
	if !ok || len(s.SelectExprs) != 1 {
		return nil
	}
	ex, ok := s.SelectExprs[0].(*sqlparser.AliasedExpr)
	if !ok {
		return nil
	}
	expr := ex.Expr
	for {
		p, ok := expr.(*sqlparser.ParenExpr)
		if !ok {
			break
		}
		expr = p.Expr
	}
	o, ok := c.operand(expr)
	if !ok || o.parameter >= 0 {
		return nil
	}
	return &o
}

// settle finds the value of an operand that is a constant for the column that it is assigned to.
func (c *compiler) settle(o *operand, f assign) bool {
	if o.parameter >= 0 {
		return true
	}
	d, ok := f(c.sc, o.constant)
	o.fixed = &d
	return ok
}
