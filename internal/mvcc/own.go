package mvcc

import (
	"math"

	"github.com/tinylib/msgp/msgp"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// A transaction that has laid intents before its commit reads them back (Options.Own), at whatever timestamp they lie. What
// is committed below an own value is not read at all: it is neither returned nor uncertain in a Get.
//
// Intents of a transaction that is known to be decided (Options.Finished) are read as the versions that they will become, so
// that who reads many of them need not wait until they are resolved. Nobody writes above an intent before it is resolved:
// if there is a version at the commit timestamp it is a late copy, and counts for nothing; else it is the newest.

// laidRow is what an intent says of a key.
type laidRow struct {
	key   kv.Key
	value []byte          // nil: deleted
	ts    clock.Timestamp // of the commit; zero: the reader's own
}

func (v *View) overlays() bool { return v.o.Own != nil || len(v.o.Finished) > 0 }

// laid is what the intent that the iterator is at says of its key, if it is one that is read.
func (v *View) laid() (row laidRow, ok bool, err error) {
	stored, err := v.it.ValueAndErr()
	if err != nil {
		return row, false, err
	}
	id, err := intentTxn(stored)
	if err != nil {
		return row, false, err
	}
	seq, ignored := uint64(math.MaxUint64), []kv.SeqRange(nil)
	st, finished := v.o.Finished[id]
	switch {
	case id == v.o.Txn && v.o.Own != nil:
		seq, ignored = v.o.Own.Seq, v.o.Own.Ignored
	case finished && st.State == kv.Committed && st.CommitTS.LessEq(v.o.Limit):
		row.ts, ignored = st.CommitTS, st.Ignored
	default:
		return row, false, nil
	}
	in, err := decodeIntent(stored)
	if err != nil {
		return row, false, err
	}
	value, deleted, ok := in.Visible(seq, ignored)
	if !deleted {
		row.value = value
	}
	return row, ok, nil
}

// laidOver is laid for one key, but for a late copy.
func (v *View) laidOver(k kv.Key) (row laidRow, ok bool, err error) {
	row, ok, err = v.laid()
	if err != nil || !ok {
		return row, false, err
	}
	row.key = k
	copied, err := v.copied(row)
	return row, !copied, err
}

// copied: the intent has become a version already.
func (v *View) copied(row laidRow) (bool, error) {
	if row.ts.IsZero() {
		return false, nil
	}
	return v.hasVersion(row.key, row.ts)
}

// through reads a row that is laid over versions.
func (v *View) through(row laidRow) ([]byte, error) {
	if v.o.TS.Less(row.ts) {
		v.uncertain(row.key, row.ts)
		return nil, nil
	}
	v.Newest = v.Newest.Forward(row.ts)
	return row.value, nil
}

// maxOwnKeys bounds how many intents one scan looks at.
const maxOwnKeys = 1 << 15

// laidIn lists what intents say of the keys of a span, in the order of the scan, until the budget is spent, and returns the
// part of the span that it has looked at.
func (v *View) laidIn(s kv.Span, b Budget, reverse bool) (rows []laidRow, looked kv.Span, err error) {
	b.Keys = min(b.Keys, maxOwnKeys)
	v.it.SetBounds(storage.Span(keys.LockSpan(s)))
	first, next := v.it.First, v.it.Next
	if reverse {
		first, next = v.it.Last, v.it.Prev
	}
	looked = s
	for valid := first(); valid; valid = next() {
		enc, _, err := storage.Decode(v.it.Key())
		if err != nil {
			return nil, s, err
		}
		k := keys.LockedKey(enc)
		if b.spent() { // this one was not looked at
			if reverse {
				looked.Start = keys.Next(k)
			} else {
				looked.End = v.mem.copy(k)
			}
			break
		}
		b.Keys--
		row, ok, err := v.laid()
		if err != nil {
			return nil, s, err
		}
		if ok {
			row.key = v.mem.copy(k)
			rows = append(rows, row)
			if row.value != nil {
				b.row(k, row.value)
			}
		}
	}
	if err := v.it.Error(); err != nil {
		return nil, s, err
	}
	v.it.SetBounds(nil, nil)
	kept := rows[:0]
	for _, row := range rows {
		copied, err := v.copied(row)
		if err != nil {
			return nil, s, err
		}
		if !copied {
			kept = append(kept, row)
		}
	}
	return kept, looked, nil
}

// scanOwn is Scan with intents laid over the rows.
func (v *View) scanOwn(s kv.Span, b *Budget, reverse bool) (rows kv.Rows, read kv.Span, err error) {
	over, looked, err := v.laidIn(s, *b, reverse)
	if err != nil {
		return rows, kv.Span{}, err
	}
	before := *b
	v.laying = true
	rows, read, err = v.scanCommitted(looked, b, reverse)
	v.laying = false
	if err != nil || v.Uncertain != nil {
		return rows, read, err
	}
	for _, row := range over {
		if !read.Contains(row.key) {
			continue
		}
		if _, err := v.through(row); err != nil || v.Uncertain != nil {
			return kv.Rows{}, kv.Span{}, err
		}
	}
	rows = overlay(rows, over, read, reverse)
	if n := before.Rows; len(rows.Keys) > n {
		cut := rows.Keys[n-1]
		rows.Keys, rows.Values = rows.Keys[:n], rows.Values[:n]
		if reverse {
			read.Start = cut
		} else {
			read.End = keys.Next(cut)
		}
	}
	rows.More, rows.Resume = false, kv.Span{}
	if reverse {
		stopAt(&rows, kv.Span{Start: s.Start, End: read.Start})
	} else {
		stopAt(&rows, kv.Span{Start: read.End, End: s.End})
	}
	for i := range rows.Keys {
		before.row(rows.Keys[i], rows.Values[i])
	}
	b.Rows, b.Bytes = before.Rows, before.Bytes
	return rows, read, nil
}

// overlay lays what intents say over rows of a span; both are in the order of the scan.
func overlay(rows kv.Rows, over []laidRow, read kv.Span, reverse bool) kv.Rows {
	if len(over) == 0 {
		return rows
	}
	out := kv.Rows{Keys: make([]kv.Key, 0, len(rows.Keys)+len(over)), Values: make([][]byte, 0, len(rows.Keys)+len(over))}
	i := 0
	for _, o := range over {
		if !read.Contains(o.key) {
			continue
		}
		for i < len(rows.Keys) && rows.Keys[i].Less(o.key) != reverse && !rows.Keys[i].Equal(o.key) {
			out.Keys, out.Values = append(out.Keys, rows.Keys[i]), append(out.Values, rows.Values[i])
			i++
		}
		if i < len(rows.Keys) && rows.Keys[i].Equal(o.key) {
			i++
		}
		if o.value != nil {
			out.Keys, out.Values = append(out.Keys, o.key), append(out.Values, o.value)
		}
	}
	out.Keys, out.Values = append(out.Keys, rows.Keys[i:]...), append(out.Values, rows.Values[i:]...)
	return out
}

// intentTxn is whose a stored intent is, without decoding the rest.
func intentTxn(stored []byte) (id kv.TxnID, err error) {
	if !wellFormed(stored) {
		return id, assertionf("malformed intent %.16x", stored)
	}
	n, b, err := msgp.ReadMapHeaderBytes(stored[1:])
	for ; err == nil && n > 0; n-- {
		var field []byte
		if field, b, err = msgp.ReadMapKeyZC(b); err != nil {
			break
		}
		if string(field) == "t" {
			_, err = id.UnmarshalMsg(b)
			return id, err
		}
		b, err = msgp.Skip(b)
	}
	if err == nil {
		err = assertionf("an intent of nobody: %.16x", stored)
	}
	return id, err
}

// IntentsOf lists keys with intents of a transaction in a span, until the budget is spent, and what is left of the span.
// Budget.Keys bounds how many intents it looks at, whoever's they are.
func IntentsOf(r storage.Reader, s kv.Span, id kv.TxnID, b *Budget) (ks []kv.Key, rest kv.Span, err error) {
	v, err := Open(r, Options{TS: anyTime, Txn: id})
	if err != nil {
		return nil, s, err
	}
	defer func() {
		if cerr := v.Close(); err == nil {
			err = cerr
		}
	}()
	v.it.SetBounds(storage.Span(keys.LockSpan(s)))
	for valid := v.it.First(); valid; valid = v.it.Next() {
		enc, _, err := storage.Decode(v.it.Key())
		if err != nil {
			return nil, s, err
		}
		k := keys.LockedKey(enc)
		if b.spent() {
			return ks, kv.Span{Start: v.mem.copy(k), End: s.End}, nil
		}
		b.Keys--
		stored, err := v.it.ValueAndErr()
		if err != nil {
			return nil, s, err
		}
		of, err := intentTxn(stored)
		if err != nil {
			return nil, s, err
		}
		if of == id {
			ks = append(ks, v.mem.copy(k))
			b.row(k, stored)
		}
	}
	return ks, kv.Span{Start: s.End, End: s.End}, v.it.Error()
}
