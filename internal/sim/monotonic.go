package sim

import (
	"context"
	"fmt"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// monotonic is keys that only grow, each counted up by one client at a time, and readers of single keys through all nodes:
// what one has read, a later one must not miss.
type monotonic struct {
	writes []*check.Mark
	reads  []*oneMark
	keys   int
	// pairedKeys: only the first client of the first machine writes, and with each key another one in another range, so that what
	// it writes are intents at first.
	pairedKeys bool
}

type oneMark struct {
	check.Op
	key int
	n   int64
}

func growingKey(n int) kv.Key { return dataKey('m', n%parts, fmt.Sprint(n)) }

func (m *monotonic) Splits() []kv.Key { return splits('m') }

func (m *monotonic) Setup(*Client) error { return nil }

func (m *monotonic) Step(c *Client) {
	reads := c.Rand.IntN(4) > 0
	if m.pairedKeys {
		reads = c.Machine+c.Number > 0
	}
	if reads {
		_ = m.read(c, func() int { return c.Rand.IntN(max(1, m.keys)) })
		return
	}
	setOwn(c, 'm', &m.keys, &m.writes, func(t *txn.Txn, w *check.Mark) {
		t.Put(growingKey(w.Key), digits(w.N))
		if m.pairedKeys {
			t.Put(dataKey('m', (w.Key+1)%parts, fmt.Sprintf("%d.pair", w.Key)), digits(w.N))
		}
	})
}

func (m *monotonic) read(c *Client, which func() int) error {
	r := &oneMark{}
	c.begin(&r.Op, func() string {
		r.key = which()
		m.reads = append(m.reads, r)
		return fmt.Sprint("read m", r.key)
	})
	var n int64
	err := c.txn(c.Rand.IntN(2) == 0, func(ctx context.Context, t *txn.Txn) error {
		v, err := t.Get(ctx, growingKey(r.key))
		n = number(v)
		return err
	})
	c.end(&r.Op, err, func() string {
		r.n = n
		return fmt.Sprint(": ", n)
	})
	return err
}

func (m *monotonic) Final(c *Client) error {
	for k := range m.keys {
		if err := m.read(c, func() int { return k }); err != nil {
			return err
		}
	}
	return nil
}

func (m *monotonic) Check() (as []check.Anomaly) {
	for k := range m.keys {
		var ws []check.Mark
		var rs []check.Marks
		for _, w := range m.writes {
			if w.Key == k {
				one := *w
				one.Key = 0
				ws = append(ws, one)
			}
		}
		for _, r := range m.reads {
			if r.key == k {
				rs = append(rs, check.Marks{Op: r.Op, N: []int64{r.n}})
			}
		}
		for _, a := range check.Order(ws, rs) {
			a.Text = fmt.Sprintf("m%d: %s", k, a.Text)
			as = append(as, a)
		}
	}
	return as
}

func (m *monotonic) Ops() (n map[check.Outcome]int) {
	for _, w := range m.writes {
		n = count(n, w.Outcome)
	}
	for _, r := range m.reads {
		n = count(n, r.Outcome)
	}
	return n
}
