package grid

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/longitude-db/longitude/bench/harness"
)

// Running is a cluster that has been started.
type Running struct {
	Target func(ctx context.Context, ordering string) (*harness.Target, error)
	Stop   func() error
}

// Starter starts a cluster with its stores below a directory that is removed afterwards.
type Starter func(ctx context.Context, c Cluster, dir string) (*Running, error)

// Options of a run.
type Options struct {
	Dir   string // of the results; made if it is missing
	Start Starter
	Say   harness.Say
	Live  *harness.Live // may be nil
}

// Run measures what the plan has and the directory lacks, and returns all results in the order of the plan. If it fails, or
// is interrupted, it returns those that it has.
func Run(ctx context.Context, p Plan, o Options) (out []Result, err error) {
	dir := filepath.Join(o.Dir, "points")
	if err := claim(dir, p); err != nil {
		return nil, err
	}
	f := &fleet{start: o.Start, up: map[string]*running{}}
	if f.stores, err = os.MkdirTemp("", "longitude-bench-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.keep(nil), os.RemoveAll(f.stores)) }()

	begun := time.Now()
	todo := map[int]bool{}
	for i, b := range p.Blocks {
		if _, ok := load(dir, b.key(i), b); !ok {
			todo[i] = true
		}
	}
	if n := len(p.Blocks) - len(todo); n > 0 {
		o.Say("%d of %d blocks are measured already", n, len(p.Blocks))
	}
	before := len(todo)
	for i, b := range p.Blocks {
		rs, ok := load(dir, b.key(i), b)
		if ok {
			out = append(out, rs...)
			continue
		}
		if p.Alone {
			err = f.keep(nil)
		} else {
			err = f.keep(b.Clusters)
		}
		if err == nil {
			err = f.ensure(ctx, b.Clusters)
		}
		if err != nil {
			return out, err
		}
		o.Say("block %d of %d%s: %s, %d workers, %g%% reads, %d likes", i+1, len(p.Blocks), left(time.Since(begun), before-len(todo), len(todo)), b.names(), b.Points[0].Workers, b.Points[0].ReadFraction*100, b.Points[0].Likes)
		var limit time.Duration
		if p.Budget > 0 {
			limit = max(time.Nanosecond, (p.Budget-time.Since(begun))/time.Duration(len(todo)))
		}
		if rs, err = measure(ctx, f, b, o, limit); err != nil {
			return out, fmt.Errorf("%s: %w", b.key(i), err)
		}
		delete(todo, i)
		if err := save(dir, b.key(i), rs); err != nil {
			return out, err
		}
		out = append(out, rs...)
		for _, r := range rs {
			o.Say("  %s: %d slices, %.0f ops/s, %.0f µs CPU/op, read p50 %.1f ms, %d restarts", r.Row.Regime, len(r.Slices), r.Row.OpsPerSec, r.Row.ServerCPU, r.Row.ReadP50, r.Row.UncertaintyRestarts)
		}
	}
	return out, nil
}

// left says what time blocks are likely to take that are still to be measured: as long as those before them; "" while nobody knows.
func left(taken time.Duration, done, todo int) string {
	if done == 0 {
		return ""
	}
	return fmt.Sprintf(" (about %s left)", (taken / time.Duration(done) * time.Duration(todo)).Round(time.Second))
}

// fleet is the clusters that are up.
type fleet struct {
	start  Starter
	stores string
	up     map[string]*running
	serial int
}

type running struct {
	*Running
	spec string
	cpu  *harness.Target // says its processor time, also while others are measured
}

// keep stops all clusters but those.
func (f *fleet) keep(wanted []Cluster) (err error) {
	for name, r := range f.up {
		stays := false
		for _, c := range wanted {
			stays = stays || r.spec == fmt.Sprint(c)
		}
		if !stays {
			if r.cpu != nil {
				r.cpu.Close()
			}
			err = errors.Join(err, r.Stop())
			delete(f.up, name)
		}
	}
	return err
}

// ensure starts those that are not up, all at once.
func (f *fleet) ensure(ctx context.Context, wanted []Cluster) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	missing := slices.DeleteFunc(slices.Clone(wanted), func(c Cluster) bool { return f.up[c.Name] != nil })
	for _, c := range missing {
		f.serial++
		dir := filepath.Join(f.stores, fmt.Sprintf("%d-%s", f.serial, c.Name))
		wg.Go(func() {
			r, err := f.start(ctx, c, dir)
			var t *harness.Target
			if err == nil {
				t, err = r.Target(ctx, "")
			}
			mu.Lock()
			defer mu.Unlock()
			if r != nil {
				f.up[c.Name] = &running{Running: r, spec: fmt.Sprint(c), cpu: t}
			}
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("starting the cluster %s: %w", c.Name, err))
			}
		})
	}
	wg.Wait()
	if failed == nil && len(missing) > 0 {
		f.settle(ctx, missing)
	}
	return failed
}

// settle lets new clusters come to rest and finds out what they use while nobody asks them anything.
func (f *fleet) settle(ctx context.Context, fresh []Cluster) {
	const rest, length = 500 * time.Millisecond, time.Second
	var ts []*harness.Target
	for _, c := range fresh {
		if t := f.up[c.Name].cpu; t.CPU != nil {
			ts = append(ts, t)
		}
	}
	if len(ts) > 0 {
		harness.MeasureIdle(ctx, rest) // of nobody: a pause
		harness.MeasureIdle(ctx, length, ts...)
	}
}

// idle is the processor time that all clusters but one have used so far; zero where it is not known.
func (f *fleet) idle(but string) (sum time.Duration) {
	for name, r := range f.up {
		if name != but && r.cpu != nil && r.cpu.CPU != nil {
			if d, err := r.cpu.CPU(); err == nil {
				sum += d
			}
		}
	}
	return sum
}
