package cluster

import (
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// TestGone: a process is gone when its node has started again, which the others hear with its first heartbeat, or when its node
// is silent. One that was never heard of has as long as one that was.
func TestGone(t *testing.T) {
	n := newNet(t)
	process := func(id kv.NodeID) kv.Process { return kv.Process{Node: id, Started: n.nodes[id].c.Self().Started} }
	check := func(when string, asked kv.NodeID, p kv.Process, want bool) {
		t.Helper()
		if got := n.nodes[asked].c.Gone(p); got != want {
			t.Errorf("%s: node %d thinks that process %v is gone: %t", when, asked, p, got)
		}
	}
	check("at the start", 1, kv.Process{Node: 2}, false)
	n.run(3 * time.Second)
	first := process(3)
	for id := kv.NodeID(1); id <= 3; id++ {
		check("well", id, first, false)
		check("no process in particular", id, kv.Process{}, false)
	}
	check("a node that nobody has heard of", 1, kv.Process{Node: 9}, true)

	n.cut[3] = true
	n.run(900 * time.Millisecond)
	check("silent for a while", 1, first, false)
	n.run(500 * time.Millisecond)
	check("silent for longer", 1, first, true)
	check("of itself it knows better", 3, first, false)
	n.cut[3] = false
	n.run(time.Second)
	check("heard again", 1, first, false)

	n.nodes[3].rt.Kill()
	n.nodes[3].start(nil)
	n.run(500 * time.Millisecond)
	check("the process before", 1, first, true)
	check("the process before", 3, first, true)
	check("the one now", 1, process(3), false)
}
