package clock

import (
	"math"
	"testing"
)

func TestParseTimestamp(t *testing.T) {
	for s, want := range map[string]Timestamp{
		"0":                        {},
		"1700000000":               {Wall: 1700000000e9},
		"1700000000.5":             {Wall: 1700000000_500000000},
		"1700000000.000000001":     {Wall: 1700000000_000000001},
		"1700000000.000000001,3":   {Wall: 1700000000_000000001, Logical: 3},
		"1700000000,4294967295":    {Wall: 1700000000e9, Logical: math.MaxUint32},
		"9223372035.999999999,7":   {Wall: 9223372035_999999999, Logical: 7},
		"":                         {Wall: -1},
		"-5":                       {Wall: -1},
		"1700000000.":              {Wall: 1700000000e9},
		"1700000000.1234567890":    {Wall: -1},
		"1700000000.12x":           {Wall: -1},
		"1700000000,":              {Wall: -1},
		"1700000000,4294967296":    {Wall: -1},
		"9223372037":               {Wall: -1},
		"99999999999999999999":     {Wall: -1},
		"2026-11-21 10:00:00":      {Wall: -1},
		"1700000000.000000001,3,4": {Wall: -1},
		"1700000000.-1":            {Wall: -1},
		"+1":                       {Wall: -1},
	} {
		got, err := ParseTimestamp(s)
		if want.Wall < 0 {
			if err == nil {
				t.Errorf("%q: %v, want an error", s, got)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", s, got, err, want)
		}
		if again, err := ParseTimestamp(got.String()); err != nil || again != got {
			t.Errorf("%q is written as %s and read as %v (%v)", s, got, again, err)
		}
	}
}
