package explain

import (
	"slices"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// verb is what a statement does, in the words of select_type.
func verb(c *rel.Change) string {
	switch {
	case c.Insert != nil && c.Insert.Replace:
		return "REPLACE"
	case c.Insert != nil:
		return "INSERT"
	case c.Delete:
		return "DELETE"
	}
	return "UPDATE"
}

// ChangeTable is EXPLAIN FORMAT=TRADITIONAL of a statement that changes rows.
func ChangeTable(c *rel.Change, env *expr.Env) []*Row {
	if i := c.Insert; i != nil {
		into := &Row{ID: 1, SelectType: verb(c), Table: i.Into.Alias, Type: "ALL", Rows: -1}
		if values(c) {
			return []*Row{into}
		}
		return append([]*Row{into}, Table(c.Query, env)...)
	}
	rows := Table(c.Query, env)
	for _, r := range rows {
		if r.scan == nil {
			continue
		}
		for _, t := range c.Targets {
			if slices.Contains(r.scan.Cols, t.Row) {
				r.SelectType = verb(c)
			}
		}
	}
	return rows
}

// ChangeTree is EXPLAIN FORMAT=TREE.
func ChangeTree(c *rel.Change, env *expr.Env) string {
	var names []string
	for _, t := range c.Targets {
		names = append(names, t.Alias)
	}
	if c.Insert != nil {
		names = []string{c.Insert.Into.Alias}
	}
	head := map[string]string{"UPDATE": "Update ", "DELETE": "Delete from ", "INSERT": "Insert into ", "REPLACE": "Replace into "}[verb(c)]
	var out strings.Builder
	out.WriteString("-> " + head + strings.Join(names, ", ") + "\n")
	below := "-> Rows fetched before execution\n"
	if !values(c) {
		below = Tree(c.Query, env, nil)
	}
	for _, line := range strings.SplitAfter(below, "\n") {
		if line != "" {
			out.WriteString("    " + line)
		}
	}
	return out.String()
}

// values reports whether the rows that are inserted stand in the statement.
func values(c *rel.Change) bool {
	_, ok := c.Query.Root.(*rel.Values)
	return ok && c.Insert != nil
}
