package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/social"
)

// loadFlags say how a workload is driven; the demo and the benchmarks have them in common.
func loadFlags(f *pflag.FlagSet, l *harness.Load) {
	f.IntVar(&l.Workers, "workers", 50, "clients, spread evenly over the nodes, each with a connection of its own")
	f.DurationVar(&l.Duration, "duration", 20*time.Second, "how long to measure")
	f.DurationVar(&l.WarmUp, "warm-up", 2*time.Second, "how long to run before that, without measuring")
	f.Uint64Var(&l.Seed, "seed", 1, "seed of the workers' choices")
}

// socialFlags are the parameters of the social workload.
func socialFlags(f *pflag.FlagSet, o *social.Options) {
	f.Float64Var(&o.ReadFraction, "read-fraction", 0.95, "how often an operation is a list and not a like, 0 to 1")
	f.IntVar(&o.Posts, "posts", 100, "posts to load")
	f.IntVar(&o.Likes, "likes", 1000, "likes to load, spread evenly over the posts: how much a list has to read")
	f.Float64Var(&o.Hot, "hot", 0, "share of new likes that go to one post, 0 to 1; the others are spread evenly")
}

// liveView is what a command shows on standard error while it works.
type liveView struct {
	*harness.Live
	start time.Time
}

func newLive(c *cobra.Command) *liveView {
	w := c.ErrOrStderr()
	f, ok := w.(*os.File)
	return &liveView{harness.NewLive(w, ok && term.IsTerminal(int(f.Fd()))), time.Now()}
}

// progress writes lines that tell how far things are, with the time since the beginning.
func (v *liveView) progress() harness.Say {
	return func(format string, args ...any) {
		v.Say(fmt.Sprintf("%6.1fs  %s", time.Since(v.start).Seconds(), fmt.Sprintf(format, args...)))
	}
}

// progressTo writes such lines where nothing is drawn between them.
func progressTo(w io.Writer) func(format string, args ...any) {
	v := &liveView{harness.NewLive(w, false), time.Now()}
	return v.progress()
}
