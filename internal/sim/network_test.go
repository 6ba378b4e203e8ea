package sim

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
)

// wires makes a world of machines that have a process, but instead of a node only a handler.
func wires(cfg Config, handler func(m *Machine) kv.Handler) *World {
	for len(cfg.Clocks) < cfg.Nodes {
		cfg.Clocks = append(cfg.Clocks, clock.Conditions{Bound: time.Millisecond})
	}
	w := newWorld(cfg, newTrace(50, nil, false))
	for i, m := range w.Machines {
		m.ID, m.RT, m.calls = kv.NodeID(i+1), w.Loop.Runtime(m.Name), map[uint64]func(){}
		m.Disk = newDisk(m.files, &m.diskFault, &w.alarm)
		m.Clock = clock.New(m.Source, clock.Options{Mono: w.Loop.Now})
		_ = m.Clock.Poll()
		m.handler = handler(m)
	}
	return w
}

func ping(n int) *kv.Message { return &kv.Message{Control: &kv.ControlRequest{Kind: fmt.Sprint(n)}} }

func TestNetworkDelaysReordersDuplicatesAndLoses(t *testing.T) {
	got := map[string]int{}
	var order []string
	w := wires(Config{Seed: 1, Nodes: 2, Link: LinkConditions{Base: time.Millisecond, Jitter: 10 * time.Millisecond, Dup: 0.3, Loss: 0.2}},
		func(*Machine) kv.Handler {
			return func(m *kv.Message) *kv.Message {
				got[m.Control.Kind]++
				order = append(order, m.Control.Kind)
				return nil
			}
		})
	const n = 300
	for i := range n {
		w.Loop.At(time.Duration(i)*100*time.Microsecond, func() { transport{w.Machines[0], 0}.Send(2, ping(i)) })
	}
	w.Loop.Run(time.Second, nil)
	twice, inOrder := 0, true
	for i := 1; i < len(order); i++ {
		if len(order[i-1]) > len(order[i]) {
			inOrder = false
		}
	}
	for _, c := range got {
		if c == 2 {
			twice++
		}
	}
	if lost := n - len(got); lost < 10 || lost > 100 || twice < 30 || inOrder {
		t.Errorf("of %d messages %d were lost, %d came twice, in order: %v", n, lost, twice, inOrder)
	}
}

func TestPartitionsAreOneWay(t *testing.T) {
	var got []string
	w := wires(Config{Nodes: 2}, func(m *Machine) kv.Handler {
		return func(msg *kv.Message) *kv.Message {
			got = append(got, m.Name+" got "+msg.Control.Kind)
			return ping(0)
		}
	})
	w.Net.Cut(0, 1)
	a, b := transport{w.Machines[0], 0}, transport{w.Machines[1], 0}
	a.Send(2, ping(1))
	b.Send(1, ping(2))
	w.Machines[1].RT.Go("call", func() {
		if _, err := b.Call(1, ping(3), time.Second); !errors.Is(err, rt.ErrTimeout) {
			t.Errorf("the answer cannot come back, yet the call ended with %v", err)
		}
	})
	w.Loop.Run(5*time.Second, nil)
	if s := strings.Join(got, ", "); s != "m1 got 2, m1 got 3" && s != "m1 got 3, m1 got 2" {
		t.Error(s)
	}
}

// What a node sends is not shared with who gets it (V2), and carries the sender's reading, which the receiver's clock sees.
func TestMessagesAreCopiesWithReadings(t *testing.T) {
	sent := ping(1)
	w := wires(Config{Nodes: 2, Clocks: []clock.Conditions{{Bound: time.Millisecond, Offset: time.Second, Lying: true}, {Bound: time.Millisecond}}},
		func(m *Machine) kv.Handler {
			return func(msg *kv.Message) *kv.Message {
				if msg == sent || msg.Control == sent.Control {
					t.Error("the message was passed as it was")
				}
				if m.ID == 2 && (msg.From != 1 || msg.To != 2 || msg.Latest == 0) {
					t.Errorf("not stamped: %+v", msg)
				}
				return ping(2)
			}
		})
	w.Machines[0].RT.Go("call", func() {
		if _, err := (transport{w.Machines[0], 0}).Call(2, sent, time.Second); err != nil {
			t.Error(err)
		}
	})
	w.Loop.Run(time.Second, nil)
	if d := w.Machines[1].Clock.DisjointReadings(); len(d) != 1 || d[0].Peer != 1 {
		t.Errorf("a clock that lies by a second was not contradicted: %v", d)
	}
}

func TestCallsToADyingProcess(t *testing.T) {
	for _, resets := range []bool{true, false} {
		w := wires(Config{Nodes: 2, Resets: resets, Link: LinkConditions{Base: time.Millisecond}}, func(m *Machine) kv.Handler {
			return func(*kv.Message) *kv.Message { m.RT.Sleep(time.Hour); return nil }
		})
		var took time.Duration
		m := w.Machines[0]
		m.RT.Go("call", func() {
			began := m.RT.Now()
			if _, err := (transport{m, 0}).Call(2, ping(1), 10*time.Second); err == nil {
				t.Error("a call to a process that died was answered")
			}
			took = m.RT.Now() - began
		})
		w.Loop.At(100*time.Millisecond, func() {
			rt, calls := w.Machines[1].RT, w.Machines[1].calls
			w.Machines[1].end()
			rt.Kill()
			w.Machines[1].tellCallers(calls)
		})
		w.Loop.Run(time.Minute, nil)
		if want := 10 * time.Second; resets && took != 101*time.Millisecond || !resets && took != want {
			t.Errorf("resets=%v: the call ended after %s", resets, took)
		}
	}
}

func TestTrace(t *testing.T) {
	tr := newTrace(3, nil, false)
	for i := range 5 {
		tr.Event(time.Duration(i)*time.Second, "m1", "event %d", i)
	}
	if tail := tr.Tail(2); len(tail) != 2 || !strings.HasSuffix(tail[0], "event 3") || !strings.HasSuffix(tail[1], "event 4") {
		t.Errorf("%q", tail)
	}
	h := tr.Hash()
	tr.Switch(time.Second, "m1", "task")
	if tr.Hash() == h {
		t.Error("a task switch does not change the hash")
	}
}

func TestCallsAreExecutedTwice(t *testing.T) {
	executed := 0
	w := wires(Config{Seed: 1, Nodes: 2, Link: LinkConditions{Base: time.Millisecond, DupCalls: 0.5, DupLate: time.Second}},
		func(*Machine) kv.Handler {
			return func(m *kv.Message) *kv.Message {
				executed++
				return m
			}
		})
	const n = 100
	answered := 0
	m := w.Machines[0]
	for i := range n {
		m.RT.Go("caller", func() {
			if _, err := (transport{m, 0}).Call(2, ping(i), time.Minute); err == nil {
				answered++
			}
		})
	}
	w.Loop.Run(10*time.Second, nil)
	if answered != n || executed < n*5/4 || executed > n*7/4 {
		t.Errorf("of %d calls %d were answered and %d executed", n, answered, executed)
	}
}

// Nothing leaves a machine whose power has failed, although its task has not noticed yet.
func TestNothingLeavesADyingMachine(t *testing.T) {
	got := 0
	w := wires(Config{Seed: 1, Nodes: 2}, func(*Machine) kv.Handler {
		return func(*kv.Message) *kv.Message { got++; return nil }
	})
	m := w.Machines[0]
	m.Disk.crashAtSync(1, true)
	f, err := m.Disk.Create("x", "")
	if err != nil {
		t.Fatal(err)
	}
	transport{m, 0}.Send(2, ping(1))
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	transport{m, 0}.Send(2, ping(2))
	w.Loop.Run(time.Second, nil)
	if left, _ := m.Disk.struck(); got != 1 || left == nil {
		t.Errorf("%d messages arrived; power failed: %v", got, left != nil)
	}
}

// What a node learns of the end of another's process by its connections (N6 of package rpc).
func TestLostConnections(t *testing.T) {
	for _, tc := range []struct {
		name   string
		resets bool
		end    func(w *World)
		send   bool // afterwards, every 10 ms for a second and a half
		want   int  // how often the other node is told
	}{
		{"killed", true, func(w *World) { w.Machines[1].Crash(false) }, false, 1},
		{"killed where nothing is reset", false, func(w *World) { w.Machines[1].Crash(false) }, true, 0},
		{"power fails", true, func(w *World) { w.Machines[1].Crash(true) }, true, 0},
		{"killed behind a cut", true, func(w *World) { w.Net.Cut(1, 0); w.Machines[1].Crash(false) }, true, 0},
		{"killed and called again", true, func(w *World) { w.Machines[1].Crash(false) }, true, 3},
		{"only silent", true, func(w *World) { w.Machines[1].Pause(time.Hour) }, true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := wires(Config{Nodes: 2, Resets: tc.resets, Link: LinkConditions{Base: time.Millisecond}}, func(*Machine) kv.Handler {
				return func(*kv.Message) *kv.Message { return nil }
			})
			a, told := w.Machines[0], 0
			a.refused = map[int]time.Duration{}
			a.lost = func(id kv.NodeID) {
				if id != 2 {
					t.Errorf("node %d is said to be lost", id)
				}
				told++
			}
			w.Machines[1].Engines = openEngines(t)
			w.Loop.At(100*time.Millisecond, func() { tc.end(w) })
			for at := 200 * time.Millisecond; tc.send && at < 1700*time.Millisecond; at += 10 * time.Millisecond {
				w.Loop.At(at, func() { transport{a, 0}.Send(2, ping(1)) })
			}
			w.Loop.Run(10*time.Second, nil)
			if told != tc.want {
				t.Errorf("told %d times, want %d", told, tc.want)
			}
		})
	}
}

func openEngines(t *testing.T) *storage.Engines {
	t.Helper()
	e, err := storage.Open(storage.Options{FS: vfs.NewMem(), Dir: "store", Cache: 1 << 20, Deterministic: true})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
