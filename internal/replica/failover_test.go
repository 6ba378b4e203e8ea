package replica

import (
	"slices"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
)

// gap is how long nobody served a range after its leaseholder was struck: from the blow to the first write that was
// acknowledged. strike is told who it is.
func gap(t *testing.T, h *harness, limit time.Duration, strike func(leader *member)) (took time.Duration, ok bool) {
	t.Helper()
	c := h.client(1)
	leader := h.leader(1)
	c.at = leader.id
	h.task(10*time.Second, func() {
		if _, ok := c.write(1, "k", "before", 5*time.Second); !ok {
			t.Error("not written before anything happened")
		}
	})
	h.run(time.Duration(h.loop.Rand().IntN(300)) * time.Millisecond)
	began := h.loop.Now()
	strike(leader)
	others := slices.DeleteFunc(slices.Clone(h.nodes), func(m *member) bool { return m == leader })
	for n := 0; h.loop.Now()-began < limit; n++ {
		at := others[n%len(others)]
		var resp kv.Response
		var err error
		h.task(2*time.Second, func() {
			c.at = at.id
			ts := h.reading().Limit()
			resp, err = h.call(at.id, kv.Request{Range: 1, Write: &kv.WriteRequest{
				Txn: c.txn(), Start: ts, Anchor: kv.Key("k"), ReadTS: ts, CommitTS: ts, OnePhase: true, CanForward: true,
				Puts: []kv.Put{{Key: kv.Key("k"), Value: []byte("after")}}, Laid: h.reading().Earliest,
			}}, time.Second)
			for err == nil && resp.Err == nil && !h.reading().Past(resp.Write.CommitTS) {
				h.user.Sleep(time.Millisecond)
			}
		})
		if err == nil && resp.Err == nil {
			return h.loop.Now() - began, true
		}
		h.run(2 * time.Millisecond)
	}
	return limit, false
}

// kill ends a process at once. As a kernel does, its own then ends the connections, and the others hear of it.
func (m *member) kill() {
	m.crash()
	for _, p := range m.h.nodes {
		if p != m && p.up {
			c := p.c
			m.h.loop.At(m.h.loop.Now()+time.Millisecond, func() { c.Lost(m.id) })
		}
	}
}

// deafen cuts off what is sent to a node, or mends that.
func (h *harness) deafen(m *member, off bool) {
	for _, p := range h.nodes {
		h.cut[[2]kv.NodeID{p.id, m.id}] = off
	}
}

// TestFailover says how long it takes until a range is served again, for each way of losing its leaseholder, over some seeds
// and at some moment between two heartbeats. The bounds are what docs/failover.md derives.
func TestFailover(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  time.Duration
		strike func(h *harness, l *member)
	}{
		// The support (300 ms and twice the way) has to expire, then two rounds of votes and one entry.
		{"killed", 450 * time.Millisecond, func(_ *harness, l *member) { l.kill() }},
		// Nobody says that it is gone: the range waits for its silence of a second.
		{"cut off", 1600 * time.Millisecond, func(h *harness, l *member) { h.isolate(l.id, true) }},
		// Its heartbeats arrive, and nothing reaches it. It asks for no support once it has heard nobody for a second.
		{"deaf", 1800 * time.Millisecond, func(h *harness, l *member) { h.deafen(l, true) }},
		{"mute", 1600 * time.Millisecond, func(h *harness, l *member) {
			for _, p := range h.nodes {
				h.cut[[2]kv.NodeID{l.id, p.id}] = true
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []time.Duration
			for _, seed := range seeds(20) {
				h := newHarness(t, seed, 3, nil)
				took, ok := gap(t, h, 20*time.Second, func(l *member) { c.strike(h, l) })
				if !ok || took > c.limit {
					t.Errorf("seed %d: served again after %s (%t), want %s", seed, took, ok, c.limit)
				}
				all = append(all, took)
			}
			slices.Sort(all)
			t.Logf("min %s, median %s, max %s", all[0], all[len(all)/2], all[len(all)-1])
		})
	}
}

// TestDeafLeaderControls: a leader that hears nobody keeps its range for as long as it is deaf, if it goes on asking its peers for
// support; or if it goes on ticking and they do not conclude from what it asks that its lease runs out. Either of the two
// suffices.
func TestDeafLeaderControls(t *testing.T) {
	for _, c := range []struct {
		name   string
		ticks  bool
		unsafe cluster.Unsafe
		served bool
	}{
		{"asks peers that it does not hear", false, cluster.Unsafe{AskUnheard: true}, false},
		{"goes on ticking, and they do not suspect it", true, cluster.Unsafe{NoSuspicion: true}, false},
		{"goes on ticking", true, cluster.Unsafe{}, true},
		{"they do not suspect it", false, cluster.Unsafe{NoSuspicion: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHarnessOf(t, 1, 3, func(o *Options) { o.Unsafe.KeepTicking = c.ticks }, func(o *cluster.Options) { o.Unsafe = c.unsafe })
			took, ok := gap(t, h, 20*time.Second, func(l *member) { h.deafen(l, true) })
			if ok != c.served || ok && took > 3*time.Second {
				t.Errorf("served again: %t, after %s", ok, took)
			}
		})
	}
}

// TestNoFalseFailover: a leaseholder that stands still or is cut off for half a second keeps its range, and serves again soon
// after.
func TestNoFalseFailover(t *testing.T) {
	for _, seed := range seeds(20) {
		h := newHarness(t, seed, 3, nil)
		old := h.leader(1)
		term := old.s.ranges.get(1).stats.Load().Term
		h.run(time.Duration(h.loop.Rand().IntN(300)) * time.Millisecond)
		h.isolate(old.id, true)
		h.run(500 * time.Millisecond)
		if len(h.leaders(1)) != 0 {
			t.Errorf("seed %d: a lease of 300 ms is still there after 500 ms of silence", seed)
		}
		h.isolate(old.id, false)
		began := h.loop.Now()
		h.wait("the same leaseholder", time.Second, func() bool { return len(h.leaders(1)) == 1 })
		if took := h.loop.Now() - began; h.leaders(1)[0] != old || took > 500*time.Millisecond {
			t.Errorf("seed %d: node %d leads %s later, before it was node %d", seed, h.leaders(1)[0].id, took, old.id)
		}
		if now := old.s.ranges.get(1).stats.Load().Term; now != term {
			t.Errorf("seed %d: term %d, it was %d", seed, now, term)
		}
	}
}
