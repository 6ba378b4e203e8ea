package mvcc

import (
	"bytes"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// Count is Scan in key order of which only the groups are returned, and how many rows each of them has. The budget's rows
// are groups. Where it is spent within a group, the rest of the group comes with the rest of the span.
func (v *View) Count(s kv.Span, b *Budget, g *kv.Grouping) (groups kv.Rows, read kv.Span, err error) {
	if rows, over := nothingToScan(s, b); over {
		return rows, kv.Span{}, nil
	}
	if v.o.Own != nil {
		return v.countOwn(s, b, g)
	}
	return v.scan(s, false, func(rows *kv.Rows) error {
		c := counter{v: v, g: g, b: b, rows: rows}
		return c.run(s)
	})
}

// maxOwnBytes bounds the rows that countOwn has in memory.
const maxOwnBytes = 4 << 20

// countOwn is Count for a transaction with intents of its own: a page of rows is read, with these among them, and counted.
// What is left comes with the rest of the span.
func (v *View) countOwn(s kv.Span, b *Budget, g *kv.Grouping) (groups kv.Rows, read kv.Span, err error) {
	page := Budget{Rows: maxOwnKeys, Bytes: maxOwnBytes, Keys: min(b.Keys, maxOwnKeys)}
	rows, read, err := v.scanOwn(s, &page, false)
	if err != nil || v.Uncertain != nil {
		return kv.Rows{}, kv.Span{}, err
	}
	c := counter{v: v, g: g, b: b, rows: &groups}
	for i, k := range rows.Keys {
		if c.again(k) {
			continue
		}
		if err := c.begin(k, rows.Values[i]); err != nil {
			return kv.Rows{}, kv.Span{}, err
		}
	}
	c.end()
	b.Keys -= max(1, len(rows.Keys))
	groups.More, groups.Resume = rows.More, rows.Resume
	return groups, read, nil
}

// counter counts the rows of one span.
type counter struct {
	v    *View
	g    *kv.Grouping
	b    *Budget
	rows *kv.Rows
	// group is how the keys of the present group begin, with which another key of the group is recognized at once: no
	// column is the beginning of another one of its shape.
	group []byte
	n     int64
}

func (c *counter) run(s kv.Span) error {
	v, tooNew := c.v, 0
	for valid := v.it.First(); valid; {
		k := v.it.Key()
		n := storage.Split(k)
		ts, err := suffixTS(k, n)
		switch {
		case err != nil:
			return err
		case ts.IsZero(): // an unversioned key
			valid = v.it.Next()
			continue
		case v.o.Limit.Less(ts):
			valid = v.skipTooNew(v.it, k[:n-1], v.o.Limit, &tooNew)
			continue
		case v.o.TS.Less(ts):
			v.uncertain(k[:n-1], ts)
			return nil
		}
		tooNew = 0
		v.Newest = v.Newest.Forward(ts)
		c.b.Keys--
		there, err := v.present()
		if err == nil && there {
			err = c.count(k[:n-1])
		}
		if err != nil {
			return err
		}
		if c.b.spent() {
			stopAt(c.rows, kv.Span{Start: keys.Next(k[:n-1]), End: s.End})
			break
		}
		valid = v.it.NextPrefix()
	}
	c.end()
	return v.it.Error()
}

// present reports whether the version that the iterator is at is a value, and not a tombstone. It does not fetch it.
func (v *View) present() (bool, error) {
	lazy := v.it.LazyValue()
	if lazy.Len() > 1 {
		return true, nil
	}
	stored, err := v.it.ValueAndErr()
	if err != nil {
		return false, err
	}
	value, err := decodeValue(stored)
	return value != nil, err
}

func (c *counter) count(k kv.Key) error {
	if c.again(k) {
		return nil
	}
	if !c.g.First {
		return c.begin(k, nil)
	}
	stored, err := c.v.it.ValueAndErr()
	if err != nil {
		return err
	}
	value, err := decodeValue(stored)
	if err != nil {
		return err
	}
	return c.begin(k, value)
}

// again counts a row of the present group, if it is one.
func (c *counter) again(k kv.Key) bool {
	if c.n == 0 || !bytes.HasPrefix(k, c.group) {
		return false
	}
	c.n++
	return true
}

// begin begins a group with its first row.
func (c *counter) begin(k kv.Key, value []byte) error {
	c.end()
	end, err := keys.GroupEnd(k, c.g)
	if err != nil {
		return assertionf("%s", err)
	}
	first := c.v.mem.copy(k)
	c.group, c.n = first[:end], 1
	c.rows.Keys = append(c.rows.Keys, first)
	if !c.g.First {
		value = nil
	} else {
		c.rows.Values = append(c.rows.Values, c.v.mem.copy(value))
	}
	c.b.row(k, value)
	return nil
}

// end completes the present group.
func (c *counter) end() {
	if c.n > 0 {
		c.rows.Counts = append(c.rows.Counts, c.n)
	}
	c.n = 0
}
