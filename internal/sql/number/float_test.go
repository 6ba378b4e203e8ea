package number

import (
	"math"
	"strings"
	"testing"
)

func TestFormatDouble(t *testing.T) {
	for _, c := range []struct {
		in   float64
		want string
	}{
		{1, "1"}, {0, "0"}, {math.Copysign(0, -1), "-0"}, {-1.5, "-1.5"}, {0.30000000000000004, "0.30000000000000004"}, {.1, "0.1"},
		{1e-7, "0.0000001"}, {1e-15, "0.000000000000001"}, {1e-16, "1e-16"}, {1.5e-16, "1.5e-16"},
		{1e14, "100000000000000"}, {1e15, "1e15"}, {1e16, "1e16"}, {1e20, "1e20"}, {1e22, "1e22"}, {1.5e300, "1.5e300"}, {-1e-300, "-1e-300"},
		{123456789012345, "123456789012345"}, {1234567890123456, "1.234567890123456e15"}, {123456789012345678, "1.2345678901234568e17"},
		{1234567890123456.7, "1234567890123456.8"}, {1e15 + 0.3, "1000000000000000.2"}, {9007199254740993, "9.007199254740992e15"},
		{435 - 6e-14, "434.99999999999994"}, {2e-318, "2e-318"}, {math.MaxFloat64, "1.7976931348623157e308"},
		{math.Inf(1), "0"}, {math.NaN(), "0"},
	} {
		if got := FormatDouble(c.in); got != c.want {
			t.Errorf("%g: got %s, want %s", c.in, got, c.want)
		}
	}
	for _, c := range []struct {
		in   float32
		want string
	}{
		{0.1, "0.1"}, {16777216, "16777200"}, {1e10, "10000000000"}, {1e15, "1e15"}, {3.4028235e38, "3.40282e38"}, {1234.5678, "1234.57"},
		{-2.5, "-2.5"}, {1e-20, "1e-20"}, {0, "0"}, {float32(math.Copysign(0, -1)), "-0"},
	} {
		if got := FormatFloat(c.in); got != c.want {
			t.Errorf("FLOAT %g: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestFormatFixedAndWidth(t *testing.T) {
	for _, c := range []struct {
		in     float64
		places int
		want   string
	}{
		{1.5, 2, "1.50"}, {1.005, 2, "1.00"}, {0.1, 20, "0.10000000000000000000"}, {1e20, 2, "100000000000000000000.00"}, {2, 0, "2"},
		{-0.001, 2, "-0.00"}, {1e300, 0, "1" + zeros(300)},
	} {
		if got := FormatFixed(c.in, c.places); got != c.want {
			t.Errorf("%g with %d places: got %s, want %s", c.in, c.places, got, c.want)
		}
	}
	for _, c := range []struct {
		in    float64
		width int
		want  string
		ok    bool
	}{
		{1.0 / 3, 4, "0.33", true}, {123456789, 5, "1.2e8", true}, {123456, 6, "123456", true}, {-123456, 6, "-1.2e5", true},
		{1e100, 3, "1e100", false}, {0.001, 5, "0.001", true}, {12.75, 4, "12.8", true},
	} {
		got, ok := FormatWidth(c.in, c.width)
		if got != c.want || ok != c.ok {
			t.Errorf("%g in %d bytes: got %s %v, want %s %v", c.in, c.width, got, ok, c.want, c.ok)
		}
	}
}

func zeros(n int) string { return strings.Repeat("0", n) }

func TestRoundDouble(t *testing.T) {
	for _, c := range []struct {
		in         float64
		places     int64
		round, cut float64
	}{
		{2.5, 0, 2, 2}, {3.5, 0, 4, 3}, {-1.5, 0, -2, -1}, {1.298, 1, 1.3, 1.2}, {-1.999, 2, -2, -1.99}, {1250, -2, 1200, 1200}, {1e300, 20, 1e300, 1e300},
		{1.5, 400, 1.5, 1.5}, {123, -400, 0, 0}, {1e308, 5, 1e308, 1e308}, {1.5, math.MinInt64, 0, 0}, {1.5, math.MaxInt64, 1.5, 1.5},
	} {
		if r, tr := RoundDouble(c.in, c.places), TruncateDouble(c.in, c.places); r != c.round || tr != c.cut {
			t.Errorf("%g to %d places: got %g, %g; want %g, %g", c.in, c.places, r, tr, c.round, c.cut)
		}
	}
}

func TestGroupedAndConv(t *testing.T) {
	for _, c := range []struct {
		in     string
		places int64
		want   string
	}{
		{"1234567.891", 2, "1,234,567.89"}, {"0.5", 0, "1"}, {"-1234.5", 0, "-1,235"}, {"999.999", 2, "1,000.00"}, {"1234", -1, "1,234"},
		{"12345678901234567890123456789.5", 3, "12,345,678,901,234,567,890,123,456,789.500"}, {"-0.001", 2, "0.00"}, {"-123", 0, "-123"},
		{"9223372036854775807", 2, "9,223,372,036,854,775,807.00"},
		{"1", 50, "1.000000000000000000000000000000"}, // 30 places at most; MariaDB has 38
	} {
		if got := FormatDecimal(dec(t, c.in), c.places); got != c.want {
			t.Errorf("FORMAT(%s, %d): got %s, want %s", c.in, c.places, got, c.want)
		}
	}
	if got := FormatGrouped(1e20, 2); got != "100,000,000,000,000,000,000.00" {
		t.Errorf("FORMAT(1e20, 2): %s", got)
	}
	for _, c := range []struct {
		s        string
		from, to int64
		want     string
		ok       bool
	}{
		{"a", 16, 2, "1010", true}, {"6E", 18, 8, "172", true}, {"-17", 10, -18, "-H", true}, {"40", 10, 10, "40", true},
		{"zz", 36, 10, "1295", true}, {"99999999999999999999", 10, 16, "FFFFFFFFFFFFFFFF", true}, {"-1", 10, 16, "FFFFFFFFFFFFFFFF", true},
		{"-1", 10, -16, "-1", true}, {"", 10, 2, "", false}, {"g", 16, 10, "0", true}, {"1", 1, 2, "", false}, {"1.9", 10, 2, "1", true},
		{"-9223372036854775809", 10, 10, "9223372036854775807", true}, {"7fffffffffffffffff", 16, -10, "-1", true},
		{"99999999999999999999", -10, 10, "9223372036854775807", true}, {"1", 10, math.MinInt64, "", false},
	} {
		if got, _, ok := Conv(c.s, c.from, c.to); got != c.want || ok != c.ok {
			t.Errorf("CONV(%q,%d,%d): got %q %v, want %q %v", c.s, c.from, c.to, got, ok, c.want, c.ok)
		}
	}
}

func FuzzFormatDouble(f *testing.F) {
	for _, v := range []float64{0, 1, 1e15, 1e-15, 0.1, math.MaxFloat64, 5e-324} {
		f.Add(v, 7)
	}
	f.Fuzz(func(t *testing.T, v float64, width int) {
		if notFinite(v) {
			return
		}
		back, s := ParseDouble(FormatDouble(v))
		if back != v || !s.Clean() {
			t.Fatalf("%g prints as %s, which reads as %g", v, FormatDouble(v), back)
		}
		width = 7 + (width&0xff)%30 // seven bytes hold any number: -1e-300
		text, ok := FormatWidth(v, width)
		if _, point := decompose(v, -1); len(text) > width || !ok && point != width && (v > 0 || point != width-1) {
			// (a whole part that fills the width counts as too long if there is a fraction: MySQL wants room for the point)
			t.Fatalf("%g in %d bytes: %q %v", v, width, text, ok)
		}
		d, _ := FromFloat64(v)
		if IntegerDigits(d) > 65 {
			t.Fatalf("%g has %d digits", v, IntegerDigits(d))
		}
	})
}
