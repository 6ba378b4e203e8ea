package demo

import (
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/harness"
)

// TestLastNodeStops stops one node after the other while clients are connected. The last ones have no quorum left and
// nobody to hand leases to, and must end all the same, gracefully or not.
func TestLastNodeStops(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three nodes; not with -short")
	}
	for _, drain := range []bool{true, false} {
		c, err := StartCluster(t.Context(), ClusterOptions{Nodes: 3, Dir: t.TempDir(), Clock: bounded, Ordering: "wait", Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		dst, err := c.Target(t.Context(), harness.TargetOptions{Database: "d"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dst.Nodes[1].Exec("CREATE TABLE t(id INT PRIMARY KEY)"); err != nil {
			t.Fatal(err)
		}
		for i, n := range c.Nodes {
			begun := time.Now()
			if err := n.Stop(drain); err != nil {
				t.Errorf("node %d, drain %v: %v", i+1, drain, err)
			}
			took := time.Since(begun)
			t.Logf("node %d, drain %v: stopped in %s", i+1, drain, took.Round(time.Millisecond))
			if took > 20*time.Second {
				t.Errorf("node %d, drain %v: stopping took %s", i+1, drain, took)
			}
		}
		dst.Close()
	}
}
