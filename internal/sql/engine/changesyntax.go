package engine

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/bind"
)

// What vitess's grammar lacks of statements that change rows: LOW_PRIORITY, QUICK and the like, which are without effect, DELETE IGNORE, and
// the name that DELETE gives to its only table. The last two are comments behind DELETE while the statement is parsed.

// aliasMark begins the comment with a DELETE's name of its table.
const aliasMark = "/*longitude alias "

// changeSyntax writes a statement that changes rows in words that the grammar knows.
func changeSyntax(q string) (out []edit) {
	verb := firstWord(q)
	kind := strings.ToLower(verb.text(q))
	switch kind {
	case "insert", "replace", "update", "delete":
	default:
		return nil
	}
	mark := ""
	at := verb.to
	for {
		w := firstWord(q[at:])
		word := strings.ToLower(w.text(q[at:]))
		switch {
		case word == "low_priority", word == "delayed", word == "high_priority", word == "quick" && kind == "delete":
			out = append(out, edit{at + w.from, at + w.to, ""})
		case word == "ignore" && kind == "delete":
			out = append(out, edit{at + w.from, at + w.to, ""})
			mark += bind.IgnoreMark
		default:
			if word == "from" && kind == "delete" {
				alias, from, to := deletedAlias(q, at+w.to)
				if alias != "" {
					out = append(out, edit{from, to, " "})
					mark += aliasMark + alias + "*/"
				}
			}
			if mark != "" {
				out = append([]edit{{verb.to, verb.to, " " + mark}}, out...)
			}
			return out
		}
		at += w.to
	}
}

// deletedAlias is the name that DELETE FROM gives to its only table, and where it stands; empty: it gives none.
func deletedAlias(q string, at int) (alias string, from, to int) {
	name, rest := cutName(strings.TrimLeft(q[at:], " \t\r\n"))
	if name == "" || rest == "" {
		return "", 0, 0
	}
	from = len(q) - len(rest)
	if w := firstWord(rest); strings.EqualFold(w.text(rest), "as") {
		rest = strings.TrimLeft(rest[w.to:], " \t\r\n")
	} else if w.to > 0 {
		switch strings.ToLower(w.text(rest)) {
		case "where", "order", "limit", "using", "partition", "returning":
			return "", 0, 0
		}
	}
	alias, rest = cutName(rest)
	if alias == "" || strings.Contains(alias, ".") || strings.Contains(alias, "*/") || strings.HasPrefix(rest, ",") {
		return "", 0, 0
	}
	if w := firstWord(rest); strings.EqualFold(w.text(rest), "using") {
		return "", 0, 0
	}
	return strings.ReplaceAll(strings.Trim(alias, "`"), "``", "`"), from, len(q) - len(rest)
}

// nameDeleted gives the table of a DELETE its name.
func nameDeleted(stmt sqlparser.Statement) {
	d, ok := stmt.(*sqlparser.Delete)
	if !ok || len(d.TableExprs) != 1 {
		return
	}
	for _, c := range d.Comments {
		if alias, ok := strings.CutPrefix(string(c), aliasMark); ok {
			if t, ok := d.TableExprs[0].(*sqlparser.AliasedTableExpr); ok {
				t.As = sqlparser.NewTableIdent(strings.TrimSuffix(alias, "*/"))
			}
		}
	}
}
