package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// registers reads, writes and changes single keys. A key is given up for a new one after some operations, because the
// time that checking takes grows fast with the length of its history.
type registers struct {
	ops  []*check.RegisterOp
	used []int
	last int64
	// localReaders: so many of the clients of a machine only read, and only what its own node led at first; the others write what their
	// own node did not. So somebody still reads where a node is cut off, and somebody still writes elsewhere.
	localReaders int
}

const registerUses = 120

// newRegisters makes a workload of so many slots, each of which is one key after another.
func newRegisters(slots int, localReaders int) *registers {
	return &registers{used: make([]int, slots), localReaders: localReaders}
}

func (r *registers) Splits() []kv.Key { return splits('r') }

func (r *registers) Setup(*Client) error { return nil }

func (r *registers) key(slot int) (kv.Key, string) {
	name := fmt.Sprintf("%d.%d", slot, r.used[slot]/registerUses)
	return dataKey('r', slot%parts, name), name
}

func (r *registers) Step(c *Client) {
	slot, kind := c.Rand.IntN(len(r.used)), check.RegisterKind(c.Rand.IntN(3))
	if r.localReaders > 0 {
		home := c.Machine % parts
		if kind = check.Write; c.Number < r.localReaders {
			slot, kind = home+parts*c.Rand.IntN(len(r.used)/parts), check.Read
		} else if slot%parts == home {
			slot++
		}
		slot %= len(r.used)
	}
	_ = r.do(c, slot, kind)
}

func (r *registers) do(c *Client, slot int, kind check.RegisterKind) error {
	var key kv.Key
	o := &check.RegisterOp{Kind: kind}
	c.begin(&o.Op, func() string {
		if kind != check.Read {
			r.last++
			o.New = r.last
		}
		r.used[slot]++
		key, o.Key = r.key(slot)
		r.ops = append(r.ops, o)
		return fmt.Sprintf("%s r%s new=%d", [...]string{"read", "write", "change"}[kind], o.Key, o.New)
	})
	lock, hold := c.lock()
	err := c.txn(kind == check.Read && c.Rand.IntN(2) == 0, func(ctx context.Context, t *txn.Txn) error {
		if kind != check.Write {
			vs, err := c.get(ctx, t, []kv.Key{key}, lock, hold)
			if err != nil {
				return err
			}
			c.H.mu.Lock()
			o.Old = number(vs[0]) // also if this client never learns what became of it
			c.H.mu.Unlock()
		}
		if kind != check.Read {
			t.Put(key, digits(o.New))
		}
		return nil
	})
	c.end(&o.Op, err, func() string { return fmt.Sprintf(" old=%d", o.Old) })
	return err
}

func (r *registers) Final(c *Client) error {
	for slot := range r.used {
		if err := r.do(c, slot, check.Read); err != nil {
			return err
		}
	}
	return nil
}

func (r *registers) Check() []check.Anomaly {
	ops := make([]check.RegisterOp, len(r.ops))
	for i, o := range r.ops {
		ops[i] = *o
	}
	as, _ := check.Registers(ops, 5*time.Second)
	return as
}

func (r *registers) Ops() (n map[check.Outcome]int) {
	for _, o := range r.ops {
		n = count(n, o.Outcome)
	}
	return n
}
