package sim

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/txn"
)

// TestReadsAtHand: a client whose node is 60 ms away from the leaseholder reads what is written there. If timestamps are closed soon
// after they have passed its own replica answers, later than it was asked and before the leaseholder could have; if they are closed
// three seconds later, or the leaseholder is at hand, it is asked as ever. What a read returns was never older than what was
// acknowledged before the read began.
func TestReadsAtHand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		far          time.Duration
		lag, every   time.Duration
		near         bool
		under, above time.Duration // the median read
	}{
		{"far, closed soon", 60 * time.Millisecond, 5 * time.Millisecond, 5 * time.Millisecond, true, 90 * time.Millisecond, 60 * time.Millisecond},
		{"far, closed late", 60 * time.Millisecond, 0, 0, false, 130 * time.Millisecond, 120 * time.Millisecond},
		{"at hand, closed soon", 0, 5 * time.Millisecond, 5 * time.Millisecond, false, 2 * time.Millisecond, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := testWorld(t, 5, func(cfg *Config) {
				eps := clock.Conditions{Bound: 200 * time.Microsecond}
				cfg.Clocks, cfg.Far, cfg.ClosedLag, cfg.ClosedEvery = []clock.Conditions{eps, eps, eps}, c.far, c.lag, c.every
				cfg.SupportDuration, cfg.Heartbeat, cfg.Tick = 2*time.Second, 250*time.Millisecond, 100*time.Millisecond
				cfg.Link.Base, cfg.Link.Jitter = 500*time.Microsecond, 0
			})
			reader, leaseholder := r.Machines[0], r.Machines[1]
			key := testKey("near")
			r.ownRange(t, key, leaseholder)
			acked, stop := 0, false
			leaseholder.RT.Go("writer", func() {
				for n := 1; !stop; n++ {
					if err := leaseholder.Node.DB.Run(context.Background(), txn.Options{}, func(_ context.Context, x *txn.Txn) error {
						x.Put(key, fmt.Append(nil, n))
						return nil
					}); err != nil {
						t.Error(err)
					}
					acked = n
					leaseholder.RT.Sleep(7 * time.Millisecond)
				}
			})
			var took []time.Duration
			read := func() error {
				before, began := acked, reader.RT.Now()
				var got int
				err := reader.Node.DB.Run(context.Background(), txn.Options{ReadOnly: true}, func(ctx context.Context, x *txn.Txn) error {
					v, err := x.Get(ctx, key)
					if len(v) > 0 {
						_, err = fmt.Sscan(string(v), &got)
					}
					return err
				})
				if got < before {
					t.Errorf("read %d after %d was acknowledged", got, before)
				}
				took = append(took, reader.RT.Now()-began)
				return err
			}
			r.on(t, reader, func() error {
				for range 50 {
					if err := read(); err != nil {
						return err
					}
					reader.RT.Sleep(11 * time.Millisecond)
				}
				return nil
			})
			stop = true
			slices.Sort(took)
			median := took[len(took)/2]
			served, late := metric(t, reader.Node.Metrics.Route.Near.WithLabelValues("served")), metric(t, reader.Node.Metrics.Route.Near.WithLabelValues("late"))
			t.Logf("median read %s; %v served at hand, %v of them late", median.Round(100*time.Microsecond), served, late)
			if median > c.under || median < c.above {
				t.Errorf("the median read takes %s, want %s to %s", median, c.above, c.under)
			}
			if c.near != (served > 40) || late > 3 {
				t.Errorf("%v reads served at hand, %v late", served, late)
			}
		})
	}
}

func metric(t *testing.T, c prometheus.Counter) float64 {
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}
