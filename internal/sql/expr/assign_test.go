package expr

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/number"
)

func intColumn(n Name, unsigned bool) Type { return Type{Name: n, Unsigned: unsigned, Length: 20} }
func textColumn(n Name, length int) Type {
	return Type{Name: n, Length: length, Collation: DefaultCollation}
}

func value(n Node) Value { return n.(*Lit).V }

// assigned is what a column c holds after the assignment: its text, or the error in strict mode; warnings follow after a bar.
func assigned(env *Env, v Value, t Type) (strict, loose string) {
	once := func(mode Mode) string {
		e := *env
		e.Mode, e.Change = mode, true
		var warned []string
		e.Warn = func(code uint16, m string) { warned = append(warned, fmt.Sprintf("%d %s", code, m)) }
		out, err := Assign(&e, v, &Target{Type: t, Name: "c", Row: 1})
		var s string
		var bad *Error
		switch {
		case errors.As(err, &bad):
			s = fmt.Sprintf("%d %s", bad.Code, bad.Message)
		case err != nil:
			s = err.Error()
		case out.IsNull():
			s = "NULL"
		case out.Kind() != t.Kind():
			s = fmt.Sprintf("kind %d", out.Kind())
		default:
			s, _ = ToText(&e, out)
		}
		return strings.Join(append([]string{s}, warned...), " | ")
	}
	return once(StrictTables), once(0)
}

func TestAssign(t *testing.T) {
	const outOf = "1264 Out of range value for column 'c' at row 1"
	const cut = "1265 Data truncated for column 'c' at row 1"
	const long = "1406 Data too long for column 'c' at row 1"
	wrong := func(kind, v string) string {
		return fmt.Sprintf("1366 Incorrect %s value: '%s' for column 'c' at row 1", kind, v)
	}
	tiny, utiny, intT := intColumn(TinyInt, false), intColumn(TinyInt, true), intColumn(IntType, false)
	big, ubig := intColumn(BigInt, false), intColumn(BigInt, true)
	dec52, udec := TDecimal(5, 2), TDecimal(5, 2)
	udec.Unsigned = true
	double, udouble := TFloat, TFloat
	udouble.Unsigned = true
	float := Type{Name: FloatType, Scale: NotFixed}
	year := Type{Name: YearType, Unsigned: true, Length: 4}
	bit3, bit8 := Type{Name: BitType, Length: 3}, Type{Name: BitType, Length: 8}
	enum := Type{Name: EnumType, Elements: []string{"red", "Green", "1"}, Collation: DefaultCollation}
	set := Type{Name: SetType, Elements: []string{"a", "b", "c"}, Collation: DefaultCollation}
	for _, c := range []struct {
		v     Node
		t     Type
		want  string // in strict mode
		else_ string // otherwise; empty: the same
	}{
		{numInt(127), tiny, "127", ""},
		{numInt(1000), tiny, outOf, "127 | " + outOf},
		{numInt(-129), tiny, outOf, "-128 | " + outOf},
		{numInt(-1), utiny, outOf, "0 | " + outOf},
		{numInt(255), utiny, "255", ""},
		{numInt(256), utiny, outOf, "255 | " + outOf},
		{numInt(99999999999), intT, outOf, "2147483647 | " + outOf},
		{numInt(8388607), intColumn(MediumInt, false), "8388607", ""},
		{numInt(8388608), intColumn(MediumInt, false), outOf, "8388607 | " + outOf},
		{numInt(16777216), intColumn(MediumInt, true), outOf, "16777215 | " + outOf},
		{numInt(65536), intColumn(SmallInt, true), outOf, "65535 | " + outOf},
		{numUint(1 << 63), big, outOf, "9223372036854775807 | " + outOf},
		{numUint(math.MaxUint64), ubig, "18446744073709551615", ""},
		{numInt(-1), ubig, outOf, "0 | " + outOf},
		{numText(""), intT, wrong("integer", ""), "0 | " + wrong("integer", "")},
		{numText("abc"), intT, wrong("integer", "abc"), "0 | " + wrong("integer", "abc")},
		{numText("12abc"), intT, cut, "12 | " + cut},
		{numText(" 12 "), intT, "12", ""},
		{numText("1.5"), intT, "2", ""},
		{numText("1e3"), intT, "1000", ""},
		{numText("99999999999"), intT, outOf, "2147483647 | " + outOf},
		{numText("99999999999999999999x"), ubig, outOf, "18446744073709551615 | " + outOf},
		{numText("-1"), utiny, outOf, "0 | " + outOf},
		{numFloat(2.5), intT, "2", ""},
		{numFloat(3.5), intT, "4", ""},
		{numFloat(1e20), big, outOf, "9223372036854775807 | " + outOf},
		{numFloat(-0.4), utiny, "0", ""},
		{numDec("2.5"), intT, "3", ""},
		{numDec("127.5"), tiny, outOf, "127 | " + outOf},
		{numDec("-0.4"), utiny, outOf, "0 | " + outOf}, // MySQL looks at the sign before it rounds
		{numHex("A"), tiny, "65", ""},
		{numHex("\xff\xff\xff\xff\xff\xff\xff\xff"), ubig, "18446744073709551615", ""},
		{numHex("\x01\x00\x00\x00\x00\x00\x00\x00\x00"), ubig, outOf, "18446744073709551615 | " + outOf},
		{numBytes("12"), intT, "12", ""},

		{numInt(1000), dec52, outOf, "999.99 | " + outOf},
		{numInt(-1000), dec52, outOf, "-999.99 | " + outOf},
		{numDec("1.005"), dec52, "1.01 | " + cut, ""},
		{numDec("1.500"), dec52, "1.50", ""},
		{numDec("999.995"), dec52, outOf, "999.99 | " + outOf},
		{numDec("-1"), udec, outOf, "0.00 | " + outOf},
		{numText("12abc"), dec52, wrong("decimal", "12abc"), "12.00 | " + cut},
		{numText("abc"), dec52, wrong("decimal", "abc"), "0.00 | " + wrong("decimal", "abc")},
		{numText(""), dec52, wrong("decimal", ""), "0.00 | " + wrong("decimal", "")},
		{numText(" 1.5 "), dec52, "1.50", ""},
		{numFloat(1e300), dec52, outOf, "999.99 | " + outOf},
		{numFloat(0.1), dec52, "0.10", ""},

		{numText("1.5"), double, "1.5", ""},
		{numText("abc"), double, wrong("DOUBLE", "abc"), "0 | " + wrong("DOUBLE", "abc")},
		{numText("1.5x"), double, wrong("DOUBLE", "1.5x"), "1.5 | " + wrong("DOUBLE", "1.5x")},
		{numText(" 7 "), double, "7", ""},
		{numText(""), double, wrong("DOUBLE", ""), "0 | " + wrong("DOUBLE", "")},
		{numText("1e400"), double, outOf, "1.7976931348623157e308 | " + outOf},
		{numFloat(-1), udouble, outOf, "0 | " + outOf},
		{numFloat(0.1), float, "0.1", ""},
		{numFloat(1e39), float, outOf, "3.40282e38 | " + outOf},
		{numDec("1.25"), double, "1.25", ""},

		{numInt(2024), year, "2024", ""},
		{numInt(0), year, "0000", ""},
		{numText("0"), year, "2000", ""},
		{numText("0000"), year, "0000", ""},
		{numInt(69), year, "2069", ""},
		{numInt(70), year, "1970", ""},
		{numInt(1900), year, outOf, "0000 | " + outOf},
		{numInt(1901), year, "1901", ""},
		{numInt(2156), year, outOf, "0000 | " + outOf},
		{numText("abc"), year, wrong("integer", "abc"), "0000 | " + wrong("integer", "abc")},
		{numText("2024x"), year, cut, "2024 | " + cut},

		{numInt(5), bit3, "\x05", ""},
		{numInt(8), bit3, long, "\x07 | " + long},
		{numInt(-1), bit3, long, "\x07 | " + long},
		{numText("A"), bit8, "A", ""},
		{numText("AB"), bit8, long, "\xff | " + long},
		{numHex("\x00\x03"), bit3, "\x03", ""},

		{numText("abc"), textColumn(Varchar, 3), "abc", ""},
		{numText("ééé"), textColumn(Varchar, 3), "ééé", ""},
		{numText("abcd"), textColumn(Varchar, 3), long, "abc | " + cut},
		{numText("abc  "), textColumn(Varchar, 3), "abc | " + cut, ""},
		{numText("abc  "), textColumn(Char, 3), "abc", ""},
		{numText("a "), textColumn(Char, 3), "a", ""},
		{numText("a "), textColumn(Varchar, 3), "a ", ""},
		{numText("éé"), textColumn(TextType, 3), long, "é | " + cut},
		{numBytes("a\xff"), textColumn(Varchar, 9), wrong("string", `\xFF`), "a | " + wrong("string", `\xFF`)},
		{numInt(1234), textColumn(Varchar, 3), long, "123 | " + cut},
		{numFloat(1.0 / 3), textColumn(Char, 5), "0.333", ""},
		{numFloat(1e100), textColumn(Char, 3), long, "1e1 | " + cut},
		{numDec("1.50"), textColumn(Varchar, 9), "1.50", ""},
		{numText("ab"), Type{Name: Binary, Length: 4}, "ab\x00\x00", ""},
		{numText("é"), Type{Name: Varbinary, Length: 1}, long, "\xc3 | " + cut},
		{numText("a  "), Type{Name: Varbinary, Length: 1}, long, "a | " + cut},

		{numText("red"), enum, "red", ""},
		{numText("green "), enum, "Green", ""},
		{numText("1"), enum, "1", ""},     // an element before an index
		{numText("2"), enum, "Green", ""}, // no element, but an index
		{numInt(2), enum, "Green", ""},
		{numInt(0), enum, cut, " | " + cut},
		{numInt(4), enum, cut, " | " + cut},
		{numText("blue"), enum, cut, " | " + cut},
		{numText(""), enum, cut, " | " + cut},
		{numText("a,c"), set, "a,c", ""},
		{numText("c,a,A"), set, "a,c", ""},
		{numText(""), set, "", ""},
		{numText("a,x"), set, cut, "a | " + cut},
		{numText("5"), set, "a,c", ""},
		{numInt(3), set, "a,b", ""},
		{numInt(9), set, cut, "a | " + cut},
		{numNull, intT, "NULL", ""},
	} {
		strict, loose := assigned(&Env{}, value(c.v), c.t)
		if c.else_ == "" {
			c.else_ = c.want
		}
		in, _ := ToText(&Env{}, value(c.v))
		if strict != c.want || loose != c.else_ {
			t.Errorf("%q into type %d (%d,%d):\n\tstrict: got %q, want %q\n\tloose:  got %q, want %q", in, c.t.Name, c.t.Length, c.t.Scale,
				strict, c.want, loose, c.else_)
		}
	}
}

// TestNothingOutsideItsTypeIsAssigned holds XA1 over random values and types: whatever Assign gives without an error lies in the
// column's range, in both modes.
func TestNothingOutsideItsTypeIsAssigned(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	drawValue := func() Value {
		big := r.Uint64() >> r.IntN(64)
		switch r.IntN(8) {
		case 0:
			return Int(int64(big))
		case 1:
			return Uint(big)
		case 2:
			return Float((r.Float64() - .5) * math.Pow10(r.IntN(40)-5))
		case 3:
			d, _ := number.ParseDecimal(fmt.Sprintf("%d.%de%d", int64(big), r.IntN(1000), r.IntN(60)-30))
			return Decimal(d)
		case 4:
			return Text(fmt.Sprintf("%d.%de%d", int64(big), r.IntN(1000), r.IntN(60)-30))
		case 5:
			return value(numHex(string(make([]byte, r.IntN(3))) + fmt.Sprint(big)))
		case 6:
			return Bytes(fmt.Sprint(int64(big)))
		}
		return Text(strings.Repeat("é", r.IntN(12)))
	}
	names := []Name{TinyInt, SmallInt, MediumInt, IntType, BigInt, DecimalType, FloatType, DoubleType, YearType, BitType, Char, Varchar, TextType,
		Binary, Varbinary, EnumType, SetType}
	for range 300_000 {
		v, typ := drawValue(), Type{Name: names[r.IntN(len(names))], Unsigned: r.IntN(2) == 0, Collation: DefaultCollation, Elements: []string{"x", "y"}}
		typ.Length = 1 + r.IntN(20)
		if typ.Name == DecimalType {
			typ.Scale = r.IntN(typ.Length + 1)
		}
		env := &Env{Change: true}
		if r.IntN(2) == 0 {
			env.Mode = StrictTables
		}
		out, err := Assign(env, v, &Target{Type: typ, Name: "c", Row: 1})
		if err != nil {
			continue
		}
		if out.Kind() != typ.Kind() {
			t.Fatalf("%+v into %+v gave %+v", v, typ, out)
		}
		bad := false
		switch typ.Name {
		case TinyInt, SmallInt, MediumInt, IntType, BigInt:
			bits := widthOf(typ.Name)
			if typ.Unsigned {
				bad = bits < 64 && out.RawUint()>>bits != 0
			} else {
				bad = out.RawInt() != out.RawInt()<<(64-bits)>>(64-bits)
			}
		case DecimalType:
			d := out.RawDecimal()
			_, _, over := number.Fit(d, typ.Length, typ.Scale)
			bad = over != number.InRange || number.Scale(d) != typ.Scale || typ.Unsigned && d.Negative
		case FloatType, DoubleType:
			f := out.RawFloat()
			bad = math.IsInf(f, 0) || math.IsNaN(f) || typ.Unsigned && f < 0 || typ.Name == FloatType && float64(float32(f)) != f
		case YearType:
			y := out.RawUint()
			bad = y != 0 && (y < 1901 || y > 2155)
		case BitType:
			bad = typ.Length < 64 && out.RawUint()>>typ.Length != 0
		case Char, Varchar:
			bad = len([]rune(out.RawText())) > typ.Length
		case TextType, Varbinary:
			bad = len(out.RawText()) > typ.Length
		case Binary:
			bad = len(out.RawText()) != typ.Length
		case EnumType:
			bad = out.RawUint() > 2
		case SetType:
			bad = out.RawUint() > 3
		}
		if bad {
			t.Fatalf("%+v into %+v gave %+v (%s)", v, typ, out, out.RawText())
		}
	}
}
