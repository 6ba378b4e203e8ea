package engine

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Some statements mean in MySQL what go-mysql-server's planner (sql/planbuilder) does not make of them. They are written in another
// way before it sees them:
//
//   - a set operation in parentheses with its own ORDER BY or LIMIT, which the planner gives to the whole, becomes a derived table;
//   - window functions over groups, which it refuses, become window functions over a derived table of the groups;
//   - ORDER BY the position of an expression under DISTINCT becomes ORDER BY a name;
//   - GROUP BY a constant, of which it knows positions only, becomes GROUP BY an expression;
//   - the source of an upsert that mentions VALUES becomes a derived table (upsertselect.go).

// reshape changes a statement in place. It changes nothing the second time.
func (e *Engine) reshape(sc *sql.Context, stmt sqlparser.Statement) {
	if stmt == nil {
		return
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.SetOp:
			n.Left, n.Right = ownPart(n.Left), ownPart(n.Right)
		case *sqlparser.Insert:
			upsertSelect(n)
		case *sqlparser.Select:
			groupByConstants(n)
			orderDistinct(n)
			e.windowsOverGroups(sc, n)
		}
		return true, nil
	}, stmt)
}

// ownPart is a part of a set operation, as a derived table if it is one itself and has an ORDER BY or a LIMIT.
func ownPart(s sqlparser.SelectStatement) sqlparser.SelectStatement {
	inner := s
	for {
		p, ok := inner.(*sqlparser.ParenSelect)
		if !ok {
			break
		}
		inner = p.Select
	}
	o, ok := inner.(*sqlparser.SetOp)
	if !ok || len(o.OrderBy) == 0 && o.Limit == nil {
		return s
	}
	return &sqlparser.Select{
		SelectExprs: sqlparser.SelectExprs{&sqlparser.StarExpr{}},
		From:        sqlparser.TableExprs{&sqlparser.AliasedTableExpr{Expr: &sqlparser.Subquery{Select: o}, As: sqlparser.NewTableIdent("__part")}},
	}
}

func groupByConstants(s *sqlparser.Select) {
	for i, g := range s.GroupBy {
		v, ok := g.(*sqlparser.SQLVal)
		if _, null := g.(*sqlparser.NullVal); null || ok && v.Type != sqlparser.IntVal && v.Type != sqlparser.ValArg {
			s.GroupBy[i] = &sqlparser.IsExpr{Operator: sqlparser.IsNullStr, Expr: g}
		}
	}
}

func orderDistinct(s *sqlparser.Select) {
	if !s.QueryOpts.Distinct {
		return
	}
	for _, o := range s.OrderBy {
		a := atPosition(s, o.Expr)
		if a == nil {
			continue
		}
		if _, column := a.Expr.(*sqlparser.ColName); column {
			continue
		}
		a.As = sqlparser.NewColIdent(outputName(a))
		o.Expr = &sqlparser.ColName{Name: a.As}
	}
}

// atPosition is the expression of the select list that a position names; nil if it is no position, or of something else.
func atPosition(s *sqlparser.Select, e sqlparser.Expr) *sqlparser.AliasedExpr {
	v, ok := e.(*sqlparser.SQLVal)
	if !ok || v.Type != sqlparser.IntVal {
		return nil
	}
	var at int
	if _, err := fmt.Sscan(string(v.Val), &at); err != nil || at < 1 || at > len(s.SelectExprs) {
		return nil
	}
	for _, x := range s.SelectExprs[:at] {
		if _, ok := x.(*sqlparser.AliasedExpr); !ok {
			return nil // a star stands for any number of columns
		}
	}
	return s.SelectExprs[at-1].(*sqlparser.AliasedExpr)
}

// outputName is what a column of a result is called.
func outputName(a *sqlparser.AliasedExpr) string {
	switch {
	case !a.As.IsEmpty():
		return a.As.String()
	case a.InputExpression != "":
		return a.InputExpression
	}
	return sqlparser.String(a.Expr)
}

// groupedWindows writes a SELECT with window functions over groups as one over a derived table of the groups.
type groupedWindows struct {
	columns []string          // of the derived table
	names   map[string]string // by expression
	groups  map[string]bool   // the expressions of GROUP BY
	failed  bool
}

func (e *Engine) windowsOverGroups(sc *sql.Context, s *sqlparser.Select) {
	windows, aggregates := false, len(s.GroupBy) > 0
	for _, x := range s.SelectExprs {
		if _, ok := x.(*sqlparser.AliasedExpr); !ok {
			return
		}
	}
	look := func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery:
			return false, nil
		case *sqlparser.GroupConcatExpr:
			aggregates = true
		case *sqlparser.FuncExpr:
			windows = windows || n.Over != nil
			aggregates = aggregates || n.Over == nil && n.IsAggregate()
		}
		return true, nil
	}
	_ = sqlparser.Walk(look, s.SelectExprs, s.OrderBy)
	if !windows || !aggregates || s.Into != nil || s.Lock != nil {
		return
	}
	g := &groupedWindows{names: map[string]string{}, groups: map[string]bool{}}
	text, ok := g.rewrite(s)
	if !ok {
		return
	}
	stmt, err := e.gms.Parser.ParseSimple(text)
	if err != nil {
		return
	}
	if out, ok := stmt.(*sqlparser.Select); ok {
		*s = *out
	}
}

// column is the derived table's column for an expression.
func (g *groupedWindows) column(expr string) string {
	key := strings.ToLower(expr)
	name, ok := g.names[key]
	if !ok {
		name = fmt.Sprintf("c%d", len(g.columns))
		g.names[key] = name
		g.columns = append(g.columns, fmt.Sprintf("%s as %s", expr, name))
	}
	return "__groups." + name
}

// format writes an expression over the derived table.
func (g *groupedWindows) format(buf *sqlparser.TrackedBuffer, n sqlparser.SQLNode) {
	if x, ok := n.(sqlparser.Expr); ok {
		if t := sqlparser.String(x); g.groups[strings.ToLower(t)] {
			buf.WriteString(g.column(t))
			return
		}
	}
	switch n := n.(type) {
	case *sqlparser.Subquery:
		g.failed = true
	case *sqlparser.GroupConcatExpr, *sqlparser.ColName:
		buf.WriteString(g.column(sqlparser.String(n)))
		return
	case *sqlparser.FuncExpr:
		if n.Over == nil && n.IsAggregate() {
			buf.WriteString(g.column(sqlparser.String(n)))
			return
		}
	}
	n.Format(buf)
}

func (g *groupedWindows) text(n sqlparser.SQLNode) string {
	buf := sqlparser.NewTrackedBuffer(g.format)
	buf.Myprintf("%v", n)
	return buf.String()
}

func (g *groupedWindows) rewrite(s *sqlparser.Select) (string, bool) {
	aliases := map[string]*sqlparser.AliasedExpr{}
	for _, x := range s.SelectExprs {
		a := x.(*sqlparser.AliasedExpr)
		if !a.As.IsEmpty() {
			aliases[a.As.Lowered()] = a
		}
	}
	named := func(e sqlparser.Expr) *sqlparser.AliasedExpr {
		c, ok := e.(*sqlparser.ColName)
		if !ok || !c.Qualifier.IsEmpty() {
			return nil
		}
		return aliases[c.Name.Lowered()]
	}
	var groupBy sqlparser.GroupBy
	for _, e := range s.GroupBy {
		if a := atPosition(s, e); a != nil {
			e = a.Expr
		} else if a := named(e); a != nil {
			e = a.Expr
		}
		groupBy = append(groupBy, e)
		g.groups[strings.ToLower(sqlparser.String(e))] = true
	}
	having := ""
	if s.Having != nil {
		buf := sqlparser.NewTrackedBuffer(func(buf *sqlparser.TrackedBuffer, n sqlparser.SQLNode) {
			if e, ok := n.(sqlparser.Expr); ok {
				if a := named(e); a != nil {
					buf.Myprintf("(%v)", a.Expr)
					return
				}
			}
			n.Format(buf)
		})
		buf.Myprintf("%v", s.Having)
		having = buf.String()
	}
	var list, order []string
	for _, x := range s.SelectExprs {
		a := x.(*sqlparser.AliasedExpr)
		list = append(list, fmt.Sprintf("%s as `%s`", g.text(a.Expr), strings.ReplaceAll(outputName(a), "`", "``")))
	}
	for _, o := range s.OrderBy {
		t := ""
		if atPosition(s, o.Expr) != nil || named(o.Expr) != nil {
			t = sqlparser.String(o.Expr)
		} else {
			t = g.text(o.Expr)
		}
		order = append(order, t+" "+o.Direction)
	}
	windows := ""
	if len(s.Window) > 0 {
		windows = g.text(s.Window)
	}
	if g.failed || len(g.columns) == 0 {
		return "", false
	}
	inner := &sqlparser.Select{SelectExprs: sqlparser.SelectExprs{&sqlparser.StarExpr{}}, From: s.From, Where: s.Where, GroupBy: groupBy}
	from := strings.Replace(sqlparser.String(inner), "select *", "select "+strings.Join(g.columns, ", "), 1) + having
	distinct := ""
	if s.QueryOpts.Distinct {
		distinct = "distinct "
	}
	out := fmt.Sprintf("select %s%s from (%s) as __groups%s", distinct, strings.Join(list, ", "), from, windows)
	if s.With != nil {
		out = sqlparser.String(s.With) + out
	}
	if len(order) > 0 {
		out += " order by " + strings.Join(order, ", ")
	}
	if s.Limit != nil {
		out += sqlparser.String(s.Limit)
	}
	return out, true
}

// keepLikeEscapes doubles the backslash of \_ and \% in texts: MySQL leaves both characters to the text, for LIKE, and vitess drops
// the backslash (sqlparser/token.go).
func keepLikeEscapes(query string) string {
	if !strings.Contains(query, `\_`) && !strings.Contains(query, `\%`) {
		return query
	}
	var out strings.Builder
	quote := byte(0)
	for i := 0; i < len(query); i++ {
		c := query[i]
		switch {
		case quote == 0 && (c == '\'' || c == '"' || c == '`'):
			quote = c
		case quote == 0:
			if end := commentEnd(query[i:]); end > 0 {
				out.WriteString(query[i : i+end])
				i += end - 1
				continue
			}
		case c == quote:
			quote = 0 // a doubled quote begins the text again
		case c == '\\' && quote != '`' && i+1 < len(query):
			if next := query[i+1]; next == '_' || next == '%' {
				out.WriteByte('\\')
			}
			out.WriteByte(c)
			i++
			c = query[i]
		}
		out.WriteByte(c)
	}
	return out.String()
}

// commentEnd is the length of the comment that a text begins with; 0: it begins with none.
func commentEnd(q string) int {
	until := func(end string) int {
		if i := strings.Index(q[1:], end); i >= 0 {
			return 1 + i + len(end)
		}
		return len(q)
	}
	switch {
	case strings.HasPrefix(q, "#"), strings.HasPrefix(q, "-- "):
		return until("\n")
	case strings.HasPrefix(q, "/*") && !strings.HasPrefix(q, "/*!") && !strings.HasPrefix(q, "/*+"):
		return until("*/")
	}
	return 0
}
