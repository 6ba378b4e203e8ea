package engine

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/txn"
)

// TestIsolation runs testdata/isolation/*: the anomalies that isolation levels are told apart by, after Hermitage (Kleppmann,
// github.com/ept/hermitage), whose names go back to Adya's thesis, and those that MySQL's manual speaks of. Each script
// runs on one node with all rows in one range, and on three, with its rows and sessions spread over them; in both
// orderings; under each of the names that MySQL has for levels. What is seen must be the same everywhere.
func TestIsolation(t *testing.T) {
	files, err := filepath.Glob("testdata/isolation/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, nodes := range []int{1, 3} {
		for _, o := range []txn.Ordering{txn.Wait, txn.Uncertainty} {
			t.Run(fmt.Sprintf("%d nodes/%s", nodes, o), func(t *testing.T) {
				t.Parallel() // most of the time is waiting
				c := startCluster(t, nodes)
				c.waitReplicated()
				for i, level := range []string{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
					p := stage{apart: true, setup: []string{"SET longitude_ordering = '" + o.String() + "'", "SET SESSION TRANSACTION ISOLATION LEVEL " + level,
						"SET longitude_scan_locks = 0"}} // what timestamps do by themselves; testdata/locks.txt has the rest
					if nodes == 3 {
						p.nodeOf = map[string]int{"a": 1, "b": 2, "c": 3}
					}
					for _, f := range files {
						name := strings.TrimSuffix(filepath.Base(f), ".txt")
						p.db = fmt.Sprintf("%s_%d", name, i)
						t.Run(level+"/"+name, func(t *testing.T) { runScript(t, c, f, p) })
					}
				}
			})
		}
	}
}

// TestCausalReverse runs testdata/clocks/*: node 1's clock is ahead, node 2's behind, both within their bounds, so far that
// what happens on node 2 within 400 ms after something on node 1 may be put before it. The nodes' messages carry no readings:
// else node 2 would learn of node 1's earliest with every message, and there would be little to see (time.md, T5).
func TestCausalReverse(t *testing.T) {
	c := (&cluster{t: t, mute: true, clocks: []clock.Conditions{
		{Offset: 200 * time.Millisecond, Bound: 220 * time.Millisecond}, {Offset: -200 * time.Millisecond, Bound: 220 * time.Millisecond}}}).startAll(2)
	c.waitReplicated()
	for _, o := range []txn.Ordering{txn.Wait, txn.Uncertainty} {
		t.Run(o.String(), func(t *testing.T) {
			runScript(t, c, "testdata/clocks/"+o.String()+".txt", stage{db: "d_" + o.String(), setup: []string{"SET longitude_ordering = '" + o.String() + "'"},
				nodeOf: map[string]int{"b": 2}})
		})
	}
}
