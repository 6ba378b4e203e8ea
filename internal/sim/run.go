package sim

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
)

// Result is what a run came to.
type Result struct {
	Config  Config
	Hash    uint64
	Steps   uint64        // task switches
	Virtual time.Duration // how long the cluster lived
	Real    time.Duration // how long that took
	Ops     map[check.Outcome]int
	// Healed is how long after the last fault everything was served again.
	Healed time.Duration
	// Gap is the longest time for which a range was not served by a quorum that was well and connected (V6).
	Gap time.Duration

	// Excused are operations that lost some of their order in real time because a clock lied (World.excuse).
	Excused int

	// Probes are what the nodes counted.
	Probes Probes

	Anomalies []check.Anomaly
	// Tolerated are those that `uncertainty` ordering may show: causal reverse.
	Tolerated []check.Anomaly
	// Err says what else was wrong: a panic, a cluster that does not recover, replicas that differ.
	Err  error
	Tail []string // of the trace
}

// Failed reports whether the run showed anything that must not be.
func (r *Result) Failed() bool { return r.Err != nil || len(r.Anomalies) > 0 }

// Problem says what was wrong.
func (r *Result) Problem() string {
	var b strings.Builder
	if r.Err != nil {
		fmt.Fprintf(&b, "%v\n", r.Err)
	}
	for _, a := range r.Anomalies {
		fmt.Fprintf(&b, "%s\n", a)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Options of a run that do not change it.
type Options struct {
	Out   io.Writer // gets the whole trace; nil: only its tail is kept
	Steps bool      // the trace shows task switches
	Logs  bool      // the trace shows the nodes' logs, and the hash depends on them
	Keep  int       // lines of the tail; 0: 200
}

// limits of virtual time for what must not take long without faults.
const (
	bootLimit   = 60 * time.Second
	setupLimit  = 60 * time.Second
	settleLimit = 90 * time.Second
)

// Run makes one run.
func Run(cfg Config, o Options) (res *Result) {
	if o.Keep == 0 {
		o.Keep = 200
	}
	trace := newTrace(o.Keep, o.Out, o.Steps)
	w := newWorld(cfg, trace)
	w.logs = o.Logs
	r := &run{World: w}
	res = &Result{Config: cfg, Probes: w.probes}
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			res.Err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		res.Hash, res.Steps, res.Virtual, res.Real = trace.Hash(), w.Loop.Steps(), w.Loop.Now(), time.Since(began)
		res.Tail, res.Healed, res.Ops = trace.Tail(o.Keep), r.healed, map[check.Outcome]int{}
		res.Gap = w.avail.gap
		for _, l := range r.loads {
			for k, n := range l.Ops() {
				res.Ops[k] += n
			}
		}
	}()
	res.Err = r.play()
	w.excuse()
	res.Excused = w.excused
	for i, l := range r.loads {
		for _, a := range l.Check() {
			a.Text = cfg.Workloads[i] + ": " + a.Text
			if a.Kind == check.LostWrite && res.Err != nil {
				// What ended the run left clients at work after the last read of everything.
				a.Text += " (perhaps it came after the last read: the clients were not brought to an end)"
			}
			w.event("%s", a)
			if a.Kind == check.CausalReverse && !cfg.strict() {
				res.Tolerated = append(res.Tolerated, a)
			} else {
				res.Anomalies = append(res.Anomalies, a)
			}
		}
	}
	w.close()
	return res
}

// run is a world with what a run does in it.
type run struct {
	*World
	loads   []Workload
	quiet   bool // clients end after what they are doing
	clients []*Client
	healed  time.Duration
}

func (r *run) play() error {
	r.event("seed %d: %s", r.Config.Seed, r.Config)
	for _, name := range r.Config.Workloads {
		r.loads = append(r.loads, newWorkload(name))
	}
	if err := r.bootAll(); err != nil {
		return err
	}
	if err := r.setup(); err != nil {
		return err
	}
	r.onServing = func(m *Machine) {
		r.startClients(m)
		r.startProber(m)
	}
	for _, m := range r.present() {
		r.onServing(m)
	}
	r.avail.start()
	end := r.Loop.Now() + r.Config.FaultFor + r.Config.Idle
	over := false
	r.injectFaults(end, func() { over = true })
	if err := r.runUntil(r.Config.FaultFor+r.Config.Idle+time.Minute, "the end of the faults", func() bool { return over }); err != nil {
		return err
	}
	if err := r.live(end); err != nil {
		return fmt.Errorf("%w\n%s", err, r.pending())
	}
	if err := r.settle(); err != nil {
		return fmt.Errorf("%w\n%s", err, r.pending())
	}
	return nil
}

// bootAll makes the cluster, one node after the other, so that node ids are in the order of the machines.
func (r *run) bootAll() error {
	for _, m := range r.present() {
		m.Boot()
		if err := r.runUntil(bootLimit, m.Name+" joins", m.Serving); err != nil {
			return err
		}
	}
	return nil
}

// present are the machines that are there from the beginning.
func (r *run) present() []*Machine { return r.Machines[:len(r.Machines)-r.Config.Late] }

// setup waits for replicas, cuts the workloads' data into ranges led by different nodes, and writes what must be there.
func (r *run) setup() error {
	if err := r.runUntil(setupLimit, "every range has its replicas", r.replicated); err != nil {
		return fmt.Errorf("%w\n%s", err, r.ranges())
	}
	var err error
	var ids []kv.NodeID
	if r.Config.Factor > 1 { // else a range can be led by one node only
		for _, m := range r.present() {
			ids = append(ids, m.ID)
		}
	}
	done := false
	m := r.Machines[0]
	m.RT.Go("setup", func() {
		defer func() { done = true }()
		c := r.newClient(m, "setup")
		for _, l := range r.loads {
			if err = c.cut(m.Node.Router, l, ids); err != nil {
				return
			}
		}
	})
	if e := r.runUntil(setupLimit, "setup", func() bool { return done }); e != nil {
		return fmt.Errorf("%w\n%s", e, r.ranges())
	}
	if err != nil {
		return err
	}
	return r.runUntil(setupLimit, "every range has its replicas after the splits", r.replicated)
}

// live heals what is left and requires that every workload can be read through every node in time. Clients go on
// meanwhile: it is them who must be served.
func (r *run) live(end time.Duration) error {
	limit := func() time.Duration { return max(0, end+r.Config.LiveWithin-r.Loop.Now()) }
	if err := r.runUntil(limit(), "all nodes serve", func() bool { return r.serving() == len(r.Machines) }); err != nil {
		return err
	}
	var failed error
	left := 0
	for _, m := range r.Machines {
		for i, l := range r.loads {
			left++
			m.RT.Go("live", func() {
				c := r.newClient(m, "live")
				r.clients = append(r.clients, c)
				if err := c.insist(r.Config.LiveWithin, "read of "+r.Config.Workloads[i], func() error { return l.Final(c) }); err != nil && failed == nil {
					failed = err
				}
				left--
			})
		}
	}
	err := r.runUntil(limit(), "every workload can be read through every node", func() bool { return left == 0 || failed != nil })
	r.healed = r.Loop.Now() - end
	if failed != nil {
		return failed
	}
	return err
}

// settle ends the clients, reads everything for the last time, and compares the replicas.
func (r *run) settle() error {
	r.quiet = true
	r.avail.stop()
	busy := func() bool {
		for _, c := range r.clients {
			if c.busy() != "" {
				return true
			}
		}
		return false
	}
	if err := r.runUntil(settleLimit, "clients come to an end", func() bool { return !busy() }); err != nil {
		return err
	}
	m := r.Machines[int(r.Config.Seed%uint64(len(r.Machines)))]
	done, failed := false, error(nil)
	m.RT.Go("final", func() {
		c := r.newClient(m, "final")
		for i, l := range r.loads {
			if err := c.insist(settleLimit, "final read of "+r.Config.Workloads[i], func() error { return l.Final(c) }); err != nil {
				failed = err
			}
		}
		done = true
	})
	if err := r.runUntil(2*settleLimit, "the final reads", func() bool { return done }); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return r.compareReplicas()
}

// startClients gives a machine that has come up its clients.
func (r *run) startClients(m *Machine) {
	for i, l := range r.loads {
		for n := range r.Config.Clients {
			c := r.newClient(m, fmt.Sprintf("%s%d", r.Config.Workloads[i], n))
			c.Number = n
			r.clients = append(r.clients, c)
			m.RT.Go("client", func() {
				for !r.quiet {
					m.RT.Sleep(time.Duration(c.Rand.Int64N(int64(r.Config.Think))))
					if r.idle() {
						m.RT.Sleep(r.idleTo - r.Loop.Now())
					} else if !r.quiet {
						l.Step(c)
					}
				}
			})
		}
	}
}

// pending says what is not done, for a run that does not come to its end.
func (r *run) pending() string {
	var b strings.Builder
	for _, m := range r.Machines {
		state := "down"
		if m.Up() {
			state = fmt.Sprintf("serving=%v paused=%v clock %s", m.Serving(), m.RT.Paused(), reading(m.Clock, r.Truth()))
		}
		fmt.Fprintf(&b, "  %s n%d %s\n", m.Name, m.ID, state)
	}
	for _, c := range r.clients {
		if doing := c.busy(); doing != "" {
			fmt.Fprintf(&b, "  %s is at: %s\n", c.Name, doing)
		}
	}
	return b.String() + r.ranges()
}
