package sim

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/replica"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
	"github.com/longitude-db/longitude/internal/storage"
)

// Machine is a computer: a disk and a clock, which stay, and a process with one node, which comes and goes.
type Machine struct {
	w     *World
	Index int
	Name  string
	ID    kv.NodeID // given by the cluster when the node first joins; 0 until then

	Disk   *vfs.MemFS
	Source *clock.Sim

	// The process. All nil while there is none.
	RT      *eventloop.Runtime
	Clock   *clock.Clock
	Engines *storage.Engines
	Node    *node.Node
	handler kv.Handler // the node's

	life    int        // counts processes
	stale   *vfs.MemFS // with Config.DropSync: what a crash leaves
	serving bool
	calls   map[uint64]func() // calls that wait for this process: told if it dies
	callSeq uint64
}

func newMachine(w *World, i int, c clock.Conditions) *Machine {
	return &Machine{w: w, Index: i, Name: fmt.Sprint("m", i+1), Disk: vfs.NewCrashableMem(), Source: clock.NewSim(c, w.Truth)}
}

// Up reports whether the process exists; it may be paused or not serve yet.
func (m *Machine) Up() bool { return m.RT != nil }

// Serving reports whether the node has come up and serves.
func (m *Machine) Serving() bool { return m.Up() && m.serving }

func (m *Machine) event(format string, args ...any) {
	m.w.Trace.Event(m.w.Loop.Now(), m.Name, format, args...)
}

// Boot starts the process. It is called from the loop.
func (m *Machine) Boot() {
	if m.Up() {
		return
	}
	cfg := m.w.Config
	m.life++
	m.RT = m.w.Loop.Runtime(m.Name)
	m.calls = map[uint64]func(){}
	m.Clock = clock.New(m.Source, clock.Options{Mono: m.Source.Mono(m.w.Loop.Now)})
	eng, err := storage.Open(storage.Options{FS: m.Disk, Dir: "store", Cache: 16 << 20, Deterministic: true,
		OnFatal: func(f *storage.FatalError) { panic(fmt.Sprintf("sim: %s: %v", m.Name, f)) }})
	if err != nil {
		panic(fmt.Sprintf("sim: %s: the store cannot be opened after a crash: %v", m.Name, err))
	}
	m.Engines = eng
	opts := node.Options{
		RT: m.RT, Clock: m.Clock, Transport: transport{m, m.life}, Engines: eng,
		Self:      kv.NodeInfo{RPCAddr: m.Name, Version: "sim"},
		Bootstrap: m.Index == 0,
		Join:      m.join,
		Promise:   cfg.Promise, Heartbeat: cfg.Heartbeat, Tick: cfg.Tick, ClockPoll: cfg.ClockPoll,
		OnFatal: func(err error) { panic(fmt.Sprintf("sim: %s stops by itself: %v", m.Name, err)) },
		Tune:    m.tune,
		Unsafe:  cfg.Unsafe,
		Log:     m.w.logger(m),
	}
	n, err := node.New(opts)
	if err != nil {
		panic(err)
	}
	m.Node, m.handler = n, n.Handle
	if cfg.DropSync > 0 {
		m.dropSync(m.life)
	}
	m.event("boot %s", reading(m.Clock, m.w.Truth()))
	m.RT.Go("boot", func() {
		if err := n.Open(); err != nil {
			panic(fmt.Sprintf("sim: %s: node does not open: %v", m.Name, err))
		}
		m.ID = n.Self().ID
		if err := n.Start(); err != nil {
			panic(fmt.Sprintf("sim: %s: node does not start: %v", m.Name, err))
		}
		m.serving = true
		m.event("serving as n%d", m.ID)
		m.w.onServing(m)
	})
}

// tune sets what only a simulation sets.
func (m *Machine) tune(o *replica.Options) {
	cfg := m.w.Config
	o.KeepEntries, o.FlushInterval, o.RequestLimit, o.ClosedLag = cfg.Keep, cfg.Flush, cfg.Request, cfg.ClosedLag
	if cfg.Disk > 0 {
		o.DiskDelay = func() time.Duration {
			d := time.Duration(m.w.diskRand.Int64N(int64(cfg.Disk)))
			if m.w.diskRand.IntN(10) == 0 {
				d *= 10
			}
			return d / 2
		}
	}
}

// dropSync makes the disk one that says too early that something is safe: a crash may take away the last of it.
func (m *Machine) dropSync(life int) {
	if m.life != life || !m.Up() {
		return
	}
	m.stale = m.Disk.CrashClone(vfs.CrashCloneCfg{})
	m.w.Loop.At(m.w.Loop.Now()+m.w.Config.DropSync, func() { m.dropSync(life) })
}

// join carries a join message to the other machines in turn.
func (m *Machine) join(msg *kv.Message) (*kv.Message, error) {
	err := errNoRoute
	for _, p := range m.w.Machines {
		if p != m && p.Serving() {
			var answer *kv.Message
			if answer, err = (transport{m, m.life}).callMachine(p, p.ID, msg, 5*time.Second); err == nil {
				return answer, nil
			}
		}
	}
	return nil, err
}

// Crash ends the process at once (V3). With power the machine loses what was not synced; otherwise the operating system
// still writes it. It is called from the loop or from a task of another machine.
func (m *Machine) Crash(power bool) {
	if !m.Up() {
		return
	}
	m.event("crash power=%v", power)
	rt, calls := m.RT, m.calls
	disk := m.Disk.CrashClone(vfs.CrashCloneCfg{})
	if !power {
		disk = copyDisk(m.Disk)
	} else if m.stale != nil {
		disk = m.stale
	}
	m.end()
	rt.Kill()
	// What the old engines still write goes to the disk that was.
	_ = m.closeEngines()
	m.Disk = disk
	m.tellCallers(calls)
}

// StopCleanly ends the process as an operator would, and calls then once it is gone. It is called from the loop.
func (m *Machine) StopCleanly(then func()) {
	if !m.Serving() {
		return
	}
	m.event("stop")
	m.serving = false
	n, life := m.Node, m.life
	m.RT.Go("stop", func() {
		if err := n.Stop(true); err != nil {
			panic(fmt.Sprintf("sim: %s does not stop: %v", m.Name, err))
		}
		m.w.Loop.At(m.w.Loop.Now(), func() {
			if m.life != life || !m.Up() {
				return // crashed meanwhile
			}
			m.event("stopped")
			rt, calls := m.RT, m.calls
			m.end()
			rt.Kill()
			if err := m.closeEngines(); err != nil {
				panic(fmt.Sprintf("sim: %s: %v", m.Name, err))
			}
			// A process that ended leaves its files as they are; it did not lose power.
			m.Disk = copyDisk(m.Disk)
			m.tellCallers(calls)
			then()
		})
	})
}

// copyDisk is the disk with everything that was written, synced or not. How many random numbers that draws depends on
// Pebble's files, which are not laid out alike in every run, so it has a source of its own; what it draws is of no matter.
func copyDisk(d *vfs.MemFS) *vfs.MemFS {
	return d.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
}

func (m *Machine) end() {
	m.w.probe(m)
	m.RT, m.Clock, m.Node, m.handler, m.calls, m.serving = nil, nil, nil, nil, nil, false
}

func (m *Machine) closeEngines() error {
	err := m.Engines.Close()
	m.Engines = nil
	return err
}

// Pause stops the process until virtual time until: longer than a lease, it comes back to a world that went on.
func (m *Machine) Pause(until time.Duration) {
	if m.Up() {
		m.event("pause until %.3f", until.Seconds())
		m.RT.Pause(until)
	}
}

// awaitDeath has fn called if this process dies, until the returned func is called.
func (m *Machine) awaitDeath(fn func()) (forget func()) {
	calls := m.calls
	if calls == nil {
		return func() {}
	}
	m.callSeq++
	id := m.callSeq
	calls[id] = fn
	return func() { delete(calls, id) }
}

func (m *Machine) tellCallers(calls map[uint64]func()) {
	for _, id := range slices.Sorted(maps.Keys(calls)) {
		calls[id]()
	}
}

// handle gives a message to the node.
func (m *Machine) handle(msg *kv.Message) *kv.Message {
	if m.handler == nil {
		return nil
	}
	return m.handler(msg)
}

func (m *Machine) cluster() kv.ClusterID {
	if m.Node == nil {
		return kv.ClusterID{}
	}
	return m.Node.Self().Cluster
}

// logger writes a node's log into the trace if the world wants it.
func (w *World) logger(m *Machine) *slog.Logger {
	if !w.logs {
		return nil
	}
	return slog.New(slog.NewTextHandler(lineWriter(func(line string) { m.event("log %s", line) }), &slog.HandlerOptions{
		Level: slog.LevelInfo,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

type lineWriter func(string)

var _ io.Writer = lineWriter(nil)

func (l lineWriter) Write(p []byte) (int, error) {
	l(string(p[:max(0, len(p)-1)]))
	return len(p), nil
}
