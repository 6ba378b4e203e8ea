package bank

import (
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/fakesql"
	"github.com/longitude-db/longitude/bench/harness"
)

// The fake server runs statements one at a time and knows no transactions. With one client that is correct; with several
// their transfers overlap and updates are lost, as on a server without isolation.
func TestVerify(t *testing.T) {
	for _, workers := range []int{1, 8} {
		balances := map[int64]int64{}
		tgt := fakesql.Target("fake", func(q string, args []any) (fakesql.Answer, error) {
			switch {
			case strings.HasPrefix(q, "INSERT"):
				for i := 0; i < len(args); i += 2 {
					balances[args[i].(int64)] = args[i+1].(int64)
				}
			case q == readLock:
				a, b := args[0].(int64), args[1].(int64)
				return fakesql.Rows([]driver.Value{a, balances[a]}, []driver.Value{b, balances[b]}), nil
			case q == set:
				balances[args[1].(int64)] = args[0].(int64)
			case q == sumAll:
				sum, least := int64(0), int64(opening)
				for _, b := range balances {
					sum, least = sum+b, min(least, b)
				}
				return fakesql.Rows([]driver.Value{sum, least, int64(len(balances))}), nil
			case strings.HasPrefix(q, "SELECT COUNT"):
				return fakesql.Rows([]driver.Value{int64(0)}), nil
			}
			return fakesql.Answer{}, nil
		})
		w, err := New(Options{Accounts: 10, Hot: 2, Lock: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Setup(t.Context(), tgt, t.Logf); err != nil {
			t.Fatal(err)
		}
		r, err := harness.Run(t.Context(), tgt, w, harness.Load{Workers: workers, Duration: 100 * time.Millisecond}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := harness.Verify(t.Context(), tgt, w, r); err != nil {
			t.Fatal(err)
		}
		tgt.Close()
		if r.Verified != (workers == 1) {
			t.Errorf("%d workers, %.0f ops/s: verified %v, %v", workers, r.OpsPerSec, r.Verified, r.Violations)
		}
	}
}
