package node

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
	"github.com/longitude-db/longitude/internal/storage"
)

// TestServingWaitsForTheMark is N2: a node gives out stamps, is killed, and comes back on a machine whose clock is 3 s
// behind. It serves when its earliest has passed everything that it may have given out.
func TestServingWaitsForTheMark(t *testing.T) {
	for _, c := range []struct {
		name    string
		back    time.Duration // how far behind the clock is after the restart
		orderly bool
		stopped time.Duration // between the two processes
		atLeast time.Duration // that the second one waits
		atMost  time.Duration
	}{
		{"killed, at once", 0, false, 0, 700 * time.Millisecond, 2 * time.Second},
		{"killed, after some seconds", 0, false, 5 * time.Second, 0, 0},
		{"killed, clock behind", 3 * time.Second, false, 0, 3700 * time.Millisecond, 5 * time.Second},
		{"stopped, at once", 0, true, 0, 500 * time.Millisecond, 1100 * time.Millisecond},
		{"stopped, clock behind", 3 * time.Second, true, 0, 3 * time.Second, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			loop := eventloop.New(1)
			fs := vfs.NewCrashableMem()
			var given clock.Instant
			process := func(fs *vfs.MemFS, back time.Duration, fn func(*stamps, *eventloop.Runtime)) {
				source := clock.NewSim(clock.Conditions{Bound: time.Millisecond, Offset: -back, Lying: true}, func() clock.Instant {
					return clock.Instant(epoch).Add(loop.Now())
				})
				clk := clock.New(source, clock.Options{Mono: source.Mono(loop.Now)})
				eng, err := storage.Open(storage.Options{FS: fs, Dir: "s", Cache: 1 << 20, Deterministic: true})
				if err != nil {
					t.Fatal(err)
				}
				r := loop.Runtime("node")
				_ = clk.Poll()
				done := false
				r.Go("process", func() {
					fn(&stamps{rt: r, clock: clk, eng: eng, log: slog.New(slog.DiscardHandler)}, r)
					done = true
				})
				if !loop.Run(time.Minute, func() bool { return done }) {
					t.Fatal("hangs")
				}
				if err := eng.Close(); err != nil {
					t.Fatal(err)
				}
			}
			crashed := fs
			process(fs, 0, func(s *stamps, r *eventloop.Runtime) {
				if err := errors.Join(s.awaitPassed(r.NewSignal()), s.extend()); err != nil {
					t.Fatal(err)
				}
				for range 100 {
					r.Sleep(37 * time.Millisecond)
					_ = s.clock.Poll()
					now, err := s.clock.Now()
					if err = errors.Join(err, s.Check(now.Latest)); err != nil {
						t.Fatal(err)
					}
					given = now.Latest
				}
				if c.orderly {
					if err := s.close(); err != nil {
						t.Fatal(err)
					}
					if err := s.Check(given + 1); err == nil {
						t.Error("a stamp was given out after the end")
					}
				}
				crashed = fs.CrashClone(vfs.CrashCloneCfg{})
			})
			loop.Run(c.stopped, nil)
			began := loop.Now()
			process(crashed, c.back, func(s *stamps, r *eventloop.Runtime) {
				r.Go("poll", func() {
					for range 200 {
						_ = s.clock.Poll()
						r.Sleep(50 * time.Millisecond)
					}
				})
				if err := s.awaitPassed(r.NewSignal()); err != nil {
					t.Fatal(err)
				}
				now, err := s.clock.Now()
				if err != nil || !now.Passed(given) {
					t.Errorf("serves at %s (%v) although %d was given out", now, err, given)
				}
				if waited := loop.Now() - began; waited < c.atLeast || waited > c.atMost {
					t.Errorf("waited %s, want %s to %s", waited, c.atLeast, c.atMost)
				}
			})
		})
	}
}

// TestBeforeOpen: a node that is starting says so, whatever it is asked.
func TestBeforeOpen(t *testing.T) {
	c := newTrio(t, eventloop.New(1))
	m := c.nodes[0]
	clk := clock.New(m.source, clock.Options{Mono: m.source.Mono(c.loop.Now)})
	eng, err := storage.Open(storage.Options{FS: m.fs, Dir: "s", Cache: 1 << 20, Deterministic: true})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	n, err := New(Options{RT: c.rt, Clock: clk, Transport: wire{m}, Engines: eng})
	if err != nil {
		t.Fatal(err)
	}
	if a := n.Handle(&kv.Message{Batch: &kv.Batch{Requests: make([]kv.Request, 2)}}); len(a.BatchReply.Responses) != 2 ||
		a.BatchReply.Responses[1].Err.Code != kv.ErrUnavailable {
		t.Errorf("batch: %+v", a.BatchReply)
	}
	if a := n.Handle(&kv.Message{Join: &kv.Join{}}); a.Join.Error == "" {
		t.Error("a starting node takes others in")
	}
	if a := n.Handle(&kv.Message{Raft: &kv.RaftBatch{}}); a != nil {
		t.Errorf("raft: %+v", a)
	}
	if err := n.Start(); err == nil {
		t.Error("Start before Open")
	}
	c.run(func() { // an empty store, and neither a cluster to join nor one to begin
		if err := n.Open(); err == nil {
			t.Error("opened without an identity")
		}
		if err := n.Stop(true); err != nil {
			t.Error(err)
		}
	})
}

// A node whose clock gives no readings while it joins waits for it, instead of ending. (Simulation, seed 477 at bb23415.)
func TestOpeningWaitsForTheClock(t *testing.T) {
	loop := eventloop.New(1)
	source := clock.NewSim(clock.Conditions{Bound: time.Millisecond, State: clock.Disrupted}, func() clock.Instant { return clock.Instant(epoch).Add(loop.Now()) })
	clk := clock.New(source, clock.Options{Mono: source.Mono(loop.Now)})
	r := loop.Runtime("node")
	r.Go("poll", func() {
		for {
			_ = clk.Poll()
			r.Sleep(50 * time.Millisecond)
		}
	})
	loop.At(3*time.Second, func() { source.Set(clock.Conditions{Bound: time.Millisecond}) })
	s := &stamps{rt: r, clock: clk, log: slog.New(slog.DiscardHandler)}
	var now clock.Interval
	var err error
	done := false
	r.Go("open", func() {
		now, err = s.reading(0, r.NewSignal())
		done = true
	})
	if !loop.Run(time.Minute, func() bool { return done }) {
		t.Fatal("waits for ever")
	}
	if err != nil || loop.Now() < 3*time.Second || now.Latest == 0 {
		t.Errorf("after %s: %s %v", loop.Now(), now, err)
	}
	stop := r.NewSignal()
	source.Set(clock.Conditions{Bound: time.Millisecond, State: clock.Disrupted})
	loop.Run(time.Second, nil)
	done = false
	r.Go("open", func() {
		_, err = s.reading(0, stop)
		done = true
	})
	loop.At(loop.Now()+time.Second, stop.Fire)
	if !loop.Run(time.Minute, func() bool { return done }) || err == nil {
		t.Errorf("stopping does not end it: %v", err)
	}
}
