package bank

import (
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/fakesql"
	"github.com/longitude-db/longitude/bench/harness"
)

// The fake server runs statements one at a time and knows no transactions. With one client that is correct. Then it loses
// an update, as a server without isolation does when transfers overlap.
func TestVerify(t *testing.T) {
	for _, loses := range []bool{false, true} {
		balances := map[int64]int64{}
		sets := 0
		server := func(q string, args []any) (fakesql.Answer, error) {
			switch {
			case strings.HasPrefix(q, "INSERT"):
				for i := 0; i < len(args); i += 2 {
					balances[args[i].(int64)] = args[i+1].(int64)
				}
			case q == readLock:
				a, b := args[0].(int64), args[1].(int64)
				return fakesql.Rows([]driver.Value{a, balances[a]}, []driver.Value{b, balances[b]}), nil
			case q == set:
				if sets++; loses && sets == 7 {
					break
				}
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
		}
		w, err := New(Options{Accounts: 10, Hot: 2, Lock: true})
		if err != nil {
			t.Fatal(err)
		}
		r := fakesql.Measure(t, server, w, harness.Load{Workers: 1, Duration: 100 * time.Millisecond})
		if sets < 7 {
			t.Fatalf("%d updates in all: too few to lose one", sets)
		}
		if r.Verified != !loses {
			t.Errorf("loses an update: %v; verified %v, %v", loses, r.Verified, r.Violations)
		}
	}
}
