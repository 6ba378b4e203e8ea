package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// Invisible columns: SELECT *, and INSERT without a list of columns, do not mean them. The parser takes INVISIBLE in the definition of a
// column
// and forgets it, so the text of the statement is asked; and it does not know ALTER TABLE ... ALTER COLUMN c SET INVISIBLE, which is
// written for
// it as a default that no one else writes (tableSyntax).

const (
	setVisible   = "SET DEFAULT '\x01visible'"
	setInvisible = "SET DEFAULT '\x01invisible'"
)

// notColumns are the words with which a part of CREATE TABLE begins, or what ALTER TABLE adds, if it is no column.
var notColumns = []string{"key", "index", "unique", "primary", "constraint", "check", "foreign", "fulltext", "spatial", "like", "partition"}

// token is a word or a quoted name, outside of parentheses.
type token struct {
	word
	quoted bool
}

func (t token) is(q, text string) bool { return !t.quoted && t.word.is(q, text) }

// name is the identifier that the token is.
func (t token) name(q string) string {
	if t.quoted {
		return strings.ReplaceAll(strings.Trim(t.text(q), "`\""), "``", "`")
	}
	return t.text(q)
}

// items splits what stands between two places at the commas outside of parentheses, and gives the tokens of each part.
func items(q string, from, to int) (out [][]token) {
	var item []token
	depth := 0
	for i := from; i < to; {
		switch c := q[i]; {
		case c == '\'':
			i = afterQuote(q, i)
		case c == '`' || c == '"':
			end := afterQuote(q, i)
			if depth == 0 {
				item = append(item, token{word{i, end}, true})
			}
			i = end
		case c == '#' || strings.HasPrefix(q[i:], "-- "):
			i = after(q, i, "\n")
		case strings.HasPrefix(q[i:], "/*") && !strings.HasPrefix(q[i:], "/*!"):
			i = after(q, i+2, "*/")
		case strings.HasPrefix(q[i:], "/*!"):
			for i += 3; i < to && '0' <= q[i] && q[i] <= '9'; {
				i++
			}
		case isWord(c):
			end := i
			for end < to && isWord(q[end]) {
				end++
			}
			if depth == 0 {
				item = append(item, token{word{i, end}, false})
			}
			i = end
		case c == ',' && depth == 0:
			out, item = append(out, item), nil
			i++
		default:
			switch c {
			case '(':
				depth++
			case ')':
				depth--
			}
			i++
		}
	}
	return append(out, item)
}

// visibility is what a CREATE TABLE or ALTER TABLE says of the columns that it defines, by their names in lower case: whether each is
// invisible.
func visibility(q string) map[string]bool {
	q = q[:endOfStatement(q)]
	if !strings.Contains(strings.ToLower(q), "invisible") {
		return nil
	}
	out := map[string]bool{}
	define := func(item []token) {
		if len(item) == 0 || !item[0].quoted && slices.Contains(notColumns, strings.ToLower(item[0].text(q))) {
			return
		}
		out[strings.ToLower(item[0].name(q))] = slices.ContainsFunc(item[1:], func(t token) bool { return t.is(q, "invisible") })
	}
	words := wordsOf(q)
	if len(words) > 0 && words[0].is(q, "create") {
		if open := strings.IndexByte(q, '('); open >= 0 {
			if size := closing(q[open:]); size > 0 {
				for _, item := range items(q, open+1, open+size) {
					define(item)
				}
			}
		}
		return out
	}
	for n, item := range items(q, 0, len(q)) {
		if n == 0 { // ALTER TABLE name: up to what is done first
			at := slices.IndexFunc(item, func(t token) bool {
				return t.is(q, "add") || t.is(q, "modify") || t.is(q, "change") || t.is(q, "alter") && t.from > words[0].from
			})
			if at < 0 {
				continue
			}
			item = item[at:]
		}
		if len(item) < 2 {
			if len(item) == 1 && item[0].is(q, "add") { // ADD (a INT, b INT)
				open := skipSpace(q, item[0].to)
				if size := closing(q[open:]); open < len(q) && q[open] == '(' && size > 0 {
					for _, in := range items(q, open+1, open+size) {
						define(in)
					}
				}
			}
			continue
		}
		rest := item[1:]
		if rest[0].is(q, "column") && len(rest) > 1 {
			rest = rest[1:]
		}
		switch {
		case item[0].is(q, "add"), item[0].is(q, "modify"):
			define(rest)
		case item[0].is(q, "change") && len(rest) > 1:
			define(rest[1:])
		}
	}
	return out
}

// visibilitySyntax writes SET INVISIBLE and SET VISIBLE of a column as the parser can read them.
func visibilitySyntax(q string, words []word) (edits []edit) {
	for i, w := range words {
		if i < 2 || !words[i-1].is(q, "set") || !w.is(q, "visible") && !w.is(q, "invisible") {
			continue
		}
		text := setVisible
		if w.is(q, "invisible") {
			text = setInvisible
		}
		edits = append(edits, edit{words[i-1].from, w.to, text})
	}
	return edits
}

// checkTables says what is wrong with the tables that a statement has made or changed, when it is done with them.
func checkTables(changed []*catalog.Table) error {
	for _, t := range changed {
		visible := false
		for i := range t.Columns {
			c := &t.Columns[i]
			visible = visible || !c.Invisible && !c.HiddenSystem
			if c.AutoIncrement && (t.Keyless() || t.Primary.Columns[0].Column != c.ID) &&
				!slices.ContainsFunc(t.Indexes, func(x catalog.Index) bool { return x.Columns[0].Column == c.ID }) {
				return mysql.NewSQLError(1075, "42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key")
			}
		}
		if !visible {
			return mysql.NewSQLError(4028, "HY000", "A table must have at least one visible column.")
		}
	}
	return nil
}

// refuseStar is the error of a CREATE TABLE ... SELECT with a * and a table that has invisible columns: go-mysql-server plans its query, and means them
// by the *.
func (x *execution) refuseStar(sc *sql.Context, stmt sqlparser.Statement) error {
	if !createsOfQuery(stmt) {
		return nil
	}
	star, hidden := false, ""
	err := sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if _, ok := n.(*sqlparser.StarExpr); ok {
			star = true
		}
		a, _ := n.(*sqlparser.AliasedTableExpr)
		if a == nil {
			return true, nil
		}
		name, ok := a.Expr.(sqlparser.TableName)
		if !ok {
			return true, nil
		}
		t, ok, err := x.tableNamed(sc, cmp.Or(name.DbQualifier.String(), sc.GetCurrentDatabase()), name.Name.String())
		if err == nil && ok && slices.ContainsFunc(t.l.desc.Columns, func(c catalog.Column) bool { return c.Invisible }) {
			hidden = name.Name.String()
		}
		return true, err
	}, stmt.(*sqlparser.DDL).OptSelect.Select)
	if err == nil && star && hidden != "" {
		err = mysql.NewSQLError(1235, "42000", "This version doesn't yet support CREATE TABLE ... SELECT * of a table with invisible columns ('%s'): name the columns",
			hidden)
	}
	return err
}
