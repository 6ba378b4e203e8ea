package mvcc

import (
	"github.com/tinylib/msgp/msgp"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// A transaction that has laid intents before its commit reads them back (Options.Own), at whatever timestamp they lie. What
// is committed below an own value is not read at all: it is neither returned nor uncertain in a Get.

// ownRow is what a transaction has on a key.
type ownRow struct {
	key   kv.Key
	value []byte // nil: deleted
}

// own returns the transaction's own value on the key that the iterator found an intent on.
func (v *View) own() (value []byte, ok bool, err error) {
	stored, err := v.it.ValueAndErr()
	if err != nil {
		return nil, false, err
	}
	if id, err := intentTxn(stored); err != nil || id != v.o.Txn {
		return nil, false, err
	}
	in, err := decodeIntent(stored)
	if err != nil {
		return nil, false, err
	}
	value, deleted, ok := in.Visible(v.o.Own.Seq, v.o.Own.Ignored)
	if deleted {
		value = nil
	}
	return value, ok, nil
}

// maxOwnKeys bounds how many intents one scan looks at.
const maxOwnKeys = 1 << 15

// ownIn lists the transaction's values in a span, in the order of the scan, until the budget is spent, and returns the part
// of the span that it has looked at.
func (v *View) ownIn(s kv.Span, b Budget, reverse bool) (rows []ownRow, looked kv.Span, err error) {
	b.Keys = min(b.Keys, maxOwnKeys)
	v.it.SetBounds(storage.Span(keys.LockSpan(s)))
	first, next := v.it.First, v.it.Next
	if reverse {
		first, next = v.it.Last, v.it.Prev
	}
	for valid := first(); valid; valid = next() {
		enc, _, err := storage.Decode(v.it.Key())
		if err != nil {
			return nil, s, err
		}
		k := keys.LockedKey(enc)
		if b.spent() {
			// This one was not looked at.
			if reverse {
				return rows, kv.Span{Start: keys.Next(k), End: s.End}, nil
			}
			return rows, kv.Span{Start: s.Start, End: v.mem.copy(k)}, nil
		}
		b.Keys--
		value, ok, err := v.own()
		if err != nil {
			return nil, s, err
		}
		if ok {
			rows = append(rows, ownRow{key: v.mem.copy(k), value: value})
			if value != nil {
				b.row(k, value)
			}
		}
	}
	return rows, s, v.it.Error()
}

// scanOwn is Scan for a transaction with intents of its own: they are laid over the rows.
func (v *View) scanOwn(s kv.Span, b *Budget, reverse bool) (rows kv.Rows, read kv.Span, err error) {
	own, looked, err := v.ownIn(s, *b, reverse)
	if err != nil {
		return rows, kv.Span{}, err
	}
	before := *b
	rows, read, err = v.scanCommitted(looked, b, reverse)
	if err != nil || v.Uncertain != nil {
		return rows, read, err
	}
	rows = overlay(rows, own, read, reverse)
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

// overlay lays own values in the span over rows; both are in the order of the scan.
func overlay(rows kv.Rows, own []ownRow, read kv.Span, reverse bool) kv.Rows {
	if len(own) == 0 {
		return rows
	}
	out := kv.Rows{Keys: make([]kv.Key, 0, len(rows.Keys)+len(own)), Values: make([][]byte, 0, len(rows.Keys)+len(own))}
	i := 0
	for _, o := range own {
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
	if len(stored) == 0 || stored[0] != intentFormat {
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
