package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// The differential test of joins: random trees of joins over small tables with NULLs, and what a nested loop written here, after
// the definition of each join, makes of them. LONGITUDE_JOINS=first,count runs other cases than the usual ones.

// jval is a value of a test table: a number, or NULL.
type jval struct {
	n    int
	null bool
}

func (v jval) String() string {
	if v.null {
		return "NULL"
	}
	return strconv.Itoa(v.n)
}

// jtable is a table of the test. Its columns are id, k, v.
type jtable struct {
	name string
	rows [][]jval
}

var jcolumns = []string{"id", "k", "v"}

// jcol is a column of an aliased table in a query.
type jcol struct{ alias, name string }

// jrel is an intermediate result.
type jrel struct {
	cols []jcol
	rows [][]jval
}

func (r *jrel) at(c jcol) int { return slices.Index(r.cols, c) }

// tri is SQL's three-valued logic: -1 is NULL.
type tri int

func truth(b bool) tri {
	if b {
		return 1
	}
	return 0
}

// jcond is a condition: its text, and what it is for a row.
type jcond struct {
	text string
	eval func(r *jrel, row []jval) tri
}

func (c jcond) and(d jcond) jcond {
	return jcond{c.text + " AND " + d.text, func(r *jrel, row []jval) tri {
		a, b := c.eval(r, row), d.eval(r, row)
		switch {
		case a == 0 || b == 0:
			return 0
		case a < 0 || b < 0:
			return -1
		}
		return 1
	}}
}

func (c jcond) or(d jcond) jcond {
	return jcond{"(" + c.text + " OR " + d.text + ")", func(r *jrel, row []jval) tri {
		a, b := c.eval(r, row), d.eval(r, row)
		switch {
		case a == 1 || b == 1:
			return 1
		case a < 0 || b < 0:
			return -1
		}
		return 0
	}}
}

// joinCase is one random query.
type joinCase struct {
	r      *rand.Rand
	tables []jtable
	used   int
}

func compare(op string, a, b jval) tri {
	if op == "<=>" {
		return truth(a.null == b.null && (a.null || a.n == b.n))
	}
	if a.null || b.null {
		return -1
	}
	switch op {
	case "=":
		return truth(a.n == b.n)
	case "<>":
		return truth(a.n != b.n)
	case "<":
		return truth(a.n < b.n)
	}
	return truth(a.n >= b.n)
}

// condition makes one over columns of left and right.
func (c *joinCase) condition(left, right []jcol, depth int) jcond {
	pick := func(cs []jcol) jcol { return cs[c.r.IntN(len(cs))] }
	switch n := c.r.IntN(20); {
	case n < 11:
		a, b := pick(left), pick(right)
		op := []string{"=", "=", "=", "=", "=", "<>", "<", ">=", "<=>"}[c.r.IntN(9)]
		return jcond{fmt.Sprintf("%s.%s %s %s.%s", a.alias, a.name, op, b.alias, b.name), func(r *jrel, row []jval) tri {
			return compare(op, row[r.at(a)], row[r.at(b)])
		}}
	case n < 14:
		all := append(slices.Clone(left), right...)
		a, k := pick(all), c.r.IntN(4)
		op := []string{"=", "<>", "<", ">=", "<=>"}[c.r.IntN(5)]
		return jcond{fmt.Sprintf("%s.%s %s %d", a.alias, a.name, op, k), func(r *jrel, row []jval) tri {
			return compare(op, row[r.at(a)], jval{n: k})
		}}
	case n < 16:
		all := append(slices.Clone(left), right...)
		a, not := pick(all), c.r.IntN(2) == 0
		text := a.alias + "." + a.name + " IS NULL"
		if not {
			text = a.alias + "." + a.name + " IS NOT NULL"
		}
		return jcond{text, func(r *jrel, row []jval) tri { return truth(row[r.at(a)].null != not) }}
	case n < 18 && depth < 2:
		return c.condition(left, right, depth+1).or(c.condition(left, right, depth+1))
	case depth < 2:
		return c.condition(left, right, depth+1).and(c.condition(left, right, depth+1))
	}
	return c.condition(left, right, depth)
}

// tree makes a tree of joins over n tables: its text, and its rows.
func (c *joinCase) tree(n int) (string, *jrel) {
	if n == 1 {
		t := c.tables[c.r.IntN(len(c.tables))]
		alias := fmt.Sprintf("x%d", c.used)
		c.used++
		rel := &jrel{rows: t.rows}
		for _, name := range jcolumns {
			rel.cols = append(rel.cols, jcol{alias, name})
		}
		text := t.name + " " + alias
		if c.r.IntN(8) == 0 {
			text = fmt.Sprintf("(SELECT id, k, v FROM %s) %s", t.name, alias)
		}
		return text, rel
	}
	ln := 1 + c.r.IntN(n-1)
	if c.r.IntN(3) > 0 {
		ln = n - 1 // mostly as people write them
	}
	lt, l := c.tree(ln)
	rt, r := c.tree(n - ln)
	if n-ln > 1 {
		rt = "(" + rt + ")"
	}
	out := &jrel{cols: append(slices.Clone(l.cols), r.cols...)}
	kind := []string{"JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN"}[c.r.IntN(7)]
	cond := jcond{"", func(*jrel, []jval) tri { return 1 }}
	if kind != "CROSS JOIN" {
		cond = c.condition(l.cols, r.cols, 0)
		for c.r.IntN(3) == 0 {
			cond = cond.and(c.condition(l.cols, r.cols, 1))
		}
	}
	matched := make([]bool, len(r.rows))
	for _, a := range l.rows {
		found := false
		for i, b := range r.rows {
			row := append(slices.Clone(a), b...)
			if cond.eval(out, row) == 1 {
				found, matched[i] = true, true
				out.rows = append(out.rows, row)
			}
		}
		if !found && kind == "LEFT JOIN" {
			out.rows = append(out.rows, append(slices.Clone(a), nulls(len(r.cols))...))
		}
	}
	if kind == "RIGHT JOIN" {
		for i, b := range r.rows {
			if !matched[i] {
				out.rows = append(out.rows, append(nulls(len(l.cols)), b...))
			}
		}
	}
	text := fmt.Sprintf("%s %s %s", lt, kind, rt)
	if kind != "CROSS JOIN" {
		text += " ON " + cond.text
	}
	return text, out
}

func nulls(n int) []jval {
	out := make([]jval, n)
	for i := range out {
		out[i].null = true
	}
	return out
}

// subquery makes [NOT] EXISTS or [NOT] IN of a table.
func (c *joinCase) subquery(cols []jcol) jcond {
	t := c.tables[c.r.IntN(len(c.tables))]
	alias := fmt.Sprintf("x%d", c.used)
	c.used++
	inner := &jrel{rows: t.rows}
	for _, name := range jcolumns {
		inner.cols = append(inner.cols, jcol{alias, name})
	}
	not := ""
	if c.r.IntN(2) == 0 {
		not = "NOT "
	}
	flip := func(v tri) tri {
		if not == "" || v < 0 {
			return v
		}
		return 1 - v
	}
	if c.r.IntN(2) == 0 {
		a, b := cols[c.r.IntN(len(cols))], inner.cols[c.r.IntN(3)]
		return jcond{fmt.Sprintf("%s.%s %sIN (SELECT %s.%s FROM %s %s)", a.alias, a.name, not, b.alias, b.name, t.name, alias), func(r *jrel, row []jval) tri {
			v := tri(0)
			for _, in := range t.rows {
				switch compare("=", row[r.at(a)], in[inner.at(b)]) {
				case 1:
					v = 1
				case -1:
					if v == 0 {
						v = -1
					}
				}
			}
			return flip(v)
		}}
	}
	cond := c.condition(cols, inner.cols, 1)
	return jcond{fmt.Sprintf("%sEXISTS (SELECT 1 FROM %s %s WHERE %s)", not, t.name, alias, cond.text), func(r *jrel, row []jval) tri {
		both := &jrel{cols: append(slices.Clone(r.cols), inner.cols...)}
		for _, in := range t.rows {
			if cond.eval(both, append(slices.Clone(row), in...)) == 1 {
				return flip(1)
			}
		}
		return flip(0)
	}}
}

// query makes a whole one, and its rows as text, sorted.
func (c *joinCase) query() (string, []string) {
	text, rel := c.tree(2 + c.r.IntN(4))
	var conds []jcond
	for c.r.IntN(2) == 0 && len(conds) < 3 {
		if c.r.IntN(3) == 0 {
			conds = append(conds, c.subquery(rel.cols))
		} else {
			conds = append(conds, c.condition(rel.cols, rel.cols, 0))
		}
	}
	var out []string
	for _, row := range rel.rows {
		keep := true
		for _, w := range conds {
			keep = keep && w.eval(rel, row) == 1
		}
		if !keep {
			continue
		}
		var vs []string
		for i := range rel.cols {
			vs = append(vs, row[i].String())
		}
		out = append(out, strings.Join(vs, "\t"))
	}
	var names, where []string
	for _, col := range rel.cols {
		names = append(names, col.alias+"."+col.name)
	}
	q := fmt.Sprintf("SELECT %s FROM %s", strings.Join(names, ", "), text)
	for _, w := range conds {
		where = append(where, w.text)
	}
	if len(where) > 0 {
		q += " WHERE " + strings.Join(where, " AND ")
	}
	sort.Strings(out)
	return q, out
}

// joinTables makes the tables of one schema, and the statements that create them.
func joinTables(r *rand.Rand, n int) (ts []jtable, statements []string) {
	for i := range n {
		t := jtable{name: fmt.Sprintf("t%d", i)}
		def := []string{"id INT PRIMARY KEY, k INT, v INT", "id INT PRIMARY KEY, k INT, v INT, KEY(k)", "id INT, k INT, v INT",
			"id INT PRIMARY KEY, k INT, v INT, KEY(v, k)", "id INT PRIMARY KEY, k INT NOT NULL, v INT, KEY(k), KEY(v)", "id INT PRIMARY KEY, k INT, v BIGINT, UNIQUE KEY(k, id)"}[r.IntN(6)]
		statements = append(statements, fmt.Sprintf("CREATE TABLE %s (%s)", t.name, def))
		var vs []string
		for id := range r.IntN(6) {
			value := func(null bool) jval {
				if null && r.IntN(4) == 0 {
					return jval{null: true}
				}
				return jval{n: r.IntN(4)}
			}
			row := []jval{{n: id}, value(!strings.Contains(def, "NOT NULL")), value(true)}
			t.rows = append(t.rows, row)
			vs = append(vs, fmt.Sprintf("(%s, %s, %s)", row[0], row[1], row[2]))
		}
		if len(vs) > 0 {
			statements = append(statements, fmt.Sprintf("INSERT INTO %s VALUES %s", t.name, strings.Join(vs, ", ")))
		}
		ts = append(ts, t)
	}
	return ts, statements
}

func TestRandomJoins(t *testing.T) {
	first, count := uint64(1), 1500
	if v := os.Getenv("LONGITUDE_JOINS"); v != "" {
		if _, err := fmt.Sscanf(v, "%d,%d", &first, &count); err != nil {
			t.Fatal(err)
		}
	}
	c := startCluster(t, 1, func(o *Options) { o.CatalogLead = 1 })
	const perSchema = 100
	failures := 0
	for seed := first; seed < first+uint64(count); {
		db := fmt.Sprintf("j%d", seed)
		tables, statements := joinTables(rand.New(rand.NewPCG(seed, 1)), 4)
		c.nodes[0].exec("CREATE DATABASE " + db)
		conn, err := c.nodes[0].root.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range append([]string{"USE " + db}, statements...) {
			if _, err := conn.ExecContext(context.Background(), q); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
		for range perSchema {
			jc := &joinCase{r: rand.New(rand.NewPCG(seed, 2)), tables: tables}
			q, want := jc.query()
			got, err := rows(conn, q)
			sort.Strings(got)
			if err != nil || !slices.Equal(got, want) {
				failures++
				t.Errorf("case %d (database of case %s): %s\n%s\nerror %v, got %d rows, want %d\ngot  %s\nwant %s", seed, db, q, strings.Join(statements, ";\n"), err, len(got), len(want),
					strings.Join(got, " | "), strings.Join(want, " | "))
				if failures > 20 {
					t.Fatal("too many")
				}
			}
			seed++
			if seed >= first+uint64(count) {
				break
			}
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}
