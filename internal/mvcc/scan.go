package mvcc

import (
	"bytes"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// Budget is what a request may still return. Scan takes from it. A scan returns at least one row, however large, if any
// of the budget was left.
type Budget struct {
	Rows  int
	Bytes int
	// Keys bounds the work on keys that yield no row.
	Keys int
}

func (b *Budget) spent() bool { return b.Rows <= 0 || b.Bytes <= 0 || b.Keys <= 0 }

func (b *Budget) row(k, value []byte) {
	b.Rows--
	b.Bytes -= len(k) + len(value)
}

// Scan returns the rows of a span, in reverse order if asked, until the budget is spent; and the part of the span that
// was read.
func (v *View) Scan(s kv.Span, b *Budget, reverse bool) (rows kv.Rows, read kv.Span, err error) {
	return v.scan(s, b, reverse, func(rows *kv.Rows) error {
		if reverse {
			return v.scanReverse(s, b, rows)
		}
		return v.scanForward(s, b, rows)
	})
}

// scan is what all kinds of scans have in common. fn reads versions, with the iterator bounded to the span.
func (v *View) scan(s kv.Span, b *Budget, reverse bool, fn func(*kv.Rows) error) (rows kv.Rows, read kv.Span, err error) {
	switch {
	case s.Empty():
		return rows, kv.Span{}, nil
	case b.spent():
		rows.More, rows.Resume = true, s
		return rows, kv.Span{}, nil
	}
	v.it.SetBounds(storage.Span(s))
	if err = fn(&rows); err != nil || v.Uncertain != nil {
		return kv.Rows{}, kv.Span{}, err
	}
	switch read = s; {
	case rows.More && reverse:
		read.Start = rows.Resume.End
	case rows.More:
		read.End = rows.Resume.Start
	}
	if err := v.intentsIn(keys.LockSpan(read)); err != nil {
		return kv.Rows{}, kv.Span{}, err
	}
	v.it.SetBounds(nil, nil)
	return rows, read, nil
}

// stopAt ends a scan that has this left, if that is anything.
func stopAt(rows *kv.Rows, left kv.Span) {
	if !left.Empty() {
		rows.More, rows.Resume = true, left
	}
}

func (v *View) add(rows *kv.Rows, b *Budget, k, stored []byte, ts clock.Timestamp) error {
	value, err := decodeValue(stored)
	if err != nil {
		return err
	}
	v.Newest = v.Newest.Forward(ts)
	b.Keys--
	if value != nil {
		rows.Keys = append(rows.Keys, v.mem.copy(k))
		rows.Values = append(rows.Values, v.mem.copy(value))
		b.row(k, value)
	}
	return nil
}

func (v *View) scanForward(s kv.Span, b *Budget, rows *kv.Rows) error {
	tooNew := 0
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
		stored, err := v.it.ValueAndErr()
		if err != nil {
			return err
		}
		if err := v.add(rows, b, k[:n-1], stored, ts); err != nil {
			return err
		}
		if b.spent() {
			stopAt(rows, kv.Span{Start: keys.Next(k[:n-1]), End: s.End})
			return nil
		}
		valid = v.it.NextPrefix()
	}
	return v.it.Error()
}

// scanReverse meets the versions of a key from the oldest to the newest: the one to read is the last not above TS, which
// is known only at the next.
func (v *View) scanReverse(s kv.Span, b *Budget, rows *kv.Rows) error {
	valid := v.it.Last()
	for valid {
		v.seek = append(v.seek[:0], v.it.Key()[:storage.Split(v.it.Key())]...)
		var best clock.Timestamp
		steps := 0
		for valid && bytes.Equal(v.it.Key()[:storage.Split(v.it.Key())], v.seek) {
			ts, err := suffixTS(v.it.Key(), len(v.seek))
			if err != nil {
				return err
			}
			switch {
			case ts.IsZero():
			case ts.LessEq(v.o.TS):
				if ts.LessEq(best) {
					return assertionf("versions of %q in the order %s, %s", v.seek, best, ts) // M1
				}
				stored, err := v.it.ValueAndErr()
				if err != nil {
					return err
				}
				best, v.kept = ts, append(v.kept[:0], stored...)
			case ts.LessEq(v.o.Limit):
				v.uncertain(v.seek[:len(v.seek)-1], ts)
				return nil
			default:
				valid = v.it.SeekLT(v.seek) // all further ones are above the limit as well
				steps = -1
			}
			if steps < 0 {
				break
			}
			if steps++; steps == nextTries {
				if best, valid, err = v.seekBest(); err != nil || v.Uncertain != nil {
					return err
				}
				break
			}
			valid = v.it.Prev()
		}
		if best.IsZero() {
			continue
		}
		k := v.seek[:len(v.seek)-1]
		if err := v.add(rows, b, k, v.kept, best); err != nil {
			return err
		}
		if b.spent() {
			stopAt(rows, kv.Span{Start: s.Start, End: bytes.Clone(k)})
			return nil
		}
	}
	return v.it.Error()
}

// seekBest finds the version to read of the key in v.seek by going forward, for a key with many versions, and leaves the
// iterator at the key before.
func (v *View) seekBest() (best clock.Timestamp, valid bool, err error) {
	prefix := len(v.seek)
	v.far = storage.AppendVersion(v.far[:0], v.seek[:prefix-1], v.o.Limit)
	if v.it.SeekGE(v.far) && bytes.HasPrefix(v.it.Key(), v.seek) && storage.Split(v.it.Key()) == prefix {
		if best, err = suffixTS(v.it.Key(), prefix); err != nil {
			return best, false, err
		}
		if v.o.TS.Less(best) {
			v.uncertain(v.seek[:prefix-1], best)
			return best, false, nil
		}
		stored, err := v.it.ValueAndErr()
		if err != nil {
			return best, false, err
		}
		v.kept = append(v.kept[:0], stored...)
	}
	if err := v.it.Error(); err != nil {
		return best, false, err
	}
	return best, v.it.SeekLT(v.seek), nil
}
