package rpc

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rpc/rpctest"
)

// through puts a link before a node.
func through(t testing.TB, net *addresses, id kv.NodeID) *rpctest.Link {
	t.Helper()
	to, _ := net.get(id)
	l, err := rpctest.New(to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	net.set(id, l.Addr())
	return l
}

// A node that others cannot reach, while it reaches them, is found out in bounded time, however that comes about: calls to it fail,
// nothing of theirs is heard by it, what it says is heard, and it is not called lost. When the fault is over it is reached again.
func TestDeafNode(t *testing.T) {
	for _, tc := range []struct {
		name string
		mode rpctest.Mode
		anew bool   // connections that there are go on: only new ones are concerned
		soon bool   // the deaf node gives up waiting for a greeting before the caller gives up waiting for the answer
		want string // or that the deaf node was sooner to end what it heard nothing on
	}{
		{"what is sent to it is acknowledged and lost", rpctest.Swallow, false, false, "nothing heard for"},
		{"what is sent to it is lost and it gives up first", rpctest.Swallow, false, true, "nothing heard for"},
		{"it reads nothing", rpctest.Stall, false, false, "nothing heard for"},
		{"it has no descriptor for a new connection", rpctest.Hang, true, false, "i/o timeout"},
		{"its address is wrong", rpctest.Refuse, true, false, "connection refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			noLeaks(t)
			var net addresses
			var heardByDeaf, heardOfDeaf atomic.Int64
			lost := newLosses()
			quick := func(o *Options) {
				o.Keepalive, o.DialTimeout = 200*time.Millisecond, 400*time.Millisecond
			}
			a := node(t, &net, 1, func(m *kv.Message) *kv.Message { heardOfDeaf.Add(1); return echo(m) },
				func(o *Options) { quick(o); o.Lost = lost.tell })
			deaf := node(t, &net, 2, func(m *kv.Message) *kv.Message {
				heardByDeaf.Add(1)
				if m.Liveness != nil {
					return nil
				}
				return echo(m)
			}, func(o *Options) {
				quick(o)
				if tc.soon {
					o.DialTimeout /= 8
				}
			})
			way := through(t, &net, 2)
			if !tc.anew {
				if _, err := a.Call(2, ask("before"), 5*time.Second); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := deaf.Call(1, ask("before"), 5*time.Second); err != nil {
				t.Fatal(err)
			}
			heardByDeaf.Store(0)
			if err := way.Set(tc.mode, nil); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err := a.Call(2, ask("x"), time.Hour)
			if err == nil || !strings.Contains(err.Error(), tc.want) && !errors.Is(err, errParted) {
				t.Errorf("the call ended with %v, want %q", err, tc.want)
			}
			if d := time.Since(began); d > 30*time.Second { // it takes some tenths of a second
				t.Errorf("it took %s", d)
			}
			var waited []error
			for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
				_, err := a.Call(2, ask("x"), time.Hour)
				if err == nil {
					t.Error("an answer of one who does not hear")
				} else if !strings.Contains(err.Error(), "not reachable") {
					waited = append(waited, err) // for a connection: what is known to be silent is not waited for again
				}
			}
			// The deaf node's goodbye may be among what is lost; then one redial is waited for. A refusal is not silence, and comes at once.
			if len(waited) > 1 && tc.mode != rpctest.Refuse {
				t.Errorf("%d calls waited for a connection: %v", len(waited), waited)
			}
			for range 20 {
				a.Send(2, heartbeat())
				was := heardOfDeaf.Load()
				if _, err := deaf.Call(1, ask("x"), 5*time.Second); err != nil || heardOfDeaf.Load() == was {
					t.Errorf("the deaf node is not heard: %v", err)
				}
				time.Sleep(5 * time.Millisecond)
			}
			if n := heardByDeaf.Load(); n != 0 {
				t.Errorf("the deaf node heard %d messages", n)
			}
			if n := len(lost.c); n != 0 {
				t.Errorf("a node that is heard is called lost %d times", n)
			}
			if err := way.Set(rpctest.Pass, nil); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is reached again", func() bool {
				_, err := a.Call(2, ask("x"), time.Second)
				return err == nil
			})
		})
	}
}

// One link of three: the others go on.
func TestOneLinkOfThree(t *testing.T) {
	noLeaks(t)
	var net addresses
	quick := func(o *Options) { o.Keepalive, o.DialTimeout = 200*time.Millisecond, 400*time.Millisecond }
	a, b := node(t, &net, 1, echo, quick), node(t, &net, 2, echo, quick)
	node(t, &net, 3, echo, quick)
	way := through(t, &net, 3)
	for _, from := range []*Transport{a, b} {
		if _, err := from.Call(3, ask("x"), 5*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if err := way.Set(rpctest.Swallow, func(from uint32) bool { return from == 1 }); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Call(3, ask("x"), time.Hour); err == nil {
		t.Error("an answer over the link that is cut")
	}
	for range 20 {
		if _, err := b.Call(3, ask("x"), 5*time.Second); err != nil {
			t.Error(err)
		}
	}
}
