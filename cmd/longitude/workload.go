package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/longitude-db/longitude/bench/social"
)

// workloadFlags are the options that the demo and the benchmark have in common.
func workloadFlags(f *pflag.FlagSet, o *social.Options) {
	f.IntVar(&o.Workers, "workers", 50, "clients, spread evenly over the nodes, each with a connection of its own")
	f.Float64Var(&o.ReadFraction, "read-fraction", 0.95, "how often an operation is a list and not a like, 0 to 1")
	f.DurationVar(&o.Duration, "duration", 20*time.Second, "how long to measure each regime")
	f.DurationVar(&o.WarmUp, "warm-up", 2*time.Second, "how long to run before that, without measuring")
	f.IntVar(&o.Posts, "posts", 100, "posts to load")
	f.IntVar(&o.Likes, "likes", 1000, "likes to load, spread evenly over the posts")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the workers' choices")
}

// progressTo writes lines that tell how far things are, with the time since the beginning.
func progressTo(w io.Writer) func(format string, args ...any) {
	var mu sync.Mutex
	start := time.Now()
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, "%6.1fs  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
}
