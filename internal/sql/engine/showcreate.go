package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/sqltext"
)

// SHOW CREATE TABLE as MySQL writes it, of the catalog's description: dumps are restored from it. (go-mysql-server's own, sql/rowexec/show_iters.go,
// knows no DESC and no expressions as they were written, and writes the defaults of ENUM and SET as the numbers of their values.)

// createText is the statement. schema are the columns with resolved defaults.
func (t *table) createText(ctx *sql.Context, schema sql.Schema) (string, error) {
	d := t.l.desc
	columns := map[string]*sql.Column{}
	for _, c := range schema {
		columns[strings.ToLower(c.Name)] = c
	}
	var lines []string
	for i := range d.Columns {
		if d.Columns[i].HiddenSystem {
			continue
		}
		c := columns[strings.ToLower(d.Columns[i].Name)]
		if c == nil {
			return "", fmt.Errorf("SHOW CREATE TABLE was given no column %s", d.Columns[i].Name)
		}
		lines = append(lines, columnText(&d.Columns[i], c, t.Collation()))
	}
	if !d.Keyless() {
		lines = append(lines, "PRIMARY KEY "+t.keyText(&d.Primary))
	}
	for _, x := range inTextOrder(d) {
		kind := "KEY "
		if x.Unique {
			kind = "UNIQUE KEY "
		}
		lines = append(lines, kind+sqltext.Quote(x.Name)+" "+t.keyText(x))
	}
	for i := range d.ForeignKeys {
		lines = append(lines, t.foreignKeyText(&d.ForeignKeys[i]))
	}
	checks := slices.Clone(d.Checks)
	slices.SortStableFunc(checks, func(a, b catalog.Check) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	for _, c := range checks {
		line := "CONSTRAINT " + sqltext.Quote(c.Name) + " CHECK (" + shownText(c.Expr) + ")"
		if !c.Enforced {
			line += " /*!80016 NOT ENFORCED */"
		}
		lines = append(lines, line)
	}
	kind := "TABLE "
	if d.Temporary() {
		kind = "TEMPORARY TABLE "
	}
	out := "CREATE " + kind + sqltext.Quote(d.Name) + " (\n  " + strings.Join(lines, ",\n  ") + "\n) ENGINE=InnoDB"
	if t.l.autoInc >= 0 {
		next, err := t.PeekNextAutoIncrementValue(ctx)
		if err != nil {
			return "", err
		}
		if next > 1 {
			out += " AUTO_INCREMENT=" + strconv.FormatUint(next, 10)
		}
	}
	c := t.Collation()
	out += " DEFAULT CHARSET=" + c.CharacterSet().Name()
	if c != c.CharacterSet().DefaultCollation() || c == sql.Collation_utf8mb4_0900_ai_ci {
		out += " COLLATE=" + c.Name()
	}
	if d.Comment != "" {
		out += " COMMENT=" + quoteText(d.Comment)
	}
	return out, nil
}

// inTextOrder are the indexes in the order in which MySQL keeps them: unique ones without NULLs, other unique ones, the others; and of
// each of these those without virtual columns first.
func inTextOrder(d *catalog.Table) []*catalog.Index {
	rank := func(x *catalog.Index) int {
		class, virtual := 0, 0
		for _, p := range x.Columns {
			c := d.ColumnByID(p.Column)
			if c.Nullable {
				class = 2
			}
			if c.Virtual {
				virtual = 1
			}
		}
		if !x.Unique {
			class = 4
		}
		return class + virtual
	}
	var out []*catalog.Index
	for i := range d.Indexes {
		if d.Indexes[i].State == catalog.Public {
			out = append(out, &d.Indexes[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *catalog.Index) int { return rank(a) - rank(b) })
	return out
}

// keyText is what stands behind the name of an index.
func (t *table) keyText(x *catalog.Index) string {
	var parts []string
	for _, p := range x.Columns {
		c := t.l.desc.ColumnByID(p.Column)
		text := sqltext.Quote(c.Name)
		if isPart(c) {
			text = "(" + shownText(c.Generated) + ")"
		}
		if p.Length > 0 {
			text += "(" + strconv.Itoa(p.Length) + ")"
		}
		if p.Desc {
			text += " DESC"
		}
		parts = append(parts, text)
	}
	out := "(" + strings.Join(parts, ",") + ")"
	if x.Comment != "" {
		out += " COMMENT " + quoteText(x.Comment)
	}
	return out
}

func (t *table) foreignKeyText(f *catalog.ForeignKey) string {
	list := func(names []string) string {
		var out []string
		for _, n := range names {
			out = append(out, sqltext.Quote(n))
		}
		return "(" + strings.Join(out, ", ") + ")"
	}
	parent := sqltext.Quote(f.ParentTable)
	if !strings.EqualFold(f.ParentDatabase, t.db.name) {
		parent = sqltext.Quote(f.ParentDatabase) + "." + parent
	}
	out := "CONSTRAINT " + sqltext.Quote(f.Name) + " FOREIGN KEY " + list(f.Columns) + " REFERENCES " + parent + " " + list(f.ParentColumns)
	for _, a := range []struct{ on, action string }{{" ON DELETE ", f.OnDelete}, {" ON UPDATE ", f.OnUpdate}} {
		if action := strings.ToUpper(a.action); action != "" && action != string(sql.ForeignKeyReferentialAction_DefaultAction) && action != "NO ACTION" {
			out += a.on + action
		}
	}
	return out
}

// shownText is the text of an expression that the catalog keeps, as MySQL has it.
func shownText(text string) string {
	e, err := parseRule(text)
	if err != nil || e == nil {
		return text
	}
	if out, err := sqltext.Expr(e, sqltext.Options{}); err == nil {
		return out
	}
	return text
}

// schemaText is shownText as information_schema has it: with its quotes and backslashes escaped once more.
func schemaText(text string) string { return schemaEscapes.Replace(shownText(text)) }

var schemaEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)

// columnText is a column of SHOW CREATE TABLE.
func columnText(d *catalog.Column, c *sql.Column, table sql.CollationID) string {
	out := sqltext.Quote(c.Name) + " " + declaredText(typeText(c.Type, table), d)
	if d.Generated != "" {
		out += " GENERATED ALWAYS AS (" + shownText(d.Generated) + ")"
		if d.Virtual {
			out += " VIRTUAL"
		} else {
			out += " STORED"
		}
	}
	switch {
	case !c.Nullable:
		out += " NOT NULL"
	case types.IsTimestampType(c.Type) && d.Generated == "":
		out += " NULL"
	}
	out += shownDefault(d, c)
	if d.OnUpdate != "" {
		out += " ON UPDATE " + mysqlNow(d.OnUpdate)
	}
	if d.AutoIncrement {
		out += " AUTO_INCREMENT"
	}
	if d.Invisible {
		out += " /*!80023 INVISIBLE */"
	}
	if d.Comment != "" {
		out += " COMMENT " + quoteText(d.Comment)
	}
	return out
}

func shownDefault(d *catalog.Column, c *sql.Column) string {
	switch {
	case d.Generated != "" || d.AutoIncrement:
		return ""
	case c.Default == nil && c.Nullable && !types.IsTextBlob(c.Type):
		return " DEFAULT NULL"
	case c.Default == nil:
		return ""
	case !c.Default.IsLiteral():
		if isExpression(d.Default) {
			return " DEFAULT (" + shownText(d.Default) + ")"
		}
		return " DEFAULT " + mysqlNow(d.Default)
	}
	ctx := sql.NewEmptyContext()
	v, err := c.Default.Eval(ctx, nil)
	if err != nil {
		return " DEFAULT " + d.Default
	}
	if v == nil || c.Default.String() == "NULL" {
		return " DEFAULT NULL"
	}
	text, err := valueText(ctx, c.Type, v)
	switch {
	case err != nil:
		return " DEFAULT " + d.Default
	case types.IsBit(c.Type) || types.IsBinaryType(c.Type):
		return " DEFAULT " + text
	}
	return " DEFAULT " + quoteText(declaredValue(text, d))
}

// isExpression reports whether a default is one in parentheses, not the present time that stands there by itself.
func isExpression(text string) bool { return strings.HasPrefix(text, "(") }
