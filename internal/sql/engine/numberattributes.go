package engine

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/number"
)

// What go-mysql-server forgets of a number's type (sql/planbuilder/create_ddl.go): ZEROFILL, which makes it UNSIGNED, UNSIGNED of
// decimals and
// floating point numbers, and the digits of FLOAT(M,D). Statements of our own packages heed it: what is stored and how it is shown.

// Warnings 1681.
const (
	warnZerofill = "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD function to zero-pad numbers, or store the " +
		"formatted numbers in a CHAR column."
	warnWidth    = "Integer display width is deprecated and will be removed in a future release."
	warnDigits   = "Specifying number of digits for floating point data types is deprecated and will be removed in a future release."
	warnUnsigned = "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in a future release."
)

// zerofillWidths are how many digits the unsigned types have.
var zerofillWidths = map[string]int{"tinyint": 3, "smallint": 5, "mediumint": 8, "int": 10, "integer": 10, "bigint": 20}

// declaredOf is what the definition of a column says, and the warnings about it. It makes the type of an integer under ZEROFILL an
// unsigned one.
func declaredOf(t *sqlparser.ColumnType) (d catalog.Declared, warnings []string) {
	name := strings.ToLower(t.Type)
	number := func(v *sqlparser.SQLVal) int {
		if v == nil {
			return 0
		}
		n, _ := strconv.Atoi(string(v.Val))
		return n
	}
	width, integer := zerofillWidths[name]
	float := name == "float" || name == "double" || name == "real" || name == "float4" || name == "float8" || strings.HasPrefix(name, "double ")
	decimal := name == "decimal" || name == "numeric" || name == "dec" || name == "fixed"
	if !integer && !float && !decimal {
		return d, nil
	}
	d.Zerofill = bool(t.Zerofill)
	switch {
	case integer && d.Zerofill:
		t.Unsigned = true
		if d.Width = width; t.Length != nil {
			d.Width = number(t.Length)
		}
	case !integer:
		d.Unsigned = bool(t.Unsigned) || d.Zerofill
	}
	if float && t.Length != nil && t.Scale != nil {
		d.Fixed, d.Width, d.Digits = true, number(t.Length), number(t.Scale)
	}
	if d.Zerofill {
		warnings = append(warnings, warnZerofill)
	}
	switch {
	case integer && t.Length != nil && (name != "tinyint" || number(t.Length) != 1 || d.Zerofill || bool(t.Unsigned)):
		warnings = append(warnings, warnWidth)
	case d.Fixed:
		warnings = append(warnings, warnDigits)
	}
	if !integer && bool(t.Unsigned) && !d.Zerofill {
		warnings = append(warnings, warnUnsigned)
	}
	return d, warnings
}

// attributes notes what the definitions of columns say of numbers. stmt are the same ones, which go-mysql-server plans.
func (n *tableNotes) attributes(plain, stmt []*sqlparser.ColumnDefinition) {
	for i, c := range plain {
		d, warnings := declaredOf(&c.Type)
		n.declared[strings.ToLower(c.Name.String())] = d
		n.warnings = append(n.warnings, warnings...)
		if i < len(stmt) && bool(c.Type.Unsigned) {
			stmt[i].Type.Unsigned = true
		}
	}
}

// declaredOf is what the statement says of a column.
func (n *tableNotes) declaredOf(column string) catalog.Declared {
	return n.declared[strings.ToLower(column)]
}

// declaredType is a type with what its column is declared with.
func declaredType(t expr.Type, d catalog.Declared) expr.Type {
	t.Zerofill = d.Zerofill
	switch t.Kind() {
	case expr.KindInt, expr.KindUint:
		if d.Zerofill {
			t.Length = d.Width
		}
	case expr.KindDecimal:
		t.Unsigned = d.Unsigned
	case expr.KindFloat:
		t.Unsigned = d.Unsigned
		if d.Fixed {
			t.Length, t.Scale = d.Width, d.Digits
		}
	}
	return t
}

// declaredText is the text of a type with what its column is declared with.
func declaredText(text string, d *catalog.Column) string {
	if d == nil || d.Type.Declared == (catalog.Declared{}) {
		return text
	}
	a := d.Type.Declared
	name, _, _ := strings.Cut(text, " ")
	bare, _, _ := strings.Cut(name, "(")
	switch _, integer := zerofillWidths[bare]; {
	case integer:
		name = bare + "(" + strconv.Itoa(a.Width) + ") unsigned"
	default:
		if a.Fixed {
			name = bare + "(" + strconv.Itoa(a.Width) + "," + strconv.Itoa(a.Digits) + ")"
		}
		if a.Unsigned {
			name += " unsigned"
		}
	}
	if a.Zerofill {
		name += " zerofill"
	}
	return name
}

// declaredValue is a constant default as its column shows it. d may be nil.
func declaredValue(text string, d *catalog.Column) string {
	if d == nil || d.Type.Declared == (catalog.Declared{}) {
		return text
	}
	a, width := d.Type.Declared, d.Type.Declared.Width
	if a.Fixed {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			text = number.FormatFixed(f, a.Digits)
		}
	}
	if d.Type.Precision > 0 {
		if width = d.Type.Precision; d.Type.Scale > 0 {
			width++
		}
	}
	if n := width - len(text); a.Zerofill && n > 0 {
		text = strings.Repeat("0", n) + text
	}
	return text
}

// shownWidth is how wide a number is shown under ZEROFILL.
func shownWidth(t expr.Type) int {
	if t.Kind() == expr.KindDecimal && t.Scale > 0 {
		return t.Length + 1
	}
	return t.Length
}

// warnOfTypes gives the warnings about types, when the statement has succeeded.
func (n *tableNotes) warnOfTypes(s *Session) {
	for _, w := range n.warnings {
		s.Warn(&sql.Warning{Level: "Warning", Code: 1681, Message: w})
	}
}
