package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// plans is what the SQL layer does with its catalog, at the level of keys (txn.DB.ReadAt, txn.Guard). There is a plan, of
// which each client keeps a copy that it has read at a time to come, and uses without looking again. Rows are written
// according to the copy, under its guard. Each row's version of the plan has to be the one that held at the row's commit.
// Some clients only look at their copy and tell of it, as SHOW TABLES does: the versions told must not go back in real time.
type plans struct {
	ops     []*check.Op
	changes []*planChange // by version; 0 is there from the beginning
	rows    []*planRow
	looks   []*planLook
}

// planLook is a version that a client was told of.
type planLook struct {
	check.Op
	version int64
}

type planChange struct {
	check.Op
	at clock.Timestamp
}

type planRow struct {
	check.Op
	version int64
	at      clock.Timestamp
}

// planCopy is a client's: version holds from from to until.
type planCopy struct {
	version     int64
	from, until clock.Timestamp
}

var planKey = dataKey('v', 0, "plan")

func planRowKey(n int) kv.Key { return dataKey('v', n%parts, fmt.Sprintf("row%02d", n)) }

func (p *plans) Splits() []kv.Key { return splits('v') }

func (p *plans) Setup(*Client) error { return nil }

func (p *plans) Step(c *Client) {
	switch n := c.Rand.IntN(8); {
	case n == 0:
		p.change(c)
	case n < 4:
		p.look(c)
	default:
		p.write(c)
	}
}

// use returns the client's copy of the plan if it covers where the transaction stands, or else another one.
func (p *plans) use(ctx context.Context, c *Client, t *txn.Txn) (*planCopy, error) {
	r, g, err := t.Window(ctx)
	if err != nil {
		return nil, err
	}
	mine, _ := c.state.(*planCopy)
	if mine == nil || mine.until.Less(g) {
		if mine, err = p.readAhead(ctx, c); err != nil {
			return nil, err
		}
	}
	switch {
	case g.Less(mine.from): // it was changed after the transaction began
		return nil, kv.Errorf(kv.ErrRefresh, "the copy of the plan is newer than the transaction")
	case r.Less(mine.from):
		if err := t.MoveUp(ctx, mine.from); err != nil {
			return nil, err
		}
	}
	t.ReadElsewhere(mine.from)
	t.NotBelow(mine.from)
	return mine, nil
}

// look tells which version of the plan holds, by the client's copy alone.
func (p *plans) look(c *Client) {
	o := &planLook{}
	c.begin(&o.Op, func() string {
		p.ops, p.looks = append(p.ops, &o.Op), append(p.looks, o)
		return "look at the plan"
	})
	err := c.txn(true, func(ctx context.Context, t *txn.Txn) error {
		used, err := p.use(ctx, c, t)
		if err == nil {
			o.version = used.version
		}
		return err
	})
	c.end(&o.Op, err, func() string {
		if err != nil {
			return ""
		}
		return fmt.Sprintf(", which is %d", o.version)
	})
}

// read reads the plan ahead.
func (p *plans) read(ctx context.Context, c *Client, ts clock.Timestamp) (*planCopy, error) {
	out := &planCopy{until: ts}
	newest, err := c.DB.ReadAt(ctx, ts, func(ctx context.Context, t *txn.Txn) error {
		v, err := t.Get(ctx, planKey)
		out.version = number(v)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.from = newest
	c.state = out
	return out, nil
}

// readAhead is read as far ahead as leases reach.
func (p *plans) readAhead(ctx context.Context, c *Client) (*planCopy, error) {
	out := &planCopy{}
	var err error
	out.from, out.until, err = c.DB.ReadAhead(ctx, logUniform(c.Rand, time.Millisecond, 500*time.Millisecond), func(ctx context.Context, t *txn.Txn) error {
		v, err := t.Get(ctx, planKey)
		out.version = number(v)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.state = out
	return out, nil
}

// lead is how far ahead the plan is read.
func lead(c *Client, ts clock.Timestamp) clock.Timestamp {
	return clock.Timestamp{Wall: ts.Wall + int64(logUniform(c.Rand, time.Millisecond, 500*time.Millisecond))}
}

func (p *plans) change(c *Client) {
	o := &planChange{}
	c.begin(&o.Op, func() string {
		p.ops = append(p.ops, &o.Op)
		return "change the plan"
	})
	var last *txn.Txn
	var n int64
	err := c.txn(false, func(ctx context.Context, t *txn.Txn) error {
		last = t
		v, err := t.Get(ctx, planKey)
		n = number(v) + 1
		t.Put(planKey, digits(n))
		return err
	})
	c.end(&o.Op, err, func() string {
		if err != nil {
			return ""
		}
		for int64(len(p.changes)) <= n {
			p.changes = append(p.changes, nil)
		}
		o.at, p.changes[n] = last.CommitTimestamp(), o
		return fmt.Sprintf(" to %d at %s", n, o.at)
	})
}

// write writes a row by the client's copy of the plan. The copy has to be one that holds where the transaction reads.
func (p *plans) write(c *Client) {
	o := &planRow{}
	key, read := planRowKey(c.Rand.IntN(12)), c.Rand.IntN(2) == 0
	c.begin(&o.Op, func() string {
		p.ops, p.rows = append(p.ops, &o.Op), append(p.rows, o)
		return "write a row"
	})
	var last *txn.Txn
	var used *planCopy
	err := c.txn(false, func(ctx context.Context, t *txn.Txn) (err error) {
		last = t
		if used, err = p.use(ctx, c, t); err != nil {
			return err
		}
		t.SetGuard(func(ctx context.Context, at clock.Timestamp) (clock.Timestamp, error) {
			if at.LessEq(used.until) {
				return used.until, nil
			}
			next, err := p.read(ctx, c, lead(c, at))
			if err != nil {
				return at, err
			}
			if next.version != used.version {
				return at, kv.Errorf(kv.ErrRefresh, "the plan was changed")
			}
			used = next
			return next.until, nil
		})
		if read {
			if _, err := t.Get(ctx, planRowKey(c.Rand.IntN(12))); err != nil {
				return err
			}
		}
		t.Put(key, digits(used.version))
		if c.Rand.IntN(4) == 0 { // a second one, as a rule in another range
			t.Put(planRowKey(c.Rand.IntN(12)), digits(used.version))
		}
		return nil
	})
	c.end(&o.Op, err, func() string {
		if err != nil {
			return ""
		}
		o.version, o.at = used.version, last.CommitTimestamp()
		return fmt.Sprintf(" by plan %d at %s", o.version, o.at)
	})
}

// Final reads everything by the present, which ends all copies.
func (p *plans) Final(c *Client) error {
	return c.txn(true, func(ctx context.Context, t *txn.Txn) error {
		_, err := t.GetMany(ctx, []kv.Key{planKey, planRowKey(0), planRowKey(1), planRowKey(2)})
		return err
	})
}

// Check holds each row against the changes whose time is known.
func (p *plans) Check() (as []check.Anomaly) {
	known := func(version int64) *planChange {
		if version < int64(len(p.changes)) {
			return p.changes[version]
		}
		return nil
	}
	for _, o := range p.rows {
		if o.Outcome != check.OK || len(as) >= 10 {
			continue
		}
		if made := known(o.version); made != nil && o.at.Less(made.at) {
			as = append(as, check.Anomaly{Kind: check.FutureRead, Text: fmt.Sprintf("%s wrote by plan %d at %s; that is of %s", &o.Op, o.version, o.at, made.at)})
		}
		if over := known(o.version + 1); over != nil && over.at.LessEq(o.at) {
			as = append(as, check.Anomaly{Kind: check.StaleRead, Text: fmt.Sprintf("%s wrote by plan %d at %s; that was changed at %s by %s", &o.Op, o.version, o.at, over.at, &over.Op)})
		}
	}
	return append(as, p.checkLooks()...)
}

// checkLooks holds what clients were told against the order of real time: a look has to show every change that was
// acknowledged, or shown by another look, before it began.
func (p *plans) checkLooks() (as []check.Anomaly) {
	shows := func(o *planLook, version int64, op *check.Op) {
		if len(as) < 10 && op.Outcome == check.OK && op.Return < o.Invoke && o.version < version {
			as = append(as, check.Anomaly{Kind: check.StaleRead, Text: fmt.Sprintf("%s was told of plan %d after %s had %d", &o.Op, o.version, op, version)})
		}
	}
	for _, o := range p.looks {
		if o.Outcome != check.OK {
			continue
		}
		for _, other := range p.looks {
			shows(o, other.version, &other.Op)
		}
		for version, made := range p.changes {
			if made != nil {
				shows(o, int64(version), &made.Op)
			}
		}
	}
	return as
}

func (p *plans) Ops() (n map[check.Outcome]int) {
	for _, o := range p.ops {
		n = count(n, o.Outcome)
	}
	return n
}
