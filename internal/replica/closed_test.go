package replica

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// past is a read at ts that any replica may serve.
func (c *client) past(key string, ts clock.Timestamp) kv.Request {
	return kv.Request{Range: 1, Read: &kv.ReadRequest{Txn: c.txn(), Start: ts, ReadTS: ts, Limit: ts, MaxLimit: ts,
		Keys: []kv.Key{kv.Key(key)}, AnyReplica: true}}
}

// Every replica serves the past, each of them the same, and none of them what is not closed yet: it sends the reader to
// the leaseholder.
func TestFollowersServeThePast(t *testing.T) {
	h := newHarness(t, 1, 3, func(o *Options) { o.ClosedLag = time.Second })
	c := h.client(1)
	type version struct {
		ts    clock.Timestamp
		value string
	}
	var versions []version
	h.task(60*time.Second, func() {
		for i := range 40 {
			v := fmt.Sprint("v", i)
			w, ok := c.write(1, "k", v, 10*time.Second)
			if !ok {
				t.Errorf("write: %v", w.Err)
				return
			}
			versions = append(versions, version{w.Write.CommitTS, v})
			h.user.Sleep(time.Duration(c.rng.IntN(100)) * time.Millisecond)
		}
		h.user.Sleep(3 * time.Second)
	})
	leader := h.leader(1).id
	served := map[kv.NodeID]int{}
	h.task(60*time.Second, func() {
		for i, v := range versions {
			for n := range h.nodes {
				id := kv.NodeID(n + 1)
				resp, err := h.call(id, c.past("k", v.ts), time.Second)
				if err != nil || resp.Err != nil {
					t.Errorf("node %d, version %d: %v %v", id, i, err, resp.Err)
					continue
				}
				if got := string(resp.Read.Values[0]); got != v.value || resp.Read.Newest != v.ts {
					t.Errorf("node %d at %s: %q of %s, want %q", id, v.ts, got, resp.Read.Newest, v.value)
				}
				served[id]++
			}
		}
		for n := range h.nodes {
			id := kv.NodeID(n + 1)
			now := h.reading().Limit()
			resp, err := h.call(id, c.past("k", now), time.Second)
			switch {
			case err != nil:
				t.Errorf("node %d: %v", id, err)
			case id == leader && resp.Err != nil:
				t.Errorf("the leaseholder does not serve the present: %v", resp.Err)
			case id != leader && (resp.Err == nil || resp.Err.Code != kv.ErrNotLeaseholder || resp.Err.Leaseholder != leader):
				t.Errorf("node %d answers a read of the present with %+v, not with who leads", id, resp)
			}
		}
	})
	for n, m := range h.nodes {
		if m.s.SafeTime().IsZero() || clock.Instant(m.s.SafeTime().Wall) > h.now().Add(-time.Second) {
			t.Errorf("node %d: safe time %s at %d", n+1, m.s.SafeTime(), h.now())
		}
	}
	if len(served) != 3 {
		t.Errorf("served: %v", served)
	}
}

// An intent at or below the timestamp is not passed over: what becomes of it only its record knows.
func TestFollowersDoNotPassIntents(t *testing.T) {
	h := newHarness(t, 1, 3, func(o *Options) { o.ClosedLag = time.Second })
	c := h.client(1)
	leader := h.leader(1)
	c.at = leader.id
	follower := h.nodes[int(leader.id)%3]
	h.task(60*time.Second, func() {
		ts := h.reading().Limit()
		resp, ok := c.do(1, kv.Request{Write: &kv.WriteRequest{Txn: c.txn(), Start: ts, Anchor: kv.Key("k"), ReadTS: ts, CommitTS: ts,
			Puts: []kv.Put{{Key: kv.Key("k"), Value: []byte("maybe")}}, Laid: h.reading().Earliest}}, time.Second)
		if !ok {
			t.Errorf("intent: %v", resp.Err)
			return
		}
		at := resp.Write.CommitTS
		h.user.Sleep(3 * time.Second)
		if follower.s.SafeTime().Less(at) {
			t.Errorf("not closed: %s, the intent is at %s", follower.s.SafeTime(), at)
		}
		below := clock.Timestamp{Wall: at.Wall - 1}
		if resp, err := h.call(follower.id, c.past("k", below), time.Second); err != nil || resp.Err != nil || len(resp.Read.Values[0]) != 0 {
			t.Errorf("below the intent: %v %+v", err, resp)
		}
		if resp, err := h.call(follower.id, c.past("k", at), time.Second); err != nil || resp.Err == nil || resp.Err.Code != kv.ErrNotLeaseholder {
			t.Errorf("at the intent: %v %+v", err, resp)
		}
	})
}

// F1 under everything that moves leases: whatever a replica once answered about a timestamp stays the answer, although
// writers try to land below what is closed, leases move, nodes crash and are cut off.
func TestClosedTimestampsHold(t *testing.T) {
	seeds := 6
	if testing.Short() || fewerSeeds {
		seeds = 1
	}
	refused, served := 0, 0
	for seed := range uint64(seeds) {
		h := newHarness(t, seed, 3, func(o *Options) {
			o.ClosedLag = 20 * time.Millisecond // writers are often behind it
			o.KeepEntries = 30                  // snapshots
		})
		type question struct {
			key string
			ts  clock.Timestamp
		}
		answers := map[question]string{}
		busy, stop := 0, false
		start := func(name string, fn func(c *client)) {
			busy++
			c := h.client(seed*100 + uint64(busy))
			h.user.Go(name, func() {
				for !stop {
					fn(c)
					h.user.Sleep(time.Duration(c.rng.IntN(60)) * time.Millisecond)
				}
				busy--
			})
		}
		key := func(c *client) string { return fmt.Sprint("k", c.rng.IntN(4)) }
		n := 0
		for range 3 {
			start("writer", func(c *client) {
				n++
				ts := h.reading().Limit()
				ts.Wall -= int64(c.rng.IntN(int(500 * time.Millisecond))) // as of a transaction that began long ago
				c.writeAt(1, key(c), fmt.Sprint("v", n), ts, time.Second)
			})
		}
		for range 4 {
			start("reader", func(c *client) {
				m := h.nodes[c.rng.IntN(3)]
				if !m.up {
					return
				}
				q := question{key(c), m.s.SafeTime()}
				if old := h.now().Add(-time.Duration(c.rng.IntN(int(time.Second)))); c.rng.IntN(2) == 0 || q.ts.IsZero() {
					q.ts = clock.Timestamp{Wall: int64(old)}
				}
				resp, err := h.call(m.id, c.past(q.key, q.ts), time.Second)
				if err != nil || resp.Err != nil {
					refused++
					return
				}
				served++
				got := fmt.Sprintf("%q of %s", resp.Read.Values[0], resp.Read.Newest)
				if before, asked := answers[q]; asked && before != got {
					t.Errorf("seed %d: %s at %s was %s, and is %s on node %d", seed, q.key, q.ts, before, got, m.id)
				}
				answers[q] = got
			})
		}
		rng := rand.New(rand.NewPCG(seed, 3))
		for range 12 {
			h.run(time.Duration(200+rng.IntN(1500)) * time.Millisecond)
			m := h.nodes[rng.IntN(3)]
			switch rng.IntN(4) {
			case 0:
				m.restart()
			case 1:
				h.isolate(m.id, true)
				h.run(time.Duration(rng.IntN(4000)) * time.Millisecond)
				h.isolate(m.id, false)
			default:
				h.user.Go("transfer", func() {
					c := h.client(rng.Uint64())
					c.do(1, kv.Request{Admin: &kv.AdminRequest{TransferLease: m.id}}, time.Second)
				})
			}
		}
		h.run(5 * time.Second)
		// Each question once more, to every replica.
		stop = true
		h.wait("end of the clients", 20*time.Second, func() bool { return busy == 0 })
		c := h.client(9)
		h.task(10*time.Minute, func() {
			for q, want := range answers {
				for _, m := range h.nodes {
					resp, err := h.call(m.id, c.past(q.key, q.ts), time.Second)
					if err != nil || resp.Err != nil {
						continue
					}
					if got := fmt.Sprintf("%q of %s", resp.Read.Values[0], resp.Read.Newest); got != want {
						t.Errorf("seed %d: %s at %s was %s, and is %s on node %d in the end", seed, q.key, q.ts, want, got, m.id)
					}
				}
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d reads of the past served, %d refused", served, refused)
	if served < 200 || refused == 0 {
		t.Errorf("%d served, %d refused: the test shows nothing", served, refused)
	}
}

func TestClosingWaitsForWrites(t *testing.T) {
	at := func(n int64) clock.Timestamp { return clock.Timestamp{Wall: n} }
	var c closing
	if got := c.close(at(10)); got != at(10) {
		t.Errorf("without writes: %s", got)
	}
	first := c.begin() // lands above 10
	if got := c.close(at(20)); got != at(10) {
		t.Errorf("with a write that began at 10: %s", got)
	}
	second := c.begin() // above 20
	first()
	if got := c.close(at(30)); got != at(20) {
		t.Errorf("with a write that began at 20: %s", got)
	}
	second()
	if got := c.close(at(15)); got != at(30) {
		t.Errorf("when all have ended: %s", got)
	}

	var f closed
	f.learn(kv.ClosedRange{Index: 5, TS: at(10)})
	f.learn(kv.ClosedRange{Index: 7, TS: at(20)})
	f.learn(kv.ClosedRange{Index: 6, TS: at(15)}) // late
	if got := f.at(4); !got.IsZero() {
		t.Errorf("applied 4: %s", got)
	}
	if got := f.at(6); got != at(10) {
		t.Errorf("applied 6: %s", got)
	}
	if got := f.at(7); got != at(20) {
		t.Errorf("applied 7: %s", got)
	}
	for i := range int64(100) { // a replica that does not move remembers little, and the newest
		f.learn(kv.ClosedRange{Index: uint64(10 + i), TS: at(100 + i)})
	}
	if len(f.pending) > maxPending || f.at(200) != at(199) {
		t.Errorf("%d pending, at last %s", len(f.pending), f.at(200))
	}
}

// Step 1: nothing is closed beyond the lease. A leader whose clock runs far ahead closes what it takes for the past. What it may
// close the next leader's lease begins above; had it closed more, the next leader would write below that.
func TestNothingIsClosedBeyondTheLease(t *testing.T) {
	h := newHarness(t, 5, 3, func(o *Options) { o.ClosedLag = time.Hour }) // this test closes by itself
	c := h.client(1)
	old := h.leader(1)
	r := old.s.ranges.get(1)
	var most clock.Timestamp
	refused := 0
	h.task(60*time.Second, func() {
		c.at = old.id
		c.write(1, "k", "a", 10*time.Second)
		for ahead := -time.Second; ahead < 20*time.Second; ahead += 10 * time.Millisecond {
			p, ok := r.close(clock.Timestamp{Wall: int64(h.reading().Latest.Add(ahead))})
			if !ok {
				refused++
				continue
			}
			if most = most.Forward(p.TS); refused > 0 {
				t.Errorf("closed at %s after something lower was refused", p.TS)
			}
		}
	})
	if refused == 0 || clock.Instant(most.Wall) <= h.now() {
		t.Errorf("%d refused, closed up to %s", refused, most)
	}
	h.isolate(old.id, true)
	h.wait("another leader", 30*time.Second, func() bool { l := h.leaders(1); return len(l) == 1 && l[0] != old })
	h.task(60*time.Second, func() {
		c.at = h.leaders(1)[0].id
		w, ok := c.writeAt(1, "k", "b", clock.Timestamp{Wall: int64(h.reading().Earliest)}, 10*time.Second)
		if !ok || w.Write.CommitTS.LessEq(most) {
			t.Errorf("written at %+v, %s was closed", w.Write, most)
		}
	})
}
