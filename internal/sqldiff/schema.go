package sqldiff

import (
	"fmt"
	"strings"
)

// Column of a generated table.
type Column struct {
	Name    string
	Type    columnType
	NotNull bool
	More    string // default, generated as
}

// fixed reports whether statements may not set the column.
func (c *Column) fixed() bool { return strings.Contains(c.More, "GENERATED") }

// Table is a generated table with the rows that it begins with.
type Table struct {
	Name  string
	Cols  []*Column
	Keys  []string   // KEY, UNIQUE, CHECK, FOREIGN KEY clauses besides the primary key, as text
	Rows  [][]string // literals of the columns that are not fixed
	NoKey bool       // without a primary key
}

// Create is the statement that makes the table.
func (t *Table) Create() string {
	var parts []string
	for i, c := range t.Cols {
		s := c.Name + " " + c.Type.sql
		if c.NotNull {
			s += " NOT NULL"
		}
		if c.More != "" {
			s += " " + c.More
		}
		if i == 0 && !t.NoKey {
			s += " PRIMARY KEY"
		}
		parts = append(parts, s)
	}
	return "CREATE TABLE " + t.Name + " (" + strings.Join(append(parts, t.Keys...), ", ") + ")"
}

// Fill is the statement that inserts the rows; "" if there are none.
func (t *Table) Fill() string {
	if len(t.Rows) == 0 {
		return ""
	}
	var names, rows []string
	for _, c := range t.Cols {
		if !c.fixed() {
			names = append(names, c.Name)
		}
	}
	for _, r := range t.Rows {
		rows = append(rows, "("+strings.Join(r, ", ")+")")
	}
	return "INSERT INTO " + t.Name + " (" + strings.Join(names, ", ") + ") VALUES " + strings.Join(rows, ", ")
}

// State is the query that shows all rows.
func (t *Table) State() string {
	if t.NoKey {
		return "SELECT * FROM " + t.Name
	}
	return "SELECT * FROM " + t.Name + " ORDER BY " + t.Cols[0].Name
}

// Schema is what the statements of a case work on.
type Schema struct {
	Tables []*Table
	After  []string // statements that follow when all tables are there: triggers
}

// columns gives the type of each column by name.
func (s *Schema) columns() map[string]string {
	out := map[string]string{}
	for _, t := range s.Tables {
		for _, c := range t.Cols {
			out[c.Name] = strings.ToLower(c.Type.sql)
		}
	}
	return out
}

// Script is the statements that make and fill the tables.
func (s *Schema) Script() (out []string) {
	for _, t := range s.Tables {
		out = append(out, t.Create())
		if fill := t.Fill(); fill != "" {
			out = append(out, fill)
		}
	}
	return append(out, s.After...)
}

// shape says how a family wants its tables.
type shape struct {
	tables, minCols, maxCols, minRows, maxRows int
	all                                        bool // every type, a column each
	plain                                      bool // without unique keys, generated columns, checks: any change of data succeeds
	triggers                                   bool // sometimes with a trigger, which writes what it saw into a table of its own
}

// genSchema makes tables t0, t1, …. Names of columns say table and place, so that they are unique over the schema: c0_id, c0_1, c1_id, …
func genSchema(r source, sh shape) *Schema {
	s := &Schema{}
	for i := range sh.tables {
		s.Tables = append(s.Tables, genTable(r, i, sh))
	}
	if sh.triggers && r.oneIn(2) {
		number := columnType{sql: "INT", kind: intKind, values: []string{"1"}}
		s.Tables = append(s.Tables, &Table{Name: "seen", NoKey: true, Cols: []*Column{{Name: "what", Type: number}, {Name: "n", Type: number}}})
		event := pick(r, "INSERT", "INSERT", "UPDATE", "DELETE")
		row := "NEW"
		if event == "DELETE" {
			row = "OLD"
		}
		s.After = []string{"CREATE TRIGGER tr AFTER " + event + " ON t0 FOR EACH ROW INSERT INTO seen VALUES (1, " + row + ".id0)"}
	}
	return s
}

func genTable(r source, i int, sh shape) *Table {
	t := &Table{Name: fmt.Sprintf("t%d", i)}
	id := columnType{sql: "INT", kind: intKind, values: []string{"1", "2", "3", "20", "21"}}
	t.Cols = append(t.Cols, &Column{Name: fmt.Sprintf("id%d", i), Type: id, NotNull: true})
	var types []columnType
	if sh.all {
		types = columnTypes
	} else {
		for range sh.minCols + r.IntN(sh.maxCols-sh.minCols+1) {
			types = append(types, columnTypes[r.IntN(len(columnTypes))])
		}
		types = append(types, columnTypes[5]) // a small integer, so that tables can be joined
	}
	for j, ct := range types {
		c := &Column{Name: fmt.Sprintf("c%d_%d", i, j+1), Type: ct, NotNull: r.oneIn(5)}
		if !ct.noKey && r.oneIn(6) {
			c.More = "DEFAULT " + pick(r, ct.values...)
		}
		t.Cols = append(t.Cols, c)
		if !ct.noKey && !sh.all && r.oneIn(4) {
			if !sh.plain && r.oneIn(4) {
				t.Keys = append(t.Keys, "UNIQUE KEY ("+c.Name+")")
			} else {
				t.Keys = append(t.Keys, "KEY ("+c.Name+")")
			}
		}
	}
	if last := t.Cols[len(t.Cols)-1]; !sh.all && len(t.Cols) > 3 && r.oneIn(4) && !t.Cols[2].Type.noKey {
		t.Keys = append(t.Keys, "KEY ("+last.Name+", "+t.Cols[2].Name+")")
	}
	if !sh.plain && !sh.all {
		if r.oneIn(4) {
			g := &Column{Name: fmt.Sprintf("g%d", i), Type: columnType{sql: "BIGINT", kind: intKind}}
			g.More = fmt.Sprintf("GENERATED ALWAYS AS (id%d + %s) %s", i, pick(r, "1", "2", "id"+fmt.Sprint(i)), pick(r, "STORED", "VIRTUAL"))
			t.Cols = append(t.Cols, g)
		}
		if r.oneIn(5) {
			t.Keys = append(t.Keys, fmt.Sprintf("CHECK (id%d %s)", i, pick(r, "< 1000", ">= -5", "<> 77")))
		}
	}
	rows := sh.minRows + r.IntN(sh.maxRows-sh.minRows+1)
	seen := map[string]bool{}
	for n := range rows {
		row := []string{fmt.Sprint(n + 1)}
		ok := true
		for j, c := range t.Cols[1:] {
			switch {
			case c.fixed():
			case !c.NotNull && r.oneIn(5):
				row = append(row, "NULL")
			case sh.all: // every value once before any comes twice
				row = append(row, c.Type.values[(n+j)%len(c.Type.values)])
			default:
				row = append(row, pick(r, c.Type.values...))
			}
			if len(row) > 0 && hasUnique(t, c.Name) && row[len(row)-1] != "NULL" {
				v := c.Name + fold(row[len(row)-1])
				ok = ok && !seen[v]
				seen[v] = true
			}
		}
		if ok {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func hasUnique(t *Table, column string) bool {
	for _, k := range t.Keys {
		if k == "UNIQUE KEY ("+column+")" {
			return true
		}
	}
	return false
}

var accents = strings.NewReplacer("é", "e", "É", "e", "ß", "ss")

// fold maps texts that a collation may hold for equal to the same text.
func fold(s string) string {
	return strings.TrimRight(strings.ToLower(accents.Replace(s)), " '\x00")
}
