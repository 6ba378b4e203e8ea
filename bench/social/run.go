package social

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// drainLimit is how long operations that are under way at the end may take to finish.
const drainLimit = 60 * time.Second

// LoadAndRun makes, fills and splits the tables, and runs.
func LoadAndRun(ctx context.Context, o *Options) (*Result, error) {
	if err := Load(ctx, o); err != nil {
		return nil, err
	}
	if err := Split(ctx, o); err != nil {
		return nil, err
	}
	return Run(ctx, o)
}

// Run lets the workers work on loaded tables, measures, and verifies the data at the end.
func Run(ctx context.Context, o *Options) (*Result, error) {
	run, cut := context.WithCancel(ctx)
	defer cut()
	led, tal, stop := &ledger{}, newTally(), make(chan struct{})
	var workers sync.WaitGroup
	for i := range o.Workers {
		w := &worker{o: o, db: o.Nodes[i%len(o.Nodes)], ledger: led, tally: tal, rnd: rand.New(rand.NewPCG(o.Seed, uint64(i)))}
		workers.Go(func() { w.run(run, stop) })
	}
	if o.WarmUp > 0 {
		o.Progress("warming up for %s", o.WarmUp)
		pause(ctx, o.WarmUp)
	}
	before, statsErr := o.stats()
	o.Progress("%d workers on %d nodes for %s", o.Workers, len(o.Nodes), o.Duration)
	errorsBefore, start := tal.errors.Load(), time.Now()
	tal.measuring.Store(true)
	for left := o.Duration; left > 0 && ctx.Err() == nil; left = o.Duration - time.Since(start) {
		pause(ctx, min(left, 5*time.Second))
		tal.mu.Lock()
		reads, likes := tal.reads.TotalCount(), tal.likes.TotalCount()
		tal.mu.Unlock()
		o.Progress("%3.0fs  %d lists, %d likes, %d errors", time.Since(start).Seconds(), reads, likes, tal.errors.Load())
	}
	// What began within the measurement and ends a little after it counts, so the time it took counts too.
	close(stop)
	limit := time.AfterFunc(drainLimit, cut)
	workers.Wait()
	limit.Stop()
	elapsed := time.Since(start)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	after, err := o.stats()
	if statsErr == nil {
		statsErr = err
	}
	if statsErr != nil {
		o.Progress("restarts and commit wait are missing from the result: %v", statsErr)
	}
	res := newResult(o, tal, elapsed, after.sub(before))
	res.ClientErrors = tal.errors.Load() - errorsBefore
	if tal.firstError != nil {
		o.Progress("first of %d errors: %v", tal.errors.Load(), tal.firstError)
	}
	if err := verify(ctx, o, led, res); err != nil {
		return nil, fmt.Errorf("verifying the data: %w", err)
	}
	return res, nil
}

func (o *Options) stats() (Stats, error) {
	if o.Stats == nil {
		return Stats{}, fmt.Errorf("the nodes' metrics are not known")
	}
	return o.Stats()
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
