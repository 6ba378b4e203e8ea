package engine

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// This file is how MySQL 8 writes a column in SHOW CREATE TABLE, SHOW COLUMNS and information_schema.COLUMNS. Dumps are restored from the
// first, and tools compare what the others say with what they would declare.

// textQuoter escapes a text for SHOW CREATE TABLE.
var textQuoter = strings.NewReplacer(`'`, `''`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)

func quoteText(s string) string { return "'" + textQuoter.Replace(s) + "'" }

// typeText is a column's type with the collation, where it is not the table's.
func typeText(t sql.Type, table sql.CollationID) string {
	c, ok := t.(sql.TypeWithCollation)
	if !ok {
		return t.String()
	}
	var values []string
	var kind string
	switch t := t.(type) {
	case sql.EnumType:
		kind, values = "enum", t.Values()
	case sql.SetType:
		kind, values = "set", t.Values()
	default:
		return c.StringWithTableCollation(table)
	}
	for i, v := range values {
		values[i] = quoteText(v)
	}
	out := kind + "(" + strings.Join(values, ",") + ")"
	if c.Collation().CharacterSet() != table.CharacterSet() {
		out += " CHARACTER SET " + c.Collation().CharacterSet().String()
	}
	if c.Collation() != table {
		out += " COLLATE " + c.Collation().String()
	}
	return out
}

// plainTypeText is the type alone, as SHOW COLUMNS and COLUMN_TYPE have it.
func plainTypeText(t sql.Type) string {
	if c, ok := t.(sql.TypeWithCollation); ok {
		return typeText(t, c.Collation())
	}
	return t.String()
}

// collationOf is the name of a text column's collation; nil for others.
func collationOf(t sql.Type) any {
	if c, ok := t.(sql.TypeWithCollation); ok && !types.IsBinaryType(t) && (types.IsTextOnly(t) || types.IsEnum(t) || types.IsSet(t)) {
		return c.Collation().String()
	}
	return nil
}

// defaultText is a column's default as SHOW COLUMNS and COLUMN_DEFAULT have it: the value, or the expression without its parentheses; nil:
// there is none, or it is NULL.
func defaultText(ctx *sql.Context, c *sql.Column) (any, error) {
	if c.Default == nil || c.Generated != nil {
		return nil, nil
	}
	if !c.Default.IsLiteral() {
		text := mysqlNow(c.Default.String())
		if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
			text = text[1 : len(text)-1]
		}
		return text, nil
	}
	v, err := c.Default.Eval(ctx, nil)
	if err != nil || v == nil || c.Default.String() == "NULL" { // of JSON it is a document
		return nil, err
	}
	return valueText(ctx, c.Type, v)
}

// valueText is a constant default without quotes.
func valueText(ctx *sql.Context, t sql.Type, v any) (string, error) {
	if types.IsBit(t) {
		return fmt.Sprintf("b'%b'", v), nil
	}
	// The default has been converted to the column's type, but for the representation of its value.
	if c, _, err := t.Convert(ctx, v); err == nil {
		v = c
	}
	out, err := t.SQL(ctx, nil, v)
	if err != nil {
		return "", err
	}
	if types.IsBinaryType(t) {
		return fmt.Sprintf("0x%X", out.ToBytes()), nil
	}
	return out.ToString(), nil
}

// mysqlNow writes NOW(n) as MySQL does.
func mysqlNow(text string) string {
	upper := strings.ToUpper(strings.TrimSuffix(strings.TrimPrefix(text, "("), ")"))
	for _, name := range []string{"NOW", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"} {
		rest, ok := strings.CutPrefix(upper, name)
		if !ok {
			continue
		}
		digits := strings.Trim(rest, "()")
		switch {
		case digits == "" || digits == "0":
			return "CURRENT_TIMESTAMP"
		case len(digits) == 1 && '1' <= digits[0] && digits[0] <= '6':
			return "CURRENT_TIMESTAMP(" + digits + ")"
		}
	}
	return text
}

// isNow reports whether an expression is the present time.
func isNow(text string) bool { return strings.HasPrefix(mysqlNow(text), "CURRENT_TIMESTAMP") }

// oneCall is a call of a function, or a name.
var oneCall = regexp.MustCompile("^(`[^`]+`|\\w+\\(.*\\))$")

// generatedText is the expression of a generated column: with one pair of parentheses, if it is not the call of a function.
func generatedText(d *sql.ColumnDefaultValue) string {
	text := d.String()
	for len(text) > 1 && text[0] == '(' && closing(text) == len(text)-1 {
		text = text[1 : len(text)-1]
	}
	if at := strings.IndexByte(text, '('); oneCall.MatchString(text) && (at < 0 || closing(text[at:]) == len(text)-at-1) {
		return text
	}
	return "(" + text + ")"
}

// closing is where the parenthesis with which a text begins is closed.
func closing(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\'', '"', '`':
			i = afterQuote(text, i) - 1
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// extraText is the column Extra of SHOW COLUMNS.
func extraText(c *catalog.Column) string {
	var out []string
	switch {
	case c.AutoIncrement:
		out = append(out, "auto_increment")
	case c.Generated != "" && c.Virtual:
		return "VIRTUAL GENERATED"
	case c.Generated != "":
		return "STORED GENERATED"
	case strings.HasPrefix(c.Default, "(") || isNow(c.Default):
		out = append(out, "DEFAULT_GENERATED")
	}
	if c.OnUpdate != "" {
		out = append(out, "on update "+mysqlNow(c.OnUpdate))
	}
	return strings.Join(out, " ")
}

// formatter writes SHOW CREATE TABLE so that it restores. go-mysql-server's own (sql/parser.go, sql/rowexec/show_iters.go) writes the
// defaults of ENUM and SET as the numbers of their values, and nothing where there is none.
type formatter struct{ *sql.MySqlSchemaFormatter }

// GenerateCreateTableColumnDefinition implements sql.SchemaFormatter. given is the default, quoted where it has to be.
func (f formatter) GenerateCreateTableColumnDefinition(c *sql.Column, given, onUpdate string, table sql.CollationID) string {
	out := "  " + f.QuoteIdentifier(c.Name) + " " + typeText(c.Type, table)
	if c.Generated != nil {
		out += " GENERATED ALWAYS AS (" + generatedText(c.Generated) + ")"
		if c.Virtual {
			out += " VIRTUAL"
		} else {
			out += " STORED"
		}
	}
	switch {
	case !c.Nullable:
		out += " NOT NULL"
	case types.IsTimestampType(c.Type) && c.Generated == nil:
		out += " NULL"
	}
	out += f.defaultOf(c, given)
	if c.OnUpdate != nil {
		out += " ON UPDATE " + mysqlNow(onUpdate)
	}
	if c.AutoIncrement {
		out += " AUTO_INCREMENT"
	}
	if c.Comment != "" {
		out += " COMMENT " + quoteText(c.Comment)
	}
	return out
}

func (f formatter) defaultOf(c *sql.Column, given string) string {
	switch {
	case c.Generated != nil || c.AutoIncrement:
		return ""
	case c.Default == nil && c.Nullable && !types.IsTextBlob(c.Type):
		return " DEFAULT NULL"
	case c.Default == nil:
		return ""
	case !c.Default.IsLiteral():
		return " DEFAULT " + mysqlNow(given)
	}
	ctx := sql.NewEmptyContext()
	v, err := c.Default.Eval(ctx, nil)
	if err != nil {
		return " DEFAULT " + given
	}
	if v == nil || c.Default.String() == "NULL" {
		return " DEFAULT NULL"
	}
	text, err := valueText(ctx, c.Type, v)
	switch {
	case err != nil:
		return " DEFAULT " + given
	case types.IsBit(c.Type) || types.IsBinaryType(c.Type):
		return " DEFAULT " + text
	}
	return " DEFAULT " + quoteText(text)
}
