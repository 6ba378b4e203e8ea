package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/longitude-db/longitude/bench/proc"
)

func sampleResult(target string, factor float64) *Result {
	r := &Result{Target: target, Workload: "bank", Workers: 4, Loop: "closed", Seconds: 10, OpsPerSec: 110 * factor, Verified: true, Retries: 7,
		Classes: []ClassResult{{Name: "transfer", Ops: 1000, OpsPerSec: 100 * factor, Mean: 2 / factor, P50: 1.5 / factor, P95: 4, P99: 9, P999: 20, Max: 31},
			{Name: "sum", Ops: 100, OpsPerSec: 10 * factor, Mean: 1, P50: 1, P95: 1, P99: 1, P999: 1, Max: 1}},
		Series: []Second{{At: 1, Length: 1, Ops: []float64{100, 10}, P50: []float64{1.5, 1}, P99: []float64{9, 1}}}}
	r.setUsage(Usage{Ops: 1100, Server: time.Duration(1100 / factor * float64(80*time.Microsecond)), Client: 1100 * 20 * time.Microsecond,
		Machine: proc.Busy{Used: 900 * time.Millisecond, All: time.Second}})
	r.setServer(Stats{Refreshed: 3, Retried: 1, Commits: 10, WaitNeeded: 8 * time.Millisecond, WaitActual: 2 * time.Millisecond})
	return r
}

var wantTable = `                                   latency ms                                    server      data
server  workload  class     ops/s        mean   p50   p95   p99  p99.9   max  µs CPU/op  verified
here    bank      transfer    100        2.00  1.50  4.00  9.00   20.0  31.0                  yes
                  sum        10.0        1.00  1.00  1.00  1.00   1.00  1.00
                  all         110                                                  80.0
here, bank: servers used 80.0 µs of processor time an operation, clients 20.0 µs; 90 % of ` + processors() + ` busy, 79 % with other work: latencies are mostly queueing for a processor
here, bank: commit wait needed 0.800 ms, stood still for 0.200 ms a transaction (75% hidden); uncertainty restarts 4 (3 refreshed, 1 retried) in 10 commits
here, bank: 7 operations begun again because the server asked for it
`

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTable(&b, []*Result{sampleResult("here", 1)}); err != nil || b.String() != wantTable {
		t.Errorf("%v; got\n%s\nwant\n%s", err, b.String(), wantTable)
	}
	b.Reset()
	bad := sampleResult("here", 1)
	bad.Verified, bad.Violations, bad.Unserved, bad.Errors, bad.ErrorKinds = false, []string{"B1: money is lost"}, 5, 2, map[string]int64{"MySQL error 1105": 2}
	if err := WriteTable(&b, []*Result{bad}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NO", "B1: money is lost", "5 operations were due and never begun", "2 operations failed (MySQL error 1105: 2)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
}

func TestVersusAndFiles(t *testing.T) {
	var b bytes.Buffer
	there := []*Result{sampleResult("there", 0.25), sampleResult("there", 0.5), sampleResult("there", 10)}
	slow := Combine(there)
	if slow.Counted.Commits != 30 || slow.Retries != 21 || slow.Classes[0].Ops != 3000 {
		t.Errorf("%+v", slow)
	}
	if slow.OpsPerSec != 55 || slow.Classes[0].P50 != 3 {
		t.Errorf("medians are %.1f ops/s and p50 %.1f ms, want those of the slice with factor 0.5", slow.OpsPerSec, slow.Classes[0].P50)
	}
	// Twice as fast in each round, however fast the rounds are.
	here := []*Result{sampleResult("here", 0.5), sampleResult("here", 1), sampleResult("here", 20)}
	if err := WriteVersus(&b, here, there); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, want := range []string{1: "bank transfer 2.00 ±0 % 0.50 ±0 % 0.50 ±0 % 1.00 ±0 % 1.00 ±0 % –", 3: "all 2.00 ±0 % 0.50 ±0 %"} {
		if got := strings.Join(strings.Fields(lines[i]), " "); want != "" && got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	pooled := Pool(here)
	if pooled.Seconds != 30 || math.Abs(pooled.OpsPerSec-110*21.5/3) > 1e-6 || math.Abs(pooled.CPU.ServerPerOp-80*(2+1+0.05)/3) > 0.01 {
		t.Errorf("pooled: %.1f s, %.3f ops/s, %+v", pooled.Seconds, pooled.OpsPerSec, pooled.CPU)
	}
	b.Reset()
	if err := WriteCSV(&b, []*Result{sampleResult("here", 1)}); err != nil || !strings.Contains(b.String(), "here,bank,1,1.000,false,transfer,100.000,1.500,9.000,0,0,0.000\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	var doc struct{ Results []map[string]any }
	if err := WriteJSON(&b, []*Result{sampleResult("here", 1)}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil || doc.Results[0]["ops_per_sec"] != 110.0 || doc.Results[0]["verified"] != true {
		t.Errorf("%v %v", err, doc)
	}
}

func TestErrorsSayWhatBecameOfTheOperation(t *testing.T) {
	for err, want := range map[error][2]bool{ // retryable, refused
		&mysql.MySQLError{Number: 1213}:             {true, true},
		notDone{&mysql.MySQLError{Number: 1205}}:    {true, true},
		notDone{errors.New("broken before COMMIT")}: {false, true},
		&mysql.MySQLError{Number: 1062}:             {false, true},
		&mysql.MySQLError{Number: 1105}:             {false, false},
		mysql.ErrInvalidConn:                        {false, false},
	} {
		if got := [2]bool{Retryable(err), Refused(err)}; got != want {
			t.Errorf("%v: retryable, refused %v, want %v", err, got, want)
		}
	}
}

// On a terminal each second is drawn over the one before; elsewhere there is a line now and then.
func TestLive(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		var b bytes.Buffer
		v := NewLive(&b, terminal)
		v.Begin("bank", []string{"transfer"})
		for i := range 7 {
			v.Second(Second{At: float64(i), Ops: []float64{float64(100 * i)}, P50: []float64{1}, P99: []float64{2}})
		}
		up, plain := strings.Count(b.String(), "\x1b[4A"), strings.Count(b.String(), "transfer")
		if terminal && (up != 6 || !strings.Contains(b.String(), "▁▂▃▄▅▆█")) || !terminal && (up != 0 || plain != 2) {
			t.Errorf("terminal %v:\n%s", terminal, b.String())
		}
	}
}
