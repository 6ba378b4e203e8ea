package node

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
	"github.com/longitude-db/longitude/internal/txn"
)

// cluster starts three nodes with a range each for a and z; node 3 leads that of z.
func (c *trio) cluster() {
	for _, m := range c.nodes {
		m.start()
	}
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
	c.until("three voters", 30*time.Second, func() bool { return a.voters() == 3 })
	b.on("split", func() error { return b.node.Router.Split(context.Background(), key("m")) })
	a.on("transfer", func() error { return a.node.Router.TransferLease(context.Background(), key("m"), d.id) })
	c.until("node 3 leads the right range", 10*time.Second, func() bool { return d.leads(key("z")) })
	a.both(txn.Wait)
}

// refused carries out a transaction that must fail, and returns the error.
func (m *member) refused() *kv.Error {
	fut := rt.NewFuture[struct{}](m.c.rt)
	m.rt.Go("op", func() {
		fut.Set(struct{}{}, m.node.DB.Run(context.Background(), txn.Options{}, func(ctx context.Context, tx *txn.Txn) error {
			tx.Put(key("b"), []byte("x"))
			return nil
		}))
	})
	_, err := fut.Get(time.Minute)
	var e *kv.Error
	if !errors.As(err, &e) {
		m.c.t.Fatalf("node %d: want a refusal, got %v", m.i+1, err)
	}
	return e
}

// transfer tries to make a node lead the range of z.
func (m *member) transfer(to kv.NodeID) (err error) {
	fut := rt.NewFuture[struct{}](m.c.rt)
	m.rt.Go("op", func() {
		fut.Set(struct{}{}, m.node.Router.TransferLease(route.WithDeadline(context.Background(), m.rt.Now()+5*time.Second), key("m"), to))
	})
	_, err = fut.Get(time.Minute)
	return err
}

// TestLyingNodeIsFenced is N4 with a clock that lies: a majority contradicts it, it gives up its leases at once, refuses
// transactions, is named by the others, and comes back by itself when its clock is good. The others serve all the time.
func TestLyingNodeIsFenced(t *testing.T) {
	for _, off := range []time.Duration{3 * time.Second, -3 * time.Second, 40 * time.Millisecond, -40 * time.Millisecond} {
		t.Run(off.String(), func(t *testing.T) {
			c := newTrio(t, eventloop.New(uint64(off.Abs())))
			c.lying = true
			c.run(func() {
				c.cluster()
				a, b, liar := c.nodes[0], c.nodes[1], c.nodes[2]
				honest := liar.source.Conditions()
				lie := clock.Conditions{Bound: honest.Bound, Offset: off, Lying: true}
				liar.source.Set(lie)
				began := c.rt.Now()
				// A clock that falls back by 3 s is silent until time has come to what it gave out before. Then it lies.
				c.until("the liar has fenced itself", 6*time.Second, func() bool { why, _ := liar.clock.Fenced(); return why != "" })
				t.Logf("fenced %s after the clock began to lie", c.rt.Now()-began)
				c.until("its lease is elsewhere", time.Second, func() bool { return a.leads(key("z")) || b.leads(key("z")) })
				t.Logf("its lease has moved after %s", c.rt.Now()-began)
				for _, m := range []*member{a, b} {
					m.both(txn.Wait)
					c.until("it is named", time.Second, func() bool {
						nodes, _ := m.node.Cluster.Falsetickers()
						return fmt.Sprint(nodes) == fmt.Sprintf("[%d]", liar.id)
					})
					if len(m.clock.Conflicts())+len(liar.clock.Conflicts()) == 0 {
						t.Error("nobody counted anything")
					}
				}
				if e := liar.refused(); e.Code != kv.ErrFenced {
					t.Errorf("refused with %v", e)
				}
				if liar.leads(key("z")) || liar.leads(key("a")) {
					t.Error("a fenced node leads")
				}
				c.rt.Sleep(20 * time.Second)
				if why, _ := liar.clock.Fenced(); why == "" {
					t.Fatal("it goes on lying and is not fenced any more")
				}
				liar.source.Set(honest)
				good := c.rt.Now()
				c.until("it gives readings again", 20*time.Second, func() bool { _, err := liar.clock.Now(); return err == nil })
				t.Logf("it serves again %s after its clock became good", c.rt.Now()-good)
				liar.both(txn.Wait)
				if err := a.transfer(liar.id); err != nil {
					t.Errorf("leases do not go back: %v", err)
				}
				a.both(txn.Uncertainty)
				b.expect(5)
			})
		})
	}
}

// TestTooWideNodeIsFenced is N4 with a clock that knows too little: it is fenced by itself, its leases move, nobody calls
// it a liar, and it comes back at three quarters of the limit.
func TestTooWideNodeIsFenced(t *testing.T) {
	c := newTrio(t, eventloop.New(1))
	c.run(func() {
		c.cluster()
		a, b, poor := c.nodes[0], c.nodes[1], c.nodes[2]
		was := poor.source.Conditions()
		poor.source.Set(clock.Conditions{Bound: 700 * time.Millisecond})
		c.until("its lease is elsewhere", 2*time.Second, func() bool { return a.leads(key("z")) || b.leads(key("z")) })
		a.both(txn.Wait)
		if e := poor.refused(); e.Code != kv.ErrFenced {
			t.Errorf("refused with %v", e)
		}
		if nodes, why := a.node.Cluster.Falsetickers(); len(nodes) != 0 {
			t.Errorf("%v: %v", nodes, why)
		}
		poor.source.Set(clock.Conditions{Bound: 450 * time.Millisecond})
		c.rt.Sleep(2 * time.Second)
		if _, err := poor.clock.Now(); err == nil {
			t.Error("back at the limit, where it would hover")
		}
		poor.source.Set(was)
		c.until("it gives readings again", time.Second, func() bool { _, err := poor.clock.Now(); return err == nil })
		poor.both(txn.Wait)
		b.expect(3)
	})
}

// TestUnequalBounds: bounds of 0.05, 1 and 50 ms are a normal state. Everybody serves, whoever leads; the one with the wide
// bound waits longer (so do others that read what it wrote).
func TestUnequalBounds(t *testing.T) {
	c := newTrio(t, eventloop.New(2))
	c.run(func() {
		for i, eps := range []time.Duration{50 * time.Microsecond, time.Millisecond, 50 * time.Millisecond} {
			c.nodes[i].source.Set(clock.Conditions{Bound: eps, Offset: eps * []time.Duration{1, -1, 0}[i]})
		}
		c.cluster()
		n := 1
		for range 3 {
			for _, m := range c.nodes {
				began := c.rt.Now()
				m.both(txn.Wait)
				took := c.rt.Now() - began
				m.both(txn.Uncertainty)
				n += 2
				if m.i == 2 && took < 50*time.Millisecond {
					t.Errorf("with a bound of ±50 ms a transaction took %s: who waited for its timestamp to be past?", took)
				}
				m.expect(n)
			}
			lead := c.nodes[n%3]
			if err := c.nodes[0].transfer(lead.id); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestHonestNodeIsNotFencedForAThirdOnesLie: a liar (node 3) says what a node with a wide bound (node 2) cannot refute; what that
// one then reads contradicts the only precise clock (node 1). Nothing tells which of nodes 1 and 3 lies, so none is fenced,
// least of all node 1; node 2 stops learning from both, and what it reads is true again.
func TestHonestNodeIsNotFencedForAThirdOnesLie(t *testing.T) {
	c := newTrio(t, eventloop.New(3))
	c.lying = true
	c.run(func() {
		for i, eps := range []time.Duration{50 * time.Microsecond, 50 * time.Millisecond, time.Millisecond} {
			c.nodes[i].source.Set(clock.Conditions{Bound: eps})
		}
		c.cluster()
		precise, wide, liar := c.nodes[0], c.nodes[1], c.nodes[2]
		truth := func() clock.Instant { return clock.Instant(epoch).Add(c.loop.Now()) }
		const off = 20 * time.Millisecond
		liar.source.Set(clock.Conditions{Bound: time.Millisecond, Offset: off, Lying: true})
		polluted := false
		c.until("the lie reaches the wide clock, or is known", 5*time.Second, func() bool {
			iv, err := wide.clock.Now()
			polluted = polluted || err == nil && iv.Earliest > truth()
			return len(precise.clock.Conflicts()) > 0
		})
		for range 100 {
			c.rt.Sleep(20 * time.Millisecond)
			for _, m := range []*member{precise, wide} {
				if why, _ := m.clock.Fenced(); why != "" {
					t.Fatalf("node %d is honest and fenced: %s", m.i+1, why)
				}
			}
		}
		if conflicts := len(precise.clock.DisjointReadings()); !polluted && conflicts < 2 {
			t.Errorf("the wide clock was not polluted: the test does not test much (%d conflicts at the precise one)", conflicts)
		}
		if n := len(wide.clock.Conflicts()); n != 0 {
			t.Errorf("the interval of the wide clock was contradicted: %+v", wide.clock.Conflicts())
		}
		for range 100 {
			if iv, err := wide.clock.Now(); err != nil || iv.Earliest > truth() {
				t.Fatalf("2 s after the lie was found out the wide clock still follows it: %s, %v, true time is %d", iv, err, truth())
			}
			c.rt.Sleep(7 * time.Millisecond)
		}
		precise.both(txn.Wait)
		wide.both(txn.Wait)
	})
}
