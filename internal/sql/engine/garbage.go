package engine

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// collector clears indexes that nothing refers to any more. They are listed in the transaction that took them out of the
// catalog, so none is forgotten; each step can be repeated, and several nodes may do it at once.
type collector struct {
	e      *Engine
	signal chan struct{}
	stop   chan struct{}
	done   sync.WaitGroup
}

const (
	clearRows  = 1000
	clearPause = 10 * time.Minute
)

func newCollector(e *Engine) *collector {
	return &collector{e: e, signal: make(chan struct{}, 1), stop: make(chan struct{})}
}

// wake says that there is something to clear.
func (c *collector) wake() {
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

func (c *collector) start() {
	c.done.Add(1)
	go func() {
		defer c.done.Done()
		for {
			wait := time.NewTimer(clearPause + rand.N(clearPause))
			select {
			case <-c.stop:
				wait.Stop()
				return
			case <-c.signal:
			case <-wait.C:
			}
			wait.Stop()
			if err := c.clear(c.e.background); err != nil {
				c.e.log.Warn("dropped indexes could not be cleared; it will be tried again", "error", err)
			}
		}
	}()
}

func (c *collector) close() {
	close(c.stop)
	c.done.Wait()
}

func (c *collector) stopping() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

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
