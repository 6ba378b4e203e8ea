package engine

import (
	"context"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/txn"
)

// validUntil is up to when a version holds for those who have used this much of it, at least ts if that can be had by looking again.
// Nil: all of it.
func (c *schemas) validUntil(ctx context.Context, s *schema, u *uses, ts clock.Timestamp) (clock.Timestamp, error) {
	if u == nil {
		u = &uses{all: true}
	}
	for try := 0; ; try++ {
		c.mu.Lock()
		var until clock.Timestamp
		changed := false
		for _, en := range c.entries {
			switch {
			case en.schema == s:
				until = until.Forward(en.until)
			case en.schema.snap.Meta.Version <= s.snap.Meta.Version:
			case u.holds(s.snap, en.schema.snap): // H5
				if en.from.LessEq(ts) {
					until = until.Forward(en.until)
				}
			default:
				changed = true
			}
		}
		c.mu.Unlock()
		if ts.LessEq(until) {
			return until, nil
		}
		if changed || try == 2 {
			return until, kv.Errorf(kv.ErrRefresh, "the schema was changed before this transaction could commit")
		}
		if err := c.renew(ctx); err != nil {
			return until, err
		}
		if c.beyond(ts) {
			if _, err := c.load(ctx, ts); err != nil {
				return until, err
			}
		}
	}
}

func (c *schemas) beyond(ts clock.Timestamp) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries) > 0 && c.entries[len(c.entries)-1].until.Less(ts)
}

// guard is H2 for commits: it says up to when the version that the transaction was planned with holds.
func (s *schema) guard(c *schemas, u *uses) txn.Guard {
	return func(ctx context.Context, ts clock.Timestamp) (clock.Timestamp, error) {
		return c.validUntil(ctx, s, u, ts)
	}
}

// idleAfter is how long after its last use the cache is kept fresh.
const idleAfter = 30 * time.Second

// renewalLimit bounds one renewal in the background.
const renewalLimit = 5 * time.Second

// start renews the newest entry ahead of its end, as long as it is in use.
func (c *schemas) start() {
	c.tasks.Go("catalog", func() {
		for !c.stop.Wait(max(c.leadNow()/3, time.Millisecond)) {
			c.rest()
			if c.stop.Fired() {
				return
			}
			if err := c.renew(route.WithDeadline(c.e.background, c.e.o.RT.Now()+renewalLimit)); err != nil {
				c.e.log.Debug("the catalog could not be read ahead", "error", err)
			}
		}
	})
}

// rest waits for the next use, if the last one was long ago: an engine that no client asks costs nothing.
func (c *schemas) rest() {
	c.mu.Lock()
	idle := c.e.now().Sub(c.used) > idleAfter && !c.stop.Fired() // if it is fired after this, close wakes us
	var used rt.Signal
	if idle {
		used = c.e.o.RT.NewSignal()
		c.rests = used
	}
	c.mu.Unlock()
	if idle {
		used.Wait(rt.Forever)
	}
}

// wakeLocked ends rest. The caller holds mu.
func (c *schemas) wakeLocked() {
	if c.rests != nil {
		c.rests.Fire()
		c.rests = nil
	}
}

func (c *schemas) close() {
	c.stop.Fire()
	c.mu.Lock()
	c.wakeLocked()
	c.mu.Unlock()
	c.tasks.Wait(rt.Forever) // background work is over when the engine closes
}
