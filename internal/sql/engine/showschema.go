package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// SHOW COLUMNS and SHOW INDEX as MySQL 8 answers. go-mysql-server's (sql/rowexec/show.go, show_iters.go) has the collation in the
// type, quotes around defaults, the server's collation for each column, no lengths of prefixes, and comments of indexes in the wrong column.

// showColumns is SHOW [FULL] COLUMNS and DESCRIBE.
func showColumns(ctx *sql.Context, n *plan.ShowColumns) (sql.RowIter, error) {
	s := n.TargetSchema()
	keys := columnKeys(ctx, n.Indexes, s)
	var out []sql.Row
	for _, c := range s {
		if c.HiddenSystem && !n.Extended {
			continue
		}
		def, err := defaultText(ctx, c)
		if err != nil {
			return nil, err
		}
		null := "NO"
		if c.Nullable {
			null = "YES"
		}
		row := sql.Row{c.Name, plainTypeText(c.Type), null, keys[strings.ToLower(c.Name)], def, c.Extra}
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

// showIndexes is SHOW INDEX. Cardinality is NULL: nothing is known of it.
func showIndexes(ctx *sql.Context, n *plan.ShowIndexes) (sql.RowIter, error) {
	t, ok := n.Child.(*plan.ResolvedTable)
	if !ok {
		return sql.RowsToRowIter(), nil
	}
	var out []sql.Row
	for _, x := range n.IndexesToShow {
		lengths := x.PrefixLengths()
		unique := int32(1)
		if x.IsUnique() {
			unique = 0
		}
		for i, e := range x.Expressions() {
			var column, length, expression any = nil, nil, e
			null := ""
			if c := plan.GetColumnFromIndexExpr(ctx, e, t); c != nil && !c.HiddenSystem {
				column, expression = c.Name, nil
				if c.Nullable {
					null = "YES"
				}
			} else if c != nil && c.Generated != nil {
				expression, null = c.Generated.String(), "YES"
			}
			if i < len(lengths) && lengths[i] > 0 {
				length = int64(lengths[i])
			}
			out = append(out, sql.Row{x.Table(), unique, x.ID(), uint32(i + 1), column, "A", nil, length, nil, null, x.IndexType(), "", x.Comment(), "YES", expression})
		}
	}
	return sql.RowsToRowIter(out...), nil
}
