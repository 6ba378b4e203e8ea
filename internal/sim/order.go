package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// order is the probe for causal reverse: every client counts up a key of its own without reading it, in one of several
// ranges, and others read all keys at once. Nothing but real time relates the writes.
type order struct {
	writes []*check.Mark
	reads  []*check.Marks
	keys   int
}

type orderKey struct {
	key int
	n   int64
}

// ownKey is the key that a client counts up, and its next number; keys counts those of all clients.
func ownKey(c *Client, keys *int) *orderKey {
	mine, ok := c.state.(*orderKey)
	if !ok {
		mine = &orderKey{key: *keys}
		*keys++
		c.state = mine
	}
	mine.n++
	return mine
}

func countKey(n int) kv.Key { return dataKey('o', n%parts, fmt.Sprint(n)) }

func (o *order) Splits() []kv.Key { return splits('o') }

func (o *order) Setup(*Client) error { return nil }

func (o *order) Step(c *Client) {
	if c.Rand.IntN(3) == 0 {
		_ = o.read(c)
		return
	}
	setOwn(c, 'o', &o.keys, &o.writes, func(t *txn.Txn, w *check.Mark) { t.Put(countKey(w.Key), digits(w.N)) })
}

// setOwn counts up the client's own key in a transaction. keys and writes are the workload's; name is what it calls its keys.
func setOwn(c *Client, name rune, keys *int, writes *[]*check.Mark, put func(*txn.Txn, *check.Mark)) {
	w := &check.Mark{}
	c.begin(&w.Op, func() string {
		mine := ownKey(c, keys)
		w.Key, w.N = mine.key, mine.n
		*writes = append(*writes, w)
		return fmt.Sprintf("set %c%d to %d", name, w.Key, w.N)
	})
	err := c.txn(false, func(_ context.Context, t *txn.Txn) error {
		put(t, w)
		return nil
	})
	c.end(&w.Op, err, func() string {
		if err != nil {
			c.state = nil // it may come late, so the key is not used again
		}
		return ""
	})
}

func (o *order) read(c *Client) error {
	r := &check.Marks{}
	c.begin(&r.Op, func() string {
		o.reads = append(o.reads, r)
		return "read counters"
	})
	var seen []int64
	slow := time.Duration(0)
	if c.Rand.IntN(2) == 0 {
		slow = logUniform(c.Rand, time.Millisecond, 200*time.Millisecond)
	}
	order := c.Rand.Perm(parts)
	err := c.txn(c.Rand.IntN(2) == 0, func(ctx context.Context, t *txn.Txn) error {
		seen = nil
		spans := [][]kv.Span{{dataSpan('o')}}
		if slow > 0 { // one range after another: what happens meanwhile must not show, or show whole
			spans = nil
			for _, p := range order {
				spans = append(spans, []kv.Span{partSpan('o', p)})
			}
		}
		for i, s := range spans {
			if i > 0 {
				c.RT.Sleep(slow)
			}
			rows, err := t.ScanMany(ctx, s)
			if err != nil {
				return err
			}
			for _, row := range rows[0] {
				var part, key int
				if _, err := fmt.Sscanf(string(row.Key[1:]), "o%d/%d", &part, &key); err != nil {
					return fmt.Errorf("a scan returned key %s: %w", row.Key, err)
				}
				for key >= len(seen) {
					seen = append(seen, 0)
				}
				seen[key] = number(row.Value)
			}
		}
		return nil
	})
	c.end(&r.Op, err, func() string {
		r.N = seen
		return fmt.Sprint(" ", seen)
	})
	return err
}

func (o *order) Final(c *Client) error { return o.read(c) }

func (o *order) Check() []check.Anomaly {
	ws, rs := make([]check.Mark, len(o.writes)), make([]check.Marks, len(o.reads))
	for i, w := range o.writes {
		ws[i] = *w
	}
	for i, r := range o.reads {
		rs[i] = *r
		rs[i].N = append(rs[i].N, make([]int64, max(0, o.keys-len(r.N)))...)
	}
	return check.Order(ws, rs)
}

func (o *order) Ops() (n map[check.Outcome]int) {
	for _, w := range o.writes {
		n = count(n, w.Outcome)
	}
	for _, r := range o.reads {
		n = count(n, r.Outcome)
	}
	return n
}
