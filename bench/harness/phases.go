package harness

import (
	"context"
	"time"
)

// Phased is a workload whose kinds of operations can be run one at a time, so that what each costs the servers can be told.
type Phased interface {
	Workload
	// Only makes clients choose operations of one class from now on.
	Only(class int)
}

// turnsOf is how often each class has its turn in a run: A B C, C B A, A B C, C B A. What changes on the machine while a run goes on
// then hits all of them. Short runs have fewer turns: a turn has to be long enough for its operations to end in it.
func turnsOf(duration time.Duration, classes int) int {
	const most, shortest = 4, 300 * time.Millisecond
	return min(most, max(1, int(duration/shortest)/classes))
}

// runPhases runs one class after the other, in turns, each for its share of the time.
func runPhases(ctx context.Context, t *Target, w Phased, l Load, live func(Second)) (*Result, error) {
	classes := w.Classes()
	each, turns := l, turnsOf(l.Duration, len(classes))
	each.Duration /= time.Duration(len(classes) * turns)
	each.WarmUp /= time.Duration(len(classes) * turns)
	byClass := make([][]*Result, len(classes))
	var all []*Result
	var series []Second
	for turn := range turns {
		for i := range classes {
			if turn%2 == 1 {
				i = len(classes) - 1 - i
			}
			w.Only(i)
			each.Seed = l.Seed<<16 + uint64(len(all)) // another one than any slice's
			r, err := runOnce(ctx, t, w, each, live)
			if err != nil {
				return nil, err
			}
			for _, s := range r.Series {
				s.At += float64(len(all)) * each.Duration.Seconds()
				series = append(series, s)
			}
			byClass[i], all = append(byClass[i], r), append(all, r)
		}
	}
	out := Pool(all)
	out.Series, out.Verified, out.Separate = series, false, true
	for i, rs := range byClass {
		one := Pool(rs)
		out.Classes[i] = one.Classes[i] // its throughput is over the time in which it ran
		out.Classes[i].ServerCPU = one.serverCPU()
	}
	return out, nil
}
