package social

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// sample is a run of 10 s with 100 lists of 2 ms and 10 likes of 1 ms.
func sample() *Result {
	t := newTally()
	for range 100 {
		t.done(t.reads, true, 2*time.Millisecond)
	}
	for range 10 {
		t.done(t.likes, true, time.Millisecond)
	}
	t.done(t.likes, false, time.Hour) // began in the warm-up
	return newResult(&Options{Regime: "strict", Workers: 5, ReadFraction: 0.9}, t, 10*time.Second,
		Stats{Refreshed: 3, Retried: 1, Commits: 10, WaitNeeded: 8 * time.Millisecond, WaitActual: 2 * time.Millisecond})
}

func TestResultInNumbers(t *testing.T) {
	r := sample()
	for name, c := range map[string][2]float64{
		"ops/s": {r.OpsPerSec, 11}, "read p50": {r.ReadP50, 2}, "like p99": {r.LikeP99, 1},
		"restarts": {float64(r.UncertaintyRestarts), 4}, "wait": {r.CommitWaitMean, 0.2}, "hidden": {r.CommitWaitHidden, 0.75},
	} {
		if c[0] < c[1]*0.999 || c[0] > c[1]*1.001 {
			t.Errorf("%s is %g, want %g", name, c[0], c[1])
		}
	}
}

// TestJSONHasTheseFields keeps the names that other programs read.
func TestJSONHasTheseFields(t *testing.T) {
	var b strings.Builder
	if err := WriteJSON(&b, []*Result{sample(), sample()}); err != nil {
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
	good.Verified = true
	bad.Regime, bad.Violations = "regular", []string{"S1: a list counted 7 likes"}
	var b strings.Builder
	if err := WriteTable(&b, []*Result{good, bad}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 + 1", "75%", "yes", "NO", "regular: S1: a list counted 7 likes"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}

// TestRefused tells errors that say that nothing was done from those that leave it open.
func TestRefused(t *testing.T) {
	for err, want := range map[error]bool{
		&mysql.MySQLError{Number: 1213}: true,
		&mysql.MySQLError{Number: 1105}: false,
		mysql.ErrInvalidConn:            false,
		errors.New("broken pipe"):       false,
	} {
		if refused(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}

func TestCheckReportsAllFaults(t *testing.T) {
	o := &Options{Workers: 0, ReadFraction: 2, Duration: time.Second, Posts: 100, Likes: 5}
	err := o.Check()
	if err == nil {
		t.Fatal("no fault found")
	}
	for _, want := range []string{"no node", "workers is 0", "read fraction is 2", "likes is 5"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
}
