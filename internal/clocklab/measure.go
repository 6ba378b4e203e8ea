// Package clocklab measures how wide the readings of a clock are over time, on one machine, without a cluster. It repeats
// the experiment that the thesis behind Longitude reports (section 3.4.4, appendices B and E): a reading every 250 ms,
// and for every five minutes the mean, the median, the 95th and 99th percentile and the maximum of the width.
//
//	B1  Every reading that was due is counted: as a width, or as refused with the reason. A bucket says how many it has of
//	    each, so a quiet line in the plot cannot hide a clock that was away.
//	B2  A measurement that is interrupted keeps what it has, the bucket that is not full included.
package clocklab

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/longitude-db/longitude/clock"
)

// Plan is what to measure.
type Plan struct {
	For    time.Duration // how long
	Every  time.Duration // between two readings
	Bucket time.Duration // readings that are summed up together
}

// Bucket sums up the readings of one stretch of time.
type Bucket struct {
	End      time.Duration // since the beginning of the measurement; of the last bucket, when it ended
	Readings int
	Refused  int    // readings that the clock refused
	Why      string // the last refusal
	// Of the widths (latest - earliest); percentiles between ranks are interpolated. Zeros without readings.
	Mean, P50, P95, P99, Max time.Duration
	State                    clock.State // at the end
}

// Run takes readings until the plan is fulfilled or ctx ends, and hands over every bucket when it is full, and what there
// is at the end.
func Run(ctx context.Context, c *clock.Clock, p Plan, each func(Bucket)) {
	began := time.Now()
	tick := time.NewTicker(p.Every)
	defer tick.Stop()
	b := collector{}
	end := p.Bucket
	flush := func(at time.Duration) {
		if b.Readings+b.Refused > 0 {
			b.State = c.Status().State
			each(b.sum(at))
		}
		b = collector{}
	}
	for {
		since := time.Since(began)
		for since >= end && since < p.For {
			flush(end)
			end += p.Bucket
		}
		if since >= p.For || ctx.Err() != nil {
			flush(min(since, p.For, end))
			return
		}
		b.take(c)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// collector is a bucket that is being filled.
type collector struct {
	Bucket
	widths []time.Duration
}

func (b *collector) take(c *clock.Clock) {
	iv, err := c.Now()
	if err != nil {
		b.Refused++
		b.Why, _ = c.Status().Refusal()
		return
	}
	b.Readings++
	b.widths = append(b.widths, iv.Width())
}

// sum completes the bucket.
func (b *collector) sum(end time.Duration) Bucket {
	out := b.Bucket
	out.End = end
	if len(b.widths) == 0 {
		return out
	}
	slices.Sort(b.widths)
	var total float64
	for _, w := range b.widths {
		total += float64(w)
	}
	out.Mean = time.Duration(math.Round(total / float64(len(b.widths))))
	out.P50, out.P95, out.P99 = quantile(b.widths, 0.50), quantile(b.widths, 0.95), quantile(b.widths, 0.99)
	out.Max = b.widths[len(b.widths)-1]
	return out
}

// quantile of sorted values; between two ranks it is interpolated, as the thesis's tools do.
func quantile(sorted []time.Duration, q float64) time.Duration {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	lo, hi := float64(sorted[i]), float64(sorted[i+1])
	return time.Duration(math.Round(lo + (at-float64(i))*(hi-lo)))
}
