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

// past reads at chosen times. Writers know their commit timestamps, readers the timestamp that they read at, so what each
// reader has to see is known exactly: of every key the write with the highest commit timestamp up to there.
type past struct {
	writes []*pastWrite
	reads  []*pastRead
	// lately: of each machine's clients one reads, again and again, what a key was a moment ago that its own node led at first, and
	// the others write those that it did not: a node whose clients find out that a range has moved does not read there any more.
	lately bool
}

// pastWrite sets some keys to its number.
type pastWrite struct {
	check.Op
	n    int64
	keys []int
	at   clock.Timestamp // known if it was acknowledged
}

// pastRead is what all keys were at a timestamp.
type pastRead struct {
	check.Op
	at     clock.Timestamp
	token  clock.Timestamp // it was guaranteed to see this
	first  int             // key
	values []int64         // of the keys from the first on; 0: none
}

const pastKeys = 6

func pastKey(n int) kv.Key { return dataKey('p', n%parts, fmt.Sprint(n)) }

func (p *past) Splits() []kv.Key { return splits('p') }

func (p *past) Setup(*Client) error { return nil }

func (p *past) Step(c *Client) {
	switch {
	case p.lately && c.Number == 0:
		k := parts + c.Machine%parts
		_ = p.readKeys(c, txn.Past{Back: logUniform(c.Rand, 5*time.Millisecond, 500*time.Millisecond)}, k, k+1)
	case p.lately || c.Rand.IntN(2) == 0:
		p.write(c)
	default:
		_ = p.read(c, choosePast(c))
	}
}

func (p *past) write(c *Client) {
	w := &pastWrite{}
	c.begin(&w.Op, func() string {
		p.writes = append(p.writes, w)
		w.n = int64(len(p.writes))
		for range 1 + c.Rand.IntN(3) {
			w.keys = append(w.keys, c.Rand.IntN(pastKeys))
		}
		if p.lately { // some key but the one at home
			w.keys = []int{parts + (c.Machine+1+c.Rand.IntN(parts-1))%parts}
		}
		return fmt.Sprintf("set p%v to %d", w.keys, w.n)
	})
	var last *txn.Txn
	err := c.txn(false, func(ctx context.Context, t *txn.Txn) error {
		last = t
		if c.Rand.IntN(2) == 0 { // not only blind writes
			if _, err := t.Get(ctx, pastKey(w.keys[0])); err != nil {
				return err
			}
		}
		if c.Rand.IntN(8) == 0 { // a transaction that is slow, so that what it wants to write at is closed
			c.RT.Sleep(time.Duration(c.Rand.Int64N(int64(2 * time.Second))))
		}
		for _, k := range w.keys {
			t.Put(pastKey(k), digits(w.n))
		}
		return nil
	})
	c.end(&w.Op, err, func() string {
		if err != nil {
			return ""
		}
		w.at = last.CommitTimestamp()
		c.state = w.at
		return fmt.Sprintf(" at %s", w.at)
	})
}

// choosePast draws a time, and with a bound of staleness often the guarantee to see the client's own last write.
func choosePast(c *Client) (o txn.Past) {
	d := time.Duration(1 + c.Rand.Int64N(int64(5*time.Second)))
	switch c.Rand.IntN(4) {
	case 0:
		o.Back = d
	case 1:
		o.Earliest = true
	default:
		o.AtMost = d
	}
	if own, ok := c.state.(clock.Timestamp); ok && o.Back == 0 && c.Rand.IntN(2) == 0 {
		o.NotBefore = own
	}
	return o
}

func (p *past) read(c *Client, when txn.Past) error { return p.readKeys(c, when, 0, pastKeys) }

func (p *past) readKeys(c *Client, when txn.Past, from, to int) error {
	r := &pastRead{token: when.NotBefore, first: from}
	c.begin(&r.Op, func() string {
		p.reads = append(p.reads, r)
		if to-from < pastKeys {
			return fmt.Sprintf("read p[%d:%d] at %+v", from, to, when)
		}
		return fmt.Sprintf("read p at %+v", when)
	})
	var ts clock.Timestamp
	var values []int64
	err := c.DB.Run(context.Background(), txn.Options{Past: when, ReadOnly: true, Name: c.Name}, func(ctx context.Context, t *txn.Txn) error {
		var ks []kv.Key
		for n := from; n < to; n++ {
			ks = append(ks, pastKey(n))
		}
		vs, err := t.GetMany(ctx, ks)
		if err != nil {
			return err
		}
		values = values[:0]
		for _, v := range vs {
			values = append(values, number(v))
		}
		ts, err = t.ReadTimestamp(ctx)
		return err
	})
	c.end(&r.Op, err, func() string {
		if err != nil {
			return ""
		}
		r.at, r.values = ts, values
		return fmt.Sprintf(" at %s: %v", ts, values)
	})
	return err
}

// Final reads the present, as it can be read by exact timestamp.
func (p *past) Final(c *Client) error { return p.read(c, txn.Past{Earliest: true}) }

// Check compares each read with what the acknowledged writes demand. A write of unknown outcome may be seen in place of
// any that is not above it; where it stands nobody knows.
func (p *past) Check() (as []check.Anomaly) {
	for _, r := range p.reads {
		if r.Outcome != check.OK {
			continue
		}
		if r.at.Less(r.token) {
			as = append(as, check.Anomaly{Kind: check.StaleRead, Text: fmt.Sprintf("%s reads at %s, and was guaranteed %s", &r.Op, r.at, r.token)})
		}
		for k, n := range r.values {
			if a := p.judge(r, r.first+k, n); a != nil {
				as = append(as, *a)
			}
		}
	}
	return as
}

func (p *past) judge(r *pastRead, k int, n int64) *check.Anomaly {
	newest := p.newest(k, r.at)
	var seen *pastWrite
	if n > 0 {
		seen = p.writes[n-1]
	}
	say := func(kind check.Kind, format string, args ...any) *check.Anomaly {
		return &check.Anomaly{Kind: kind, Text: fmt.Sprintf("%s reads p%d at %s as %d: ", &r.Op, k, r.at, n) + fmt.Sprintf(format, args...)}
	}
	switch {
	case seen == newest:
		return nil
	case seen == nil:
		return say(check.StaleRead, "write %d at %s is missing", newest.n, newest.at)
	case seen.Outcome == check.Failed:
		return say(check.AbortedRead, "that write failed")
	case seen.Outcome == check.OK && r.at.Less(seen.at):
		return say(check.FutureRead, "that was written at %s", seen.at)
	case seen.Outcome == check.OK:
		return say(check.StaleRead, "write %d at %s is missing, it shows %s", newest.n, newest.at, seen.at)
	}
	return nil // its outcome is not known, nor its timestamp
}

// newest is the acknowledged write of a key with the highest timestamp up to ts.
func (p *past) newest(k int, ts clock.Timestamp) (w *pastWrite) {
	for _, o := range p.writes {
		for _, key := range o.keys {
			if key == k && o.Outcome == check.OK && o.at.LessEq(ts) && (w == nil || w.at.Less(o.at)) {
				w = o
			}
		}
	}
	return w
}

func (p *past) Ops() (n map[check.Outcome]int) {
	for _, w := range p.writes {
		n = count(n, w.Outcome)
	}
	for _, r := range p.reads {
		n = count(n, r.Outcome)
	}
	return n
}
