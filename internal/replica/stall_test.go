package replica

import (
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// The disk of the node that leads stands still for half a minute. It reports no error, and the heartbeats of the node go on.
// Others lead the range within some seconds; the node says why it serves nothing, and takes part again afterwards.
func TestStalledDisk(t *testing.T) {
	for seed := range uint64(10) {
		var stuck kv.NodeID
		h := newHarness(t, seed, 3, func(o *Options) {
			node, delay := o.Node, o.DiskDelay
			o.DiskDelay = func() time.Duration {
				if stuck == node {
					stuck = 0
					return 30 * time.Second
				}
				return delay()
			}
		})
		c := h.client(1)
		write := func(value string, limit time.Duration) {
			h.task(limit+time.Second, func() {
				if _, ok := c.write(1, "a", value, limit); !ok {
					t.Errorf("seed %d: %q is not written in %s", seed, value, limit)
				}
			})
		}
		write("before", 5*time.Second)
		old := h.leader(1)
		stuck = old.id
		began := h.loop.Now()
		write("after", 15*time.Second)
		if took := h.loop.Now() - began; took > 10*time.Second {
			t.Errorf("seed %d: writes stood still for %s", seed, took)
		}
		if h.leader(1) == old {
			t.Errorf("seed %d: the node with the disk that stands still leads on", seed)
		}
		if why := old.s.Stalled(); !strings.Contains(why, "has not finished a write") {
			t.Errorf("seed %d: node %d says %q", seed, old.id, why)
		}
		h.run(30 * time.Second)
		if why := old.s.Stalled(); why != "" {
			t.Errorf("seed %d: the disk works again, and node %d says %q", seed, old.id, why)
		}
		if err := old.s.Err(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		h.task(10*time.Second, func() {
			if v, _, ok := c.read(1, "a", 5*time.Second); !ok || v != "after" {
				t.Errorf("seed %d: read %q", seed, v)
			}
		})
		h.converge(1)
	}
}
