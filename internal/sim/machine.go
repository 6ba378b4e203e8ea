package sim

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/replica"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
	"github.com/longitude-db/longitude/internal/storage"
	"github.com/longitude-db/longitude/internal/txn"
)

// Machine is a computer: a disk and a clock, which stay, and a process with one node, which comes and goes.
type Machine struct {
	w     *World
	Index int
	Name  string
	ID    kv.NodeID // given by the cluster when the node first joins; 0 until then

	files     *vfs.MemFS
	diskFault diskFaultState
	slow      time.Duration // each sync takes up to this much longer
	stuck     time.Duration // the next one, or the one that is under way, takes this much longer
	// slowUntil is when the last of the slow syncs has ended. Until logStall no sync of the log ends, until stateStall no batch
	// gets into state.
	slowUntil, logStall, stateStall time.Duration
	rot                             *rot       // what reads find damaged; nil: nothing
	whole                           *vfs.MemFS // the disk with the directory that is missing at present; nil: none is
	Source                          *clock.Sim
	freeze                          freeze
	still                           suspension
	stood                           time.Duration // for how long the monotonic clock has stood still, up to now
	wedged                          wedged
	poisoned                        map[kv.RangeID]bool // ranges of which the machine can apply nothing
	cured                           []kv.RangeID        // of which it can again

	// The process. All nil while there is none.
	RT      *eventloop.Runtime
	Disk    *Disk
	Clock   *clock.Clock
	Engines *storage.Engines
	Node    *node.Node
	handler kv.Handler            // the node's
	lost    func(kv.NodeID)       // the node's, for what the transport tells of its peers
	refused map[int]time.Duration // when lost was last called because that machine refused
	off     bool                  // the power has failed, and there is no system that would refuse connections

	ended   time.Duration // when the last process ended
	lied    bool          // its clock was outside its bound once
	life    int           // counts processes
	stale   *vfs.MemFS    // with Config.DropSync: what a crash leaves
	serving bool
	calls   map[uint64]func() // calls that wait for this process: told if it dies
	callSeq uint64
}

func newMachine(w *World, i int, c clock.Conditions) *Machine {
	m := &Machine{w: w, Index: i, Name: fmt.Sprint("m", i+1), files: vfs.NewCrashableMem(), ended: -1, Source: clock.NewSim(c, w.Truth),
		poisoned: map[kv.RangeID]bool{}}
	if w.Config.Marker != NoMarker {
		m.Source.Mark(w.Config.Marker == MarkerInReadings)
	}
	return m
}

// Up reports whether the process exists; it may be paused or not serve yet.
func (m *Machine) Up() bool { return m.RT != nil }

// dying reports whether the power has failed just now: what the process still does, nobody sees.
func (m *Machine) dying() bool { return m.Up() && m.Disk.dead.Load() }

// Serving reports whether the node has come up and serves.
func (m *Machine) Serving() bool { return m.Up() && m.serving }

func (m *Machine) event(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	m.w.said = m.Name + " " + line
	m.w.Trace.Event(m.w.Loop.Now(), m.Name, "%s", line)
}

// Boot starts the process. It is called from the loop.
func (m *Machine) Boot() {
	if m.Up() {
		return
	}
	cfg := m.w.Config
	if what := m.diskFault.current(); what != "" {
		// It would find out, and Pebble would go on trying behind our back. Package storage tests that.
		m.event("does not start: disk %s", what)
		return // somebody starts it again when its disk is well
	}
	m.diskFault.processStarted()
	disk := newDisk(m.files, &m.diskFault, &m.w.alarm)
	disk.rot = m.rot
	eng, err := storage.Open(storage.Options{FS: disk, Dir: "store", Cache: 16 << 20, Deterministic: true,
		OnFatal: func(f *storage.FatalError) { disk.fail(f) }})
	if m.refusesToOpen(err) {
		return
	}
	m.life++
	m.off, m.refused = false, map[int]time.Duration{}
	m.RT, m.Disk, m.Engines = m.w.Loop.Runtime(m.Name), disk, eng
	m.calls = map[uint64]func(){}
	mono := m.Source.Mono(m.monotonic)
	m.Clock = clock.New(m.Source, clock.Options{Mono: func() time.Duration {
		now := mono()
		m.freeze.reading(m)
		return now
	}})
	opts := node.Options{
		RT: m.RT, Clock: m.Clock, Transport: transport{m, m.life}, Engines: eng,
		Self:            kv.NodeInfo{RPCAddr: m.Name, Version: "sim"},
		Bootstrap:       m.Index == 0,
		Join:            m.join,
		SupportDuration: cfg.SupportDuration, Heartbeat: cfg.Heartbeat, ReplicationFactor: cfg.Factor, Tick: cfg.Tick, ClockPoll: cfg.ClockPoll,
		OnFatal:      disk.fail,
		Tune:         m.tune,
		Unquarantine: m.cured,
		Reaches:      m.reaches,
		TuneTxn:      func(o *txn.DBOptions) { o.SpillBytes, o.MaxReadSpans = cfg.Spill, cfg.Spans },
		Unsafe:       cfg.Unsafe, UnsafeCluster: cfg.UnsafeCluster,
		Log: m.w.logger(m),
	}
	n, err := node.New(opts)
	if err != nil {
		panic(err)
	}
	m.Node, m.handler, m.lost = n, n.Handle, n.HandleLost
	if cfg.DropSync > 0 {
		m.dropSync(m.life)
	}
	m.event("boot %s", reading(m.Clock, m.w.Truth()))
	m.RT.Go("boot", func() {
		if err := n.Open(); err != nil {
			disk.fail(fmt.Errorf("the node does not open: %w", err))
			return
		}
		m.ID = n.Self().ID
		if err := n.Start(); err != nil {
			disk.fail(fmt.Errorf("the node does not start: %w", err))
			return
		}
		m.serving = true
		m.event("serving as n%d", m.ID)
		m.w.onServing(m)
	})
}

// tune sets what only a simulation sets.
func (m *Machine) tune(o *replica.Options) {
	cfg := m.w.Config
	if cfg.Wrong == nil || cfg.Wrong(m.Index) {
		o.Unsafe = cfg.UnsafeReplicas
	}
	o.MaxQueued, o.LockLimit, o.ReadCache, o.ReadThrough = cfg.Queue, cfg.Locks, cfg.Cache, cfg.Through
	o.FlushBytes = int64(cfg.Keep) * 512
	o.KeepEntries, o.FlushInterval, o.RequestLimit, o.ClosedLag = cfg.Keep, cfg.Flush, cfg.Request, cfg.ClosedLag
	o.ClosedEvery = cfg.ClosedEvery
	o.Quarantined, o.Unsafe.Poison = m.quarantined, m.poisonous
	o.TurnDelay, o.StateDelay, o.ProgressLimit = m.turnTime, m.stateTime, cfg.Progress
	o.DiskDelay = m.syncTime
}

// syncTime draws half of how long a sync takes.
func (m *Machine) syncTime() (d time.Duration) {
	if usual := m.w.Config.Disk; usual > 0 {
		d = time.Duration(m.w.diskRand.Int64N(int64(usual)))
		if m.w.diskRand.IntN(10) == 0 {
			d *= 10
		}
	}
	if m.slow > 0 {
		d += time.Duration(m.w.diskRand.Int64N(int64(m.slow)))
	}
	d, m.stuck = d/2+m.stuck, 0
	return max(d, m.logStall-m.w.Loop.Now())
}

// dropSync makes the disk one that says too early that something is safe: a crash may take away the last of it.
func (m *Machine) dropSync(life int) {
	if m.life != life || !m.Up() {
		return
	}
	m.stale = m.Disk.Remains()
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
	switch {
	case !power:
		m.die(copyDisk(m.files), false)
	case m.stale != nil:
		m.die(m.stale, true)
	default:
		m.die(m.Disk.Remains(), true)
	}
}

// die ends the process at once; files is what it leaves on disk. With power the whole machine ends.
func (m *Machine) die(files *vfs.MemFS, power bool) {
	rt, calls := m.RT, m.calls
	m.end()
	rt.Kill()
	if m.off = power; !power {
		m.w.Net.breakConnections(m)
	}
	// What the old engines still write goes to the disk that was.
	_ = m.closeEngines()
	m.files = files
	m.tellCallers(calls)
}

// attend sees to what has happened on the disk while the process was writing. The loop calls it before anything else runs.
func (m *Machine) attend() {
	if !m.Up() {
		return
	}
	left, failure := m.Disk.struck()
	switch {
	case left != nil:
		m.event("power fails at a sync")
		m.die(left, true)
	case failure != nil && !m.diskFault.hasFailed():
		panic(fmt.Sprintf("sim: %s stops by itself: %v", m.Name, failure))
	case failure != nil:
		// Its process ends some time later, and is started again when the disk is well.
		m.event("stops by itself: %s", firstLine(failure))
		m.serving = false
		life := m.life
		linger := time.Duration(m.w.diskRand.Int64N(int64(2 * time.Second)))
		m.w.Loop.At(m.w.Loop.Now()+linger, func() {
			if m.life == life && m.Up() {
				m.Crash(m.w.diskRand.IntN(2) == 0)
				m.Boot()
			}
		})
	}
}

func firstLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
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
			m.Disk.fail(fmt.Errorf("the node does not stop: %w", err))
			return
		}
		m.w.Loop.At(m.w.Loop.Now(), func() {
			if m.life != life || !m.Up() {
				return // crashed meanwhile
			}
			m.event("stopped")
			rt, calls := m.RT, m.calls
			m.end()
			rt.Kill()
			if err := m.closeEngines(); err != nil && !m.diskFault.hasFailed() {
				panic(fmt.Sprintf("sim: %s: %v", m.Name, err))
			}
			// A process that ended leaves its files as they are; it did not lose power.
			m.files = copyDisk(m.files)
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
	m.runAgain()
	m.w.probe(m)
	m.ended = m.w.Loop.Now()
	m.w.Net.clearQueues(m.Index)
	m.RT, m.Disk, m.Clock, m.Node, m.handler, m.lost, m.calls, m.serving = nil, nil, nil, nil, nil, nil, nil, false
}

func (m *Machine) closeEngines() error {
	err := m.Engines.Close()
	m.Engines = nil
	return err
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
	for _, id := range sortedKeys(calls) {
		calls[id]()
	}
}

func sortedKeys(calls map[uint64]func()) []uint64 { return slices.Sorted(maps.Keys(calls)) }

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
