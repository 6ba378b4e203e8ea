package engine

import (
	"context"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// collector clears indexes that nothing refers to any more. They are listed in the transaction that took them out of the
// catalog, so none is forgotten; each step can be repeated, and several nodes may do it at once.
type collector struct {
	e      *Engine
	mu     sync.Mutex
	signal rt.Signal // there is something to clear, or it is time to stop
	stop   rt.Signal
	tasks  *rt.Group
}

const (
	clearRows  = 1000
	clearPause = 10 * time.Minute
)

func newCollector(e *Engine) *collector {
	return &collector{e: e, signal: e.o.RT.NewSignal(), stop: e.o.RT.NewSignal(), tasks: rt.NewGroup(e.o.RT)}
}

// wake says that there is something to clear.
func (c *collector) wake() {
	c.mu.Lock()
	s := c.signal
	c.mu.Unlock()
	s.Fire()
}

func (c *collector) start() {
	c.tasks.Go("garbage", func() {
		for {
			c.mu.Lock()
			s := c.signal
			c.mu.Unlock()
			s.Wait(clearPause + time.Duration(c.e.o.RT.Uint64()%uint64(clearPause)))
			if c.stopping() {
				return
			}
			c.mu.Lock()
			c.signal = c.e.o.RT.NewSignal() // before looking: what is dropped from now on wakes it again
			c.mu.Unlock()
			if err := c.clear(c.e.background); err != nil {
				c.e.log.Warn("dropped indexes could not be cleared; it will be tried again", "error", err)
			}
		}
	})
}

func (c *collector) close() {
	c.stop.Fire()
	c.wake()
	c.tasks.Wait(rt.Forever)
}

func (c *collector) stopping() bool { return c.stop.Fired() }

// clear works the list off.
func (c *collector) clear(ctx context.Context) error {
	var list []txn.KeyValue
	err := c.e.o.DB.Run(ctx, txn.Options{Name: "list garbage", ReadOnly: true}, func(ctx context.Context, t *txn.Txn) error {
		rows, err := t.ScanMany(ctx, []kv.Span{catalog.GarbageSpan()})
		if err == nil {
			list = rows[0]
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, item := range list {
		table, index, err := catalog.ParseGarbageKey(item.Key)
		if err != nil {
			return err
		}
		for more := true; more; {
			if c.stopping() {
				return nil
			}
			if more, err = c.clearSome(ctx, item.Key, catalog.IndexSpan(table, index)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *collector) clearSome(ctx context.Context, item kv.Key, span kv.Span) (more bool, err error) {
	err = c.e.o.DB.Run(ctx, txn.Options{Name: "clear garbage"}, func(ctx context.Context, t *txn.Txn) error {
		more = false
		scan := t.Scan(ctx, span, txn.ScanOptions{Limit: clearRows})
		for {
			rows, err := scan.Next(ctx)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				break
			}
			more = true
			for _, r := range rows {
				t.Delete(r.Key)
			}
		}
		if !more {
			t.Delete(item)
		}
		return nil
	})
	return more, err
}
