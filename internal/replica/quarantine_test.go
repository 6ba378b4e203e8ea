package replica

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// poison is a harness of two ranges, r1 up to "k" and r2 from there, in which nodes can be made unable to apply what comes in r2.
type poison struct {
	*harness
	t    *testing.T
	bad  map[kv.NodeID]bool
	free []kv.RangeID // to be taken out of quarantine at the next start
	c    *client
}

func newPoison(t *testing.T, seed uint64, mesh func(*cluster.Options)) *poison {
	p := &poison{t: t, bad: map[kv.NodeID]bool{}}
	p.harness = newHarnessOf(t, seed, 3, func(o *Options) {
		node := o.Node
		o.Unsafe.Poison = func(id kv.RangeID, e *raftpb.Entry) bool { return id == 2 && p.bad[node] && len(e.GetData()) > 0 }
		o.Unquarantine = p.free
	}, mesh)
	p.poisoned = func(node kv.NodeID, id kv.RangeID) bool { return id == 2 && (p.bad[node] || p.bad[0]) }
	p.c = p.client(1)
	p.task(20*time.Second, func() {
		p.c.write(1, "b", "0", 5*time.Second)
		p.c.split(t, 1, "k", 2)
		p.c.write(2, "x", "0", 5*time.Second)
	})
	p.run(time.Second)
	return p
}

func (p *poison) write(id kv.RangeID, key, value string, limit time.Duration) (took time.Duration, ok bool) {
	began := p.loop.Now()
	p.task(limit+5*time.Second, func() { _, ok = p.c.write(id, key, value, limit) })
	return p.loop.Now() - began, ok
}

// isQuarantined checks all that a quarantined replica shows of itself.
func (p *poison) isQuarantined(m *member, why string) {
	p.t.Helper()
	qs := m.s.Quarantined()
	if len(qs) != 1 || qs[0].Range != 2 || !strings.Contains(qs[0].Reason, why) {
		p.t.Fatalf("node %d: quarantined: %+v", m.id, qs)
	}
	for _, i := range m.s.Ranges() {
		if (i.Desc.ID == 2) != (i.Quarantined != "") {
			p.t.Errorf("node %d: r%d: quarantined %q", m.id, i.Desc.ID, i.Quarantined)
		}
	}
	p.task(5*time.Second, func() {
		for name, q := range map[string]kv.Request{"a read": p.c.readOf(2, "x", p.reading().Limit()), "a read of the past": p.c.past("x", m.s.SafeTime())} {
			q.Range = 2
			resp, err := p.call(m.id, q, time.Second)
			if err != nil || resp.Err == nil || resp.Err.Code != kv.ErrUnavailable || !strings.Contains(resp.Err.Msg, "quarantined on node") {
				p.t.Errorf("node %d answers %s with %v, %+v", m.id, name, err, resp)
			}
		}
	})
}

// The leaseholder of a range cannot apply a command. Its replica of that range is quarantined: the others elect another leader and go on,
// the node goes on serving its other range, and it stays so over a restart, until it is taken back. Then the replica catches up.
func TestQuarantine(t *testing.T) {
	for _, seed := range seeds(6) {
		p := newPoison(t, seed, nil)
		l := p.leader(2)
		p.c.at = l.id
		p.bad[l.id] = true
		if took, ok := p.write(2, "x", "1", 10*time.Second); !ok || took > 4*time.Second {
			t.Fatalf("seed %d: written: %t, after %s", seed, ok, took)
		}
		if p.leader(2) == l {
			t.Fatalf("seed %d: the quarantined replica leads", seed)
		}
		p.isQuarantined(l, "cannot apply entry")
		if seed%2 == 0 {
			p.c.at = l.id
			if took, ok := p.write(1, "b", "1", 5*time.Second); !ok || took > time.Second {
				t.Errorf("seed %d: the other range: written %t, after %s", seed, ok, took)
			}
		}
		l.restart()
		p.run(5 * time.Second)
		p.isQuarantined(l, "cannot apply entry")
		for i := range 10 {
			if _, ok := p.write(2, fmt.Sprint("x", i), "2", 5*time.Second); !ok {
				t.Errorf("seed %d: not written while a replica is quarantined", seed)
			}
		}
		p.converge(1)
		p.bad, p.free = map[kv.NodeID]bool{}, []kv.RangeID{2}
		l.restart()
		p.converge(1)
		p.converge(2)
		p.free = nil
		l.restart()
		p.run(time.Second)
		if qs := l.s.Quarantined(); len(qs) > 0 {
			t.Errorf("seed %d: quarantined again: %+v", seed, qs)
		}
	}
}

// A leader is quarantined, and its node stopped and started again at once, so that no support of it lapses. It goes on asking
// for support for its other ranges; that must not bind its followers in this one.
func TestQuarantinedLeaderRestarts(t *testing.T) {
	for _, seed := range seeds(6) {
		p := newPoison(t, seed, func(o *cluster.Options) { o.Unsafe.NoSuspicion = true }) // evidence would hurry the others
		l := p.leader(2)
		p.c.at = l.id
		p.bad[l.id] = true
		p.drop = func(from, to kv.NodeID, m *kv.Message) bool { return m.Liveness != nil && len(m.Liveness.Excluded) > 0 } // not told before
		p.user.Go("write", func() { p.c.write(2, "x", "1", time.Second) })
		r := l.s.ranges.get(2)
		p.wait("quarantine", 5*time.Second, func() bool { return r.quarantined.Load() != nil })
		p.task(20*time.Second, func() { // cleanly: the high water of support is exact
			if err := l.s.Stop(0); err != nil {
				t.Error(err)
			}
			if err := l.c.Stop(); err != nil {
				t.Error(err)
			}
		})
		l.restart()
		p.drop = nil
		if took, ok := p.write(2, "x", "2", 15*time.Second); !ok || took > 6*time.Second {
			t.Errorf("seed %d: written: %t, after %s", seed, ok, took)
		}
		p.isQuarantined(l, "cannot apply entry")
	}
}

// A quarantined replica counts in no quorum, although its log goes on being there: with another node cut off nothing is acknowledged.
func TestQuarantinedReplicaIsNotCounted(t *testing.T) {
	for _, seed := range seeds(4) {
		p := newPoison(t, seed, nil)
		l := p.leader(2)
		bad, other := p.nodes[int(l.id)%3], p.nodes[(int(l.id)+1)%3]
		p.bad[bad.id] = true
		if _, ok := p.write(2, "x", "1", 5*time.Second); !ok {
			t.Fatalf("seed %d: not written", seed)
		}
		p.wait("quarantine", 5*time.Second, func() bool { return len(bad.s.Quarantined()) == 1 })
		p.isQuarantined(bad, "cannot apply entry")
		p.isolate(other.id, true)
		if _, ok := p.write(2, "x", "2", 5*time.Second); ok {
			t.Errorf("seed %d: acknowledged by one replica of three", seed)
		}
		if _, ok := p.write(1, "b", "2", 5*time.Second); !ok {
			t.Errorf("seed %d: the other range has two replicas of three, and is not written", seed)
		}
		p.isolate(other.id, false)
		if _, ok := p.write(2, "x", "3", 10*time.Second); !ok {
			t.Errorf("seed %d: not written when the other node is back", seed)
		}
	}
}

// A command that no replica can apply: it writes outside of its range (A3). All of them are quarantined, and the range is unavailable, with
// a reason. No node ends, after a restart neither, and the other range goes on.
func TestPoisonPill(t *testing.T) {
	p := newPoison(t, 1, nil)
	p.bad[0] = true
	l := p.leader(2)
	r := l.s.ranges.get(2)
	var b storage.Batch
	if err := b.Set(storage.Key(kv.Key("b")), []byte("not mine"), nil); err != nil {
		t.Fatal(err)
	}
	term, _ := r.lease.holds()
	var outcome *kv.Error
	p.task(20*time.Second, func() {
		outcome = r.proposeWait(&proposal{cmd: command{Term: term, Generation: r.desc.Load().Generation, Batch: b.Repr()}}, func(*kv.Error) {})
	})
	if outcome == nil || outcome.Code != kv.ErrAmbiguous || !strings.Contains(outcome.Msg, "quarantined") {
		t.Errorf("the command's outcome: %v", outcome)
	}
	p.wait("quarantine of all", 10*time.Second, func() bool {
		n := 0
		for _, m := range p.nodes {
			n += len(m.s.Quarantined())
		}
		return n == 3
	})
	for range 2 {
		for _, m := range p.nodes {
			p.isQuarantined(m, `a command writes "b`)
		}
		if took, ok := p.write(1, "b", "1", 5*time.Second); !ok || took > 4*time.Second {
			t.Errorf("the other range: written %t, after %s", ok, took)
		}
		for _, m := range p.nodes {
			m.restart()
		}
		p.run(3 * time.Second)
	}
}

// A process that is killed while its range's task waits unwinds that task: that is no reason to quarantine anything.
func TestKilledTaskIsNotQuarantined(t *testing.T) {
	w := newWedge(t, 1)
	c := w.client(1)
	w.write(t, c, 1, "b", "0", 5*time.Second)
	l := w.leader(1)
	w.strike(l, 0, 30*time.Second)
	w.user.Go("write", func() { c.write(1, "b", "1", time.Second) })
	w.wait("a batch on its way", 5*time.Second, func() bool { return l.s.ranges.get(1).progress.applying.Load() != 0 })
	l.crash()
	w.until = 0
	l.start(false)
	w.converge(1)
	if qs := l.s.Quarantined(); len(qs) > 0 {
		t.Errorf("quarantined: %+v", qs)
	}
}

// A replica is quarantined while it does not lead: it led in the process before, and applies what that left behind. Meanwhile the third
// node is away, and when it is back both others are bound to the store of the quarantined replica, which lives and asks for
// support for its other ranges. It has to free them for this range, or nobody could be elected.
func TestQuarantinedFollowerFreesVoters(t *testing.T) {
	for _, seed := range seeds(4) {
		p := newPoison(t, seed, nil)
		a := p.leader(2)
		p.c.at = a.id
		if _, ok := p.write(2, "x", "1", 5*time.Second); !ok {
			t.Fatalf("seed %d: not written", seed)
		}
		b := p.nodes[int(a.id)%3]
		p.isolate(b.id, true)
		if _, ok := p.write(2, "x", "2", 5*time.Second); !ok {
			t.Fatalf("seed %d: not written by two of three", seed)
		}
		p.bad[a.id] = true
		a.restart()
		p.wait("quarantine", 20*time.Second, func() bool { return len(a.s.Quarantined()) == 1 })
		p.run(6 * time.Second) // it requests support again
		p.isolate(b.id, false)
		if took, ok := p.write(2, "x", "3", 15*time.Second); !ok || took > 8*time.Second {
			t.Errorf("seed %d: written: %t, after %s", seed, ok, took)
		}
		p.isQuarantined(a, "cannot apply entry")
	}
}

// A closed timestamp that was on its way when the lease ended is not published: the end of the lease gives up commands whose outcome
// is not known, and with them the floors that would have held it down (F1).
func TestClosedTimestampEndsWithItsLease(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	r := h.leader(1).s.ranges.get(1)
	ts := h.reading().Start()
	h.task(time.Second, func() {
		view, kerr := r.lease.check(ts)
		if kerr != nil {
			t.Fatal(kerr)
		}
		if _, ok := r.closeUnder(view, ts); !ok {
			t.Error("not closed under a lease that holds")
		}
		end := r.closing.begin() // a write under way
		r.lease.change((*leaseCore).stop)
		end() // given up: it may still land
		if p, ok := r.closeUnder(view, ts.Forward(h.reading().Limit())); ok {
			t.Errorf("closed %s after the lease had ended", p.TS)
		}
	})
}
