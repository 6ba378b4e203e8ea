package sqldiff

import "strings"

// Kind is what a value is, as far as functions care.
type Kind byte

const (
	anyKind  Kind = 'a'
	intKind  Kind = 'i'
	numKind  Kind = 'n' // integers, decimals, floating point
	decKind  Kind = 'm'
	dblKind  Kind = 'f'
	textKind Kind = 's'
	binKind  Kind = 'x'
	dateKind Kind = 'd' // DATE, DATETIME, TIMESTAMP
	timeKind Kind = 't'
	jsonKind Kind = 'j'
	boolKind Kind = 'b'
	smallInt Kind = 'k' // positions and lengths: small, so that no result is huge
)

// columnType is a type that columns are given, with values that it takes and that are at its edges.
type columnType struct {
	sql    string
	kind   Kind
	values []string
	noKey  bool // cannot be indexed as it is
	folds  bool // equal values may look different
}

var words = []string{"''", "'a'", "'A'", "'b'", "'B'", "'abc'", "'ABC'", "'é'", "'E'", "'e'", "'1'", "'0'", "'12abc'", "'x y'", "'zz'",
	"'<nil>'"}

var columnTypes = []columnType{
	{sql: "TINYINT", kind: intKind, values: []string{"0", "1", "-1", "2", "127", "-128"}},
	{sql: "TINYINT UNSIGNED", kind: intKind, values: []string{"0", "1", "2", "128", "255"}},
	{sql: "SMALLINT", kind: intKind, values: []string{"0", "1", "-1", "3", "32767", "-32768"}},
	{sql: "MEDIUMINT", kind: intKind, values: []string{"0", "1", "-1", "3", "8388607", "-8388608"}},
	{sql: "INT", kind: intKind, values: []string{"0", "1", "-1", "2", "3", "5", "7", "2147483647", "-2147483648"}},
	{sql: "INT", kind: intKind, values: []string{"0", "1", "2", "3", "4", "5"}},
	{sql: "INT UNSIGNED", kind: intKind, values: []string{"0", "1", "2", "3", "4294967295"}},
	{sql: "BIGINT", kind: intKind, values: []string{"0", "1", "-1", "2", "5", "9223372036854775807", "-9223372036854775808"}},
	{sql: "BIGINT UNSIGNED", kind: intKind, values: []string{"0", "1", "2", "5", "9223372036854775808", "18446744073709551615"}},
	{sql: "DECIMAL(8,2)", kind: decKind, values: []string{"0", "1.50", "-1.50", "2.50", "9.99", "1", "999999.99", "-999999.99"}},
	{sql: "DECIMAL(20,6)", kind: decKind, values: []string{"0", "0.000001", "-0.5", "1.5", "12345678901234.567891", "2"}},
	{sql: "DECIMAL(30,0)", kind: decKind, values: []string{"0", "1", "-7", "99999999999999999999", "18446744073709551616"}},
	{sql: "DOUBLE", kind: dblKind, values: []string{"0", "1", "1.5", "-2.5", "0.1", "1e20", "1e-7", "123456.789", "1.7976931348623157e308"}},
	{sql: "FLOAT", kind: dblKind, values: []string{"0", "1", "1.5", "-2.5", "0.25", "1024"}},
	{sql: "BIT(8)", kind: intKind, values: []string{"b'0'", "b'1'", "b'1010'", "255"}, noKey: true},
	{sql: "YEAR", kind: intKind, values: []string{"1901", "1999", "2000", "2024", "2155"}},
	{sql: "CHAR(5)", kind: textKind, values: append([]string{"'y '"}, words[:13]...), folds: true},
	{sql: "VARCHAR(20)", kind: textKind, values: append([]string{"'a '", "'ß'", "'ss'", "'日本'", "'😀'", "'2024-02-29'", "'10:11:12'", "'1e3'",
		"'-1.5'"}, words...), folds: true},
	{sql: "VARCHAR(20)", kind: textKind, values: words, folds: true},
	{sql: "VARCHAR(10) COLLATE utf8mb4_0900_as_cs", kind: textKind, values: words},
	{sql: "VARCHAR(10) COLLATE utf8mb4_general_ci", kind: textKind, values: append([]string{"'a '", "'ab\\t'"}, words...), folds: true},
	{sql: "VARCHAR(10) COLLATE utf8mb4_unicode_ci", kind: textKind, values: append([]string{"'a '"}, words...), folds: true},
	{sql: "VARCHAR(10) COLLATE utf8mb4_bin", kind: textKind, values: append([]string{"'a '"}, words...)},
	{sql: "VARCHAR(10) COLLATE utf8mb4_0900_bin", kind: textKind, values: append([]string{"'a '"}, words...)},
	{sql: "TEXT", kind: textKind, values: append([]string{"'a '"}, words...), noKey: true, folds: true},
	{sql: "VARBINARY(10)", kind: binKind, values: []string{"''", "'a'", "'A'", "x'00'", "x'00FF'", "'12'", "'a '"}},
	{sql: "BINARY(4)", kind: binKind, values: []string{"'a'", "'A'", "x'00FF'", "'1234'"}},
	{sql: "BLOB", kind: binKind, values: []string{"''", "'a'", "x'00FF'", "'xyz'"}, noKey: true},
	{sql: "ENUM('a','B','ccc','1')", kind: textKind, values: []string{"'a'", "'b'", "'ccc'", "'1'"}},
	{sql: "SET('x','y','zed')", kind: textKind, values: []string{"''", "'x'", "'x,zed'", "'y,x'"}},
	{sql: "DATE", kind: dateKind, values: []string{"'2024-02-29'", "'1970-01-01'", "'2023-12-31'", "'2024-01-01'", "'9999-12-31'",
		"'1000-01-01'"}},
	{sql: "DATETIME", kind: dateKind, values: []string{"'2024-02-29 10:11:12'", "'1970-01-01 00:00:00'", "'2023-12-31 23:59:59'",
		"'9999-12-31 23:59:59'", "'2024-02-29'"}},
	{sql: "DATETIME(6)", kind: dateKind, values: []string{"'2024-02-29 10:11:12.123456'", "'2023-12-31 23:59:59.999999'", "'2024-01-01'"}},
	{sql: "DATETIME(3)", kind: dateKind, values: []string{"'2024-02-29 10:11:12.123'", "'2023-12-31 23:59:59.999'", "'2024-01-01'"}},
	{sql: "TIMESTAMP", kind: dateKind, values: []string{"'2024-02-29 10:11:12'", "'1970-01-01 00:00:01'", "'2037-12-31 23:59:59'"}},
	{sql: "TIME(6)", kind: timeKind, values: []string{"'10:11:12'", "'-01:02:03'", "'838:59:59'", "'00:00:00'", "'23:59:59.999999'"}},
	{sql: "JSON", kind: jsonKind, values: []string{`'1'`, `'"a"'`, `'[1,2,"x"]'`, `'{"a":1,"b":[1,2]}'`, `'null'`, `'true'`, `'1.5'`, `'{}'`}, noKey: true},
}

// literals are constants by kind, those at edges among them.
var literals = map[Kind][]string{
	intKind: {"0", "1", "-1", "2", "3", "7", "10", "127", "128", "-128", "255", "32767", "2147483647", "2147483648", "-2147483648",
		"9223372036854775807",
		"-9223372036854775808", "9223372036854775808", "18446744073709551615", "20240229"},
	decKind: {"0.0", "0.5", "-0.5", "1.5", "2.5", "-2.5", "1.10", "123.456", "0.000001", "99999999999999999999.99", "-0.0",
		"12345678901234567890"},
	dblKind: {"0e0", "1e0", "1.5e0", "-2.5e0", "1e20", "-1e20", "1e-7", "0.1e0", "1.7976931348623157e308"},
	textKind: {"''", "' '", "'a'", "'A'", "'b'", "'abc'", "'ABC'", "'a '", "'é'", "'E'", "'ß'", "'ss'", "'0'", "'1'", "'-1'", "'1.5'",
		"'12abc'", "'1e3'", "' 7 '",
		"'<nil>'", "'%'", "'a%'", "'_b'", "'日本'", "'😀'", "'2024-02-29'", "'2024-02-30'", "'10:11:12'", "'2024-02-29 10:11:12.5'", "'a,b,c'",
		"'2.5'", "'0000-00-00'", "'24-2-9'", "'839:00:00'"},
	binKind: {"x'41'", "x'00FF'", "_binary'a'", "x''", "_binary'12'"},
	dateKind: {"DATE'2024-02-29'", "DATE'1970-01-01'", "DATE'2024-12-31'", "DATE'1000-01-01'", "DATE'9999-12-31'",
		"TIMESTAMP'2024-02-29 10:11:12'", "TIMESTAMP'1999-12-31 23:59:59.999999'", "TIMESTAMP'2024-03-31 02:30:00'"},
	timeKind: {"TIME'10:11:12'", "TIME'00:00:00'", "TIME'-01:02:03'", "TIME'838:59:59'", "TIME'23:59:59.999999'", "TIME'12:00:00.5'"},
	jsonKind: {`CAST('1' AS JSON)`, `CAST('"a"' AS JSON)`, `CAST('[1,2,"x"]' AS JSON)`, `CAST('{"a":1,"b":[1,2]}' AS JSON)`, `CAST('null' AS JSON)`, `CAST('true' AS JSON)`},
	boolKind: {"TRUE", "FALSE", "1", "0"},
	smallInt: {"0", "1", "2", "3", "5", "-1", "-2", "10"},
}

// simplest are the atoms that the reducer tries in the place of others, simplest first.
var simplest = []string{"1", "'a'", "NULL", "0", "''", "1.5", "'1'", "DATE'2024-02-29'", "TIME'10:11:12'"}

// rank says how simple an atom is; less is simpler.
func rank(text string) int {
	for i, s := range simplest {
		if s == text {
			return i
		}
	}
	return len(simplest)
}

// shapeOf gives the class of an atom for fingerprints: <int>, <text>, <column type> and so on.
func shapeOf(text string, columns map[string]string) string {
	bare := text
	if i := strings.LastIndexByte(bare, '.'); i > 0 && !strings.ContainsAny(bare[:1], "0123456789-'") {
		bare = bare[i+1:]
	}
	if t, ok := columns[bare]; ok {
		return "<" + t + ">"
	}
	switch {
	case text == "NULL" || text == "TRUE" || text == "FALSE" || text == "DEFAULT" || text == "*":
		return text
	case text == "''":
		return "''"
	case strings.HasPrefix(text, "'"):
		return "'…'"
	case strings.HasPrefix(text, "x'"), strings.HasPrefix(text, "_binary"), strings.HasPrefix(text, "b'"):
		return "x'…'"
	case strings.HasPrefix(text, "DATE'"):
		return "DATE'…'"
	case strings.HasPrefix(text, "TIMESTAMP'"):
		return "TIMESTAMP'…'"
	case strings.HasPrefix(text, "TIME'"):
		return "TIME'…'"
	case strings.HasPrefix(text, "CAST("):
		return "<json>"
	case strings.ContainsAny(text, "eE") && strings.Trim(text, "-0123456789.eE") == "":
		return "#e"
	case strings.Contains(text, ".") && strings.Trim(text, "-0123456789.") == "":
		return "#.#"
	case strings.Trim(text, "-0123456789") == "":
		return "#"
	}
	return text
}
