package number

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/cockroachdb/apd/v3"
)

func dec(t testing.TB, s string) *apd.Decimal {
	t.Helper()
	d, sc := ParseDecimal(s)
	if !sc.Clean() {
		t.Fatalf("%q is no decimal: %+v", s, sc)
	}
	return d
}

const nines65 = "99999999999999999999999999999999999999999999999999999999999999999"

func TestDecimalOperators(t *testing.T) {
	for _, c := range []struct{ a, op, b, want string }{
		{"1.50", "+", "2.255", "3.755"},
		{"1.50", "-", "1.5", "0.00"},
		{"-1", "+", "0.25", "-0.75"},
		{"0.25", "-", "1", "-0.75"},
		{"1.5", "*", "-2.25", "-3.375"},
		{"-0.0", "*", "5.0", "0.00"},
		{nines65, "+", "1", "1" + "00000000000000000000000000000000000000000000000000000000000000000"},
		{nines65, "*", nines65, "overflow"},
		{"0.0000000000000000000000000000015", "*", "1.5", "0.0000000000000000000000000000022"}, // 31 digits at most, cut
		{"1", "/", "3", "0.333333333"},                                                         // a word of nine digits where four are declared
		{"1.00", "/", "3.00", "0.333333333333333333"},
		{"5", "/", "2", "2.500000000"},
		{"-7", "/", "2", "-3.500000000"},
		{"1", "/", "0.00", "NULL"},
		{"-7", "%", "3", "-1"},
		{"7", "%", "-3", "1"},
		{"-7.5", "%", "2", "-1.5"},
		{"5", "%", "0", "NULL"},
		{"7.9", "div", "2", "3"},
		{"-7.9", "div", "2", "-3"},
		{"5.5", "div", "0.3", "18"},
		{"5.5", "div", "0", "NULL"},
	} {
		a, b := dec(t, c.a), dec(t, c.b)
		ok, defined := true, true
		var got *apd.Decimal
		switch c.op {
		case "+":
			got, ok = Add(a, b)
		case "-":
			got, ok = Sub(a, b)
		case "*":
			got, ok = Mul(a, b)
		case "/":
			got, ok, defined = Div(a, b, 4)
		case "%":
			got, defined = Mod(a, b)
		case "div":
			got, defined = DivInteger(a, b)
		}
		text := "NULL"
		if defined {
			text = Text(got)
		}
		if defined && !ok {
			text = "overflow"
		}
		if text != c.want {
			t.Errorf("%s %s %s: got %s, want %s", c.a, c.op, c.b, text, c.want)
		}
	}
}

// TestThirdsAddUp is why a quotient keeps more digits than its type: MySQL's 1/3*3 is 1.0000.
func TestThirdsAddUp(t *testing.T) {
	q, _, _ := Div(dec(t, "1"), dec(t, "3"), 4)
	p, _ := Mul(q, dec(t, "3"))
	if got := Format(p, 4); got != "1.0000" {
		t.Errorf("1/3*3 = %s, want 1.0000", got)
	}
	q, _, _ = Div(dec(t, "2"), dec(t, "3"), 4)
	if got := Format(q, 4); got != "0.6667" {
		t.Errorf("2/3 = %s, want 0.6667", got)
	}
}

func TestDecimalRounding(t *testing.T) {
	for _, c := range []struct {
		in, how string
		places  int
		want    string
	}{
		{"1.005", "round", 2, "1.01"},
		{"-1.005", "round", 2, "-1.01"},
		{"2.5", "round", 0, "3"},
		{"-2.5", "round", 0, "-3"},
		{"1.5", "round", 3, "1.500"},
		{"15.5", "round", -1, "20"},
		{"14.9", "round", -1, "10"},
		{"5", "round", -1, "10"},
		{"5", "round", -2, "0"},
		{"-0.4", "round", 0, "0"},
		{"123.45", "round", -1000000, "0"},
		{"1.999", "truncate", 1, "1.9"},
		{"-1.999", "truncate", 1, "-1.9"},
		{"199", "truncate", -2, "100"},
		{"1.50", "floor", 0, "1"},
		{"-1.50", "floor", 0, "-2"},
		{"-1.00", "floor", 0, "-1"},
		{"1.50", "ceil", 0, "2"},
		{"1.00", "ceil", 0, "1"},
		{"-1.50", "ceil", 0, "-1"},
		{"-0.5", "ceil", 0, "0"},
		{"-1.50", "abs", 0, "1.50"},
		{"1.50", "neg", 0, "-1.50"},
		{"0.00", "neg", 0, "0.00"},
		{"1.500", "reduce", 0, "1.5"},
		{"100", "reduce", 0, "100"},
		{"0.000", "reduce", 0, "0"},
	} {
		d := dec(t, c.in)
		got := map[string]func() *apd.Decimal{
			"round":    func() *apd.Decimal { return Round(d, c.places) },
			"truncate": func() *apd.Decimal { return Truncate(d, c.places) },
			"floor":    func() *apd.Decimal { return Floor(d) },
			"ceil":     func() *apd.Decimal { return Ceil(d) },
			"abs":      func() *apd.Decimal { return Abs(d) },
			"neg":      func() *apd.Decimal { return Neg(d) },
			"reduce":   func() *apd.Decimal { return Reduce(d) },
		}[c.how]()
		if Text(got) != c.want {
			t.Errorf("%s(%s, %d): got %s, want %s", c.how, c.in, c.places, Text(got), c.want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		in               string
		precision, scale int
		want             string
		rounded          bool
		over             Range
	}{
		{"1000", 5, 2, "999.99", false, Above},
		{"-1000", 5, 2, "-999.99", false, Below},
		{"999.994", 5, 2, "999.99", true, InRange},
		{"999.995", 5, 2, "999.99", false, Above},
		{"1.500", 5, 2, "1.50", false, InRange},
		{"7", 5, 2, "7.00", false, InRange},
		{"0.99", 2, 2, "0.99", false, InRange},
		{"1", 2, 2, "0.99", false, Above},
		{"-0.001", 5, 2, "0.00", true, InRange},
	} {
		d, rounded, over := Fit(dec(t, c.in), c.precision, c.scale)
		if Text(d) != c.want || rounded != c.rounded || over != c.over {
			t.Errorf("%s as DECIMAL(%d,%d): got %s, rounded %v, range %d; want %s, %v, %d", c.in, c.precision, c.scale,
				Text(d), rounded, over, c.want, c.rounded, c.over)
		}
	}
}

func TestDecimalConversions(t *testing.T) {
	for _, c := range []struct {
		in   string
		i    int64
		over Range
		u    uint64
		side Range
	}{
		{"2.5", 3, InRange, 3, InRange},
		{"-2.5", -3, InRange, 0, Below},
		{"-0.4", 0, InRange, 0, InRange},
		{"9223372036854775807.4", math.MaxInt64, InRange, math.MaxInt64, InRange},
		{"9223372036854775807.5", math.MaxInt64, Above, 1 << 63, InRange},
		{"-9223372036854775808", math.MinInt64, InRange, 0, Below},
		{"-9223372036854775809", math.MinInt64, Below, 0, Below},
		{"18446744073709551615", math.MaxInt64, Above, math.MaxUint64, InRange},
		{"18446744073709551616", math.MaxInt64, Above, math.MaxUint64, Above},
	} {
		i, over := ToInt64(dec(t, c.in))
		u, side := ToUint64(dec(t, c.in))
		if i != c.i || over != c.over || u != c.u || side != c.side {
			t.Errorf("%s: got %d %d, %d %d; want %d %d, %d %d", c.in, i, over, u, side, c.i, c.over, c.u, c.side)
		}
	}
	for _, c := range []struct {
		in   float64
		want string
		over Range
	}{
		{0.1, "0.1", InRange}, {1e20, "100000000000000000000", InRange}, {-1.5e-3, "-0.0015", InRange}, {1e300, nines65, Above},
		{math.Inf(-1), "-" + nines65, Below}, {math.Copysign(0, -1), "0", InRange},
	} {
		d, over := FromFloat64(c.in)
		if Text(d) != c.want || over != c.over {
			t.Errorf("%v: got %s %d, want %s %d", c.in, Text(d), over, c.want, c.over)
		}
	}
	if f := ToFloat64(dec(t, "0.1")); f != 0.1 {
		t.Errorf("0.1 as a double: %v", f)
	}
}

func TestCompare(t *testing.T) {
	order := []string{"-10", "-1.51", "-1.5", "-0.0001", "0.00", "0.0001", "1.50", "1.51", "9", "10"}
	for i, a := range order {
		for j, b := range order {
			want := min(1, max(-1, i-j))
			if got := Compare(dec(t, a), dec(t, b)); got != want {
				t.Errorf("%s against %s: got %d, want %d", a, b, got, want)
			}
		}
	}
	if Compare(dec(t, "1.5"), dec(t, "1.500")) != 0 {
		t.Error("1.5 and 1.500 differ")
	}
}

// TestSpecs holds the rules of the manual's chapter on expression handling (Precision Math) as MySQL 8's column metadata shows them.
func TestSpecs(t *testing.T) {
	for _, c := range []struct {
		name string
		got  Spec
		want Spec
	}{
		{"DECIMAL(5,2)+DECIMAL(4,3)", AddSpec(Spec{5, 2}, Spec{4, 3}), Spec{7, 3}},
		{"DECIMAL(65,0)+1", AddSpec(Spec{65, 0}, Spec{1, 0}), Spec{65, 0}},
		{"DECIMAL(5,2)*DECIMAL(4,3)", MulSpec(Spec{5, 2}, Spec{4, 3}), Spec{9, 5}},
		{"scales of 20 and 20", MulSpec(Spec{30, 20}, Spec{30, 20}), Spec{60, 30}},
		{"1/3", DivSpec(Spec{1, 0}, Spec{1, 0}, 4), Spec{5, 4}},
		{"DECIMAL(5,2)/DECIMAL(4,3)", DivSpec(Spec{5, 2}, Spec{4, 3}, 4), Spec{12, 6}},
		{"DECIMAL(5,2)%DECIMAL(4,3)", ModSpec(Spec{5, 2}, Spec{4, 3}), Spec{5, 3}},
		{"ROUND(DECIMAL(5,2),1)", RoundSpec(Spec{5, 2}, 1, false), Spec{5, 1}},
		{"ROUND(DECIMAL(5,2),4)", RoundSpec(Spec{5, 2}, 4, false), Spec{7, 4}},
		{"TRUNCATE(DECIMAL(5,2),0)", RoundSpec(Spec{5, 2}, 0, true), Spec{3, 0}},
		{"INT", IntSpec(4, false), Spec{10, 0}},
		{"BIGINT UNSIGNED", IntSpec(8, true), Spec{20, 0}},
		{"SUM(DECIMAL(5,2))", SumSpec(Spec{5, 2}), Spec{27, 2}},
		{"AVG(DECIMAL(5,2))", AvgSpec(Spec{5, 2}, 4), Spec{9, 6}},
		{"COALESCE(DECIMAL(5,2), DECIMAL(4,3))", UnionSpec(Spec{5, 2}, Spec{4, 3}), Spec{6, 3}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestArgumentsStayAsTheyAre holds N1: it calls every function that takes decimals and looks at the arguments afterwards, and N2.
func TestArgumentsStayAsTheyAre(t *testing.T) {
	fs := []any{Scale, IntegerDigits, Precision, Sign, Text, Neg, Abs, Ceil, Floor, Reduce, ToInt64, ToUint64, ToFloat64, Add, Sub, Mul, Mod,
		DivInteger, Compare, Div, Round, Truncate, Format, Fit, FormatDecimal}
	texts := []string{"0", "-1.50", "1.50", "9.99", "0.005", "-123456789012345678901234567890.123456789", nines65, "0.00", "7"}
	numbers := []int{-70, -1, 0, 1, 2, 30, 65}
	kept := map[*apd.Decimal]string{}
	image := func(d *apd.Decimal) string {
		return fmt.Sprintf("%v %d %d %s", d.Negative, d.Form, d.Exponent, d.Coeff.String())
	}
	for _, f := range fs {
		v := reflect.ValueOf(f)
		for i := range 400 {
			var args []reflect.Value
			for j := range v.Type().NumIn() {
				switch v.Type().In(j).Kind() {
				case reflect.Pointer:
					d := dec(t, texts[(i+j*(1+i/len(texts)))%len(texts)])
					kept[d] = image(d)
					args = append(args, reflect.ValueOf(d))
				default:
					n := numbers[(i/3+j)%len(numbers)]
					if j == 1 && reflect.ValueOf(Fit).Pointer() == v.Pointer() {
						n = 65
					}
					args = append(args, reflect.ValueOf(n).Convert(v.Type().In(j)))
				}
			}
			for _, out := range v.Call(args) {
				d, isDecimal := out.Interface().(*apd.Decimal)
				if !isDecimal || d == nil {
					continue
				}
				if d.Exponent > 0 || d.Form != apd.Finite || d.Negative && d.IsZero() {
					t.Fatalf("%T returned %s (%s)", f, d, image(d))
				}
				for _, a := range args {
					if a.Kind() == reflect.Pointer && a.Pointer() == out.Pointer() {
						t.Fatalf("%T returned its argument: a caller that fills the result would change it", f)
					}
				}
			}
		}
		for d, was := range kept {
			if image(d) != was {
				t.Fatalf("%T changed its argument %s to %s", f, was, image(d))
			}
		}
		clear(kept)
	}
	for i := range powers { // the shared table, too
		if want := "1" + fmt.Sprintf("%0*d", i, 0)[:i]; powers[i].String() != want {
			t.Fatalf("10^%d became %s", i, powers[i].String())
		}
	}
}
