package number

import (
	"math"
	"testing"
)

func TestParseDouble(t *testing.T) {
	for _, c := range []struct {
		in     string
		want   float64
		clean  bool
		warned bool // 1292 in an expression
	}{
		{"12", 12, true, false},
		{" 12 ", 12, true, false},
		{"\t\n12", 12, true, false},
		{"12abc", 12, false, true},
		{"abc", 0, false, true},
		{"", 0, false, false}, // MySQL 8 gives no warning here; MariaDB does
		{"  ", 0, false, false},
		{".5", .5, true, false},
		{"5.", 5, true, false},
		{".", 0, false, true},
		{"-", 0, false, true},
		{"- 5", 0, false, true},
		{"-1.5e2", -150, true, false},
		{"1e", 1, false, true},
		{"1e+", 1, false, true},
		{"1e3x", 1000, false, true},
		{"1e400", math.MaxFloat64, false, true},
		{"-1e400", -math.MaxFloat64, false, true},
		{"1e-400", 0, true, false},
		{"1e99999999999999999999", math.MaxFloat64, false, true},
		{"0x10", 0, false, true},
		{"1_000", 1, false, true},
		{"inf", 0, false, true},
		{"nan", 0, false, true},
	} {
		f, s := ParseDouble(c.in)
		if f != c.want || s.Clean() != c.clean || s.Doubtful() != c.warned {
			t.Errorf("%q: got %v, clean %v, warned %v; want %v, %v, %v", c.in, f, s.Clean(), s.Doubtful(), c.want, c.clean, c.warned)
		}
	}
}

func TestParseDecimal(t *testing.T) {
	digits90 := "123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
	for _, c := range []struct {
		in, want string
		clean    bool
		over     Range
	}{
		{"1.50", "1.50", true, InRange},
		{"-0.00", "0.00", true, InRange},
		{"1e2", "100", true, InRange},
		{"1.5e-3", "0.0015", true, InRange},
		{"1.5e1", "15", true, InRange},
		{"0.001e1", "0.01", true, InRange},
		{"1e2x", "100", false, InRange},
		{"abc", "0", false, InRange},
		{"", "0", false, InRange},
		{" 7 ", "7", true, InRange},
		{digits90, nines65, false, Above},
		{"-1e99", "-" + nines65, false, Below},
		{"1e1000000000000", nines65, false, Above},
		{"0e1000000000000", "0", true, InRange},
		{"0." + digits90, "0." + digits90[:81], true, InRange},
		{"12." + digits90, "12." + digits90[:72], true, InRange}, // the whole part takes a word of its own
		{"1e-100", "0." + "000000000000000000000000000000000000000000000000000000000000000000000000000000000", true, InRange},
		{"00000000000000000000000000000000000000000000000000000000000000000000000000000000000001.5", "1.5", true, InRange},
	} {
		d, s := ParseDecimal(c.in)
		if Text(d) != c.want || s.Clean() != c.clean || s.Over != c.over {
			t.Errorf("%q: got %s, clean %v, %d; want %s, %v, %d", c.in, Text(d), s.Clean(), s.Over, c.want, c.clean, c.over)
		}
	}
}

func TestParseIntegers(t *testing.T) {
	for _, c := range []struct {
		in    string
		want  Int
		clean bool
	}{
		{"12", Signed(12), true},
		{" -5x", Signed(-5), false},
		{"1.9", Signed(1), false},
		{"1e3", Signed(1), false},
		{"", Signed(0), false},
		{"9223372036854775808", Unsigned(1 << 63), true},
		{"18446744073709551615", Unsigned(math.MaxUint64), true},
		{"18446744073709551616", Unsigned(math.MaxUint64), false},
		{"-9223372036854775808", Signed(math.MinInt64), true},
		{"-9223372036854775809", Signed(math.MinInt64), false},
	} {
		if i, s := ParseInteger(c.in); i != c.want || s.Clean() != c.clean {
			t.Errorf("CAST(%q AS SIGNED): got %+v, clean %v; want %+v, %v", c.in, i, s.Clean(), c.want, c.clean)
		}
	}
	for _, c := range []struct {
		in       string
		unsigned bool
		want     Int
		over     Range
		rest     bool
	}{
		{"1.5", false, Signed(2), InRange, false},
		{"-1.5", false, Signed(-2), InRange, false},
		{"1.4999", false, Signed(1), InRange, false},
		{"1e3", false, Signed(1000), InRange, false},
		{"15e-1", false, Signed(2), InRange, false},
		{"4e-1", false, Signed(0), InRange, false},
		{"5e-1", false, Signed(1), InRange, false},
		{"5e-2", false, Signed(0), InRange, false},
		{"0.5e1x", false, Signed(5), InRange, true},
		{"9223372036854775807.5", false, Signed(math.MaxInt64), Above, false},
		{"9223372036854775807.4", false, Signed(math.MaxInt64), InRange, false},
		{"-9223372036854775808", false, Signed(math.MinInt64), InRange, false},
		{"-9223372036854775808.5", false, Signed(math.MinInt64), Below, false},
		{"1e1000000000", false, Signed(math.MaxInt64), Above, false},
		{"0e1000000000", false, Signed(0), InRange, false},
		{"-1", true, Unsigned(0), Below, false},
		{"-0.4", true, Unsigned(0), InRange, false},
		{"18446744073709551615.4", true, Unsigned(math.MaxUint64), InRange, false},
		{"18446744073709551615.5", true, Unsigned(math.MaxUint64), Above, false},
		{"99999999999999999999", true, Unsigned(math.MaxUint64), Above, false},
	} {
		i, s := ParseRounded(c.in, c.unsigned)
		if i != c.want || s.Over != c.over || s.Rest != c.rest {
			t.Errorf("%q to an integer: got %+v %d %v, want %+v %d %v", c.in, i, s.Over, s.Rest, c.want, c.over, c.rest)
		}
	}
	if i, over := FromBinary([]byte("A\x00")); i != Unsigned(0x4100) || over != InRange {
		t.Errorf("x'4100': %+v %d", i, over)
	}
	if i, over := FromBinary([]byte("\x01ABCDEFGH")); i != Unsigned(0x4142434445464748) || over != Above {
		t.Errorf("nine bytes: %+v %d", i, over)
	}
}

// The fuzz targets hold N5 and N2 for any text: the parsers end, agree with each other and print what reads back as the same.

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "1", "-1.5e3", ".5e-1", "1e999999999999", "00.00e5", " 12x", "9999999999999999999999", "1e-1073741825"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, sd := ParseDecimal(s)
		if IntegerDigits(d) > 81 || Scale(d) > 81 {
			t.Fatalf("%q: %s has too many digits", s, Text(d))
		}
		back, sb := ParseDecimal(Text(d))
		if !sb.Clean() || Compare(back, d) != 0 || Scale(back) != Scale(d) {
			t.Fatalf("%q: %s reads back as %s", s, Text(d), Text(back))
		}
		_, sf := ParseDouble(s)
		if sf.End != sd.End || sf.Rest != sd.Rest || sf.Digits != sd.Digits {
			t.Fatalf("%q: double %+v, decimal %+v", s, sf, sd)
		}
		if sd.Over == InRange && Scale(d) < 60 {
			want, over := ToInt64(d)
			if got, si := ParseRounded(s, false); int64(got.Bits) != want || si.Over != over {
				t.Fatalf("%q: as integer %d %d, through decimal %d %d", s, int64(got.Bits), si.Over, want, over)
			}
		}
		ParseInteger(s)
		Conv(s, 36, -2)
	})
}
