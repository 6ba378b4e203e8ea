package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/proc"
	"github.com/longitude-db/longitude/internal/client"
)

// benchRun is one call of bench under way.
type benchRun struct {
	c    *cobra.Command
	o    *benchOptions
	live *liveView
	say  harness.Say
	a, b *harness.Target   // b: --vs, or nil
	all  []*harness.Result // of every slice
}

// knowCPU lets a target tell the processor time of its server, if its processes can be found.
func (r *benchRun) knowCPU(t *harness.Target, urls []string, pids []int) {
	set := proc.Set(pids)
	if len(set) == 0 {
		var addrs []string
		for _, u := range urls {
			cfg, err := client.Parse(u)
			if err != nil {
				return // Open has said so
			}
			addrs = append(addrs, cfg.Addr)
		}
		var err error
		if set, err = proc.Listeners(addrs); err != nil {
			r.say("%s: its processor time will not be known: %v", t.Name, err)
			return
		}
	}
	if _, err := set.CPU(); err != nil {
		r.say("%s: its processor time will not be known: %v", t.Name, err)
		return
	}
	t.CPU = set.CPU
}

// workload sets up, measures, verifies and prints one workload; each side gets a workload of its own.
func (r *benchRun) workload(ctx context.Context, fresh func() harness.Workload) error {
	a := &harness.Side{Target: r.a, Workload: fresh()}
	sides := []*harness.Side{a}
	if r.b != nil {
		sides = append(sides, &harness.Side{Target: r.b, Workload: fresh()})
	}
	for _, s := range sides {
		if err := s.Workload.Setup(ctx, s.Target, r.say); err != nil {
			return fmt.Errorf("%s on %s: %w", s.Workload.Name(), s.Target.Name, err)
		}
	}
	r.idle(ctx, sides)
	r.live.Begin(a.Workload.Name(), a.Workload.Classes())
	if r.b == nil {
		return r.alone(ctx, a)
	}
	l := r.o.load
	l.Duration /= time.Duration(r.o.slices)
	err := harness.Turns(ctx, sides, l, r.o.slices, r.say, r.live.Second)
	if err != nil {
		return err
	}
	for _, s := range sides {
		r.all = append(r.all, s.Results...)
	}
	ca, cb := harness.Combine(a.Results), harness.Combine(sides[1].Results)
	w := r.c.OutOrStdout()
	fmt.Fprintf(w, "\n%d slices of %s each, in turns; medians\n", r.o.slices, l.Duration)
	return errors.Join(harness.WriteTable(w, []*harness.Result{ca, cb}), harness.WriteVersus(w, a.Results, sides[1].Results))
}

// idle finds out what the servers use while nobody asks them anything.
func (r *benchRun) idle(ctx context.Context, sides []*harness.Side) {
	const settle, length = 500 * time.Millisecond, 1500 * time.Millisecond
	var ts []*harness.Target
	for _, s := range sides {
		if s.Target.CPU != nil {
			ts = append(ts, s.Target)
		}
	}
	if len(ts) == 0 {
		return
	}
	pause(ctx, settle)
	harness.MeasureIdle(ctx, length, ts...)
	for _, t := range ts {
		r.say("%s uses %.1f ms of processor time a second when idle; what operations are said to cost is without it", t.Name, t.Idle*1000)
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (r *benchRun) alone(ctx context.Context, s *harness.Side) error {
	r.say("%s: %d workers on %d nodes for %s", s.Workload.Name(), r.o.load.Workers, len(s.Target.Nodes), r.o.load.Duration)
	res, err := harness.Run(ctx, s.Target, s.Workload, r.o.load, r.live.Second)
	if err != nil {
		return err
	}
	r.say("verifying the data")
	if err := harness.Verify(ctx, s.Target, s.Workload, res); err != nil {
		return err
	}
	r.all = append(r.all, res)
	return harness.WriteTable(r.c.OutOrStdout(), []*harness.Result{res})
}

func (r *benchRun) write(o outputs) error {
	return errors.Join(o.write("json", func(w io.Writer) error { return harness.WriteJSON(w, r.all) }),
		o.write("csv", func(w io.Writer) error { return harness.WriteCSV(w, r.all) }))
}
