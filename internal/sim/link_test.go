package sim

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

func filler(n int) *kv.Message {
	return &kv.Message{Control: &kv.ControlRequest{Kind: "filler", Arg: make([]byte, n)}}
}

func beat() *kv.Message { return &kv.Message{Liveness: &kv.Liveness{SupportRequest: 1}} }

// Bytes take time, wait for each other within a lane and not across lanes, and what finds no room is dropped.
func TestLinksHaveBandwidth(t *testing.T) {
	for _, one := range []bool{false, true} {
		var order []string
		var last, heard time.Duration
		var w *World
		w = wires(Config{Nodes: 2, Rate: 1e6, Room: time.Second, OneLane: one}, func(m *Machine) kv.Handler {
			return func(msg *kv.Message) *kv.Message {
				order = append(order, kindOf(msg))
				if msg.Liveness != nil {
					heard = w.Loop.Now()
				} else {
					last = w.Loop.Now()
				}
				return msg
			}
		})
		a := transport{w.Machines[0], 0}
		for range 9 {
			a.Send(2, filler(200_000)) // 0.2 s each: there is room for 5
		}
		a.Send(2, beat())
		var callErr error
		w.Machines[0].RT.Go("call", func() { _, callErr = a.Call(2, ping(1), time.Minute) })
		w.Loop.Run(time.Minute, nil)
		if len(order) != 6-btoi(one) || last < time.Second || last > 1100*time.Millisecond || w.Net.Dropped != 5+btoi(one) {
			t.Errorf("one=%v: %d arrived, the last after %s; %d were dropped", one, len(order), last, w.Net.Dropped)
		}
		if !errors.Is(callErr, errFull) {
			t.Errorf("one=%v: a call without room ended with %v", one, callErr)
		}
		if !one && heard > time.Millisecond || one && heard != 0 {
			t.Errorf("one=%v: the heartbeat came at %s", one, heard)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A process that ends leaves what it had still to send.
func TestQueuesEndWithTheProcess(t *testing.T) {
	got := 0
	w := wires(Config{Nodes: 2, Rate: 1e6, Room: 10 * time.Second}, func(*Machine) kv.Handler {
		return func(*kv.Message) *kv.Message { got++; return nil }
	})
	w.Machines[0].Engines = openEngines(t)
	w.Loop.At(time.Millisecond, func() {
		for range 10 {
			transport{w.Machines[0], 0}.Send(2, filler(100_000))
		}
	})
	w.Loop.At(550*time.Millisecond, func() { w.Machines[0].Crash(true) })
	w.Loop.Run(time.Minute, nil)
	if got != 5 {
		t.Errorf("%d of 10 messages arrived, 5 had left", got)
	}
}

// A cut by who dialled: one machine is heard and does not hear, but for the answers to what it asks.
func TestCutDials(t *testing.T) {
	var got []string
	w := wires(Config{Nodes: 2, Link: LinkConditions{Base: time.Millisecond}}, func(m *Machine) kv.Handler {
		return func(msg *kv.Message) *kv.Message {
			got = append(got, m.Name+" got "+msg.Control.Kind)
			return ping(0)
		}
	})
	if !w.Net.Connected(0, 1) {
		t.Error("not connected")
	}
	w.Net.CutDial(1, 0)
	a, b := transport{w.Machines[0], 0}, transport{w.Machines[1], 0}
	b.Send(1, ping(1))
	a.Send(2, ping(2))
	w.Machines[0].RT.Go("call", func() {
		if _, err := a.Call(2, ping(3), time.Second); err != nil {
			t.Errorf("a call on the connection that is there: %v", err)
		}
	})
	w.Machines[1].RT.Go("call", func() {
		if _, err := b.Call(1, ping(4), time.Second); err == nil {
			t.Error("a call on the connection that is cut was answered")
		}
	})
	w.Loop.Run(5*time.Second, nil)
	if s := strings.Join(got, ", "); s != "m2 got 2, m2 got 3" && s != "m2 got 3, m2 got 2" || w.Net.Connected(0, 1) || w.Net.Connected(1, 0) {
		t.Error(s)
	}
	w.Net.MendDial(1, 0)
	b.Send(1, ping(5))
	w.Loop.Run(10*time.Second, nil)
	if len(got) != 3 {
		t.Errorf("after mending: %v", got)
	}
}

// A damaged message ends its connection: it never arrives, what is on its way is lost, and calls fail at once.
func TestDamageEndsConnections(t *testing.T) {
	got := 0
	w := wires(Config{Nodes: 2, Link: LinkConditions{Base: time.Millisecond}}, func(m *Machine) kv.Handler {
		return func(msg *kv.Message) *kv.Message {
			got++
			m.RT.Sleep(time.Second)
			return ping(0)
		}
	})
	a := w.Machines[0]
	w.Net.damage = 1e-9 // calls listen for resets
	var failed time.Duration
	a.RT.Go("call", func() {
		_, err := (transport{a, 0}).Call(2, ping(1), time.Minute)
		if !errors.Is(err, errReset) {
			t.Errorf("the call ended with %v", err)
		}
		failed = w.Loop.Now()
	})
	w.Loop.At(100*time.Millisecond, func() {
		w.Net.damage = 1
		transport{a, 0}.Send(2, ping(2))
		w.Net.damage = 0
		transport{a, 0}.Send(2, ping(3)) // behind it on the same connection
		transport{a, 0}.Send(2, beat())  // in the other lane
	})
	w.Loop.Run(10*time.Second, nil)
	if got != 2 || failed != 101*time.Millisecond {
		t.Errorf("%d messages arrived, the call ended after %s", got, failed)
	}
}
