package replica

import (
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// wedge is a harness in which a range's task, or the state engine, of one node can be made to stand still.
type wedge struct {
	*harness
	node  kv.NodeID
	id    kv.RangeID    // 0: the state engine
	until time.Duration // on the loop's clock
}

func newWedge(t *testing.T, seed uint64) *wedge {
	w := &wedge{}
	h := newHarness(t, seed, 3, func(o *Options) {
		node := o.Node
		stuck := func(id kv.RangeID) time.Duration {
			if w.harness == nil || w.node != node || w.id != id {
				return 0
			}
			return max(0, w.until-w.loop.Now())
		}
		o.TurnDelay = func(id kv.RangeID) time.Duration { return stuck(id) }
		o.StateDelay = func() time.Duration { return stuck(0) }
	})
	w.harness = h
	return w
}

func (w *wedge) strike(m *member, id kv.RangeID, d time.Duration) {
	w.node, w.id, w.until = m.id, id, w.loop.Now()+d
}

// write writes through whatever node serves, and says how long that took.
func (w *wedge) write(t *testing.T, c *client, id kv.RangeID, key, value string, limit time.Duration) (took time.Duration) {
	t.Helper()
	began := w.loop.Now()
	w.task(limit+5*time.Second, func() {
		if resp, ok := c.write(id, key, value, limit); !ok {
			t.Errorf("r%d: %q is not written in %s: %v", id, value, limit, resp.Err)
		}
	})
	return w.loop.Now() - began
}

// The task of one range stands still on the node that leads it. The store is well, and goes on serving another range that it leads.
// Another node leads the first one within seconds, and nothing that the old leaseholder still answers is stale (harness.watch, L1).
func TestWedgedRange(t *testing.T) {
	for _, seed := range seeds(6) {
		w := newWedge(t, seed)
		c, other := w.client(1), w.client(2)
		w.task(20*time.Second, func() {
			c.write(1, "b", "0", 5*time.Second)
			c.split(t, 1, "k", 2)
			c.write(2, "x", "0", 5*time.Second)
		})
		left, right := w.leader(1), w.leader(2)
		if left != right {
			w.task(20*time.Second, func() {
				c.do(2, kv.Request{Admin: &kv.AdminRequest{TransferLease: left.id}}, 10*time.Second)
			})
			w.wait("both ranges led by one node", 10*time.Second, func() bool { l := w.leaders(2); return len(l) == 1 && l[0] == left })
		}
		term, _ := left.s.ranges.get(1).lease.leads()
		w.run(time.Second)
		w.strike(left, 2, 30*time.Second)
		c.at, other.at = left.id, left.id
		old := left.s.ranges.get(2)
		if took := w.write(t, c, 2, "x", "1", 20*time.Second); took > 6*time.Second {
			t.Errorf("seed %d: the range stood still for %s", seed, took)
		}
		if l := w.leader(2); l == left {
			t.Errorf("seed %d: the node whose task stands still leads on", seed)
		}
		if _, ok := old.lease.holds(); ok {
			t.Errorf("seed %d: the old lease can still be used", seed)
		}
		// The other range has not noticed.
		if took := w.write(t, other, 1, "b", "1", 5*time.Second); took > 200*time.Millisecond {
			t.Errorf("seed %d: a write to the other range took %s", seed, took)
		}
		if now, leads := left.s.ranges.get(1).lease.leads(); !leads || now != term {
			t.Errorf("seed %d: the node lost the other range's lease, too", seed)
		}
		w.run(30 * time.Second)
		w.converge(1)
		w.converge(2)
		if len(left.c.SaysExcluded()) > 0 {
			t.Errorf("seed %d: node %d still excludes %v", seed, left.id, left.c.SaysExcluded())
		}
	}
}

// A leader that was taken for standing still goes on before anybody else could be elected. It leads, but serves nothing in its term; so it
// hands over.
func TestWedgedLeaderResigns(t *testing.T) {
	for _, seed := range seeds(4) {
		w := newWedge(t, seed)
		c := w.client(1)
		w.write(t, c, 1, "b", "0", 5*time.Second)
		l := w.leader(1)
		r := l.s.ranges.get(1)
		term, _ := r.lease.leads()
		w.isolate(l.id, true)
		w.drop = func(from, to kv.NodeID, m *kv.Message) bool { return m.Raft != nil } // nobody is elected meanwhile
		w.strike(l, 1, 3*time.Second)
		w.wait("exclusion", 5*time.Second, func() bool { return len(l.c.SaysExcluded()) > 0 })
		w.wait("the task to go on", 5*time.Second, func() bool { return w.loop.Now() > w.until })
		w.isolate(l.id, false)
		w.run(300 * time.Millisecond)
		if now, leads := r.lease.leads(); !leads || now != term {
			t.Fatalf("seed %d: it does not lead any more: %d", seed, now)
		}
		w.drop = nil
		if took := w.write(t, c, 1, "b", "1", 10*time.Second); took > 5*time.Second {
			t.Errorf("seed %d: nobody served for %s", seed, took)
		}
		if now, _ := r.lease.leads(); now == term {
			t.Errorf("seed %d: it still leads in the term in which it serves nothing", seed)
		}
		w.converge(1)
	}
}

// A leader hands over, the votes for the next one are lost, and its task stands still: it leads no more, nobody was elected, and the others are bound
// to it, because it is the one that they answered last. It says that it does not use that lease any more, and one of them is elected.
func TestWedgedFormerLeader(t *testing.T) {
	for _, seed := range seeds(4) {
		w := newWedge(t, seed)
		c := w.client(1)
		w.write(t, c, 1, "b", "0", 5*time.Second)
		l := w.leader(1)
		r := l.s.ranges.get(1)
		to := l.id%3 + 1
		w.drop = func(_, _ kv.NodeID, m *kv.Message) bool {
			_, leads := r.lease.leads()
			return m.Raft != nil && !leads
		}
		w.user.Go("move", func() {
			w.call(l.id, kv.Request{Range: 1, Admin: &kv.AdminRequest{TransferLease: to}}, 5*time.Second)
		})
		w.wait("the end of its lead", 5*time.Second, func() bool { _, leads := r.lease.leads(); return !leads })
		w.strike(l, 1, 30*time.Second)
		w.run(100 * time.Millisecond) // the votes are lost
		w.drop = nil
		c.at = to
		if took := w.write(t, c, 1, "b", "1", 25*time.Second); took > 8*time.Second {
			t.Errorf("seed %d: nobody served for %s", seed, took)
		}
		w.run(30 * time.Second)
		w.converge(1)
		if len(l.c.SaysExcluded()) > 0 {
			t.Errorf("seed %d: node %d still excludes %v", seed, l.id, l.c.SaysExcluded())
		}
	}
}

// The state engine of a node takes nothing for half a minute, as when it stalls writes: no range can apply anything, while the log and the
// heartbeats go on. Other nodes lead its ranges within seconds, and the node says why it serves nothing.
func TestStalledState(t *testing.T) {
	for _, seed := range seeds(6) {
		w := newWedge(t, seed)
		c := w.client(1)
		w.write(t, c, 1, "b", "0", 5*time.Second)
		l := w.leader(1)
		w.strike(l, 0, 30*time.Second)
		if took := w.write(t, c, 1, "b", "1", 20*time.Second); took > 6*time.Second {
			t.Errorf("seed %d: writes stood still for %s", seed, took)
		}
		if why := l.s.Stalled(); !strings.Contains(why, "storage engine has not taken a batch") {
			t.Errorf("seed %d: node %d says %q", seed, l.id, why)
		}
		if w.leader(1) == l {
			t.Errorf("seed %d: the node whose state takes nothing leads on", seed)
		}
		w.run(30 * time.Second)
		if why := l.s.Stalled(); why != "" {
			t.Errorf("seed %d: the engine works again, and node %d says %q", seed, l.id, why)
		}
		w.converge(1)
	}
}
