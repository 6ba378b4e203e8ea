// Package sqltext writes expressions as MySQL keeps them with a table: in CHECK constraints, generated columns, defaults and functional
// index parts. SHOW CREATE TABLE and information_schema show this text, and tools compare it with what they would declare.
//
//	written                      kept
//	LCASE(a), a MOD 3            lower(`a`), (`a` % 3)
//	a = 'x' AND b                ((`a` = _utf8mb4'x') and (0 <> `b`))
//	CAST(a AS CHAR(10))          cast(`a` as char(10) charset utf8mb4)
//
// Names are quoted and lose their table; a text is given its character set, so that the expression means the same in every session.
package sqltext

import (
	"fmt"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Options say what the session decides, and what the table.
type Options struct {
	// Charset is the character set of the connection, which texts and CAST AS CHAR have.
	Charset string
	// Column is the name of a column as the table has it; nil: names stay as they are written.
	Column func(name string) string
}

// Expr is the text of an expression as package bind takes it (operators are operators, typed literals are calls). An error: it has
// what no table can keep, a subquery or a variable.
func Expr(e sqlparser.Expr, o Options) (string, error) {
	w := &writer{o: o}
	if w.o.Charset == "" {
		w.o.Charset = "utf8mb4"
	}
	w.expr(e)
	return w.out.String(), w.err
}

type writer struct {
	o   Options
	out strings.Builder
	err error
}

func (w *writer) put(texts ...string) {
	for _, t := range texts {
		w.out.WriteString(t)
	}
}

func (w *writer) fail(e sqlparser.Expr) {
	if w.err == nil {
		w.err = fmt.Errorf("an expression of a table cannot have %s", sqlparser.String(e))
	}
}

// Quote is a name in backquotes.
func Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// inParens takes the parentheses off that an expression was written with.
func inParens(e sqlparser.Expr) sqlparser.Expr {
	for {
		switch p := e.(type) {
		case *sqlparser.ParenExpr:
			e = p.Expr
		case sqlparser.ValTuple:
			if len(p) != 1 {
				return e
			}
			e = p[0]
		default:
			return e
		}
	}
}

// expr writes an expression.
func (w *writer) expr(e sqlparser.Expr) {
	switch e := inParens(e).(type) {
	case *sqlparser.ColName:
		w.column(e)
	case *sqlparser.SQLVal:
		w.literal(e)
	case *sqlparser.NullVal:
		w.put("NULL")
	case sqlparser.BoolVal:
		w.put(map[bool]string{true: "true", false: "false"}[bool(e)])
	case *sqlparser.AndExpr, *sqlparser.OrExpr, *sqlparser.XorExpr, *sqlparser.NotExpr, *sqlparser.ComparisonExpr, *sqlparser.IsExpr, *sqlparser.RangeCond:
		w.condition(e, false)
	case *sqlparser.BinaryExpr:
		w.binary(e)
	case *sqlparser.UnaryExpr:
		w.unary(e)
	case *sqlparser.CaseExpr:
		w.caseExpr(e)
	case sqlparser.ValTuple:
		w.list("(", []sqlparser.Expr(e)...)
	case *sqlparser.CollateExpr:
		w.put("(")
		w.expr(e.Expr)
		w.put(" collate ", strings.ToLower(e.Collation), ")")
	case *sqlparser.FuncExpr:
		w.call(e)
	default:
		w.special(e)
	}
}

func (w *writer) column(e *sqlparser.ColName) {
	name := e.Name.String()
	if strings.HasPrefix(name, "@") {
		w.fail(e)
		return
	}
	if w.o.Column != nil {
		name = w.o.Column(name)
	}
	w.put(Quote(name))
}

var escapes = strings.NewReplacer("\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`, `\`, `\\`, "'", `\'`)

func (w *writer) literal(v *sqlparser.SQLVal) {
	text := string(v.Val)
	switch v.Type {
	case sqlparser.StrVal:
		w.text("_"+w.o.Charset, text)
	case sqlparser.HexVal:
		w.put("0x", strings.ToUpper(evenDigits(text)))
	case sqlparser.HexNum:
		w.put("0x", strings.ToUpper(evenDigits(text[2:])))
	case sqlparser.BitVal:
		w.put("0x", bytesOfBits(text))
	case sqlparser.ValArg:
		w.fail(v)
	case sqlparser.IntVal, sqlparser.FloatVal:
		digits, negative := strings.CutPrefix(text, "-")
		if strings.HasPrefix(digits, ".") {
			digits = "0" + digits
		}
		if negative {
			digits = "-(" + digits + ")"
		}
		w.put(digits)
	default:
		w.put(text)
	}
}

func (w *writer) text(introducer, text string) { w.put(introducer, "'", escapes.Replace(text), "'") }

func evenDigits(hex string) string {
	if len(hex)%2 == 1 {
		return "0" + hex
	}
	return hex
}

// bytesOfBits is a bit literal in hexadecimal digits.
func bytesOfBits(bits string) string {
	bits = strings.TrimPrefix(strings.TrimPrefix(bits, "0b"), "0B")
	var out strings.Builder
	for len(bits)%8 != 0 {
		bits = "0" + bits
	}
	for ; len(bits) > 0; bits = bits[8:] {
		n := 0
		for _, b := range bits[:8] {
			n = n<<1 | int(b-'0')
		}
		fmt.Fprintf(&out, "%02X", n)
	}
	return out.String()
}

// list writes expressions with commas between them, and ")" behind.
func (w *writer) list(before string, es ...sqlparser.Expr) {
	w.put(before)
	for i, e := range es {
		if i > 0 {
			w.put(",")
		}
		w.expr(e)
	}
	w.put(")")
}

func (w *writer) between(left sqlparser.Expr, op string, right sqlparser.Expr) {
	w.put("(")
	w.expr(left)
	w.put(" ", op, " ")
	w.expr(right)
	w.put(")")
}

var operators = map[string]string{"div": "DIV", "mod": "%"}

func (w *writer) binary(e *sqlparser.BinaryExpr) {
	op := strings.ToLower(e.Operator)
	switch {
	case op == sqlparser.JSONExtractOp:
		w.list("json_extract(", e.Left, e.Right)
		return
	case op == sqlparser.JSONUnquoteExtractOp:
		w.list("json_unquote(json_extract(", e.Left, e.Right)
		w.put(")")
		return
	}
	if i, ok := e.Right.(*sqlparser.IntervalExpr); ok && (op == "+" || op == "-") {
		w.interval(e.Left, op, i.Expr, i.Unit)
		return
	}
	if i, ok := e.Left.(*sqlparser.IntervalExpr); ok && op == "+" {
		w.interval(e.Right, op, i.Expr, i.Unit)
		return
	}
	if o := operators[op]; o != "" {
		op = o
	}
	w.between(e.Left, op, e.Right)
}

func (w *writer) interval(of sqlparser.Expr, op string, by sqlparser.Expr, unit string) {
	w.put("(")
	w.expr(of)
	w.put(" ", op, " interval ")
	w.expr(by)
	w.put(" ", strings.ToLower(unit), ")")
}

func (w *writer) unary(e *sqlparser.UnaryExpr) {
	switch e.Operator {
	case sqlparser.UPlusStr:
		w.expr(e.Expr)
	case sqlparser.UMinusStr:
		w.list("-(", e.Expr)
	case sqlparser.TildaStr:
		w.list("~(", e.Expr)
	case sqlparser.BangStr:
		w.condition(&sqlparser.NotExpr{Expr: e.Expr}, false)
	case sqlparser.BinaryStr:
		w.put("cast(")
		w.expr(e.Expr)
		w.put(" as char charset binary)")
	default:
		set := strings.ToLower(strings.TrimSpace(e.Operator))
		v, ok := e.Expr.(*sqlparser.SQLVal)
		if !ok || !strings.HasPrefix(set, "_") {
			w.fail(e)
			return
		}
		if v.Type == sqlparser.StrVal {
			w.text(set, string(v.Val))
			return
		}
		w.put(set, " ")
		w.literal(v)
	}
}

func (w *writer) caseExpr(e *sqlparser.CaseExpr) {
	w.put("(case ")
	if e.Expr != nil {
		w.expr(e.Expr)
		w.put(" ")
	}
	for _, c := range e.Whens {
		w.put("when ")
		w.expr(c.Cond)
		w.put(" then ")
		w.expr(c.Val)
		w.put(" ")
	}
	if e.Else != nil {
		w.put("else ")
		w.expr(e.Else)
		w.put(" ")
	}
	w.put("end)")
}
