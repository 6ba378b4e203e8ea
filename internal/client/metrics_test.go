package client

import (
	"strings"
	"testing"
)

// TestMetricsAreSums adds two nodes up: every label of its own, and all together.
func TestMetricsAreSums(t *testing.T) {
	m := Metrics{}
	for _, text := range []string{
		"# TYPE restarts_total counter\nrestarts_total{reason=\"a\"} 1\nrestarts_total{reason=\"b\"} 2\n",
		"# TYPE restarts_total counter\nrestarts_total{reason=\"a\"} 10\n# TYPE wait_seconds histogram\n" +
			"wait_seconds_bucket{le=\"+Inf\"} 4\nwait_seconds_sum 0.5\nwait_seconds_count 4\n",
	} {
		if err := m.parse(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]float64{
		"restarts_total": 13, "restarts_total{reason=a}": 11, "restarts_total{reason=b}": 2, "wait_seconds_sum": 0.5, "wait_seconds_count": 4,
	} {
		if m[name] != want {
			t.Errorf("%s = %g, want %g", name, m[name], want)
		}
	}
}
