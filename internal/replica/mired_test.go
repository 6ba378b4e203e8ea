package replica

import (
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// TestMiredLeader: a leader is heard and hears its followers, and none of its entries gets through to them. Another one leads soon, if the
// transport knows of it; a transport that knows nothing leaves the range to it. What is not written costs no lease.
func TestMiredLeader(t *testing.T) {
	for _, c := range []struct {
		name            string
		known, written  bool
		reached, served bool
		alone           bool // the others are gone altogether
	}{
		{name: "known, written", known: true, written: true, served: true},
		{name: "not known", written: true},
		{name: "known, not written", known: true, reached: true},
		{name: "one follower is reached", known: true, written: true, reached: true},
		{name: "it hears nobody either", known: true, written: true, alone: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, seed := range seeds(5) {
				var mired, spared kv.NodeID
				h := newHarness(t, seed, 3, func(o *Options) {
					from := o.Node
					o.Reaches = func(to kv.NodeID) bool { return !c.known || from != mired || to == spared }
				})
				h.run(3 * time.Second)
				l := h.leader(1)
				if c.reached {
					spared = l.id%3 + 1
				}
				mired = l.id
				h.drop = func(from, to kv.NodeID, m *kv.Message) bool {
					return from == mired && to != spared && kv.LaneOf(m) == kv.Bulk && m.BatchReply == nil
				}
				if c.alone {
					h.isolate(l.id, true)
				}
				cl := h.client(1)
				cl.at = l.id
				if c.written {
					h.user.Go("write", func() { cl.write(1, "a", "x", time.Second) })
				}
				h.run(8 * time.Second)
				if said := l.c.SaysExcluded(); c.alone && len(said) > 0 {
					t.Errorf("seed %d: it excludes %v although it is the others who are gone", seed, said)
				}
				h.isolate(l.id, false)
				if c.alone {
					continue
				}
				leads := h.leaders(1)
				moved := len(leads) == 1 && leads[0] != l
				if moved != c.served {
					t.Errorf("seed %d: another node leads: %t, want %t", seed, moved, c.served)
				}
				h.drop, mired = nil, 0
				h.task(30*time.Second, func() {
					if _, ok := cl.write(1, "b", "y", 20*time.Second); !ok {
						t.Errorf("seed %d: not written when all is well again", seed)
					}
				})
			}
		})
	}
}
