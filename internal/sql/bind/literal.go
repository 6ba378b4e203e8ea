package bind

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// literal is a literal, or a parameter.
func (b *binder) literal(v *sqlparser.SQLVal) (expr.Node, error) {
	switch v.Type {
	case sqlparser.StrVal:
		return b.textLiteral(string(v.Val), b.connectionCollation()), nil
	case sqlparser.IntVal:
		return integer(string(v.Val))
	case sqlparser.FloatVal:
		return fraction(string(v.Val))
	case sqlparser.HexNum:
		return hexLiteral(strings.TrimPrefix(strings.TrimPrefix(string(v.Val), "0x"), "0X"))
	case sqlparser.HexVal:
		return hexLiteral(string(v.Val))
	case sqlparser.BitVal:
		return bitLiteral(string(v.Val))
	case sqlparser.ValArg:
		return b.parameter(strings.TrimPrefix(string(v.Val), ":"))
	}
	return nil, unsupported("a literal of type %d", v.Type)
}

// parameter is the value of a parameter; one that is not known yet, while the statement is prepared, is NULL.
func (b *binder) parameter(name string) (expr.Node, error) {
	n, err := b.h.Parameter(name)
	if err != nil || n != nil {
		return n, err
	}
	return &expr.Lit{T: expr.TNull}, nil
}

func (b *binder) connectionCollation() uint16 {
	if b.set.Env != nil && b.set.Env.Collation != 0 {
		return b.set.Env.Collation
	}
	return expr.DefaultCollation
}

func (b *binder) textLiteral(s string, collation uint16) *expr.Lit {
	t := expr.TText(utf8.RuneCountInString(s), collation, expr.Coercible)
	t.Name = expr.Varchar
	return &expr.Lit{V: expr.Text(s).From(expr.Written), T: t}
}

// literalInt is the number of an integer literal, 0 if it is beyond BIGINT.
func literalInt(v *sqlparser.SQLVal) int64 {
	n, _ := strconv.ParseInt(string(v.Val), 10, 64)
	return n
}

// integer is a whole number: a BIGINT if it fits, else a BIGINT UNSIGNED, else a DECIMAL.
func integer(s string) (expr.Node, error) {
	t := expr.TInt
	t.Length = len(strings.TrimPrefix(s, "-")) + 1
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return &expr.Lit{V: expr.Int(n), T: t}, nil
	}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		t.Unsigned, t.Length = true, len(s)
		return &expr.Lit{V: expr.Uint(n), T: t}, nil
	}
	return decimal(s)
}

// fraction is a number with a point, which is exact, or with an exponent, which is a DOUBLE.
func fraction(s string) (expr.Node, error) {
	if !strings.ContainsAny(s, "eE") {
		return decimal(s)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, expr.Errorf(1367, "22007", "Illegal double '%s' value found during parsing", s)
	}
	return &expr.Lit{V: expr.LiteralFloat(f), T: expr.TFloat}, nil
}

// decimal is an exact number. One that is longer than a DECIMAL may be is cut as MySQL cuts it.
func decimal(s string) (expr.Node, error) {
	d, _, err := apd.NewFromString(s)
	if err != nil {
		return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near '%s'", s)
	}
	scale := max(0, int(-d.Exponent))
	precision := len(strings.Trim(s, "+-")) // with the zeros before the point
	if strings.Contains(s, ".") {
		precision--
	}
	t := expr.TDecimal(precision, scale)
	if precision > 65 || scale > 30 {
		text := &expr.Lit{V: expr.Text(s), T: expr.TText(len(s), expr.DefaultCollation, expr.Coercible)}
		whole := max(precision-scale, 1)
		scale = min(scale, 30, max(65-whole, 0))
		c, err := expr.Build("cast", s, expr.TDecimal(min(whole+scale, 65), scale), text)
		if err != nil {
			return nil, err
		}
		v, err := c.Eval(&expr.Env{})
		if err != nil {
			return nil, err
		}
		return &expr.Lit{V: v, T: c.T}, nil
	}
	return &expr.Lit{V: expr.Decimal(d), T: t}, nil
}

// negative is a literal number with a minus before it; nil: the literal is no number.
func (b *binder) negative(v *sqlparser.SQLVal) (expr.Node, error) {
	switch v.Type {
	case sqlparser.IntVal:
		if s := string(v.Val); s != "" && s[0] != '-' {
			return integer("-" + s)
		}
	case sqlparser.FloatVal:
		if s := string(v.Val); s != "" && s[0] != '-' {
			return fraction("-" + s)
		}
	}
	return nil, nil
}

// hexLiteral is X'41' or 0x41: a binary string that is a number where one is needed.
func hexLiteral(s string) (expr.Node, error) {
	if len(s)%2 == 1 {
		s = "0" + s
	}
	raw, err := hex.DecodeString(s)
	if err != nil {
		return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near '%s'", s)
	}
	return bits(string(raw)), nil
}

// bitLiteral is b'0101'.
func bitLiteral(s string) (expr.Node, error) {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "0b"), "0B")
	for len(s)%8 != 0 {
		s = "0" + s
	}
	raw := make([]byte, 0, len(s)/8)
	for i := 0; i < len(s); i += 8 {
		n, err := strconv.ParseUint(s[i:i+8], 2, 8)
		if err != nil {
			return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near '%s'", s)
		}
		raw = append(raw, byte(n))
	}
	return bits(string(raw)), nil
}

func bits(s string) *expr.Lit {
	var n uint64
	for i := range len(s) {
		n = n<<8 | uint64(s[i])
	}
	return &expr.Lit{V: expr.Bit(s, n), T: expr.TBytes(len(s))}
}

// introduced is a text with a character set before it: _utf8mb4'x'.
func (b *binder) introduced(charset string, e sqlparser.Expr) (expr.Node, error) {
	v, ok := inParens(e).(*sqlparser.SQLVal)
	if !ok {
		return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near '_%s'", charset)
	}
	n, err := b.literal(v)
	if err != nil {
		return nil, err
	}
	l, ok := n.(*expr.Lit)
	if !ok || v.Type != sqlparser.StrVal && v.Type != sqlparser.HexNum && v.Type != sqlparser.HexVal && v.Type != sqlparser.BitVal {
		return nil, unsupported("_%s before %T", charset, n)
	}
	s := l.V.RawText()
	if charset == "binary" {
		return &expr.Lit{V: expr.Bytes(s).From(expr.Written), T: expr.TBytes(len(s))}, nil
	}
	id, err := b.h.CharacterSet(charset)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(charset, "utf8") && !isASCII(s) || charset == "ucs2" || strings.HasPrefix(charset, "utf16") || charset == "utf32" {
		return nil, unsupported("a text in %s", charset)
	}
	if !utf8.ValidString(s) {
		return nil, expr.Errorf(1300, "HY000", "Invalid %s character string: '%s'", charset, strings.ToUpper(hex.EncodeToString([]byte(s))))
	}
	return b.textLiteral(s, id), nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
