package harness

import (
	"context"
	"fmt"
	"slices"

	"github.com/longitude-db/longitude/internal/client"
)

// Side is one of several servers, or settings of one, that are compared, with a workload of its own that has been set up on
// it.
type Side struct {
	Target   *Target
	Workload Workload
	Results  []*Result // one for each slice
	// Counted is by how much what the nodes count has grown during the slices, warm-ups included; nil where that is not known.
	Counted client.Metrics
}

// run runs one slice.
func (s *Side) run(ctx context.Context, l Load, live func(Second)) error {
	var before, after client.Metrics
	var err error
	if s.Target.Metrics != nil {
		if before, err = s.Target.Metrics(ctx); err != nil {
			return err
		}
	}
	r, err := Run(ctx, s.Target, s.Workload, l, live)
	if err != nil {
		return err
	}
	s.Results = append(s.Results, r)
	if s.Target.Metrics == nil {
		return nil
	}
	if after, err = s.Target.Metrics(ctx); err != nil {
		return err
	}
	if s.Counted == nil {
		s.Counted = client.Metrics{}
	}
	for k, v := range after {
		if d := v - before[k]; d != 0 {
			s.Counted[k] += d
		}
	}
	return nil
}

// Turns runs sides a slice each, in turns, so that whatever else the machine does hits all alike: A B, B A, A B, ... It
// verifies all at the end.
func Turns(ctx context.Context, sides []*Side, l Load, slicesEach int, say Say, live func(Second)) error {
	for i := range slicesEach {
		order := slices.Clone(sides)
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for _, s := range order {
			say("%s: slice %d of %d on %s", s.Workload.Name(), i+1, slicesEach, s.Target.Name)
			l.Seed++ // the sides see the same choices only in distribution, as their clients run at different speeds anyway
			if err := s.run(ctx, l, live); err != nil {
				return fmt.Errorf("%s on %s: %w", s.Workload.Name(), s.Target.Name, err)
			}
		}
	}
	for _, s := range sides {
		if err := Verify(ctx, s.Target, s.Workload, s.Results...); err != nil {
			return err
		}
	}
	return nil
}

// Combine sums up the slices of one side: medians of what is a rate or a latency, sums of what is counted.
func Combine(rs []*Result) *Result {
	if len(rs) == 1 {
		return rs[0]
	}
	out := *rs[0]
	out.Series = nil
	sumUp(&out, rs)
	out.setUsage(out.Used)
	out.OpsPerSec = medianOf(rs, func(r *Result) float64 { return r.OpsPerSec })
	out.Classes = nil
	for i, c := range rs[0].Classes {
		of := func(f func(ClassResult) float64) float64 {
			return medianOf(rs, func(r *Result) float64 { return f(r.Classes[i]) })
		}
		sum := ClassResult{Name: c.Name,
			OpsPerSec: of(func(c ClassResult) float64 { return c.OpsPerSec }), Mean: of(func(c ClassResult) float64 { return c.Mean }),
			P50: of(func(c ClassResult) float64 { return c.P50 }), P95: of(func(c ClassResult) float64 { return c.P95 }),
			P99: of(func(c ClassResult) float64 { return c.P99 }), P999: of(func(c ClassResult) float64 { return c.P999 }),
			ServerCPU: of(func(c ClassResult) float64 { return c.ServerCPU })}
		for _, r := range rs {
			sum.Ops, sum.Max = sum.Ops+r.Classes[i].Ops, max(sum.Max, r.Classes[i].Max)
		}
		out.Classes = append(out.Classes, sum)
	}
	return &out
}

func medianOf(rs []*Result, f func(*Result) float64) float64 {
	var vs []float64
	for _, r := range rs {
		vs = append(vs, f(r))
	}
	return Median(vs)
}

// Median of values; of an even number of them the mean of the two in the middle, of none 0.
func Median(vs []float64) float64 {
	vs = slices.Sorted(slices.Values(vs))
	switch n := len(vs); {
	case n == 0:
		return 0
	case n%2 == 0:
		return (vs[n/2-1] + vs[n/2]) / 2
	default:
		return vs[n/2]
	}
}
