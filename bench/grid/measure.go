package grid

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/social"
)

// under is a point under measurement.
type under struct {
	point    Point
	name     string
	workload *social.Workload // that of its cluster's tables
	target   *harness.Target
	slices   []Slice
	results  []*harness.Result
}

func (p Point) social() social.Options {
	return social.Options{ReadFraction: p.ReadFraction, Posts: p.Posts, Likes: p.Likes, Hot: p.Hot}
}

// measure makes the tables of a block (G4) and measures its points in turns (G2). limit is how long it should take at most; 0: as
// long as it takes.
func measure(ctx context.Context, f *fleet, b Block, o Options, limit time.Duration) (out []Result, err error) {
	begun := time.Now()
	tables := map[string]*social.Workload{}
	var points []*under
	defer func() {
		for _, u := range points {
			u.target.Close()
		}
	}()
	for _, pt := range b.Points {
		c := f.up[pt.Cluster]
		if tables[pt.Cluster] == nil {
			if tables[pt.Cluster], err = prepare(ctx, c, pt.social()); err != nil {
				return nil, err
			}
		}
		t, err := c.Target(ctx, pt.Ordering)
		if err != nil {
			return nil, err
		}
		points = append(points, &under{point: pt, name: strings.TrimSuffix(pt.Cluster+" "+pt.Ordering, " "), workload: tables[pt.Cluster], target: t})
	}
	for _, u := range points {
		if b.Timing.WarmUp > 0 {
			if _, err := u.run(ctx, o, b.Timing.WarmUp, 0, 0); err != nil {
				return nil, err
			}
		}
	}
	var pair time.Duration // what two rounds take
	for round := 0; round < b.Timing.Slices; round++ {
		if round%2 == 0 {
			if limit > 0 && round > 0 && time.Since(begun)+pair > limit {
				break
			}
			pair = -time.Since(begun)
		}
		for _, u := range turns(points, round) {
			if err := u.slice(ctx, f, o, b.Timing, round); err != nil {
				return nil, err
			}
		}
		if round%2 == 1 {
			pair += time.Since(begun)
		}
	}
	for _, u := range points {
		r, err := u.result(ctx)
		if err != nil {
			return nil, err
		}
		r.Paired = len(points) > 1
		out = append(out, r)
	}
	return out, nil
}

// turns is the order of a round (G2).
func turns(points []*under, round int) (out []*under) {
	for i := range points {
		at := i
		if round%2 == 1 {
			at = len(points) - 1 - i
		}
		out = append(out, points[(at+round/2)%len(points)])
	}
	return out
}

// prepare makes and fills the tables.
func prepare(ctx context.Context, c *running, o social.Options) (*social.Workload, error) {
	w, err := social.New(o)
	if err != nil {
		return nil, err
	}
	// Rows are loaded without waiting for clocks: with readings half a second wide the loading would take minutes.
	loader, err := c.Target(ctx, "uncertainty")
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	loader.Drop = true
	return w, w.Setup(ctx, loader, func(string, ...any) {})
}

func (u *under) run(ctx context.Context, o Options, duration, ramp time.Duration, round int) (*harness.Result, error) {
	var live func(harness.Second)
	if o.Live != nil {
		o.Live.Begin(fmt.Sprintf("%s, %d workers, %g%% reads, round %d", u.name, u.point.Workers, u.point.ReadFraction*100, round+1), u.workload.Classes())
		live = o.Live.Second
	}
	res, err := harness.Run(ctx, u.target, u.workload, harness.Load{Workers: u.point.Workers, WarmUp: ramp, Duration: duration, Seed: uint64(round) + 1}, live)
	if err == nil {
		err = res.Missing
	}
	return res, err
}

// slice measures one slice.
func (u *under) slice(ctx context.Context, f *fleet, o Options, t Timing, round int) error {
	from, idle := time.Now(), f.idle(u.point.Cluster)
	res, err := u.run(ctx, o, t.Slice, t.Ramp, round)
	if err != nil {
		return err
	}
	s := Slice{Round: round, Seconds: res.Seconds, OpsPerSec: res.OpsPerSec, Restarts: res.Counted.Restarts(),
		Idle: (f.idle(u.point.Cluster) - idle).Seconds() / time.Since(from).Seconds() / float64(runtime.NumCPU())}
	for _, c := range res.Classes {
		s.Ops += c.Ops
	}
	if c := res.CPU; c != nil {
		s.ServerCPU, s.ClientCPU, s.Busy, s.Others = c.ServerPerOp, c.ClientPerOp, c.MachineBusy, c.OthersBusy
	}
	if s.ReadHistogram, err = harness.Encode(res.Class("read").Histogram()); err == nil {
		s.LikeHistogram, err = harness.Encode(res.Class("like").Histogram())
	}
	if err != nil {
		return err
	}
	u.slices, u.results = append(u.slices, s), append(u.results, res)
	return nil
}

// result verifies the point's data and puts its slices together.
func (u *under) result(ctx context.Context) (Result, error) {
	if err := harness.Verify(ctx, u.target, u.workload, u.results...); err != nil {
		return Result{}, err
	}
	pooled := harness.Pool(u.results)
	if f := pooled.Fault(); f != "" {
		return Result{}, errors.New(f)
	}
	return Result{Point: u.point, Row: *social.RowOf(u.name, u.point.social(), pooled), Slices: u.slices, Load: machineLoad(), At: time.Now().UTC()}, nil
}
