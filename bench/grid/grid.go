// Package grid measures the social workload at many points (clocks, ordering, clients, read length, contention), on clusters
// that the caller starts, in an order that makes the points comparable, and keeps what it has on disk.
//
//	G1  The result of a point is on disk, whole, before the next point begins. A run that is started again skips it.
//	G2  The points of a group run on clusters that are up together, in the order of the plan, so that what else the machine
//	    does hits neighbours alike. Each point has freshly made tables.
//	G3  A directory belongs to one plan: results of another are refused, not mixed in.
package grid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/social"
)

// Cluster says what cluster a point needs.
type Cluster struct {
	Name     string
	Ordering string        // of sessions that do not choose
	Clocks   []string      // source of each node
	Latency  time.Duration // added to each message between nodes
	Width    time.Duration // the widest reading that its clocks give, so that nodes do not fence themselves
}

// Running is a cluster that has been started.
type Running struct {
	Target func(ctx context.Context, ordering string) (*harness.Target, error)
	Stop   func() error
}

// Starter starts a cluster with its stores below a directory that is removed afterwards.
type Starter func(ctx context.Context, c Cluster, dir string) (*Running, error)

// Point is one measurement.
type Point struct {
	Cluster      string        `json:"cluster"`
	Ordering     string        `json:"ordering,omitempty"` // of the sessions; empty: the cluster's
	Round        int           `json:"round"`
	Workers      int           `json:"workers"`
	ReadFraction float64       `json:"read_fraction"`
	Posts        int           `json:"posts"`
	Likes        int           `json:"likes"`
	Hot          float64       `json:"hot"`
	Eps          time.Duration `json:"eps_ns,omitempty"` // half the width of the readings, where that is what is varied
	WarmUp       time.Duration `json:"warm_up_ns"`
	Duration     time.Duration `json:"duration_ns"`
}

// key names a point's file.
func (p Point) key() string {
	return fmt.Sprintf("%s-%s-k%d-r%s-l%d-h%s-%d", p.Cluster, p.Ordering, p.Workers, strconv.FormatFloat(p.ReadFraction, 'g', -1, 64),
		p.Likes, strconv.FormatFloat(p.Hot, 'g', -1, 64), p.Round)
}

// Group is points that share clusters.
type Group struct {
	Clusters []Cluster
	Points   []Point
	Optional bool // begun only if it will end within the plan's budget, judged by the group before it
}

// Plan is all that is to be measured.
type Plan struct {
	Name   string
	Groups []Group
	Budget time.Duration // 0: no limit
}

// Result is a measured point.
type Result struct {
	Point Point      `json:"point"`
	Row   social.Row `json:"result"`
	Load  string     `json:"machine_load"` // of the machine, as it says, when the point ended
	At    time.Time  `json:"at"`
}

// Options of a run.
type Options struct {
	Dir   string // of the results; made if it is missing
	Start Starter
	Say   harness.Say
	Live  *harness.Live // may be nil
}

// Run measures what the plan has and the directory lacks, and returns all results in the order of the plan. If it fails, or
// is interrupted, it returns those that it has.
func Run(ctx context.Context, p Plan, o Options) ([]Result, error) {
	dir := filepath.Join(o.Dir, "points")
	if err := claim(dir, p); err != nil {
		return nil, err
	}
	begun, last, total, done := time.Now(), time.Duration(0), 0, 0
	for _, g := range p.Groups {
		total += len(g.Points)
	}
	var out []Result
	for _, g := range p.Groups {
		var todo []Point
		for _, pt := range g.Points {
			if r, ok := load(dir, pt); ok {
				out, done = append(out, r), done+1
			} else {
				todo = append(todo, pt)
			}
		}
		if len(todo) == 0 {
			continue
		}
		if g.Optional && p.Budget > 0 && time.Since(begun)+last > p.Budget {
			o.Say("%d more points would take longer than %s altogether; left out", len(todo), p.Budget)
			break
		}
		from := time.Now()
		err := group(ctx, g, todo, o, func(r Result) error {
			out, done = append(out, r), done+1
			o.Say("%d of %d points: %s, %d workers, %g%% reads, %d likes: %.0f ops/s, read p50 %.1f ms, %d restarts", done, total, r.Row.Regime,
				r.Point.Workers, r.Point.ReadFraction*100, r.Point.Likes, r.Row.OpsPerSec, r.Row.ReadP50, r.Row.UncertaintyRestarts)
			return save(dir, r)
		})
		if err != nil {
			return out, err
		}
		last = time.Since(from)
	}
	return out, nil
}

// group starts the clusters that the points need, measures, and stops them.
func group(ctx context.Context, g Group, todo []Point, o Options, each func(Result) error) (err error) {
	stores, err := os.MkdirTemp("", "longitude-bench-")
	if err != nil {
		return err
	}
	running := map[string]*Running{}
	defer func() {
		for _, r := range running {
			err = errors.Join(err, r.Stop())
		}
		err = errors.Join(err, os.RemoveAll(stores))
	}()
	for _, c := range g.Clusters {
		needed := false
		for _, pt := range todo {
			needed = needed || pt.Cluster == c.Name
		}
		if !needed {
			continue
		}
		if running[c.Name], err = o.Start(ctx, c, filepath.Join(stores, c.Name)); err != nil {
			delete(running, c.Name)
			return fmt.Errorf("starting the cluster %s: %w", c.Name, err)
		}
	}
	for _, pt := range todo {
		r, err := measure(ctx, running[pt.Cluster], pt, o)
		if err != nil {
			return fmt.Errorf("%s: %w", pt.key(), err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// measure makes the tables and measures one point.
func measure(ctx context.Context, c *Running, pt Point, o Options) (r Result, err error) {
	so := social.Options{ReadFraction: pt.ReadFraction, Posts: pt.Posts, Likes: pt.Likes, Hot: pt.Hot}
	w, err := social.New(so)
	if err != nil {
		return r, err
	}
	// Rows are loaded without waiting for clocks: with readings half a second wide the loading would take minutes.
	loader, err := c.Target(ctx, "uncertainty")
	if err != nil {
		return r, err
	}
	defer loader.Close()
	loader.Drop = true
	if err := w.Setup(ctx, loader, func(string, ...any) {}); err != nil {
		return r, err
	}
	t, err := c.Target(ctx, pt.Ordering)
	if err != nil {
		return r, err
	}
	defer t.Close()
	name := strings.TrimSuffix(pt.Cluster+" "+pt.Ordering, " ")
	var live func(harness.Second)
	if o.Live != nil {
		o.Live.Begin(fmt.Sprintf("%s, %d workers, %g%% reads", name, pt.Workers, pt.ReadFraction*100), w.Classes())
		live = o.Live.Second
	}
	res, err := harness.Run(ctx, t, w, harness.Load{Workers: pt.Workers, WarmUp: pt.WarmUp, Duration: pt.Duration, Seed: uint64(pt.Round) + 1}, live)
	if err != nil {
		return r, err
	}
	if res.Missing != nil {
		return r, res.Missing
	}
	if err := harness.Verify(ctx, t, w, res); err != nil {
		return r, err
	}
	if f := res.Fault(); f != "" {
		return r, errors.New(f)
	}
	return Result{pt, *social.RowOf(name, so, res), machineLoad(), time.Now().UTC()}, nil
}

// machineLoad is the load average as Linux gives it, empty elsewhere.
func machineLoad() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	f := strings.Fields(string(b))
	return strings.Join(f[:min(3, len(f))], " ") + " on " + strconv.Itoa(runtime.NumCPU()) + " processors"
}

// claim makes the directory the plan's, or finds that it is (G3).
func claim(dir string, p Plan) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	want, err := json.MarshalIndent(p.Groups, "", " ")
	if err != nil {
		return err
	}
	want = append([]byte(p.Name+"\n"), want...)
	file := filepath.Join(dir, "plan.json")
	have, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return writeWhole(file, want)
	case err != nil:
		return err
	case string(have) != string(want):
		return fmt.Errorf("%s holds results of another plan, begun with other options; they would not be comparable\nhint: name another directory with --out, or remove this one", dir)
	}
	return nil
}

func load(dir string, pt Point) (r Result, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, pt.key()+".json"))
	return r, err == nil && json.Unmarshal(b, &r) == nil
}

func save(dir string, r Result) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, r.Point.key()+".json"), b)
}

// writeWhole writes a file that is there whole or not at all, whenever the process ends.
func writeWhole(name string, b []byte) error {
	if err := os.WriteFile(name+".tmp", b, 0o644); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}
