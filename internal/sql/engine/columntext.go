package engine

import (
	"fmt"
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
	out := ""
	switch t := t.(type) {
	case sql.EnumType:
		out, values = "enum(", t.Values()
	case sql.SetType:
		out, values = "set(", t.Values()
	default:
		out = c.StringWithTableCollation(c.Collation())
	}
	if values != nil {
		for i, v := range values {
			values[i] = quoteText(v)
		}
		out += strings.Join(values, ",") + ")"
	}
	if collationOf(t) != nil && c.Collation() != table {
		out += " CHARACTER SET " + c.Collation().CharacterSet().String() + " COLLATE " + c.Collation().String()
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
// there is none, or it is NULL. d is the catalog's description; nil: it is of no table of the catalog.
func defaultText(ctx *sql.Context, d *catalog.Column, c *sql.Column) (any, error) {
	if c.Default == nil || c.Generated != nil {
		return nil, nil
	}
	if d != nil && isExpression(d.Default) {
		return schemaText(d.Default), nil
	}
	if !c.Default.IsLiteral() {
		return mysqlNow(c.Default.String()), nil
	}
	v, err := c.Default.Eval(ctx, nil)
	if err != nil || v == nil || c.Default.String() == "NULL" { // of JSON it is a document
		return nil, err
	}
	text, err := valueText(ctx, c.Type, v)
	return declaredValue(text, d), err
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
		out = append(out, "VIRTUAL GENERATED")
	case c.Generated != "":
		out = append(out, "STORED GENERATED")
	case strings.HasPrefix(c.Default, "(") || isNow(c.Default):
		out = append(out, "DEFAULT_GENERATED")
	}
	if c.OnUpdate != "" {
		out = append(out, "on update "+mysqlNow(c.OnUpdate))
	}
	if c.Invisible {
		out = append(out, "INVISIBLE")
	}
	return strings.Join(out, " ")
}
