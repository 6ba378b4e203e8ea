package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// collector clears indexes that nothing refers to any more. They are listed in the transaction that took them out of the
// catalog, so none is forgotten; each step can be repeated, and several nodes may do it at once. Rows of temporary tables that are gone are
// cleared too: those of this process are only queued, since a process that crashes leaves them to the next one (M5).
type collector struct {
	e      *Engine
	mu     sync.Mutex
	queued []kv.Span // of temporary tables
	swept  bool      // what an earlier process of the node has left is cleared
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
			if err := c.clear(c.e.background); err != nil && !errors.Is(err, errStopping) {
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

// add queues rows of temporary tables to be cleared.
func (c *collector) add(spans []kv.Span) {
	c.mu.Lock()
	c.queued = append(c.queued, spans...)
	c.mu.Unlock()
	c.wake()
}

// clearQueued clears what is queued. What fails stays queued.
func (c *collector) clearQueued(ctx context.Context) error {
	for {
		c.mu.Lock()
		if len(c.queued) == 0 {
			c.mu.Unlock()
			return nil
		}
		s := c.queued[0]
		c.queued = c.queued[1:]
		c.mu.Unlock()
		if err := c.clearSpan(ctx, nil, s); err != nil {
			c.mu.Lock()
			c.queued = append(c.queued, s)
			c.mu.Unlock()
			return err
		}
	}
}

// clear works the list off.
func (c *collector) clear(ctx context.Context) error {
	if err := c.clearQueued(ctx); err != nil {
		return err
	}
	if !c.swept {
		if err := c.clearCrashed(ctx); err != nil {
			return err
		}
		c.swept = true
	}
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
		if err := c.clearSpan(ctx, item.Key, catalog.IndexSpan(table, index)); err != nil {
			return err
		}
	}
	return nil
}

// errStopping ends what the collector does because the engine closes.
var errStopping = errors.New("the engine closes")

// clearSpan clears a span, and then the entry of the list, if there is one.
func (c *collector) clearSpan(ctx context.Context, item kv.Key, span kv.Span) error {
	for more := true; more; {
		if c.stopping() {
			return errStopping
		}
		var err error
		if more, err = c.clearSome(ctx, item, span); err != nil {
			return err
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
		if !more && item != nil {
			t.Delete(item)
		}
		return nil
	})
	return more, err
}
