package replica

import (
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
)

// splitInFlight is a range that another node leads already, while the node that split it has not applied the split.
type splitInFlight struct {
	h         *harness
	n, m      *member // n splits r1 at "k"; m leads the right half, r2
	published clock.Timestamp
	split     bool // it is over at n
}

// newSplitInFlight makes one: the append of the leaseholder that splits takes 1.8 s, so that its followers, who have the command,
// apply it long before. during runs when the command has been proposed, before another node leads the right half.
func newSplitInFlight(t *testing.T, seed uint64, during func(f *splitInFlight)) *splitInFlight {
	var slow kv.NodeID
	h := newHarnessOf(t, seed, 3, func(o *Options) {
		o.ClosedLag = time.Hour // the test closes by itself
		o.StallLimit = 10 * time.Second
		node, delay := o.Node, o.DiskDelay
		o.DiskDelay = func() time.Duration {
			if slow == node {
				slow = 0
				return 1800 * time.Millisecond
			}
			return delay()
		}
	}, func(o *cluster.Options) { o.SupportDuration = 2 * time.Second }) // the leases last while the disk stands still
	f := &splitInFlight{h: h, n: h.leader(1)}
	c := h.client(1)
	c.at = f.n.id
	h.task(10*time.Second, func() { c.write(1, "k5", "old", 5*time.Second) })
	f.close(-10 * time.Millisecond)
	slow = f.n.id
	h.user.Go("split", func() {
		h.call(f.n.id, kv.Request{Range: 1, Admin: &kv.AdminRequest{SplitAt: kv.Key("k"), NewRange: 2}}, 10*time.Second)
		f.split = true
	})
	r := f.n.s.ranges.get(1)
	h.wait("command on its way", time.Second, func() bool { return r.proposals.count.Load() > 0 })
	if during != nil {
		during(f)
	}
	h.wait("another leader of the right half", 1500*time.Millisecond, func() bool { return len(h.leaders(2)) == 1 })
	f.m = h.leaders(2)[0]
	if f.m == f.n || f.split || f.n.s.ranges.get(2) != nil {
		t.Fatalf("node %d leads the right half, and node %d has applied the split: %t", f.m.id, f.n.id, f.split)
	}
	return f
}

// close closes r1 at n, ahead of its earliest.
func (f *splitInFlight) close(ahead time.Duration) {
	p, ok := f.n.s.ranges.get(1).close(clock.Timestamp{Wall: int64(f.h.reading().Earliest.Add(ahead))})
	if ok {
		f.published = f.published.Forward(p.TS)
	}
}

// F1 while a split is in flight. The leaseholder that splits has not applied the split; another node leads the right half and
// acknowledges a write there. The first one still holds the lease of the left half, so it may close timestamps and answer reads
// of the past. What it closes must not be above the low water that the split gave the right half.
func TestClosedWhileASplitIsInFlight(t *testing.T) {
	for _, seed := range seeds(5) {
		f := newSplitInFlight(t, seed, nil)
		h := f.h
		before := f.published
		c := h.client(2)
		c.at = f.m.id
		h.task(5*time.Second, func() {
			w, ok := c.write(2, "k5", "new", time.Second)
			if !ok || f.split {
				t.Errorf("seed %d: written: %t, the split is over: %t", seed, ok, f.split)
				return
			}
			f.close(0)
			if w.Write.CommitTS.LessEq(f.published) {
				t.Errorf("seed %d: written in the right half at %s, after the left one was closed at %s (F1)", seed, w.Write.CommitTS, f.published)
			}
			resp, err := h.call(f.n.id, c.past("k5", w.Write.CommitTS), time.Second)
			if err == nil && resp.Err == nil && string(resp.Read.Values[0]) != "new" {
				t.Errorf("seed %d: node %d reads %q as of %s, when \"new\" was written (F3)", seed, f.n.id, resp.Read.Values[0], w.Write.CommitTS)
			}
		})
		if f.published != before {
			t.Errorf("seed %d: closed at %s while the split was in flight, %s before", seed, f.published, before)
		}
		// It goes on when the split is over.
		h.wait("end of the split", 5*time.Second, func() bool { return f.split })
		f.close(-time.Millisecond)
		if f.published.LessEq(before) {
			t.Errorf("seed %d: still closed at %s when the split is over", seed, f.published)
		}
	}
}

// X5 while a split is in flight. A transaction that is about to commit above its intents says so to their range, at the node
// that splits it. Whoever leads the right half may only begin above that, or the word must not have been answered.
func TestNoteWhileASplitIsInFlight(t *testing.T) {
	for _, seed := range seeds(5) {
		var noted clock.Timestamp // as answered
		answered := false
		f := newSplitInFlight(t, seed, func(f *splitInFlight) {
			to := f.h.reading().Limit()
			to.Wall += int64(1500 * time.Millisecond) // a gateway whose clock is poor
			c := f.h.client(3)
			f.h.user.Go("note", func() {
				resp, err := f.h.call(f.n.id, kv.Request{Range: 1, Refresh: &kv.RefreshRequest{Txn: c.txn(), Start: f.h.reading().Limit(),
					From: f.h.reading().Start(), To: to, Note: true, Spans: []kv.Span{{Start: kv.Key("k5"), End: kv.Key("k6")}}}}, 10*time.Second)
				answered = true
				if err == nil && resp.Err == nil {
					noted = to
				} else if err != nil || resp.Err.Code != kv.ErrRangeMismatch {
					t.Errorf("seed %d: the word was answered with %v, %v", seed, err, resp.Err)
				}
			})
		})
		if low := f.m.s.ranges.get(2).lease.view.Load().low; low.Less(noted) {
			t.Errorf("seed %d: the right half's lease begins at %s; it had been told of a commit at %s (X5)", seed, low, noted)
		}
		f.h.wait("answer to the word", 5*time.Second, func() bool { return answered })
	}
}
