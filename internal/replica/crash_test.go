package replica

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// acked is what a client was told: each of its keys is written by it alone, with rising values.
type acked struct {
	sure  int // the last value that was acknowledged
	tried int // the last that may have been written
}

// Every node is killed and restarted at random while clients write, each its own keys. What was acknowledged is there, what
// is there was tried, and all replicas are alike in the end.
func TestCrashes(t *testing.T) {
	for _, seed := range seeds(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			h := newHarness(t, seed, 3, func(o *Options) {
				o.KeepEntries, o.FlushInterval = 300, 2*time.Second
			})
			chaos(t, h, seed, func(rng *rand.Rand) {
				m := h.nodes[rng.IntN(3)]
				m.crash()
				h.run(time.Duration(rng.IntN(5000)) * time.Millisecond)
				m.start(false)
			})
		})
	}
}

// Nodes are cut off at random, wholly or one way, for shorter or longer than a lease.
func TestPartitions(t *testing.T) {
	for _, seed := range seeds(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			h := newHarness(t, seed, 3, nil)
			chaos(t, h, seed, func(rng *rand.Rand) {
				a, b := kv.NodeID(rng.IntN(3)+1), kv.NodeID(rng.IntN(3)+1)
				if a == b {
					h.isolate(a, true)
				} else {
					h.cut[[2]kv.NodeID{a, b}] = true
				}
				h.run(time.Duration(rng.IntN(6000)) * time.Millisecond)
				clear(h.cut)
			})
		})
	}
}

// All of it together, with messages lost, leases handed about, and whole clusters restarted.
func TestEverything(t *testing.T) {
	for _, seed := range seeds(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			h := newHarness(t, seed, 3, func(o *Options) {
				o.KeepEntries, o.FlushInterval = 100, time.Second
			})
			h.drop = func(kv.NodeID, kv.NodeID, *kv.Message) bool { return h.loop.Rand().IntN(30) == 0 }
			c := h.client(1000)
			chaos(t, h, seed, func(rng *rand.Rand) {
				m := h.nodes[rng.IntN(3)]
				switch rng.IntN(6) {
				case 0:
					m.restart()
				case 1:
					for _, m := range h.nodes {
						m.crash()
					}
					for _, m := range h.nodes {
						m.start(false)
					}
				case 2:
					h.isolate(m.id, true)
					h.run(time.Duration(rng.IntN(4000)) * time.Millisecond)
					clear(h.cut)
				case 3:
					h.isolate(m.id, true)
					h.run(time.Duration(rng.IntN(4000)) * time.Millisecond)
					m.restart()
					clear(h.cut)
				default:
					h.user.Go("transfer", func() { c.do(1, kv.Request{Admin: &kv.AdminRequest{TransferLease: m.id}}, 5*time.Second) })
				}
			})
		})
	}
}

var fewerSeeds bool

// seeds lists those to run: the first n, or what SEEDS says (a number, or from-to).
func seeds(n uint64) (out []uint64) {
	if fewerSeeds {
		n = 1
	}
	from, to := uint64(1), n
	if s := os.Getenv("SEEDS"); s != "" {
		if k, _ := fmt.Sscanf(s, "%d-%d", &from, &to); k < 2 {
			from, to = 1, from
		}
	}
	for s := from; s <= to; s++ {
		out = append(out, s)
	}
	return out
}

// chaos runs clients while fault is called again and again, and checks what they were told.
func chaos(t *testing.T, h *harness, seed uint64, fault func(*rand.Rand)) {
	rng := rand.New(rand.NewPCG(seed, 99))
	const clients, keysEach = 4, 3
	told := map[string]*acked{}
	running, stop := clients, false
	for n := range clients {
		c := h.client(uint64(n))
		for k := range keysEach {
			told[fmt.Sprintf("c%d-%d", n, k)] = &acked{}
		}
		h.user.Go("client", func() {
			for !stop {
				// Every sync of the simulated disk copies the file, so a client that never rests would be slow.
				h.user.Sleep(time.Duration(20+c.rng.IntN(60)) * time.Millisecond)
				k := fmt.Sprintf("c%d-%d", n, c.rng.IntN(keysEach))
				a := told[k]
				a.tried++
				if resp, ok := c.write(1, k, fmt.Sprint(a.tried), 15*time.Second); ok {
					a.sure = a.tried
				} else if resp.Err.Code != kv.ErrAmbiguous {
					t.Errorf("write: %v", resp.Err)
				}
				if v, _, ok := c.read(1, k, 15*time.Second); ok {
					if got := number(v); got < a.sure || got > a.tried {
						t.Errorf("%s reads %d at %s; %d was acknowledged, %d tried", k, got, h.loop.Now(), a.sure, a.tried)
					}
				}
			}
			running--
		})
	}
	for range 8 {
		h.run(time.Duration(500+rng.IntN(4000)) * time.Millisecond)
		h.leaders(1)
		fault(rng)
		h.leaders(1)
	}
	stop = true
	h.wait("end of the clients", 60*time.Second, func() bool { return running == 0 })
	h.converge(1)
	total := 0
	c := h.client(77)
	for k, a := range told {
		total += a.sure
		h.task(30*time.Second, func() {
			if v, _, ok := c.read(1, k, 20*time.Second); !ok || number(v) < a.sure || number(v) > a.tried {
				t.Errorf("%s reads %q; %d was acknowledged, %d tried", k, v, a.sure, a.tried)
			}
		})
	}
	if total < 100 {
		t.Errorf("only %d writes were acknowledged: no progress", total)
	}
}

func number(v string) (n int) {
	fmt.Sscan(v, &n)
	return n
}

// The same seed gives the same run, to the last message.
func TestSameSeedSameTrace(t *testing.T) {
	once := func() uint64 {
		h := newHarness(t, 42, 3, nil)
		chaos(t, h, 42, func(rng *rand.Rand) {
			m := h.nodes[rng.IntN(3)]
			m.crash()
			h.run(time.Second)
			m.start(false)
		})
		return h.trace
	}
	if a, b := once(), once(); a != b {
		t.Fatalf("%x, then %x", a, b)
	}
}

// A leader that is cut off stops serving when its support expires; then another serves, and everything that it serves or
// writes first is above what the old lease served.
func TestPartitionedLeader(t *testing.T) {
	for _, seed := range seeds(5) {
		h := newHarness(t, seed, 3, nil)
		old := h.leader(1)
		c := h.client(1)
		h.task(20*time.Second, func() { c.write(1, "k", "1", 10*time.Second) })
		r := old.s.ranges.get(1)

		h.isolate(old.id, true)
		var last clock.Timestamp // the highest timestamp that the old lease served
		cutAt := h.loop.Now()
		h.task(30*time.Second, func() {
			for h.loop.Now()-cutAt < 10*time.Second {
				// A read somewhat ahead of time: the lease allows it as long as it is below T.
				ts := h.reading().Limit()
				ts.Wall += int64(100 * time.Millisecond)
				resp, err := h.call(old.id, c.readOf(1, "k", ts), time.Second)
				if err == nil && resp.Err == nil {
					last = ts
					if until := r.lease.view.Load().until; h.now() >= until || ts.Wall >= int64(until) {
						t.Errorf("seed %d: served %s at %d, lease until %d", seed, ts, h.now(), until)
					}
				}
				if len(h.leaders(1)) == 1 && h.leaders(1)[0] != old {
					return
				}
				h.user.Sleep(5 * time.Millisecond)
			}
		})
		l := h.leaders(1)
		if len(l) != 1 || l[0] == old {
			t.Fatalf("seed %d: no other leaseholder after %s", seed, h.loop.Now()-cutAt)
		}
		if took := h.loop.Now() - cutAt; took > 2*time.Second {
			t.Errorf("seed %d: another leaseholder only after %s", seed, took)
		}
		c.at = l[0].id
		h.task(20*time.Second, func() {
			// It would like to commit below.
			resp, ok := c.writeAt(1, "k", "2", last.Prev(), 10*time.Second)
			if !ok || resp.Write.CommitTS.LessEq(last) {
				t.Errorf("seed %d: the new lease wrote at %v, the old one had served %s", seed, resp.Write, last)
			}
		})
		// The old one comes back, and follows.
		h.isolate(old.id, false)
		h.run(3 * time.Second)
		h.converge(1)
	}
}
