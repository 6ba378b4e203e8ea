package expr

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/number"
)

// Literals of the tests, as an adapter makes them.

func numInt(n int64) Node   { return &Lit{V: Int(n), T: TInt} }
func numUint(n uint64) Node { return &Lit{V: Uint(n), T: TUint} }
func numFloat(f float64) Node {
	return &Lit{V: Float(f), T: TFloat}
}
func numText(s string) Node {
	return &Lit{V: Text(s), T: TText(len(s), DefaultCollation, Coercible)}
}
func numBytes(s string) Node { return &Lit{V: Bytes(s), T: TBytes(len(s))} }
func numHex(s string) Node {
	i, _ := number.FromBinary([]byte(s))
	return &Lit{V: Bit(s, i.Bits), T: TBytes(len(s))}
}
func numDec(s string) Node {
	d, _ := number.ParseDecimal(s)
	return &Lit{V: Decimal(d), T: TDecimal(number.Precision(d), number.Scale(d))}
}

var numNull = &Lit{V: Null, T: TNull}

// strictEnv is a session with MySQL 8's default sql_mode.
func strictEnv() *Env {
	return &Env{Mode: StrictTables | NoZeroDate | NoZeroInDate | ErrorForDivisionByZero, MaxPacket: 64 << 20, DivPrecision: 4}
}

// typeName is a type as the tests write it.
func typeName(t Type) string {
	name := map[Name]string{BigInt: "bigint", DoubleType: "double", FloatType: "float", DecimalType: "decimal", Varchar: "text", TextType: "text",
		Varbinary: "bytes", Blob: "bytes", NullType: "null", IntType: "int", TinyInt: "tinyint"}[t.Name]
	if t.Unsigned {
		name += " unsigned"
	}
	if t.Name == DecimalType {
		name += fmt.Sprintf("(%d,%d)", t.Length, t.Scale)
	}
	return name
}

// outcome is what an expression gives: its text, NULL, or the code of an error with its message.
func outcome(env *Env, n Node, err error) string {
	var v Value
	if err == nil {
		v, err = n.Eval(env)
	}
	if err != nil {
		e, ok := err.(*Error)
		if !ok {
			return "unexpected error: " + err.Error()
		}
		return fmt.Sprintf("%d %s", e.Code, e.Message)
	}
	if v.IsNull() {
		return "NULL"
	}
	if k := n.Type().Kind(); v.Kind() != k {
		return fmt.Sprintf("a value of kind %d where the type says %d", v.Kind(), k) // X2
	}
	s, err := ToText(env, v)
	if err != nil {
		return err.Error()
	}
	return s
}

type numericCase struct {
	name string
	args []Node
	typ  string // may be empty
	want string
	warn string // codes and texts, joined by "; "
}

func runNumeric(t *testing.T, cases []numericCase) {
	t.Helper()
	for _, c := range cases {
		env := strictEnv()
		var warned []string
		env.Warn = func(code uint16, m string) { warned = append(warned, fmt.Sprintf("%d %s", code, m)) }
		var parts []string
		for _, a := range c.args {
			v, _ := a.Eval(env)
			s, _ := ToText(env, v)
			if v.IsNull() {
				s = "NULL"
			}
			parts = append(parts, s)
		}
		text := c.name + "(" + strings.Join(parts, ",") + ")"
		n, err := Build(c.name, text, nil, c.args...)
		got := outcome(env, n, err)
		if got != c.want {
			t.Errorf("%s: got %s, want %s", text, got, c.want)
		}
		if err == nil && c.typ != "" && typeName(n.T) != c.typ {
			t.Errorf("%s: type %s, want %s", text, typeName(n.T), c.typ)
		}
		if w := strings.Join(warned, "; "); w != c.warn {
			t.Errorf("%s: warnings %q, want %q", text, w, c.warn)
		}
	}
}

func nodes(ns ...Node) []Node { return ns }

func TestArithmetic(t *testing.T) {
	top, low := numInt(math.MaxInt64), numInt(math.MinInt64)
	all := numUint(math.MaxUint64)
	const zero = "1365 Division by 0"
	runNumeric(t, []numericCase{
		{"+", nodes(numInt(1), numInt(2)), "bigint", "3", ""},
		{"+", nodes(top, numInt(1)), "bigint", "1690 BIGINT value is out of range in '+(9223372036854775807,1)'", ""},
		{"-", nodes(low, numInt(1)), "", "1690 BIGINT value is out of range in '-(-9223372036854775808,1)'", ""},
		{"*", nodes(top, numInt(2)), "", "1690 BIGINT value is out of range in '*(9223372036854775807,2)'", ""},
		{"+", nodes(all, numInt(0)), "bigint unsigned", "18446744073709551615", ""},
		{"-", nodes(all, numInt(1)), "bigint unsigned", "18446744073709551614", ""},
		{"+", nodes(all, numInt(1)), "", "1690 BIGINT UNSIGNED value is out of range in '+(18446744073709551615,1)'", ""},
		{"-", nodes(numInt(1), numUint(2)), "", "1690 BIGINT UNSIGNED value is out of range in '-(1,2)'", ""},
		{"+", nodes(numUint(5), numInt(-3)), "bigint unsigned", "2", ""},
		{"+", nodes(numNull, numInt(1)), "", "NULL", ""},
		{"+", nodes(numDec("1.50"), numInt(1)), "decimal(22,2)", "2.50", ""},
		{"*", nodes(numDec("1.5"), numDec("2.25")), "decimal(5,3)", "3.375", ""},
		{"+", nodes(numText("12abc"), numInt(1)), "double", "13", "1292 Truncated incorrect DOUBLE value: '12abc'"},
		{"+", nodes(numText(""), numInt(1)), "double", "1", ""},
		{"+", nodes(numHex("A"), numInt(0)), "bigint unsigned", "65", ""},
		{"+", nodes(numFloat(.1), numFloat(.2)), "double", "0.30000000000000004", ""},
		{"*", nodes(numFloat(1e308), numInt(10)), "", "1690 DOUBLE value is out of range in '*(1e308,10)'", ""},
		{"/", nodes(numInt(1), numInt(3)), "decimal(23,4)", "0.3333", ""},
		{"/", nodes(numInt(2), numInt(3)), "", "0.6667", ""},
		{"/", nodes(numDec("1.00"), numDec("3.00")), "decimal(9,6)", "0.333333", ""},
		{"/", nodes(numInt(1), numInt(0)), "", "NULL", zero},
		{"/", nodes(numFloat(1), numFloat(0)), "double", "NULL", zero},
		{"%", nodes(numInt(-7), numInt(3)), "bigint", "-1", ""},
		{"%", nodes(numInt(7), numUint(3)), "bigint", "1", ""},
		{"%", nodes(numDec("5.50"), numInt(3)), "", "2.50", ""},
		{"%", nodes(numFloat(7.5), numInt(2)), "double", "1.5", ""},
		{"mod", nodes(numInt(1), numInt(0)), "", "NULL", zero},
		{"mod", nodes(low, numInt(-1)), "", "0", ""},
		{"div", nodes(numInt(-7), numInt(2)), "bigint", "-3", ""},
		{"div", nodes(numDec("5.5"), numDec("0.3")), "bigint", "18", ""},
		{"div", nodes(low, numInt(-1)), "", "1690 BIGINT value is out of range in 'div(-9223372036854775808,-1)'", ""},
		{"div", nodes(numInt(1), numInt(0)), "", "NULL", zero},
		{"div", nodes(numInt(-5), numUint(2)), "bigint unsigned", "1690 BIGINT UNSIGNED value is out of range in 'div(-5,2)'", ""},
		{"neg", nodes(numInt(5)), "bigint", "-5", ""},
		{"neg", nodes(numUint(1 << 63)), "bigint", "-9223372036854775808", ""},
		{"neg", nodes(all), "decimal(20,0)", "-18446744073709551615", ""},
		{"neg", nodes(low), "decimal(19,0)", "9223372036854775808", ""},
		{"neg", nodes(numDec("0.00")), "", "0.00", ""},
		{"neg", nodes(numText("1.5")), "double", "-1.5", ""},
	})
}

// TestQuotientsAreRounded: MySQL 9 calculates on with the digits of 1/3 that it shows, 0.3333.
func TestQuotientsAreRounded(t *testing.T) {
	q, err := Build("/", "(1 / 3)", nil, numInt(1), numInt(3))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Build("*", "((1 / 3) * 3)", nil, q, numInt(3))
	if got := outcome(strictEnv(), p, err); got != "0.9999" {
		t.Errorf("1/3*3 = %s, want 0.9999", got)
	}
	s, err := Build("/", "(1 / 3)", ArithForm{DivPrecision: 10}, numInt(1), numInt(3))
	if got := outcome(strictEnv(), s, err); got != "0.3333333333" {
		t.Errorf("1/3 with div_precision_increment 10 = %s", got)
	}
	d, err := Build("-", "(1 - 2)", ArithForm{DivPrecision: 4, SignedDifference: true}, numInt(1), numUint(2))
	if got := outcome(strictEnv(), d, err); got != "-1" {
		t.Errorf("1 - CAST(2 AS UNSIGNED) under NO_UNSIGNED_SUBTRACTION = %s, want -1", got)
	}
}

func TestDivisionByZeroFailsWhatIsStored(t *testing.T) {
	env := strictEnv()
	env.Change = true
	n, err := Build("/", "(1 / 0)", nil, numInt(1), numInt(0))
	if got := outcome(env, n, err); got != "1365 Division by 0" {
		t.Errorf("in strict mode while storing: %s, want error 1365", got)
	}
	env.Ignore = true
	if got := outcome(env, n, err); got != "NULL" {
		t.Errorf("with IGNORE: %s, want NULL", got)
	}
}

func TestBitOperators(t *testing.T) {
	runNumeric(t, []numericCase{
		{"|", nodes(numInt(1), numInt(-1)), "bigint unsigned", "18446744073709551615", ""},
		{"&", nodes(numInt(6), numInt(3)), "", "2", ""},
		{"^", nodes(numInt(6), numInt(3)), "", "5", ""},
		{"~", nodes(numInt(1)), "bigint unsigned", "18446744073709551614", ""},
		{"<<", nodes(numInt(1), numInt(63)), "", "9223372036854775808", ""},
		{"<<", nodes(numInt(1), numInt(64)), "", "0", ""},
		{"<<", nodes(numInt(1), numInt(-1)), "", "0", ""},
		{">>", nodes(numInt(-1), numInt(1)), "", "9223372036854775807", ""},
		{"|", nodes(numText("5"), numInt(2)), "", "7", ""},
		{"|", nodes(numDec("2.5"), numInt(0)), "", "3", ""},
		{"|", nodes(numHex("\x0f"), numHex("\xf0")), "bigint unsigned", "255", ""},
		{"|", nodes(numBytes("\x0f"), numHex("\xf0")), "bytes", "\xff", ""},
		{"&", nodes(numBytes("ab"), numBytes("a")), "", "3513 Binary operands of bitwise operators must be of equal length", ""},
		{"~", nodes(numBytes("\x00\xff")), "bytes", "\xff\x00", ""},
		{"<<", nodes(numBytes("\x01\x81"), numInt(1)), "bytes", "\x03\x02", ""},
		{"<<", nodes(numBytes("\x01\x81"), numInt(9)), "", "\x02\x00", ""},
		{">>", nodes(numBytes("\x01\x81"), numInt(1)), "", "\x00\xc0", ""},
		{">>", nodes(numBytes("\x01\x81"), numInt(16)), "", "\x00\x00", ""},
		{"bit_count", nodes(numInt(-1)), "bigint", "64", ""},
		{"bit_count", nodes(numBytes("\xff\x01")), "", "9", ""},
		{"&", nodes(numInt(3), numNull), "", "NULL", ""},
	})
}

func TestNumericFunctions(t *testing.T) {
	log := "3020 Invalid argument for logarithm"
	runNumeric(t, []numericCase{
		{"abs", nodes(numInt(-5)), "bigint", "5", ""},
		{"abs", nodes(numInt(math.MinInt64)), "", "1690 BIGINT value is out of range in 'abs(-9223372036854775808)'", ""},
		{"abs", nodes(numDec("-1.50")), "decimal(3,2)", "1.50", ""},
		{"abs", nodes(numText("-2x")), "double", "2", "1292 Truncated incorrect DOUBLE value: '-2x'"},
		{"floor", nodes(numDec("-1.5")), "bigint", "-2", ""},
		{"ceil", nodes(numDec("-1.5")), "bigint", "-1", ""},
		{"ceiling", nodes(numDec("1234567890123456789012.5")), "decimal(23,0)", "1234567890123456789013", ""},
		{"floor", nodes(numUint(math.MaxUint64)), "bigint unsigned", "18446744073709551615", ""},
		{"floor", nodes(numFloat(1.9)), "double", "1", ""},
		{"round", nodes(numDec("2.5")), "decimal(2,0)", "3", ""},
		{"round", nodes(numDec("-2.5")), "", "-3", ""},
		{"round", nodes(numFloat(2.5)), "double", "2", ""},
		{"round", nodes(numFloat(1.5), numInt(2)), "double", "1.5", ""},
		{"round", nodes(numDec("1.298"), numInt(1)), "decimal(3,1)", "1.3", ""},
		{"round", nodes(numDec("15.5"), numInt(-1)), "", "20", ""},
		{"round", nodes(numInt(25), numInt(-1)), "bigint", "30", ""},
		{"round", nodes(numUint(math.MaxUint64)), "bigint unsigned", "18446744073709551615", ""},
		{"round", nodes(numUint(math.MaxUint64), numInt(-1)), "", "1690 BIGINT UNSIGNED value is out of range in 'round(18446744073709551615,-1)'", ""},
		{"round", nodes(numDec("1.5"), numUint(math.MaxUint64)), "", "1.5", ""},
		{"round", nodes(numInt(1), numNull), "", "NULL", ""},
		{"truncate", nodes(numDec("1.999"), numInt(1)), "decimal(2,1)", "1.9", ""},
		{"truncate", nodes(numFloat(-1.999), numInt(2)), "", "-1.99", ""},
		{"truncate", nodes(numInt(199), numInt(-2)), "", "100", ""},
		{"sign", nodes(numDec("-3.2")), "bigint", "-1", ""},
		{"sign", nodes(numText("0")), "", "0", ""},
		{"pow", nodes(numInt(2), numInt(-1)), "double", "0.5", ""},
		{"pow", nodes(numInt(10), numInt(400)), "", "1690 DOUBLE value is out of range in 'pow(10,400)'", ""},
		{"pow", nodes(numInt(0), numInt(-1)), "", "1690 DOUBLE value is out of range in 'pow(0,-1)'", ""},
		{"exp", nodes(numInt(1000)), "", "1690 DOUBLE value is out of range in 'exp(1000)'", ""},
		{"exp", nodes(numInt(1)), "", "2.718281828459045", ""},
		{"sqrt", nodes(numInt(-1)), "", "NULL", ""},
		{"sqrt", nodes(numInt(2)), "", "1.4142135623730951", ""},
		{"ln", nodes(numInt(0)), "", "NULL", log},
		{"log", nodes(numInt(2), numInt(8)), "", "3", ""},
		{"log", nodes(numInt(1), numInt(8)), "", "NULL", log},
		{"log10", nodes(numInt(100)), "", "2", ""},
		{"log2", nodes(numInt(8)), "", "3", ""},
		{"acos", nodes(numFloat(1.1)), "", "NULL", ""},
		{"atan", nodes(numInt(1), numInt(1)), "", "0.7853981633974483", ""},
		{"cot", nodes(numInt(0)), "", "1690 DOUBLE value is out of range in 'cot(0)'", ""},
		{"degrees", nodes(numFloat(math.Pi)), "", "180", ""},
		{"pi", nil, "double", "3.141593", ""},
		{"crc32", nodes(numText("MySQL")), "bigint unsigned", "3259397556", ""},
		{"conv", nodes(numText("6E"), numInt(18), numInt(8)), "text", "172", ""},
		{"conv", nodes(numInt(-17), numInt(10), numInt(-18)), "", "-H", ""},
		{"conv", nodes(numInt(5), numInt(1), numInt(2)), "", "NULL", ""},
		{"greatest", nodes(numInt(1), numDec("2.5")), "decimal(20,1)", "2.5", ""},
		{"least", nodes(numInt(1), numNull), "", "NULL", ""},
		{"greatest", nodes(numText("10"), numInt(9)), "text", "9", ""}, // as texts in MySQL 8; MariaDB says 10
		{"least", nodes(numFloat(1.5), numInt(2)), "double", "1.5", ""},
		{"interval", nodes(numInt(23), numInt(1), numInt(15), numInt(17), numInt(30), numInt(44)), "bigint", "3", ""},
		{"interval", nodes(numNull, numInt(1)), "", "-1", ""},
		{"interval", nodes(numInt(1), numInt(10)), "", "0", ""},
	})
}

// TestFunctionsLeaveTheirArgument is the corruption that FLOOR once did (X1): the row's decimal is the same afterwards.
func TestFunctionsLeaveTheirArgument(t *testing.T) {
	price := numDec("1.50").(*Lit)
	for _, name := range []string{"floor", "ceil", "ceiling", "round", "abs", "neg", "sign", "truncate", "+", "-", "*", "/", "%", "div", "greatest"} {
		args := nodes(price)
		if Lookup(name).Min == 2 {
			args = append(args, numInt(1))
		}
		n, err := Build(name, name, nil, args...)
		if err == nil {
			_, err = n.Eval(strictEnv())
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := number.Text(price.V.RawDecimal()); got != "1.50" {
			t.Fatalf("%s changed its argument to %s", name, got)
		}
	}
}

// TestRandIsMySQLs: the sequences of constant seeds are those that MySQL documents and gives.
func TestRandIsMySQLs(t *testing.T) {
	n, err := Build("rand", "rand(3)", nil, numInt(3))
	if err != nil {
		t.Fatal(err)
	}
	env := strictEnv()
	for i, want := range []float64{0.90576975597606, 0.37307905813035, 0.14808605345719} {
		v, err := n.Eval(env)
		if err != nil || math.Abs(v.RawFloat()-want) > 1e-13 {
			t.Errorf("RAND(3), row %d: %v %v, want %v", i+1, v.RawFloat(), err, want)
		}
	}
	if v, _ := n.Eval(strictEnv()); math.Abs(v.RawFloat()-0.90576975597606) > 1e-13 {
		t.Errorf("the next statement goes on with the sequence: %v", v.RawFloat())
	}
}
