package tpcc_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/commit"
	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/readers"
	"github.com/longitude-db/longitude/bench/tpcc"
	"github.com/longitude-db/longitude/internal/demo"
)

// tampers are what somebody does to the data behind the workload's back, and what of that its verification must say.
var tampers = map[string][]struct{ statement, want string }{
	"tpcc": {
		{"UPDATE tpcc_warehouse SET ytd = ytd + 1 WHERE w = 0", "condition 1"},
		{"UPDATE tpcc_district SET next_o = next_o + 1 WHERE w = 0 AND d = 0", "condition 2"},
		{"DELETE FROM tpcc_new_order WHERE w = 0 AND d = 0 AND o = 1", "condition 3"},
		{"DELETE FROM tpcc_order_line WHERE w = 0 AND d = 0 AND o = 1 AND n = 0", "condition 4"},
		{"DELETE FROM tpcc_history WHERE amount > 0 ORDER BY id LIMIT 1", "W2"},
		{"UPDATE tpcc_customer SET paid = paid + 5 WHERE w = 0 AND d = 0 AND c = 0", "a customer owes"},
	},
	"commit":  {{"UPDATE commits SET n = n + 1 WHERE id = 0", "O1"}, {"UPDATE commits SET n = n + 1 WHERE id = 4", "O2"}},
	"readers": {{"UPDATE shelves SET n = n + 1 WHERE id = 7", "R1"}},
}

// TestOnACluster runs the workloads of transactions on nodes of ours, which must pass, and then breaks the data in one place after
// the other, which must be found.
func TestOnACluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts nodes; not with -short")
	}
	regime, err := demo.Find("strict")
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := demo.StartCluster(t.Context(), demo.ClusterOptions{Nodes: 3, Dir: t.TempDir(), Clock: regime.Clock, Ordering: "wait", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	}()
	tgt, err := cluster.Target(t.Context(), harness.TargetOptions{Name: "ours", Database: "d", Drop: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tgt.Close()
	w, err := tpcc.New(tpcc.Options{Warehouses: 1, Hot: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	r := readers.New()
	r.Run(readers.Both)
	for _, w := range []harness.Workload{w, commit.New(), r} {
		t.Run(w.Name(), func(t *testing.T) {
			if err := w.Setup(t.Context(), tgt, t.Logf); err != nil {
				t.Fatal(err)
			}
			// Until there is something of each kind to break.
			for i := uint64(0); ; i++ {
				res, err := harness.Run(t.Context(), tgt, w, harness.Load{Workers: 6, Duration: time.Second, Seed: i}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := harness.Verify(t.Context(), tgt, w, res); err != nil {
					t.Fatal(err)
				}
				if !res.Verified || res.Errors > 0 {
					t.Fatalf("verified %v, %v, %d errors: %s", res.Verified, res.Violations, res.Errors, res.FirstError)
				}
				if res.Classes[0].Ops > 20 && res.Classes[1].Ops > 20 || i > 30 {
					break
				}
			}
			for _, x := range tampers[w.Name()] {
				if _, err := tgt.Nodes[0].ExecContext(t.Context(), x.statement); err != nil {
					t.Fatalf("%s: %v", x.statement, err)
				}
				found, err := w.Verify(context.Background(), tgt)
				if err != nil || !strings.Contains(strings.Join(found, "\n"), x.want) {
					t.Errorf("%s was not found as %q: %v, %v", x.statement, x.want, found, err)
				}
			}
		})
	}
}
