package counter

import (
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/fakesql"
	"github.com/longitude-db/longitude/bench/harness"
)

// A server that loses one addition of many, or counts one twice, is found out at the end; one that does neither is not blamed.
func TestVerify(t *testing.T) {
	for name, step := range map[string]func(n int) int64{
		"good":    func(int) int64 { return 1 },
		"loses":   func(n int) int64 { return map[bool]int64{true: 0, false: 1}[n == 20] },
		"repeats": func(n int) int64 { return map[bool]int64{true: 2, false: 1}[n == 20] },
	} {
		t.Run(name, func(t *testing.T) {
			var value int64
			n := 0
			server := func(q string, _ []any) (fakesql.Answer, error) {
				switch {
				case q == add:
					n++
					value += step(n)
				case q == look:
					return fakesql.Rows([]driver.Value{value}), nil
				case strings.HasPrefix(q, "SELECT COUNT"):
					return fakesql.Rows([]driver.Value{int64(0)}), nil
				case strings.HasPrefix(q, "SELECT id"):
					return fakesql.Rows([]driver.Value{int64(0), value}), nil
				}
				return fakesql.Answer{}, nil
			}
			w, err := New(Options{Counters: 1, ReadFraction: 0.1})
			if err != nil {
				t.Fatal(err)
			}
			r := fakesql.Measure(t, server, w, harness.Load{Workers: 3, Duration: 300 * time.Millisecond})
			if n < 20 || r.Verified != (name == "good") {
				t.Errorf("after %d additions: verified %v, %v", n, r.Verified, r.Violations)
			}
		})
	}
}
