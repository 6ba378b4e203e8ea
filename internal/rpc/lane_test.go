package rpc

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

func heartbeat() *kv.Message { return &kv.Message{Liveness: &kv.Liveness{SupportRequest: 1}} }

// bulk is a Raft message with so many bytes of entries.
func bulk(n int) *kv.Message {
	data := make([]byte, n)
	data[0], data[1] = 8, 3 // type: MsgApp
	return &kv.Message{Raft: &kv.RaftBatch{Messages: []kv.RaftMessage{{Range: 1, Data: data}}}}
}

// N7: what keeps leases alive passes by what is large, on a slow link and if the queue for that is full.
func TestHeartbeatsPassBulk(t *testing.T) {
	for _, tc := range []struct {
		name  string
		load  []int // bytes of the messages that stand before
		queue int   // Options.MaxQueueBytes
	}{
		{"one message of 64 MiB", []int{64 << 20}, 0},
		{"many of a snapshot's size", many(80, 1<<20), 0},
		{"a full queue", many(200, 1<<20), 32 << 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			noLeaks(t)
			var net addresses
			heard := make(chan time.Time, 1000)
			a := node(t, &net, 1, echo, func(o *Options) { o.MaxQueueBytes = tc.queue })
			node(t, &net, 2, func(m *kv.Message) *kv.Message {
				if m.Liveness != nil {
					heard <- time.Now()
				}
				return nil
			}, nil)
			through(t, &net, 2).Slow(16 << 20)
			a.Send(2, heartbeat())
			<-heard // connected
			for _, n := range tc.load {
				a.Send(2, bulk(n))
			}
			if tc.queue > 0 && dropped(a.m) == 0 {
				t.Error("the queue was not full")
			}
			for range 20 { // a second of heartbeats; the load takes four or more
				sent := time.Now()
				a.Send(2, heartbeat())
				select {
				case at := <-heard:
					if d := at.Sub(sent); d > 300*time.Millisecond {
						t.Fatalf("a heartbeat took %s", d)
					}
				case <-time.After(10 * time.Second):
					t.Fatal("a heartbeat was lost")
				}
				time.Sleep(time.Until(sent.Add(50 * time.Millisecond)))
			}
		})
	}
}

func many(n, size int) (all []int) {
	for range n {
		all = append(all, size)
	}
	return all
}

// N7: a node that is busy with all the bulk that it may be handling takes heartbeats in.
func TestHeartbeatsPassBusyHandlers(t *testing.T) {
	noLeaks(t)
	var net addresses
	gate := make(chan struct{})
	var busy, heard atomic.Int64
	a := node(t, &net, 1, echo, nil)
	node(t, &net, 2, func(m *kv.Message) *kv.Message {
		if m.Liveness != nil {
			heard.Add(1)
			return nil
		}
		busy.Add(1)
		<-gate
		return nil
	}, func(o *Options) { o.MaxHandled = 4 })
	defer close(gate)
	for range 20 {
		a.Send(2, bulk(100))
	}
	eventually(t, "the bound is reached", func() bool { return busy.Load() == 4 })
	a.Send(2, heartbeat())
	eventually(t, "a heartbeat is heard", func() bool { return heard.Load() == 1 })
}

// A large message takes longer than the silence that means death: its connection lives as long as the peer reads it.
func TestSlowBulkIsNotSilence(t *testing.T) {
	noLeaks(t)
	var net addresses
	fast := func(o *Options) { o.Keepalive = 200 * time.Millisecond } // 1.2 s of silence mean death
	a := node(t, &net, 1, echo, fast)
	node(t, &net, 2, echo, fast)
	through(t, &net, 2).Slow(4 << 20)
	want := make([]byte, 14<<20)
	m, err := a.Call(2, &kv.Message{Control: &kv.ControlRequest{Arg: want}}, 20*time.Second)
	if err != nil || m.Control == nil {
		t.Fatal(err)
	}
}

// A peer that takes connections and reads nothing is given up, and calls to it fail.
func TestPeerThatReadsNothing(t *testing.T) {
	noLeaks(t)
	var net addresses
	l := listen(t)
	defer l.Close()
	done := make(chan struct{})
	defer close(done)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := answerGreeting(c, identity{2, home}); err != nil {
			t.Error(err)
		}
		for range time.Tick(10 * time.Millisecond) { // it says something all the time
			if _, err := c.Write(stampFrame(kindPong, clock.Interval{}).b); err != nil {
				return
			}
		}
	}()
	a := node(t, &net, 1, echo, func(o *Options) { o.Keepalive = 20 * time.Millisecond })
	net.set(2, l.Addr().String())
	failed := make(chan error, 1)
	go func() {
		_, err := a.Call(2, &kv.Message{Control: &kv.ControlRequest{Arg: make([]byte, 32<<20)}}, time.Hour)
		failed <- err
	}()
	select {
	case err := <-failed:
		if err == nil {
			t.Error("an answer from one who has not read the call")
		}
	case <-time.After(10 * time.Second):
		t.Error("not given up")
	}
}
