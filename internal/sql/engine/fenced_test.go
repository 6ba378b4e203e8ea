package engine

import (
	"strings"
	"testing"
)

// A node whose clock is fenced refuses transactions with the reason, and still shows what it knows of time: whoever has to
// mend it looks there first.
func TestFencedNode(t *testing.T) {
	why := "node fenced: 2 of the 3 nodes that are heard of contradict the clock of node 1\nthis node refuses\nhint: mend it"
	c := startCluster(t, 1, func(o *Options) {
		o.Refusal = func() string {
			if _, err := o.Clock.Now(); err != nil {
				return why
			}
			return ""
		}
		o.ClockStatus = func() []ClockRow { return []ClockRow{{Node: 1, State: "fenced", Fenced: why, Age: -1}} }
	})
	n := c.nodes[0]
	n.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
	n.clk.Fence("the test says so")
	for _, q := range []string{"SELECT * FROM d.t", "INSERT INTO d.t VALUES (2)", "CREATE TABLE d.u (id INT PRIMARY KEY)"} {
		if _, err := rows(n.root, q); code(err) != 1290 || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", q, err)
		}
	}
	for _, q := range []string{"SHOW CLOCK", "SELECT * FROM longitude.clock WHERE fenced IS NOT NULL", "SELECT @@longitude_ordering"} {
		if got, err := rows(n.root, q); err != nil || len(got) != 1 {
			t.Errorf("%s: %v, %v", q, got, err)
		}
	}
	n.clk.Unfence()
	if err := n.clk.Poll(); err != nil {
		t.Fatal(err)
	}
	n.exec("INSERT INTO d.t VALUES (2)")
	if got := n.query("SELECT COUNT(*) FROM d.t"); got[0] != "2" {
		t.Errorf("%v", got)
	}
}
