package replica

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/longitude-db/longitude/internal/kv"
)

// E1: a write that was refused with ErrUnavailable is never there; one that was acknowledged always is. Each write is sent
// once, to whichever node, while nodes are cut off and killed.
func TestOutcomesAreTrue(t *testing.T) {
	for _, seed := range seeds(4) {
		h := newHarness(t, seed, 3, func(o *Options) { o.RequestLimit = 2 * time.Second })
		rng := rand.New(rand.NewPCG(seed, 5))
		outcome := map[string]string{}
		running, stop := 4, false
		for n := range running {
			c := h.client(uint64(n))
			h.user.Go("client", func() {
				for i := 0; !stop; i++ {
					h.user.Sleep(time.Duration(c.rng.IntN(30)) * time.Millisecond)
					key := fmt.Sprintf("c%d-%d", n, i)
					ts := h.reading().Limit()
					outcome[key] = "unknown"
					resp, err := h.call(kv.NodeID(c.rng.IntN(3)+1), kv.Request{Range: 1, Write: &kv.WriteRequest{
						Txn: c.txn(), Start: ts, Anchor: kv.Key(key), ReadTS: ts, CommitTS: ts, OnePhase: true, CanForward: true,
						Puts: []kv.Put{{Key: kv.Key(key), Value: []byte("x")}}, Laid: h.reading().Earliest,
					}}, 5*time.Second)
					switch {
					case err == nil && resp.Err == nil:
						outcome[key] = "acknowledged"
					case err == nil && (resp.Err.Code == kv.ErrUnavailable || resp.Err.Code == kv.ErrTooEarly || resp.Err.Code == kv.ErrNotLeaseholder):
						outcome[key] = "refused"
					case err == nil && resp.Err.Code != kv.ErrAmbiguous:
						t.Errorf("write: %v", resp.Err)
					}
				}
				running--
			})
		}
		for range 10 {
			h.run(time.Duration(rng.IntN(1500)) * time.Millisecond)
			m := h.nodes[rng.IntN(3)]
			if l := h.leaders(1); len(l) == 1 && rng.IntN(2) == 0 {
				m = l[0]
			}
			if rng.IntN(3) == 0 {
				m.restart()
				continue
			}
			h.isolate(m.id, true)
			h.run(time.Duration(rng.IntN(5000)) * time.Millisecond)
			h.isolate(m.id, false)
		}
		stop = true
		h.wait("end of the clients", 30*time.Second, func() bool { return running == 0 })
		h.converge(1)
		count := map[string]int{}
		c := h.client(9)
		h.task(10*time.Minute, func() {
			for key, o := range outcome {
				v, _, ok := c.read(1, key, 20*time.Second)
				if !ok || (o == "acknowledged" && v == "") || (o == "refused" && v != "") {
					t.Errorf("seed %d: %s was %s, and is %q (%t)", seed, key, o, v, ok)
				}
				count[o]++
			}
		})
		if count["acknowledged"] < 50 || count["refused"] == 0 {
			t.Errorf("seed %d: %v", seed, count)
		}
	}
}

// D1: a log that cannot be written stops the node. It acknowledges nothing more, and the others go on.
func TestDiskFails(t *testing.T) {
	h := newHarness(t, 3, 3, nil)
	c := h.client(1)
	h.task(10*time.Second, func() { c.write(1, "k", "1", 5*time.Second) })
	bad := h.leader(1)
	var stopped []error
	h.tweak = func(o *Options) { o.OnFatal = func(err error) { stopped = append(stopped, err) } }
	full := false
	bad.wrap = func(op errorfs.Op) error {
		if full && strings.Contains(op.Path, "log") && (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileWrite) {
			return syscall.ENOSPC
		}
		return nil
	}
	bad.restart()
	h.run(8 * time.Second)
	h.task(20*time.Second, func() {
		c.do(1, kv.Request{Admin: &kv.AdminRequest{TransferLease: bad.id}}, 10*time.Second)
		c.at = bad.id
		c.write(1, "k", "2", 5*time.Second)
		full = true
		if resp, ok := c.write(1, "k", "3", 10*time.Second); !ok {
			t.Errorf("the others do not go on: %v", resp.Err)
		}
	})
	if len(stopped) != 1 || bad.s.Err() == nil || !strings.Contains(stopped[0].Error(), "disk is full") {
		t.Errorf("stopped: %v", stopped)
	}
	full = false
	bad.restart()
	h.converge(1)
	h.task(20*time.Second, func() {
		if v, _, _ := c.read(1, "k", 10*time.Second); v != "3" {
			t.Errorf("k is %q", v)
		}
	})
}
