package mvcc

import (
	"bytes"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// Count is Scan in key order of which only the groups are returned, and how many rows each of them has. The budget's rows
// are groups. Where it is spent within a group, the rest of the group comes with the rest of the span.
//
// Where intents are about that are neither in the way nor above the limit, it is Scan that knows what they mean for the
// reader, and its rows are counted.
func (v *View) Count(s kv.Span, b *Budget, g *kv.Grouping) (groups kv.Rows, read kv.Span, err error) {
	if s.Empty() || b.spent() {
		return v.Scan(s, b, false)
	}
	laid, crowded, err := v.passedOver(keys.LockSpan(s))
	if err != nil || crowded {
		return kv.Rows{}, kv.Span{}, err
	}
	if laid {
		rows, read, err := v.Scan(s, b, false)
		if err != nil || v.Uncertain != nil {
			return rows, read, err
		}
		groups, err = countRows(rows, g)
		return groups, read, err
	}
	return v.scan(s, false, func(rows *kv.Rows) error {
		c := counter{v: v, g: g, b: b, rows: rows}
		return c.run(s)
	})
}

// passedOver looks at the lock table of a span before anything is counted. laid: it has intents that a scan passes over although
// they are at or below its limit: the reader's own, those of decided transactions (Finished), and others of which it knows more than
// they say. crowded: there are as many in the way as one evaluation reports; these are in Intents, and nothing need be counted
// before they are dealt with. (Found after counting, they would have all rows counted again for each so many.)
func (v *View) passedOver(locks kv.Span) (laid, crowded bool, err error) {
	v.it.SetBounds(storage.Span(locks))
	var inTheWay []Found
	for valid := v.it.First(); valid; valid = v.it.Next() {
		stored, err := v.it.ValueAndErr()
		if err != nil {
			return false, false, err
		}
		in, err := decodeIntent(stored)
		if err != nil {
			return false, false, err
		}
		if in.Txn == v.o.Txn {
			return true, false, nil
		}
		if v.o.Limit.Less(in.TS) {
			continue
		}
		if _, decided := v.o.Finished[in.Txn]; decided {
			return true, false, nil
		}
		if v.inTheWay(&in) {
			if v.o.MaxIntents == 0 {
				continue
			}
			k, _, err := storage.Decode(v.it.Key())
			if err != nil {
				return false, false, err
			}
			inTheWay = append(inTheWay, Found{Key: v.mem.copy(keys.LockedKey(k)), Intent: in})
			if len(inTheWay)+len(v.Intents) >= v.o.MaxIntents {
				v.Intents = append(v.Intents, inTheWay...)
				return false, true, nil
			}
			continue
		}
		if pushed, ok := v.o.Pushed[in.Txn]; !ok || pushed.LessEq(v.o.TS) {
			return true, false, nil
		}
	}
	return false, false, v.it.Error()
}

// countRows counts rows that are there.
func countRows(rows kv.Rows, g *kv.Grouping) (kv.Rows, error) {
	out := kv.Rows{More: rows.More, Resume: rows.Resume}
	var group []byte
	for i, k := range rows.Keys {
		if n := len(out.Counts); n > 0 && bytes.HasPrefix(k, group) {
			out.Counts[n-1]++
			continue
		}
		end, err := keys.GroupEnd(k, g)
		if err != nil {
			return out, assertionf("%s", err)
		}
		group = k[:end]
		out.Keys, out.Counts = append(out.Keys, k), append(out.Counts, 1)
		if g.First {
			out.Values = append(out.Values, rows.Values[i])
		}
	}
	return out, nil
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
	if lazy.Len() > sizeValue(nil, kv.TxnID{1}) { // longer than a tombstone with a name
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
	if c.n > 0 && bytes.HasPrefix(k, c.group) {
		c.n++
		return nil
	}
	c.end()
	end, err := keys.GroupEnd(k, c.g)
	if err != nil {
		return assertionf("%s", err)
	}
	first := c.v.mem.copy(k)
	c.group, c.n = first[:end], 1
	c.rows.Keys = append(c.rows.Keys, first)
	if !c.g.First {
		c.b.row(k, nil)
		return nil
	}
	stored, err := c.v.it.ValueAndErr()
	if err != nil {
		return err
	}
	value, err := decodeValue(stored)
	c.rows.Values = append(c.rows.Values, c.v.mem.copy(value))
	c.b.row(k, value)
	return err
}

// end completes the present group.
func (c *counter) end() {
	if c.n > 0 {
		c.rows.Counts = append(c.rows.Counts, c.n)
	}
	c.n = 0
}
