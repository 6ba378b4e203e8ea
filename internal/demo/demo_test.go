package demo

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/social"
)

// TestRegimes runs the whole demonstration, shortened: loaded, split over three nodes, worked on, verified, torn down.
func TestRegimes(t *testing.T) {
	if testing.Short() {
		t.Skip("three clusters one after the other; not with -short")
	}
	dir := t.TempDir()
	d, err := New(Options{
		Nodes: 3, Latency: time.Millisecond, Dir: dir, Version: "test", Progress: t.Logf,
		Workload: social.Options{ReadFraction: 0.8, Posts: 30, Likes: 300}, Load: harness.Load{Workers: 12, Duration: 2 * time.Second, Seed: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	results, err := d.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := social.WriteTable(&table, results); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", table.String())
	if len(results) != len(Regimes) {
		t.Fatalf("%d results, want one for each of %d regimes", len(results), len(Regimes))
	}
	for i, r := range results {
		if r.Regime != Regimes[i].Name || r.Reads == 0 || r.Likes == 0 {
			t.Errorf("%s: %d lists and %d likes", r.Regime, r.Reads, r.Likes)
		}
		if !r.Verified {
			t.Errorf("%s: the data are wrong: %v", r.Regime, r.Violations)
		}
		if r.ClientErrors != 0 {
			t.Errorf("%s: %d errors reached clients", r.Regime, r.ClientErrors)
		}
		if r.Regime == "strict" && r.UncertaintyRestarts != 0 {
			t.Errorf("strict: %d uncertainty restarts; with r = g nothing is uncertain", r.UncertaintyRestarts)
		}
	}
	last := d.Cluster().Nodes[2].Addrs()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for _, a := range []string{last.SQL, last.RPC, last.HTTP} {
		if c, err := net.Dial("tcp", a); err == nil {
			c.Close()
			t.Errorf("%s is still listened on after Close", a)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "strict", "node3")); err != nil {
		t.Errorf("the stores of a named directory were not kept: %v", err)
	}
}

// TestClocksAreHonest: each regime's clocks report no less than they are off, else the demonstration would show wrong data.
func TestClocksAreHonest(t *testing.T) {
	for i := range 9 {
		if off, bound := offsets[i%len(offsets)], bounds[i%len(bounds)]; off.Abs() > bound {
			t.Errorf("node %d is off by %s and reports ±%s", i+1, off, bound)
		}
	}
}
