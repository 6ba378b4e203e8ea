package harness

import (
	"context"
	"fmt"
	"slices"
)

// Side is one of two servers that are compared, with a workload of its own that has been set up on it.
type Side struct {
	Target   *Target
	Workload Workload
	Results  []*Result // one for each slice
}

// Versus runs two sides in turns, a slice each, so that whatever else the machine does hits both alike: A B, B A, A B, ...
// It verifies both at the end.
func Versus(ctx context.Context, a, b *Side, l Load, slicesEach int, say Say, live func(Second)) error {
	for i := range slicesEach {
		order := []*Side{a, b}
		if i%2 == 1 {
			order = []*Side{b, a}
		}
		for _, s := range order {
			say("%s: slice %d of %d on %s", s.Workload.Name(), i+1, slicesEach, s.Target.Name)
			l.Seed++ // both sides see the same choices only in distribution, as their clients run at different speeds anyway
			r, err := Run(ctx, s.Target, s.Workload, l, live)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", s.Workload.Name(), s.Target.Name, err)
			}
			s.Results = append(s.Results, r)
		}
	}
	for _, s := range []*Side{a, b} {
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
