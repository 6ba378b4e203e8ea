package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// fenced lists the nodes that have fenced themselves.
func (n *net) fenced() (out []kv.NodeID) {
	for id := kv.NodeID(1); id <= kv.NodeID(len(n.nodes)); id++ {
		if why, _ := n.nodes[id].clock.Fenced(); why != "" {
			out = append(out, id)
		}
	}
	return out
}

// TestVote: a node that more than half contradict fences itself, in whichever direction it is off; all others name it. A
// liar alone fences nobody else. Of two nobody can tell who lies.
func TestVote(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name   string
		nodes  kv.NodeID
		lies   map[kv.NodeID]time.Duration
		fenced string
	}{
		{"all honest", 3, nil, "[]"},
		{"fast", 3, map[kv.NodeID]time.Duration{2: 50 * ms}, "[2]"},
		{"slow", 3, map[kv.NodeID]time.Duration{3: -50 * ms}, "[3]"},
		{"the first node", 3, map[kv.NodeID]time.Duration{1: time.Hour}, "[1]"},
		{"a lie within both bounds", 3, map[kv.NodeID]time.Duration{2: 2 * ms}, "[]"},
		{"a lie that the journey of the messages hides", 3, map[kv.NodeID]time.Duration{2: 2900 * time.Microsecond}, "[]"},
		{"two nodes", 2, map[kv.NodeID]time.Duration{2: time.Second}, "[]"},
		{"two of five, each its own lie", 5, map[kv.NodeID]time.Duration{2: 50 * ms, 4: -50 * ms}, "[2 4]"},
		{"two of five, the same lie", 5, map[kv.NodeID]time.Duration{2: 50 * ms, 4: 50 * ms}, "[2 4]"},
		{"one of four", 4, map[kv.NodeID]time.Duration{4: 50 * ms}, "[4]"},
		{"two against two", 4, map[kv.NodeID]time.Duration{3: 50 * ms, 4: 50 * ms}, "[]"},
		{"everybody contradicts everybody", 3, map[kv.NodeID]time.Duration{1: 50 * ms, 2: -50 * ms}, "[1 2 3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// They lie when all have heard of each other: a vote among those that happened to be heard first is another one.
			n := newNetOf(t, c.nodes, nil)
			n.run(500 * time.Millisecond)
			for id, lie := range c.lies {
				n.nodes[id].sim.Set(clock.Conditions{Bound: time.Millisecond, Offset: lie, Lying: true})
			}
			n.run(2 * time.Second)
			if got := fmt.Sprint(n.fenced()); got != c.fenced {
				t.Fatalf("fenced: %s, want %s", got, c.fenced)
			}
			for id, nd := range n.nodes {
				named, why := nd.c.Falsetickers()
				if got := fmt.Sprint(named); got != c.fenced {
					t.Errorf("node %d names %s (%v)", id, got, why)
				}
				if _, err := nd.clock.Now(); (err != nil) != (strings.Contains(c.fenced, fmt.Sprint(id))) {
					t.Errorf("node %d: %v", id, err)
				}
			}
		})
	}
}

// TestFencedNodeReturns: a fenced node requests no support and gives none, is told so once, and comes back by itself some
// time after its clock has become good, and not before.
func TestFencedNodeReturns(t *testing.T) {
	n := newNetOf(t, 3, nil)
	liar := n.nodes[2]
	told := 0
	liar.c.opts.Fenced = func() {
		told++
		if _, err := liar.clock.Now(); !errors.Is(err, clock.ErrFenced) {
			t.Errorf("told before the clock was fenced: %v", err)
		}
	}
	n.run(2 * time.Second)
	before := n.nodes[1].c.SupportFromUntil(2)
	// The clock jumps ahead by 20 ms: its own history contradicts that, and it is silent until its next answer. Then it
	// reports it.
	liar.sim.Set(clock.Conditions{Bound: time.Millisecond, Offset: 20 * time.Millisecond, Lying: true})
	n.run(600 * time.Millisecond)
	if why, _ := liar.clock.Fenced(); why != "2 of the 3 nodes that are heard of contradict the clock of node 2: node 1, node 3" {
		t.Fatalf("after 600 ms: %q", why)
	}
	n.run(3 * time.Second)
	if until := n.nodes[1].c.SupportFromUntil(2); until.Sub(before) > 3*time.Second {
		t.Errorf("a fenced node went on giving support, until %d", until)
	}
	if until := liar.c.SupportFromUntil(1); until > n.now() {
		t.Errorf("a fenced node went on requesting support, until %d", until)
	}
	// Its dissenters fall silent one after the other. That clears no node.
	n.cut[1] = true
	n.run(20 * time.Second)
	n.cut[3] = true
	n.run(20 * time.Second)
	if len(n.fenced()) != 1 {
		t.Fatalf("nobody is there to say that the clock is good, and it is used: fenced %v", n.fenced())
	}
	n.cut = map[kv.NodeID]bool{}
	n.run(time.Second)
	liar.sim.Set(clock.Conditions{Bound: time.Millisecond})
	n.run(8 * time.Second)
	if len(n.fenced()) != 1 {
		t.Fatal("back although its last conflict is 8 s ago: 5 s it stands, and 5 s have to be calm")
	}
	n.run(4 * time.Second)
	if _, err := liar.clock.Now(); err != nil || len(n.fenced()) != 0 {
		t.Fatalf("12 s after the clock became good: %v, fenced %v", err, n.fenced())
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	if until := liar.c.SupportFromUntil(1); until < n.now() {
		t.Error("it is back but has no support")
	}
}

// TestPoorClocksAreNoLiars: bounds of 0.05, 1 and 50 ms, each as far off as it may be, live with each other.
func TestPoorClocksAreNoLiars(t *testing.T) {
	n := newNetOf(t, 3, nil)
	for id, eps := range map[kv.NodeID]time.Duration{1: 50 * time.Microsecond, 2: -time.Millisecond, 3: 50 * time.Millisecond} {
		n.nodes[id].sim.Set(clock.Conditions{Bound: eps.Abs(), Offset: eps})
	}
	n.run(30 * time.Second)
	for id, nd := range n.nodes {
		if _, err := nd.clock.Now(); err != nil || len(nd.clock.Conflicts()) != 0 {
			t.Errorf("node %d: %v, %+v", id, err, nd.clock.Conflicts())
		}
		if until := nd.c.SupportFromUntil(2); until < n.now() {
			t.Errorf("node %d has no support of node 2", id)
		}
	}
}
