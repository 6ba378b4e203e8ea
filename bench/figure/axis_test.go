package figure

import (
	"math"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	labels := func(a at, high float64) string {
		var out []string
		for _, x := range a.Ticks(0, high) {
			out = append(out, x.Label)
		}
		return strings.Join(out, ",")
	}
	// Two of the numbers of clients are too close to each other to be labelled both.
	if got := labels(at{0, 12, 14, 50}, 53); got != "0,12,,50" {
		t.Error(got)
	}
	for _, c := range []struct {
		high float64
		want string
	}{{7500, "0 2000 4000 6000"}, {0.9, "0 0.2 0.4 0.6 0.8"}, {15000, "0 2000 4000 6000 8000 10000 12000 14000"}, {1, "0 0.2 0.4 0.6 0.8 1"}} {
		var got []string
		for _, x := range (round{}).Ticks(0, c.high) {
			got = append(got, x.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("to %g: %v, want %s", c.high, got, c.want)
		}
	}
}

// A line that lacks a point is broken there, and no viewer is left without a font.
func TestLines(t *testing.T) {
	svg, err := Lines("throughput", "clients (K)", "operations per second", []Line{{Name: "a", X: []float64{1, 2, 3, 4}, Y: []float64{1, 2, math.NaN(), 4}}, {Name: "b", X: []float64{1}, Y: []float64{0}}})
	if err != nil {
		t.Fatal(err)
	}
	if s := string(svg); strings.Contains(s, "NaN") || !strings.Contains(s, "sans-serif") || strings.Contains(s, "Serif;") || !strings.Contains(s, ">throughput<") {
		t.Error(s)
	}
}
