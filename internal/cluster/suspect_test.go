package cluster

import (
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// TestSuspects: what counts as evidence against a node, and what takes it away.
func TestSuspects(t *testing.T) {
	s := suspects{}
	steps := []struct {
		what     string
		do       func() bool
		news, is bool
	}{
		{"its heartbeats ask: no reason", func() bool { return s.heartbeat(2, 0, true) }, false, false},
		{"the connection breaks", func() bool { return s.lost(2, time.Second) }, true, true},
		{"and the other one", func() bool { return s.lost(2, time.Second) }, false, true},
		{"a heartbeat that was on its way when it broke", func() bool { return s.heartbeat(2, time.Second+settle/2, true) }, false, true},
		{"a heartbeat on a new connection", func() bool { return s.heartbeat(2, 1100*time.Millisecond, true) }, false, false},
		{"a heartbeat that asks for nothing", func() bool { return s.heartbeat(2, 2*time.Second, false) }, true, true},
		{"another", func() bool { return s.heartbeat(2, 3*time.Second, false) }, false, true},
		{"the connection breaks as well", func() bool { return s.lost(2, 3*time.Second) }, false, true},
		{"it is back, and still asks for nothing", func() bool { return s.heartbeat(2, 4*time.Second, false) }, false, true},
		{"it asks again", func() bool { return s.heartbeat(2, 5*time.Second, true) }, false, false},
	}
	for _, step := range steps {
		news := step.do()
		if _, is := s[2]; news != step.news || is != step.is {
			t.Errorf("%s: news %t, suspected %t; want %t, %t", step.what, news, is, step.news, step.is)
		}
	}
}

// TestTrips: support is asked for longer by twice the trip to the farthest peer. A moment at which a process stood still
// changes nothing, and a peer that has fallen silent counts no more.
func TestTrips(t *testing.T) {
	tr := newTrips()
	now := time.Duration(0)
	round := func(took map[kv.NodeID]time.Duration) {
		until := clockAt(now)
		tr.recordRequest(until, now)
		for peer := kv.NodeID(1); peer <= 3; peer++ {
			if d, ok := took[peer]; ok {
				tr.recordSupport(peer, until, now+d)
			}
		}
		now += 50 * time.Millisecond
	}
	const ms = time.Millisecond
	for range 100 {
		round(map[kv.NodeID]time.Duration{2: ms, 3: 80 * ms})
	}
	if got := tr.allowance(now); got != 160*ms {
		t.Errorf("peers 1 and 80 ms away: %s", got)
	}
	for range 10 {
		round(map[kv.NodeID]time.Duration{2: 500 * ms, 3: 600 * ms})
	}
	if got := tr.allowance(now); got != 160*ms {
		t.Errorf("after standing still for half a second: %s", got)
	}
	for range 200 {
		round(map[kv.NodeID]time.Duration{2: 3 * ms})
	}
	if got := tr.allowance(now); got != 6*ms {
		t.Errorf("the far one is silent: %s", got)
	}
	for range 200 {
		round(map[kv.NodeID]time.Duration{2: 5 * time.Second})
	}
	if got := tr.allowance(now); got > maxAllowance {
		t.Errorf("the allowance is not bounded: %s", got)
	}
}

// TestUnheard (P8): a store requests support only of peers that it hears. Node 3 can be heard and hears no peer; the others are
// free of it after its silence and the end of their last support, although its heartbeats arrive all the time, and suspect it.
func TestUnheard(t *testing.T) {
	n := newNet(t)
	n.run(2 * time.Second)
	if n.nodes[1].c.Suspected(3) {
		t.Fatal("suspected without a reason")
	}
	told := 0
	n.nodes[1].c.OnSuspect(func(id kv.NodeID) {
		if id == 3 {
			told++
		}
	})
	n.deaf[3] = true
	n.run(900 * time.Millisecond)
	if n.nodes[1].c.TryWithdraw(3) {
		t.Fatal("free of a node that still asks")
	}
	n.run(600 * time.Millisecond)
	if !n.nodes[1].c.TryWithdraw(3) || !n.nodes[2].c.TryWithdraw(3) {
		t.Error("still bound to a node that hears nobody")
	}
	if !n.nodes[1].c.Hears(3) || n.nodes[3].c.Hears(1) {
		t.Error("node 3 should be heard, and hear nobody")
	}
	if !n.nodes[1].c.Suspected(3) || told != 1 {
		t.Errorf("suspected: %t, told %d times", n.nodes[1].c.Suspected(3), told)
	}
	n.deaf[3] = false
	n.run(500 * time.Millisecond)
	if n.nodes[1].c.Suspected(3) || n.nodes[3].c.SupportFromUntil(1) < n.now() {
		t.Error("node 3 hears again and is not supported")
	}
}

// TestUnheardControl: without P8 the others stay bound for as long as its heartbeats arrive.
func TestUnheardControl(t *testing.T) {
	n := newNet(t)
	n.nodes[3].c.opts.Unsafe.AskUnheard = true
	n.run(2 * time.Second)
	n.deaf[3] = true
	n.run(20 * time.Second)
	if n.nodes[1].c.TryWithdraw(3) {
		t.Error("node 3 asks whom it does not hear, and yet node 1 is free of it")
	}
}

// TestLost: a connection that breaks is evidence, and frees no store before the support has expired.
func TestLost(t *testing.T) {
	n := newNet(t)
	n.run(2 * time.Second)
	n.nodes[3].rt.Kill()
	n.nodes[1].c.Lost(3)
	n.run(2 * time.Millisecond) // what was on its way arrives
	if !n.nodes[1].c.Suspected(3) || n.nodes[1].c.Alive(3) {
		t.Error("a node whose connection broke is not suspected, or alive")
	}
	until := n.nodes[1].c.SupportForUntil(3)
	if in := n.nodes[1].c.WithdrawableIn(3); in < 200*time.Millisecond || in > 310*time.Millisecond {
		t.Errorf("to be released in %s", in)
	}
	for n.now() <= until {
		if n.nodes[1].c.TryWithdraw(3) {
			t.Fatalf("released at %d, bound until %d", n.now(), until)
		}
		n.run(time.Millisecond)
	}
	n.run(5 * time.Millisecond)
	if !n.nodes[1].c.TryWithdraw(3) {
		t.Error("still bound")
	}
	if !n.nodes[1].c.Gone(kv.Process{Node: 3, Started: n.nodes[3].c.Self().Started}) {
		t.Error("the process is not taken for gone")
	}
}

// TestSlowDisk: syncs of the high water that take half a second delay no support.
func TestSlowDisk(t *testing.T) {
	n := newNet(t)
	n.run(2 * time.Second)
	n.nodes[2].slow = 500 * time.Millisecond
	for range 10_000 {
		n.run(time.Millisecond)
		if until := n.nodes[1].c.SupportFromUntil(2); until < n.now().Add(100*time.Millisecond) {
			t.Fatalf("at %d node 1 has support of node 2 until %d only", n.now(), until)
		}
	}
}
