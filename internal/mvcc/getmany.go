package mvcc

import (
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// GetMany is Get for several keys, cheapest if they are in order: the lock table is looked at first for all of them, so that
// each seek, there and among the versions, is a short way on from the one before.
func (v *View) GetMany(ks []kv.Key) ([][]byte, error) {
	out := make([][]byte, len(ks))
	var locked []int // keys with an intent, whoever's it is
	for i, k := range ks {
		if v.seekIntent(k) {
			locked = append(locked, i)
		} else if err := v.it.Error(); err != nil {
			return nil, err
		}
	}
	for i, k := range ks {
		if len(locked) > 0 && locked[0] == i {
			locked = locked[1:]
			value, err := v.Get(k)
			if err != nil || v.Uncertain != nil {
				return out, err
			}
			out[i] = value
			continue
		}
		v.seek = storage.AppendVersion(v.seek[:0], k, v.o.Limit)
		if !v.it.SeekPrefixGE(v.seek) {
			if err := v.it.Error(); err != nil {
				return nil, err
			}
			continue
		}
		ts, err := v.version()
		if err != nil {
			return nil, err
		}
		if v.o.TS.Less(ts) {
			v.uncertain(k, ts)
			return out, nil
		}
		if out[i], err = v.take(ts); err != nil {
			return nil, err
		}
	}
	return out, nil
}
