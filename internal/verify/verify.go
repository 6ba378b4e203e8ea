package verify

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	mrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/check/jepsen"
)

// Options say what is tried, and how.
type Options struct {
	Nodes     []*mysql.Config // at least one; the database that they name is not used
	Workers   int             // clients, spread over the nodes. Default 20
	Workloads []string        // default: all (Workloads)
	Ordering  string          // wait or uncertainty, for all sessions; empty: as the nodes have it
	Split     bool            // cut the tables into ranges led by different nodes
	Keep      bool            // leave the database
	Seed      uint64          // of the workers' choices
	// Timeout is after how long a client gives up waiting for a transaction; its outcome is unknown then, if it had asked to
	// commit. Default 10s.
	Timeout time.Duration
	// FinalTimeout is how long after the load the cluster may take to answer the last reads through every node. Default 60s.
	FinalTimeout time.Duration
	// MaxOps is how many operations a run may hold in memory, about 1 kB each; then it ends. Default 2,000,000.
	MaxOps   int
	Progress func(format string, args ...any)
}

// Workloads are the names of all workloads.
var Workloads = []string{"list-append", "rw-register", "register", "bank", "order"}

func (o *Options) complete() error {
	var faults []string
	if len(o.Nodes) == 0 {
		faults = append(faults, "no node is named")
	}
	if o.Workers == 0 {
		o.Workers = 20
	}
	if o.Workers < 1 || o.Workers > 1000 {
		faults = append(faults, fmt.Sprintf("workers is %d, wanted: 1 to 1000", o.Workers))
	}
	if len(o.Workloads) == 0 {
		o.Workloads = Workloads
	}
	for _, w := range o.Workloads {
		if !slices.Contains(Workloads, w) {
			faults = append(faults, fmt.Sprintf("there is no workload %q; there are %s", w, strings.Join(Workloads, ", ")))
		}
	}
	if o.Ordering != "" && o.Ordering != "wait" && o.Ordering != "uncertainty" {
		faults = append(faults, fmt.Sprintf("ordering is %q, wanted: wait or uncertainty", o.Ordering))
	}
	for _, d := range []struct {
		v    *time.Duration
		name string
		def  time.Duration
	}{{&o.Timeout, "timeout", 10 * time.Second}, {&o.FinalTimeout, "final timeout", time.Minute}} {
		if *d.v == 0 {
			*d.v = d.def
		}
		if *d.v < 0 {
			faults = append(faults, fmt.Sprintf("%s is %s, wanted: more than 0", d.name, *d.v))
		}
	}
	if o.MaxOps == 0 {
		o.MaxOps = 2_000_000
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "\n"))
	}
	return nil
}

// Check reports all that is wrong with the options.
func (o *Options) Check() error { return o.complete() }

// workload is what clients do and how it is judged.
type workload interface {
	name() string
	// schema is the statements that make and fill its tables.
	schema() []string
	// splits are the tables to cut, and where.
	splits() []split
	// step does one operation and says what became of it.
	step(w *worker) check.Outcome
	// final reads everything once more.
	final(w *worker) error
	// judge returns the anomalies, and how many parts could not be judged in time.
	judge(m check.Model) (as []check.Anomaly, undecided int)
	// history adds what can be written in Jepsen's form.
	history(h *jepsen.History)
	counts() *tally
}

type split struct {
	table string
	at    []int64
}

// Run is one try of a cluster.
type Run struct {
	o        Options
	Database string
	Model    check.Model // by which it is judged
	nodes    []*sql.DB
	loads    []workload
	stop     chan struct{}
	once     sync.Once
	workers  sync.WaitGroup
	begun    time.Time

	clock clock // its mutex guards what follows, and all histories
	acked int64
	last  time.Time     // the latest acknowledgement
	stall time.Duration // the longest time without one
}

// Start makes the database and lets the workers work. Finish has to be called if it succeeds.
func Start(ctx context.Context, o Options) (*Run, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	r := &Run{o: o, Database: "longitude_verify_" + hex.EncodeToString(id[:]), stop: make(chan struct{})}
	for _, name := range o.Workloads {
		r.loads = append(r.loads, newWorkload(r, name))
	}
	if err := r.prepare(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.begun = time.Now()
	r.clock.start, r.last = r.begun, r.begun
	for i := range o.Workers {
		w := &worker{r: r, name: fmt.Sprint("c", i), at: i, rng: mrand.New(mrand.NewPCG(o.Seed, uint64(i)))}
		r.workers.Go(w.work)
	}
	return r, nil
}

func newWorkload(r *Run, name string) workload {
	switch name {
	case "list-append":
		return newLists(r)
	case "rw-register":
		return newRegisters(r)
	case "register":
		return &single{r: r}
	case "bank":
		return &bank{r: r}
	case "order":
		return &order{r: r}
	}
	panic("verify: no workload " + name)
}

// Acked is how many operations have been acknowledged, and how long ago the latest.
func (r *Run) Acked() (n int64, ago time.Duration) {
	r.clock.mu.Lock()
	defer r.clock.mu.Unlock()
	return r.acked, time.Since(r.last)
}

// full reports whether the history has become as long as it may.
func (r *Run) full() bool {
	r.clock.mu.Lock()
	defer r.clock.mu.Unlock()
	return len(r.clock.times) >= 2*r.o.MaxOps
}

// Wait lets the run go on for a time, telling how far it is, until it is full or the context ends.
func (r *Run) Wait(ctx context.Context, d time.Duration) {
	const step = 5 * time.Second
	for end := r.begun.Add(d); time.Now().Before(end) && ctx.Err() == nil && !r.full(); {
		select {
		case <-ctx.Done():
		case <-time.After(min(step, time.Until(end))):
		}
		n, ago := r.Acked()
		if ago < time.Second {
			r.o.Progress("%d operations acknowledged", n)
		} else {
			r.o.Progress("%d operations acknowledged, the last %s ago", n, ago.Round(100*time.Millisecond))
		}
	}
	if r.full() {
		r.o.Progress("the run ends: its history holds %d operations, which is as many as it may", r.o.MaxOps)
	}
}

// Load is what one workload came to.
type Load struct {
	Name                string
	OK, Failed, Unknown int
	Errors              []string // what was said, with how often
	Anomalies           []check.Anomaly
	Undecided           int // parts that could not be judged in time
}

// Result is what became of a run.
type Result struct {
	Model   check.Model
	Loads   []Load
	Elapsed time.Duration // of the load
	Stall   time.Duration // the longest time in which nothing was acknowledged
	Final   time.Duration // how long it took to read everything again through every node
	History *jepsen.History
	Times   func(rank int64) int64 // nanoseconds of the history's ranks
}

// Clean reports whether nothing is wrong and everything could be judged.
func (r *Result) Clean() bool {
	return !slices.ContainsFunc(r.Loads, func(l Load) bool { return len(l.Anomalies) > 0 || l.Undecided > 0 })
}

// Finish ends the load, reads everything once more through every node, judges the histories and drops the database. If the
// last reads do not succeed in time, that is the error; the result is complete all the same.
func (r *Run) Finish() (*Result, error) {
	r.once.Do(func() { close(r.stop) })
	r.workers.Wait()
	res := &Result{Model: r.Model, Elapsed: time.Since(r.begun), Times: r.clock.time, History: &jepsen.History{}}
	r.clock.mu.Lock()
	res.Stall = max(r.stall, time.Since(r.last))
	r.clock.mu.Unlock()
	r.o.Progress("reading everything once more through each node")
	start := time.Now()
	err := r.finals()
	res.Final = time.Since(start)
	r.o.Progress("judging by %s", r.Model)
	for _, l := range r.loads {
		out := Load{Name: l.name()}
		t := l.counts()
		out.OK, out.Failed, out.Unknown = t.n[check.OK], t.n[check.Failed], t.n[check.Unknown]
		for _, e := range slices.Sorted(maps.Keys(t.errors)) {
			out.Errors = append(out.Errors, fmt.Sprintf("%d x %s", t.errors[e], e))
		}
		out.Anomalies, out.Undecided = l.judge(r.Model)
		if r.Model != check.StrictSerializable {
			out.Anomalies = check.Except(out.Anomalies, check.CausalReverse)
		}
		l.history(res.History)
		res.Loads = append(res.Loads, out)
	}
	return res, errors.Join(err, r.close())
}

// finals reads everything of all workloads through each node.
func (r *Run) finals() error {
	end := time.Now().Add(r.o.FinalTimeout)
	for i := range r.nodes {
		for _, l := range r.loads {
			w := &worker{r: r, name: fmt.Sprintf("final%d", i), rng: mrand.New(mrand.NewPCG(r.o.Seed, uint64(1000+i)))}
			for {
				w.at = i // this node, and no other
				err := l.final(w)
				w.drop()
				if err == nil {
					break
				}
				if time.Now().After(end) {
					return fmt.Errorf("%s cannot be read through %s after %s: %w", l.name(), r.o.Nodes[i].Addr, r.o.FinalTimeout, err)
				}
				time.Sleep(50 * time.Millisecond)
			}
		}
	}
	return nil
}
