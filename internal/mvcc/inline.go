package mvcc

import (
	"errors"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// GetInline returns the value of an unversioned key, nil if it has none.
func GetInline(r storage.Reader, k kv.Key) ([]byte, error) {
	v, c, err := r.Get(storage.Key(k))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append([]byte(nil), v...), c.Close()
}

// PutInline sets an unversioned key, or removes it if the value is empty.
func PutInline(b *storage.Batch, k kv.Key, value []byte) error {
	if len(value) == 0 {
		return b.Delete(storage.Key(k), nil)
	}
	return b.Set(storage.Key(k), value, nil)
}

// ScanInline returns the unversioned keys of a span and their values, at most limit; versioned ones are passed over.
func ScanInline(r storage.Reader, s kv.Span, limit int) (ks []kv.Key, values [][]byte, err error) {
	if s.Empty() || limit <= 0 {
		return nil, nil, nil
	}
	lower, upper := storage.Span(s)
	it, err := r.NewIter(&storage.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, nil, err
	}
	var mem arena
	for valid := it.First(); valid && len(ks) < limit; valid = it.NextPrefix() {
		k, ts, err := storage.Decode(it.Key())
		if err != nil {
			return nil, nil, errors.Join(err, it.Close())
		}
		if !ts.IsZero() {
			continue
		}
		v, err := it.ValueAndErr()
		if err != nil {
			return nil, nil, errors.Join(err, it.Close())
		}
		ks = append(ks, mem.copy(k))
		values = append(values, mem.copy(v))
	}
	return ks, values, errors.Join(it.Error(), it.Close())
}

// GetRecord returns a transaction's record, nil if there is none. The intent filter may be nil.
func GetRecord(r storage.Reader, s *IntentFilter, anchor kv.Key, id kv.TxnID) (*kv.Record, error) {
	var room [128]byte
	if !s.provesAbsence(storage.AppendKey(keys.AppendRecord(room[:0], anchor, id), nil)) {
		return GetRecordAt(r, keys.Record(anchor, id))
	}
	if checked {
		rec, err := GetRecordAt(r, keys.Record(anchor, id))
		assertAbsent(keys.Record(anchor, id), rec != nil && err == nil) // with an error nothing is known
	}
	return nil, nil
}

// GetRecordAt is GetRecord by the record's own key.
func GetRecordAt(r storage.Reader, k kv.Key) (*kv.Record, error) {
	stored, c, err := r.Get(storage.Key(k))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rec, err := decodeRecord(stored)
	return rec, errors.Join(err, c.Close())
}

func decodeRecord(stored []byte) (*kv.Record, error) {
	if !wellFormed(stored) {
		return nil, assertionf("malformed record %.16x", stored)
	}
	rec := new(kv.Record)
	_, err := rec.UnmarshalMsg(stored[1:])
	return rec, err
}

// PutRecord writes a transaction's record. replaces: it has one.
func PutRecord(b *storage.Batch, anchor kv.Key, id kv.TxnID, rec *kv.Record, replaces bool) error {
	return PutRecordAt(b, keys.Record(anchor, id), rec, replaces)
}

// PutRecordAt is PutRecord by the record's own key.
func PutRecordAt(b *storage.Batch, k kv.Key, rec *kv.Record, replaces bool) error {
	stored, err := rec.MarshalMsg(format(replaces))
	if err != nil {
		return err
	}
	return b.Set(storage.Key(k), stored, nil)
}

// RemoveRecordAt removes a record by its own key.
func RemoveRecordAt(b *storage.Batch, k kv.Key) error { return b.Delete(storage.Key(k), nil) }

// EachRecord calls fn with the records in a span of record keys, until it returns false. The arguments are fn's to keep.
func EachRecord(r storage.Reader, s kv.Span, fn func(k kv.Key, rec *kv.Record) bool) error {
	lower, upper := storage.Span(s)
	it, err := r.NewIter(&storage.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for valid := it.First(); valid; valid = it.Next() {
		k, _, err := storage.Decode(it.Key())
		if err != nil {
			return errors.Join(err, it.Close())
		}
		stored, err := it.ValueAndErr()
		if err != nil {
			return errors.Join(err, it.Close())
		}
		rec, err := decodeRecord(stored)
		if err != nil {
			return errors.Join(err, it.Close())
		}
		if !fn(append(kv.Key(nil), k...), rec) {
			break
		}
	}
	return errors.Join(it.Error(), it.Close())
}
