package sim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// mops is a workload of transactions made of micro-operations on lists or registers, whose history check.Transactions
// judges. The txnProfile determines the transactions.
type mops struct {
	profile txnProfile
	txns    []*check.Txn
	last    int64          // value
	uses    map[string]int // of slots and the like; for the profile
	keys    []string       // all that were ever used
	known   map[string]bool
}

// txnProfile makes transactions.
type txnProfile struct {
	letter byte
	read   check.MopKind // how all keys are read in the end
	// next draws one. It is called with the history's lock held.
	next func(m *mops, c *Client) plan
}

// plan is a transaction to be made.
type plan struct {
	mops     []check.Mop
	readOnly bool
	together bool          // all of them are reads, asked for at once
	pause    time.Duration // up to so long between two micro-operations
	after    func(ok bool) // told what became of it, with the history's lock held; nil: nobody
}

func newMops(f txnProfile) *mops {
	return &mops{profile: f, uses: map[string]int{}, known: map[string]bool{}}
}

// value is one that was never written before.
func (m *mops) value() int64 {
	m.last++
	return m.last
}

// at is the key of a name in a part. The name says the part, so that the key follows from the name alone.
func (m *mops) at(part int, format string, args ...any) string {
	name := fmt.Sprintf("%d/", part) + fmt.Sprintf(format, args...)
	if !m.known[name] {
		m.known[name] = true
		m.keys = append(m.keys, name)
	}
	return name
}

func (m *mops) key(name string) kv.Key {
	part, rest, _ := strings.Cut(name, "/")
	n, err := strconv.Atoi(part)
	if err != nil {
		panic(fmt.Sprintf("sim: %q names no part", name))
	}
	return dataKey(m.profile.letter, n, rest)
}

func (m *mops) Splits() []kv.Key { return splits(m.profile.letter) }

func (m *mops) Setup(*Client) error { return nil }

func (m *mops) Step(c *Client) {
	_ = m.do(c, func() plan { return m.profile.next(m, c) })
}

func (m *mops) do(c *Client, draw func() plan) error {
	t := &check.Txn{}
	var p plan
	c.begin(&t.Op, func() string {
		p = draw()
		t.Mops = p.mops
		m.txns = append(m.txns, t)
		return texts(t.Mops)
	})
	giveUp := !p.readOnly && c.Rand.IntN(40) == 0
	err := c.txn(p.readOnly, func(ctx context.Context, x *txn.Txn) error {
		tried := slices.Clone(p.mops)
		if err := m.try(ctx, c, x, &p, tried); err != nil {
			return err
		}
		if giveUp {
			return errGaveUp
		}
		c.H.mu.Lock()
		t.Mops = tried // also if this client never learns what became of it
		c.H.mu.Unlock()
		return nil
	})
	c.end(&t.Op, err, func() string {
		if p.after != nil {
			p.after(err == nil)
		}
		if err != nil {
			return ""
		}
		return ": " + texts(t.Mops)
	})
	return err
}

// try does the micro-operations of a plan, and fills in what they saw.
func (m *mops) try(ctx context.Context, c *Client, x *txn.Txn, p *plan, ops []check.Mop) error {
	if p.together {
		ks := make([]kv.Key, len(ops))
		for i := range ops {
			ks[i] = m.key(ops[i].Key)
		}
		vs, err := x.GetMany(ctx, ks)
		if err != nil {
			return err
		}
		for i := range ops {
			saw(&ops[i], vs[i])
		}
		return nil
	}
	for i := range ops {
		if i > 0 && p.pause > 0 {
			c.RT.Sleep(time.Duration(c.Rand.Int64N(int64(p.pause))))
		}
		if err := m.one(ctx, x, &ops[i]); err != nil {
			return err
		}
	}
	return nil
}

// one does a micro-operation. An append reads the list and writes it, which the history does not tell.
func (m *mops) one(ctx context.Context, x *txn.Txn, op *check.Mop) error {
	k := m.key(op.Key)
	if op.Kind == check.MopWrite {
		x.Put(k, digits(op.Value))
		return nil
	}
	old, err := x.Get(ctx, k)
	switch {
	case err != nil:
		return err
	case op.Kind == check.MopAppend:
		if len(old) > 0 {
			old = append(slices.Clone(old), ' ')
		}
		x.Put(k, strconv.AppendInt(old, op.Value, 10))
	default:
		saw(op, old)
	}
	return nil
}

// saw fills in what a read saw.
func saw(op *check.Mop, v []byte) {
	op.Known = true
	if op.Kind == check.MopRead {
		op.Nil, op.Value = len(v) == 0, number(v)
		return
	}
	op.List = nil
	for _, f := range strings.Fields(string(v)) {
		op.List = append(op.List, number([]byte(f)))
	}
}

// Final reads all that was ever written.
func (m *mops) Final(c *Client) error {
	return m.do(c, func() plan {
		p := plan{readOnly: true, together: true}
		for _, k := range m.keys {
			p.mops = append(p.mops, check.Mop{Kind: m.profile.read, Key: k})
		}
		return p
	})
}

// Check holds the history against what both orderings guarantee. What only `wait` excludes is causal reverse.
func (m *mops) Check() []check.Anomaly {
	h := make([]check.Txn, 0, len(m.txns))
	for _, t := range m.txns {
		if len(t.Mops) > 0 {
			h = append(h, *t)
		}
	}
	if as := check.Transactions(h, check.TxnOptions{Model: check.SerializableLinearizableKeys}); len(as) > 0 {
		return as
	}
	as := check.Transactions(h, check.TxnOptions{Model: check.StrictSerializable})
	for i, a := range as {
		as[i] = check.Anomaly{Kind: check.CausalReverse, Text: a.String()}
	}
	return as
}

func (m *mops) Ops() (n map[check.Outcome]int) {
	for _, t := range m.txns {
		n = count(n, t.Outcome)
	}
	return n
}

func texts(ops []check.Mop) string {
	if len(ops) > 12 {
		return fmt.Sprintf("read of %d keys", len(ops))
	}
	out := make([]string, len(ops))
	for i, op := range ops {
		out[i] = op.String()
	}
	return strings.Join(out, ", ")
}
