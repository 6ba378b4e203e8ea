package replica

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// A lease is handed over within milliseconds, to the node that was asked for, and nothing is written below what it served.
func TestTransfer(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	c := h.client(1)
	for round := range 6 {
		from := h.leader(1)
		to := h.nodes[int(from.id)%3]
		c.at = from.id
		h.task(30*time.Second, func() {
			c.write(1, "k", fmt.Sprint("a", round), 10*time.Second)
			// Reads go on all the time, far ahead of it: the next leader's own clock is behind them.
			var last clock.Timestamp
			busy, stop := 3, false
			for n := range busy {
				reader := h.client(uint64(100 + n))
				h.user.Go("reader", func() {
					for !stop {
						ts := h.reading().Limit()
						ts.Wall += int64(100*time.Millisecond) + int64(n)
						if resp, err := h.call(from.id, reader.readOf(1, "k", ts), time.Second); err == nil && resp.Err == nil {
							last = last.Forward(ts)
						}
						h.user.Sleep(time.Duration(reader.rng.IntN(200)) * time.Microsecond)
					}
					busy--
				})
			}
			h.user.Sleep(10 * time.Millisecond)
			began := h.loop.Now()
			resp, ok := c.do(1, kv.Request{Admin: &kv.AdminRequest{TransferLease: to.id}}, 10*time.Second)
			if !ok {
				t.Errorf("transfer: %v", resp.Err)
			}
			c.at = to.id
			w, ok := c.writeAt(1, "k", fmt.Sprint("b", round), h.reading().Start(), 10*time.Second)
			stop = true
			for busy > 0 {
				h.user.Sleep(time.Millisecond)
			}
			if !ok || last.IsZero() || w.Write.CommitTS.LessEq(last) {
				t.Errorf("written at %v, the earlier lease had served %s", w.Write, last)
			}
			if took := h.loop.Now() - began; took > time.Second { // most of it waits until ts is past
				t.Errorf("nobody served for %s", took)
			}
		})
		if l := h.leader(1); l != to {
			t.Errorf("node %d leads, %d was asked for", l.id, to.id)
		}
	}
	// The preference stays: after another node has led for a while, the range goes back.
	want := h.leader(1)
	h.isolate(want.id, true)
	h.run(5 * time.Second)
	if l := h.leader(1); l == want {
		t.Fatal("a node that is cut off leads")
	}
	h.isolate(want.id, false)
	h.wait("return to the preferred node", 60*time.Second, func() bool { l := h.leaders(1); return len(l) == 1 && l[0] == want })
	h.converge(1)
}

// splitAt splits a range at its leaseholder.
func (c *client) split(t *testing.T, id kv.RangeID, at string, right kv.RangeID) {
	resp, ok := c.do(id, kv.Request{Admin: &kv.AdminRequest{SplitAt: kv.Key(at), NewRange: right}}, 10*time.Second)
	if !ok {
		t.Errorf("split: %v", resp.Err)
	}
}

// Both halves serve at once after a split, and what was served before stays true in the right one.
func TestSplit(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	c := h.client(1)
	h.leader(1)
	var ts clock.Timestamp
	h.task(60*time.Second, func() {
		for i := range 20 {
			c.write(1, fmt.Sprintf("k%02d", i), "x", 10*time.Second)
		}
		ts = h.reading().Limit()
		ts.Wall += int64(500 * time.Millisecond)
		c.do(1, c.readOf(1, "k15", ts), time.Second)
		began := h.loop.Now()
		c.split(t, 1, "k10", 2)
		c.split(t, 2, "k10", 2) // again, at whoever holds the key now: nothing happens
		if w, ok := c.write(2, "k15", "y", 10*time.Second); !ok || w.Write.CommitTS.LessEq(ts) {
			t.Errorf("written at %v in the right half, the left lease had served %s there", w.Write, ts)
		}
		if took := h.loop.Now() - began; took > time.Second {
			t.Errorf("the right half served only after %s", took)
		}
		if v, _, _ := c.read(2, "k15", time.Second); v != "y" {
			t.Errorf("k15 reads %q", v)
		}
		if v, _, _ := c.read(1, "k05", time.Second); v != "x" {
			t.Errorf("k05 reads %q", v)
		}
		// A request that does not fit learns where it does.
		resp, _ := h.call(h.leaders(1)[0].id, c.readOf(1, "k15", ts), time.Second)
		if resp.Err == nil || resp.Err.Code != kv.ErrRangeMismatch || !slices.ContainsFunc(resp.Err.Descriptors, func(d kv.RangeDescriptor) bool { return d.ID == 2 }) {
			t.Errorf("mismatch: %+v", resp.Err)
		}
	})
	h.converge(1)
	h.converge(2)
}

// A replica that crashes right after it has applied a split, before any of it is durable, applies it again; one that was
// down before it catches up over it.
func TestSplitAndCrash(t *testing.T) {
	for _, seed := range seeds(8) {
		h := newHarness(t, seed, 3, nil)
		c := h.client(1)
		h.task(60*time.Second, func() {
			for i := range 20 {
				c.write(1, fmt.Sprintf("k%02d", i), "x", 10*time.Second)
			}
		})
		down := h.nodes[seed%3]
		if seed%2 == 0 {
			down.crash() // before the split
		}
		h.task(60*time.Second, func() {
			c.split(t, 1, "k10", 2)
			c.write(2, "k15", "y", 10*time.Second)
		})
		if seed%2 == 1 {
			h.wait("split at the node", 10*time.Second, func() bool { return down.s.ranges.get(2) != nil })
			down.crash() // after it, and what was written to the right half
		}
		h.task(60*time.Second, func() { c.write(2, "k16", "z", 10*time.Second) })
		down.start(false)
		h.task(60*time.Second, func() {
			c.split(t, 2, "k15", 3)
			c.write(3, "k16", "zz", 10*time.Second)
		})
		for id := kv.RangeID(1); id <= 3; id++ {
			h.converge(id)
		}
		// Everything at once.
		for _, m := range h.nodes {
			m.crash()
		}
		for _, m := range h.nodes {
			m.start(false)
		}
		for id := kv.RangeID(1); id <= 3; id++ {
			h.converge(id)
		}
		h.task(60*time.Second, func() {
			if v, _, _ := c.read(3, "k16", 20*time.Second); v != "zz" {
				t.Errorf("k16 reads %q", v)
			}
			if v, _, _ := c.read(1, "k01", 20*time.Second); v != "x" {
				t.Errorf("k01 reads %q", v)
			}
		})
	}
}

// A replica that was away while the others truncated their logs beyond it gets a snapshot; also if the range was split
// meanwhile, and if the node crashes while the snapshot arrives.
func TestSnapshot(t *testing.T) {
	for _, seed := range seeds(6) {
		h := newHarness(t, seed, 3, func(o *Options) { o.KeepEntries, o.FlushInterval = 20, time.Second })
		c := h.client(1)
		h.leader(1)
		away := h.nodes[seed%3]
		h.isolate(away.id, true)
		write := func(from, to int, ranges func(i int) kv.RangeID) {
			h.task(120*time.Second, func() {
				for i := from; i < to; i++ {
					if resp, ok := c.write(ranges(i), fmt.Sprintf("k%03d", i%100), fmt.Sprint(i), 20*time.Second); !ok {
						t.Errorf("write: %v", resp.Err)
						return
					}
				}
			})
		}
		write(0, 400, func(int) kv.RangeID { return 1 })
		if seed%2 == 0 {
			h.task(20*time.Second, func() { c.split(t, 1, "k050", 2) })
			write(400, 1000, func(i int) kv.RangeID {
				if i%100 < 50 {
					return 1
				}
				return 2
			})
		}
		write(1000, 1040, func(int) kv.RangeID { return 1 })
		h.wait("truncation", 30*time.Second, func() bool {
			l := h.leaders(1)
			return len(l) == 1 && l[0].s.ranges.get(1).raftLog.trunc.index > away.s.ranges.get(1).applied.index
		})
		h.isolate(away.id, false)
		if seed >= 4 {
			h.wait("snapshot", 20*time.Second, func() bool { return away.s.ranges.get(1).received != nil || away.s.ranges.get(1).applied.index > 400 })
			away.restart()
		}
		h.converge(1)
		if seed%2 == 0 {
			h.converge(2)
		}
	}
}

// A fourth and fifth node join late; a node is added to the range by request, which returns when it votes.
func TestNewMember(t *testing.T) {
	h := newHarness(t, 1, 4, func(o *Options) { o.KeepEntries, o.FlushInterval = 20, time.Second })
	c := h.client(1)
	h.task(120*time.Second, func() {
		for i := range 400 {
			c.write(1, fmt.Sprintf("k%03d", i), "x", 10*time.Second)
		}
	})
	l := h.leader(1)
	d := l.s.ranges.get(1).desc.Load()
	var free kv.NodeID
	for _, m := range h.nodes {
		if _, ok := d.On(m.id); !ok {
			free = m.id
		}
	}
	h.task(60*time.Second, func() {
		resp, ok := c.do(1, kv.Request{Admin: &kv.AdminRequest{AddReplica: free}}, 30*time.Second)
		if !ok {
			t.Errorf("add: %v", resp.Err)
			return
		}
		if m, ok := resp.Admin.Descriptors[0].On(free); !ok || m.Learner {
			t.Errorf("the new member does not vote: %+v", resp.Admin.Descriptors[0])
		}
	})
	h.converge(1)
	// It counts: with it two of the others may be... one may be down, and the lease can go to it.
	h.task(60*time.Second, func() {
		if resp, ok := c.do(1, kv.Request{Admin: &kv.AdminRequest{TransferLease: free}}, 10*time.Second); !ok {
			t.Errorf("transfer: %v", resp.Err)
		}
	})
	if l := h.leader(1); l.id != free {
		t.Errorf("node %d leads", l.id)
	}
	h.task(60*time.Second, func() {
		if resp, ok := c.write(1, "k", "y", 10*time.Second); !ok {
			t.Errorf("write: %v", resp.Err)
		}
	})
	h.converge(1)
}
