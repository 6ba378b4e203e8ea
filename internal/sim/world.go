package sim

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// Epoch is true time when a run begins: 2026-01-01 UTC.
const Epoch = clock.Instant(1_767_225_600_000_000_000)

// World is everything of one run.
type World struct {
	Config   Config
	Loop     *eventloop.Loop
	Trace    *Trace
	Net      *Network
	Machines []*Machine

	// Each purpose draws from a stream of its own, so that more draws for one do not change the others.
	faultRand, diskRand, clientRand, operatorRand *rand.Rand

	history   History
	onServing func(*Machine)
	logs      bool
	cuts      int // splits asked for by faults
	probes    Probes

	idleFrom, idleTo time.Duration
	faultsEnd        time.Duration

	avail  *availability
	heals  []func() // what undoes the faults that are at work
	struck int      // faults so far
	said   string   // the latest line of an event

	calm    bool // faults wait, because a lie is about to begin or to be found out
	doubts  []doubt
	excused int   // operations
	failure error // what must not happen and no history shows

	alarm atomic.Int32 // something has happened on a disk (Disk)
}

func newWorld(cfg Config, trace *Trace) *World {
	stream := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(cfg.Seed, n)) }
	w := &World{Config: cfg, Loop: eventloop.New(cfg.Seed), Trace: trace,
		faultRand: stream(1), diskRand: stream(2), clientRand: stream(3), operatorRand: stream(6), onServing: func(*Machine) {}, probes: Probes{}}
	w.history.keeps = cfg.Lie.Offset != 0
	w.Loop.Trace = trace.Switch
	if cfg.StallP > 0 {
		rng := stream(4)
		w.Loop.Stall = func(string, string) time.Duration {
			if rng.Float64() >= cfg.StallP {
				return 0
			}
			return time.Duration(rng.Int64N(int64(cfg.Stall)))
		}
	}
	w.Net = newNetwork(w, cfg.Nodes, cfg.Link, stream(5))
	for i := range cfg.Nodes {
		w.Machines = append(w.Machines, newMachine(w, i, cfg.Clocks[i]))
	}
	w.avail = newAvailability(w)
	return w
}

// Truth is true time (V4).
func (w *World) Truth() clock.Instant { return Epoch.Add(w.Loop.Now()) }

func (w *World) byID(id kv.NodeID) *Machine {
	for _, m := range w.Machines {
		if m.ID == id && id != 0 {
			return m
		}
	}
	return nil
}

// newClient makes a client of a machine's present process.
func (w *World) newClient(m *Machine, name string) *Client {
	life := m.life
	return &Client{Name: fmt.Sprintf("%s.%d/%s", m.Name, life, name), Machine: m.Index, DB: m.Node.DB, RT: m.RT, H: &w.history,
		Rand: rand.New(rand.NewPCG(w.clientRand.Uint64(), 0)), Orderings: w.Config.Orderings, Locking: w.Config.Locking, Node: m.Node, Clock: m.Clock,
		Alive: func() bool { return m.life == life && m.Up() && !m.dying() }, Time: w.Loop.Now, Note: m.event}
}

func (w *World) event(format string, args ...any) {
	w.said = fmt.Sprintf(format, args...)
	w.Trace.Event(w.Loop.Now(), "world", "%s", w.said)
}

// askEvery is how much virtual time passes between two looks at what the world waits for. Some conditions take long to
// evaluate, and each step of a task would be a reason to.
const askEvery = time.Millisecond

// runUntil steps the world until done holds; the error says what it waited for in vain.
func (w *World) runUntil(limit time.Duration, what string, done func() bool) error {
	storm, ask := false, w.Loop.Now()
	if !w.Loop.Run(limit, func() bool {
		if w.alarm.Load() != 0 {
			w.alarm.Store(0)
			for _, m := range w.Machines {
				m.attend()
			}
		}
		if w.avail.err != nil || w.failure != nil {
			return true
		}
		if w.Loop.Steps() > w.Config.MaxSteps {
			storm = true
			return true
		}
		if now := w.Loop.Now(); now >= ask {
			ask = now + askEvery
			return done()
		}
		return false
	}) && !done() {
		return fmt.Errorf("not within %s: %s", limit, what)
	}
	if w.failure != nil {
		return w.failure
	}
	if w.avail.err != nil {
		return w.avail.err
	}
	if storm {
		return fmt.Errorf("after %d steps still not: %s; the cluster does not come to rest", w.Config.MaxSteps, what)
	}
	return nil
}

// serving counts the machines that serve.
func (w *World) serving() (n int) {
	for _, m := range w.Machines {
		if m.Serving() {
			n++
		}
	}
	return n
}

// close ends all processes.
func (w *World) close() {
	w.Loop.Trace = nil
	for _, m := range w.Machines {
		m.Crash(true)
	}
	w.Loop.Close()
}
