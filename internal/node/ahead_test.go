package node

import (
	"context"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
	"github.com/longitude-db/longitude/internal/txn"
)

// A lease serves only what lies before its end. A node with a poor clock that reads ahead must not wait until the lease has been
// renewed so far: it reads less far ahead. (Read at the full lead, the same read takes as long as the lease is too short.)
func TestReadAheadWithinLeases(t *testing.T) {
	c := newTrio(t, eventloop.New(1))
	c.nodes[1].source = clock.NewSim(clock.Conditions{Bound: 400 * time.Millisecond}, func() clock.Instant { return clock.Instant(epoch).Add(c.loop.Now()) })
	c.run(func() {
		for _, m := range c.nodes {
			m.start()
		}
		m := c.nodes[1]
		m.on("write", func() error {
			return m.node.DB.Run(context.Background(), txn.Options{}, func(_ context.Context, t *txn.Txn) error {
				t.Put(key("k"), []byte("v"))
				return nil
			})
		})
		get := func(ctx context.Context, t *txn.Txn) error {
			_, err := t.Get(ctx, key("k"))
			return err
		}
		const lead = 900 * time.Millisecond // of leases of a second
		var ahead, at, reach time.Duration
		m.on("read ahead", func() error {
			began, now := c.rt.Now(), must(m.clock.Now())
			_, until, err := m.node.DB.ReadAhead(context.Background(), lead, get)
			ahead, reach = c.rt.Now()-began, clock.Instant(until.Wall).Sub(now.Latest)
			return err
		})
		m.on("read at", func() error {
			began, now := c.rt.Now(), must(m.clock.Now())
			_, err := m.node.DB.ReadAt(context.Background(), clock.Timestamp{Wall: int64(now.Latest.Add(lead))}, get)
			at = c.rt.Now() - began
			return err
		})
		if ahead > 20*time.Millisecond || reach < 50*time.Millisecond || reach >= lead {
			t.Errorf("reading ahead took %s and reaches %s beyond the latest", ahead, reach)
		}
		if at < 200*time.Millisecond {
			t.Errorf("a read %s beyond the latest took %s: nothing was in its way, so this test shows nothing", lead, at)
		}
	})
}

func must(iv clock.Interval, err error) clock.Interval {
	if err != nil {
		panic(err)
	}
	return iv
}
