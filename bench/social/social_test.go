package social

import (
	"database/sql/driver"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/fakesql"
	"github.com/longitude-db/longitude/bench/harness"
)

// network is a server that holds likes, and drops every nth of those that it acknowledges.
func network(loseEvery int) fakesql.Server {
	posts, likes, n := int64(0), map[int64]int64{}, 0
	return func(q string, args []any) (fakesql.Answer, error) {
		switch {
		case strings.HasPrefix(q, "INSERT INTO posts"):
			posts += int64(len(args) / 2)
		case strings.HasPrefix(q, "INSERT INTO likes"):
			for _, a := range args {
				if n++; loseEvery == 0 || n <= 30 || n%loseEvery != 0 {
					likes[a.(int64)]++
				}
			}
		case q == listPosts:
			var rows [][]driver.Value
			for p := int64(1); p <= posts; p++ {
				rows = append(rows, []driver.Value{p, "title", likes[p]})
			}
			return fakesql.Rows(rows...), nil
		case strings.HasPrefix(q, "SELECT COUNT(*), MIN"):
			var sum int64
			for _, l := range likes {
				sum += l
			}
			return fakesql.Rows([]driver.Value{sum, int64(1), posts}), nil
		case strings.HasPrefix(q, "SELECT COUNT"):
			return fakesql.Rows([]driver.Value{int64(0)}), nil
		}
		return fakesql.Answer{}, nil
	}
}

// run runs the workload for a moment on a server.
func run(t *testing.T, s fakesql.Server) *harness.Result {
	t.Helper()
	w, err := New(Options{ReadFraction: 0.5, Posts: 10, Likes: 30, Hot: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return fakesql.Measure(t, s, w, harness.Load{Workers: 4, Duration: 300 * time.Millisecond, Seed: 1})
}

func TestVerifiesAGoodServer(t *testing.T) {
	r := run(t, network(0))
	if !r.Verified || r.Class("read").Ops == 0 || r.Class("like").Ops == 0 || r.Errors != 0 {
		t.Errorf("%+v", r)
	}
}

// A like that was acknowledged and is gone is missed by the lists that follow, and at the end.
func TestFindsALostLike(t *testing.T) {
	r := run(t, network(40))
	text := strings.Join(r.Violations, "\n")
	if r.Verified || !strings.Contains(text, "S1: a list counted") || !strings.Contains(text, "S3: node 1 of 1 holds") {
		t.Errorf("verified: %v\n%s", r.Verified, text)
	}
}

// sample is a result of 10 s.
func sample() *Row {
	r := &harness.Result{Workers: 5, OpsPerSec: 11, Verified: true, Seconds: 10,
		Classes: []harness.ClassResult{{Name: "read", Ops: 100, P50: 2}, {Name: "like", Ops: 10, P99: 1}},
		Txns:    &harness.ServerResult{Refreshed: 3, Retried: 1, UncertaintyRestarts: 4, WaitMean: 0.2, WaitHidden: 0.75}}
	return RowOf("strict", Options{ReadFraction: 0.9}, r)
}

// TestJSONHasTheseFields keeps the names that other programs read.
func TestJSONHasTheseFields(t *testing.T) {
	var b strings.Builder
	if err := WriteJSON(&b, []*Row{sample(), sample()}); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Regimes []map[string]any }
	if err := json.Unmarshal([]byte(b.String()), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Regimes) != 2 {
		t.Fatalf("%d objects, want 2", len(doc.Regimes))
	}
	for _, f := range strings.Fields(`regime workers ops_per_sec read_p50_ms read_p95_ms read_p99_ms like_p50_ms like_p95_ms
		like_p99_ms uncertainty_restarts commit_wait_ms_mean commit_wait_hidden_share client_errors verified`) {
		if _, ok := doc.Regimes[0][f]; !ok {
			t.Errorf("field %s is missing", f)
		}
	}
}

func TestTableShowsWhatIsWrong(t *testing.T) {
	good, bad := sample(), sample()
	bad.Regime, bad.Verified, bad.Violations = "regular", false, []string{"S1: a list counted 7 likes"}
	var b strings.Builder
	if err := WriteTable(&b, []*Row{good, bad}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 + 1", "75%", "yes", "NO", "regular: S1: a list counted 7 likes"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}

func TestCheckReportsAllFaults(t *testing.T) {
	err := Options{ReadFraction: 2, Posts: 100, Likes: 5, Hot: -1}.Check()
	if err == nil {
		t.Fatal("no fault found")
	}
	for _, want := range []string{"read fraction is 2", "likes is 5", "hot is -1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
}
