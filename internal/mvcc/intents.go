package mvcc

import (
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// inTheWay is M5 for one intent.
func (v *View) inTheWay(in *kv.Intent) bool {
	if in.Txn == v.o.Txn || v.o.Limit.Less(in.TS) {
		return false
	}
	if _, decided := v.o.Finished[in.Txn]; decided && v.laying {
		return false
	}
	pushed, ok := v.o.Pushed[in.Txn]
	return !ok || pushed.LessEq(v.o.TS)
}

func (v *View) seekIntent(k kv.Key) bool {
	v.seek = storage.AppendKey(append(v.seek[:0], lockPrefix...), k)
	if v.o.IntentFilter.provesAbsence(v.seek) {
		if checked {
			assertAbsent(v.seek, v.it.SeekPrefixGE(v.seek))
		}
		return false
	}
	return v.it.SeekPrefixGE(v.seek)
}

// Intent returns the intent on a key, whoever's it is; nil if there is none. It does not add to Intents.
func (v *View) Intent(k kv.Key) (*kv.Intent, error) {
	if !v.seekIntent(k) {
		return nil, v.it.Error()
	}
	stored, err := v.it.ValueAndErr()
	if err != nil {
		return nil, err
	}
	in, err := decodeIntent(stored)
	return &in, err
}

// intentsIn looks for intents in the way in a span of the lock table.
func (v *View) intentsIn(locks kv.Span) error {
	v.it.SetBounds(storage.Span(locks))
	for valid := v.it.First(); valid; valid = v.it.Next() {
		if v.o.MaxIntents > 0 && len(v.Intents) >= v.o.MaxIntents {
			return nil
		}
		k, ts, err := storage.Decode(v.it.Key())
		if err != nil {
			return err
		}
		if !ts.IsZero() {
			return assertionf("a version in the lock table: %x", v.it.Key()) // M3
		}
		if err := v.meet(keys.LockedKey(k)); err != nil {
			return err
		}
	}
	return v.it.Error()
}

// meet looks at the intent that the iterator is at.
func (v *View) meet(k kv.Key) error {
	stored, err := v.it.ValueAndErr()
	if err != nil {
		return err
	}
	// A transaction with a million of them passes over its own quickly.
	if id, err := intentTxn(stored); err != nil || id == v.o.Txn {
		return err
	}
	in, err := decodeIntent(stored)
	if err != nil {
		return err
	}
	if v.inTheWay(&in) {
		v.Intents = append(v.Intents, Found{Key: v.mem.copy(k), Intent: in})
	}
	return nil
}

var lockPrefix = keys.Lock(nil)

// The first byte of a stored intent or record. With replacing it took the place of another (IntentFilter, E2).
const (
	first     = 1
	replacing = 2
)

func format(replaces bool) []byte {
	if replaces {
		return []byte{replacing}
	}
	return []byte{first}
}

// wellFormed reports whether a stored intent or record begins as it has to.
func wellFormed(stored []byte) bool {
	return len(stored) > 0 && (stored[0] == first || stored[0] == replacing)
}

func decodeIntent(stored []byte) (in kv.Intent, err error) {
	if !wellFormed(stored) {
		return in, assertionf("malformed intent %.16x", stored)
	}
	_, err = in.UnmarshalMsg(stored[1:])
	return in, err
}

// PutIntent lays an intent on a key. replaces: in the place of one of the same transaction.
func PutIntent(b *storage.Batch, k kv.Key, in *kv.Intent, replaces bool) error {
	if err := checkValue(k, in.Value, in.Delete); err != nil {
		return err
	}
	if in.Txn.IsZero() || in.TS.IsZero() {
		return assertionf("an intent on %s of transaction %s at %s", k, in.Txn, in.TS)
	}
	stored, err := in.MarshalMsg(format(replaces))
	if err != nil {
		return err
	}
	return b.Set(storage.Key(keys.Lock(k)), stored, nil)
}

// RemoveIntent takes the intent on a key away, whoever's it is.
func RemoveIntent(b *storage.Batch, k kv.Key) error {
	return b.Delete(storage.Key(keys.Lock(k)), nil)
}
