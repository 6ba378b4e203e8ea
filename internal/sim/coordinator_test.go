package sim

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
	"github.com/longitude-db/longitude/internal/txn"
)

// TestDeadCoordinator kills the node of a transaction that has locked a key, or has laid intents and has no record yet, and measures
// how long it takes others, on nodes that go on, to write there. The node leads nothing that is asked.
func TestDeadCoordinator(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		restart time.Duration // 0: the node stays away
		many    int           // intents; 0: a lock
		within  time.Duration
	}{
		{"a lock", 0, 0, 2 * time.Second},
		{"a lock, and the node is back soon", 100 * time.Millisecond, 0, 2 * time.Second},
		{"intents", 0, 1500, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := testWorld(t, 3, func(c *Config) {
				c.Clocks = []clock.Conditions{{Bound: time.Millisecond}, {Bound: time.Millisecond}, {Bound: time.Millisecond}}
				c.SupportDuration, c.Heartbeat, c.Tick = 2*time.Second, 250*time.Millisecond, 100*time.Millisecond
				c.Link.Base, c.Link.Jitter, c.Resets = 500*time.Microsecond, 0, true
			})
			alive, other, dies := r.Machines[0], r.Machines[1], r.Machines[2]
			r.ownRange(t, testKey("dead/"), alive)
			r.ownRange(t, testKey("dead/q"), other)
			held := testKey("dead/a")
			ready := false
			dies.RT.Go("coordinator", func() {
				x := dies.Node.DB.Begin(txn.Options{})
				ctx := context.Background()
				if c.many == 0 {
					_, _, err := x.GetLocked(ctx, []kv.Key{held}, txn.Lock{Mode: kv.LockExclusive})
					ready = err == nil
					return
				}
				x.Put(held, []byte("1"))
				for i := range c.many { // more than a staged record names
					x.Put(testKey(fmt.Sprintf("dead/%c%04d", "mr"[i%2], i)), []byte("1"))
				}
				_ = x.Commit(ctx) // the machine ends before this does
			})
			if c.many > 0 { // the intents of the first range are there, and the commit is not decided
				ready := func() bool { return hasIntent(t, alive, held) }
				if err := r.runUntil(5*time.Second, "an intent is laid", ready); err != nil {
					t.Fatal(err)
				}
			} else if err := r.runUntil(5*time.Second, "the lock is held", func() bool { return ready }); err != nil {
				t.Fatal(err)
			}
			killed := r.Loop.Now()
			dies.Crash(false)
			if c.restart > 0 {
				r.Loop.At(killed+c.restart, dies.Boot)
			}
			r.on(t, other, func() error {
				return other.Node.DB.Run(context.Background(), txn.Options{}, func(_ context.Context, x *txn.Txn) error {
					x.Put(held, []byte("2"))
					return nil
				})
			})
			took := r.Loop.Now() - killed
			t.Logf("first write %s after the kill", took.Round(time.Millisecond))
			if took < 200*time.Millisecond {
				t.Errorf("the write did not meet the dead transaction: it took %s", took)
			}
			if took > c.within {
				t.Errorf("it took %s, more than %s", took, c.within)
			}
		})
	}
}

func hasIntent(t *testing.T, m *Machine, k kv.Key) bool {
	v, err := mvcc.Open(m.Engines.State, mvcc.Options{TS: clock.MaxTimestamp})
	if err != nil {
		t.Fatal(err)
	}
	in, err := v.Intent(k)
	if err = errors.Join(err, v.Close()); err != nil {
		t.Fatal(err)
	}
	return in != nil
}
