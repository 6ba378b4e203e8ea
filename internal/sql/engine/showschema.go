package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// SHOW COLUMNS and SHOW INDEX as MySQL 8 answers. go-mysql-server's (sql/rowexec/show.go, show_iters.go) has the collation in the
// type, quotes around defaults, the server's collation for each column, no lengths of prefixes, and comments of indexes in the wrong column.

// showColumns is SHOW [FULL] COLUMNS and DESCRIBE.
func showColumns(ctx *sql.Context, n *plan.ShowColumns) (sql.RowIter, error) {
	s := n.TargetSchema()
	keys := columnKeys(ctx, n.Indexes, s)
	var out []sql.Row
	var desc *catalog.Table
	if t, ok := plainTable(n.Child); ok {
		desc = t.l.desc
	}
	for _, c := range s {
		if c.HiddenSystem && !n.Extended {
			continue
		}
		var d *catalog.Column
		if desc != nil {
			if i := findColumn(desc, c.Name); i >= 0 {
				d = &desc.Columns[i]
			}
		}
		def, err := defaultText(ctx, d, c)
		if err != nil {
			return nil, err
		}
		null := "NO"
		if c.Nullable {
			null = "YES"
		}
		row := sql.Row{c.Name, declaredText(plainTypeText(c.Type), d), null, keys[strings.ToLower(c.Name)], def, c.Extra}
		if n.Full {
			row = sql.Row{c.Name, row[1], collationOf(c.Type), null, row[3], def, c.Extra, "select,insert,update,references", c.Comment}
		}
		out = append(out, row)
	}
	return sql.RowsToRowIter(out...), nil
}

// columnKeys says of columns, by their names in lower case, how they are indexed: PRI, UNI, MUL. Without a primary key the first unique
// index without NULLs counts as one.
func columnKeys(ctx *sql.Context, indexes []sql.Index, s sql.Schema) map[string]string {
	out := map[string]string{}
	nullable := map[string]bool{}
	primary := false
	for _, c := range s {
		nullable[strings.ToLower(c.Name)] = c.Nullable
		if c.PrimaryKey {
			out[strings.ToLower(c.Name)], primary = "PRI", true
		}
	}
	names := func(x sql.Index) (out []string, null bool) {
		for _, e := range x.Expressions() {
			name := strings.ToLower(strings.Trim(e[strings.LastIndexByte(e, '.')+1:], "`"))
			out = append(out, name)
			isNull, ok := nullable[name]
			null = null || isNull || !ok
		}
		return out, null
	}
	for _, x := range indexes {
		if columns, null := names(x); x.IsUnique() && !primary && !null {
			for _, c := range columns {
				out[c] = "PRI"
			}
			primary = true
		}
	}
	for _, want := range []string{"UNI", "MUL"} {
		for _, x := range indexes {
			columns, _ := names(x)
			if x.ID() == "PRIMARY" || len(columns) == 0 || (want == "UNI") != (x.IsUnique() && len(columns) == 1) {
				continue
			}
			if out[columns[0]] == "" {
				out[columns[0]] = want
			}
		}
	}
	return out
}

// plainTable is the table of the catalog that a node reads; false: it reads none.
func plainTable(n sql.Node) (*table, bool) {
	r, ok := n.(*plan.ResolvedTable)
	if !ok {
		return nil, false
	}
	t, ok := sql.GetUnderlyingTable(r.Table).(*table)
	return t, ok
}

// showIndexes is SHOW INDEX. Cardinality is NULL: nothing is known of it.
func showIndexes(ctx *sql.Context, n *plan.ShowIndexes) (sql.RowIter, error) {
	t, ok := plainTable(n.Child)
	if !ok {
		return sql.RowsToRowIter(), nil
	}
	var out []sql.Row
	for _, p := range shownParts(t.l.desc) {
		out = append(out, sql.Row{t.Name(), p.nonUnique, p.index.Name, p.seq, p.column, p.order, nil, p.length, nil, p.null, "BTREE", "", p.index.Comment, "YES", p.expression})
	}
	return sql.RowsToRowIter(out...), nil
}

// shownPart is a part of an index as SHOW INDEX and information_schema.STATISTICS have it.
type shownPart struct {
	index      *catalog.Index
	nonUnique  int32
	seq        uint32
	column     any // the name; nil: it is an expression
	expression any
	length     any
	order      string // A or D
	null       string // YES or ""
}

// shownParts are the parts of all indexes of a table that can be used.
func shownParts(d *catalog.Table) (out []shownPart) {
	add := func(x *catalog.Index) {
		for i, p := range x.Columns {
			c := d.ColumnByID(p.Column)
			s := shownPart{index: x, nonUnique: 1, seq: uint32(i + 1), column: c.Name, order: "A"}
			if x.Unique {
				s.nonUnique = 0
			}
			if isPart(c) {
				s.column, s.expression = nil, schemaText(c.Generated)
			}
			if p.Length > 0 {
				s.length = int64(p.Length)
			}
			if p.Desc {
				s.order = "D"
			}
			if c.Nullable {
				s.null = "YES"
			}
			out = append(out, s)
		}
	}
	if !d.Keyless() {
		add(&d.Primary)
	}
	for _, x := range inTextOrder(d) {
		add(x)
	}
	return out
}
