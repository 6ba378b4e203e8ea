package bind

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/scripttest"
)

var update = flag.Bool("update", false, "write what is answered into the scripts")

// TestScripts binds the statements of testdata/*.txt. A line "table ..." or "view ..." declares one, "set ..." changes a setting, "> ..."
// is a statement, and the lines "| ..." below it say what it becomes: its columns and its tree, or its error. "= ..." is one that is
// executed, on the rows of "insert ..."; the lines are its rows.
func TestScripts(t *testing.T) {
	scripttest.Run(t, *update, func() scripttest.Do {
		m := newMemory()
		return func(t *testing.T, word, rest string) (string, bool) {
			switch word {
			case "table":
				m.declare(t, rest)
			case "view":
				m.declareView(t, rest)
			case "insert":
				m.insert(t, rest)
			case "set":
				m.settings.OnlyFullGroupBy = rest == "full"
			case ">":
				return answer(m, rest), true
			case "=":
				return m.rowsOf(t, rest), true
			}
			return "", false
		}
	})
}

// answer is what a statement becomes.
func answer(m *memory, text string) string {
	m.warnings = nil
	brief := strings.HasPrefix(text, "columns ")
	stmt, err := sqlparser.Parse(strings.TrimPrefix(text, "columns "))
	if err != nil {
		return "syntax: " + err.Error() + "\n"
	}
	sel, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		return "no query\n"
	}
	q, err := Bind(m, sel)
	if err != nil {
		var e *expr.Error
		if errors.As(err, &e) {
			return fmt.Sprintf("error %d %s: %s\n", e.Code, e.State, e.Message)
		}
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, w := range m.warnings {
		fmt.Fprintln(&b, w)
	}
	for _, o := range q.Out {
		fmt.Fprintln(&b, columnText(q, o))
	}
	if !brief {
		b.WriteString(rel.Format(q.Root))
	}
	if err := check(q); err != nil {
		fmt.Fprintln(&b, "BROKEN", err)
	}
	return b.String()
}

func columnText(q *rel.Query, o rel.Output) string {
	c := q.Meta.Columns[o.Col]
	s := fmt.Sprintf("%s #%d %s", o.Name, o.Col, typeText(c.Type))
	if !o.Nullable {
		s += " not null"
	}
	if c.Origin != nil {
		s += fmt.Sprintf(" of %s.%s.%s", c.Origin.Database, c.Origin.Table, c.Origin.Column)
	}
	return s
}

func typeText(t expr.Type) string {
	names := map[expr.Name]string{expr.NullType: "null", expr.IntType: "int", expr.BigInt: "bigint", expr.DecimalType: "decimal",
		expr.FloatType: "float", expr.DoubleType: "double", expr.DateType: "date", expr.DatetimeType: "datetime", expr.TimeType: "time",
		expr.Varchar: "varchar", expr.TextType: "text", expr.Varbinary: "varbinary", expr.Blob: "blob", expr.JSONType: "json",
		expr.YearType: "year"}
	s := names[t.Name]
	if s == "" {
		s = fmt.Sprint(t.Name)
	}
	switch t.Kind() {
	case expr.KindText, expr.KindBytes:
		s += fmt.Sprintf("(%d)", t.Length)
	case expr.KindDecimal:
		s += fmt.Sprintf("(%d,%d)", t.Length, t.Scale)
	case expr.KindDatetime, expr.KindTime:
		if t.Scale > 0 {
			s += fmt.Sprintf("(%d)", t.Scale)
		}
	}
	if t.Unsigned {
		s += " unsigned"
	}
	return s
}

// check reports what breaks the rules of package rel: a column that is read and not given, a column given twice (R1), an expression that
// stands in two places (R4).
func check(q *rel.Query) error {
	c := &checker{given: map[rel.ColID]bool{}, nodes: map[expr.Node]bool{}, shared: map[*rel.Shared]bool{}}
	have := c.node(q.Root, rel.Cols{})
	for _, o := range q.Out {
		if !have[o.Col] {
			return fmt.Errorf("the result's column %d is not given", o.Col)
		}
	}
	return c.err
}

type checker struct {
	given map[rel.ColID]bool
	nodes map[expr.Node]bool
	// shared are those whose plans have been checked: each stands in one place, however many scans read it.
	shared map[*rel.Shared]bool
	err    error
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *checker) give(ids []rel.ColID) {
	for _, id := range ids {
		if c.given[id] {
			c.fail("column %d is given twice", id)
		}
		c.given[id] = true
	}
}

func union(a, b rel.Cols) rel.Cols {
	out := rel.Cols{}
	for id := range a {
		out[id] = true
	}
	for id := range b {
		out[id] = true
	}
	return out
}

// node checks a tree below which the columns of outer are known, and gives the columns of its rows.
func (c *checker) node(n rel.Node, outer rel.Cols) rel.Cols {
	known := union(outer, nil)
	switch n := n.(type) {
	case *rel.Scan, *rel.Values, *rel.WorkScan, *rel.SetOp, *rel.Recursive:
		c.give(n.Columns())
	case *rel.Project: // its rows have the child's columns too
		c.give(n.Cols)
	case *rel.SharedScan:
		c.give(n.Cols)
		if !c.shared[n.From] {
			c.shared[n.From] = true
			c.node(n.From.Plan, outer)
		}
	case *rel.Window:
		for _, f := range n.Funcs {
			c.give([]rel.ColID{f.Col})
		}
	case *rel.Group:
		for _, a := range n.Aggs {
			c.give([]rel.ColID{a.Col})
		}
	}
	for _, child := range n.Children() {
		at := outer
		if _, ok := n.(*rel.Join); ok {
			at = known // the right side may be LATERAL
		}
		known = union(known, c.node(child, at))
	}
	before := map[rel.ColID]bool{}
	if p, ok := n.(*rel.Project); ok {
		for _, id := range p.Cols {
			before[id] = true
		}
	}
	rel.EachExpr(n, func(slot *expr.Node) {
		rel.Walk(*slot, func(e expr.Node) bool {
			if c.nodes[e] {
				c.fail("%s stands in two places", rel.ExprText(e))
			}
			c.nodes[e] = true
			switch e := e.(type) {
			case *rel.Col:
				if !known[e.ID] && !before[e.ID] {
					c.fail("%T reads column %d, which is not known there", n, e.ID)
				}
			case *rel.Subquery:
				have := c.node(e.Plan, known)
				for _, id := range e.Out {
					if !have[id] && !known[id] {
						c.fail("the subquery's column %d is not given", id)
					}
				}
				for _, id := range e.Outer {
					if !known[id] {
						c.fail("the subquery reads column %d, which is not known there", id)
					}
				}
			}
			return true
		})
	})
	have := rel.Cols{}
	for _, id := range n.Columns() {
		have[id] = true
	}
	return have
}
