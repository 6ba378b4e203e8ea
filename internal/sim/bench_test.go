package sim

import (
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/txn"
)

// BenchmarkSeeds runs drawn seeds, one after the other on one processor, and reports how many times as fast as reality the
// clusters lived: the ratio that docs/simulation.md states.
//
//	go test -run '^$' -bench Seeds -benchtime 40x ./internal/sim
func BenchmarkSeeds(b *testing.B) {
	seed := uint64(0)
	benchRuns(b, func() Config {
		seed++
		return Draw(seed)
	})
}

// BenchmarkIdle is an hour of a cluster that nobody asks anything: what is left is heartbeats, ticks and polls of clocks.
func BenchmarkIdle(b *testing.B) {
	benchRuns(b, func() Config {
		c := ControlConfig(1)
		c.Workloads, c.Orderings = []string{"bank"}, []txn.Ordering{txn.Wait}
		c.Tick, c.SupportDuration, c.Heartbeat, c.ClockPoll = 100*time.Millisecond, 2*time.Second, 250*time.Millisecond, 100*time.Millisecond
		c.Idle, c.MaxSteps = time.Hour, 1<<40
		return c
	})
}

func benchRuns(b *testing.B, draw func() Config) {
	var virtual, real time.Duration
	var steps uint64
	for range b.N {
		res := Run(draw(), Options{})
		if res.Failed() {
			b.Fatalf("seed %d: %s", res.Config.Seed, res.Problem())
		}
		virtual, real, steps = virtual+res.Virtual, real+res.Real, steps+res.Steps
	}
	b.ReportMetric(virtual.Seconds()/real.Seconds(), "cluster-s/s")
	b.ReportMetric(float64(steps)/virtual.Seconds(), "steps/cluster-s")
	b.ReportMetric(float64(real.Nanoseconds())/float64(steps), "ns/step")
}
