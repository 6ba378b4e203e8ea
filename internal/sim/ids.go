package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// ids hands out numbers from counters: nobody gets one twice, and who asks after another was answered gets a higher one.
type ids struct {
	taken []*id
	final []int64 // of the counters
}

type id struct {
	check.Op
	counter int
	n       int64
}

const counters = 2

func idKey(counter int) kv.Key { return dataKey('u', counter%parts, fmt.Sprint("next", counter)) }

func (d *ids) Splits() []kv.Key { return splits('u') }

func (d *ids) Setup(*Client) error { return nil }

func (d *ids) Step(c *Client) {
	i := &id{counter: c.Rand.IntN(counters)}
	c.begin(&i.Op, func() string {
		d.taken = append(d.taken, i)
		return fmt.Sprint("take a number from u", i.counter)
	})
	var n int64
	err := c.txn(false, func(ctx context.Context, t *txn.Txn) error {
		v, err := t.Get(ctx, idKey(i.counter))
		if err != nil {
			return err
		}
		n = number(v) + 1
		t.Put(idKey(i.counter), digits(n))
		return nil
	})
	c.end(&i.Op, err, func() string {
		i.n = n
		return fmt.Sprint(": ", n)
	})
}

func (d *ids) Final(c *Client) error {
	var ks []kv.Key
	for n := range counters {
		ks = append(ks, idKey(n))
	}
	return c.txn(true, func(ctx context.Context, t *txn.Txn) error {
		vs, err := t.GetMany(ctx, ks)
		if err != nil {
			return err
		}
		c.H.mu.Lock()
		defer c.H.mu.Unlock()
		d.final = nil
		for _, v := range vs {
			d.final = append(d.final, number(v))
		}
		return nil
	})
}

func (d *ids) Check() (as []check.Anomaly) {
	add := func(k check.Kind, format string, args ...any) {
		if len(as) < 10 {
			as = append(as, check.Anomaly{Kind: k, Text: fmt.Sprintf(format, args...)})
		}
	}
	for n := range counters {
		var got []*id
		for _, i := range d.taken {
			if i.counter == n && i.Outcome == check.OK {
				got = append(got, i)
			}
		}
		slices.SortFunc(got, func(a, b *id) int { return cmp.Compare(a.Invoke, b.Invoke) })
		ended := slices.SortedFunc(slices.Values(got), func(a, b *id) int { return cmp.Compare(a.Return, b.Return) })
		by := map[int64]*id{}
		var top *id // of those that had ended before
		for _, i := range got {
			if o := by[i.n]; o != nil {
				add(check.LostUpdate, "number %d of u%d was given to %s and to %s", i.n, n, &o.Op, &i.Op)
			}
			by[i.n] = i
			for ; len(ended) > 0 && ended[0].Return < i.Invoke; ended = ended[1:] {
				if top == nil || ended[0].n > top.n {
					top = ended[0]
				}
			}
			if top != nil && i.n < top.n {
				add(check.StaleRead, "number %d of u%d was given to %s, which began after %s had got %d", i.n, n, &i.Op, &top.Op, top.n)
			}
			if d.final != nil && i.n > d.final[n] {
				add(check.LostWrite, "u%d ends at %d, but %d was given to %s", n, d.final[n], i.n, &i.Op)
			}
		}
	}
	return as
}

func (d *ids) Ops() (n map[check.Outcome]int) {
	for _, i := range d.taken {
		n = count(n, i.Outcome)
	}
	return n
}
