package replica

import (
	"bytes"
	"fmt"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// A range's own state, replicated and part of snapshots: one key for each of these names (keys.RangeState).
const (
	stateDesc    = "desc"    // the descriptor
	stateApplied = "applied" // index and term of the last applied entry
	stateLow     = "low"     // the low water (L3)
)

// A range begins with nothing in its log and this position applied, on all of its first replicas alike. Because it is not
// zero, a replica that is added later and has nothing is behind, and gets a snapshot.
const (
	firstApplied = 10
	firstTerm    = 5
)

func putApplied(b *storage.Batch, id kv.RangeID, at entryID) error {
	var k, v [32]byte // with each batch that is applied
	key := storage.AppendKey(keys.AppendRangeState(k[:0], id, stateApplied), nil)
	return b.Set(key, at.append(v[:0]), nil)
}

func putLow(b *storage.Batch, id kv.RangeID, low *lowWater) error {
	v, err := low.appendLow(nil)
	if err != nil {
		return err
	}
	return b.Set(storage.Key(keys.RangeState(id, stateLow)), v, nil)
}

func putDescriptor(b *storage.Batch, d *kv.RangeDescriptor) error {
	v, err := d.MarshalMsg([]byte{formatV1})
	if err != nil {
		return err
	}
	return b.Set(storage.Key(keys.RangeState(d.ID, stateDesc)), v, nil)
}

func decodeDescriptor(v []byte) (*kv.RangeDescriptor, error) {
	if len(v) == 0 || v[0] != formatV1 {
		return nil, fmt.Errorf("descriptor %.8x: %w", v, errFormat)
	}
	d := &kv.RangeDescriptor{}
	_, err := d.UnmarshalMsg(v[1:])
	return d, err
}

// putNewRange writes what a range begins with.
func putNewRange(b *storage.Batch, d *kv.RangeDescriptor, low *lowWater) error {
	if err := putDescriptor(b, d); err != nil {
		return err
	}
	if err := putLow(b, d.ID, low); err != nil {
		return err
	}
	return putApplied(b, d.ID, entryID{firstApplied, firstTerm})
}

// loadRangeState reads where a range's state is.
func (s *Store) loadRangeState(id kv.RangeID) (applied entryID, low lowWater, err error) {
	v, ok, err := s.getState(keys.RangeState(id, stateApplied))
	if err != nil || !ok {
		return applied, low, fmt.Errorf("r%d: applied position: found %t: %v", id, ok, err)
	}
	applied = decodeEntryID(v)
	if v, ok, err = s.getState(keys.RangeState(id, stateLow)); err != nil || !ok {
		return applied, low, err
	}
	low, err = decodeLow(v)
	return applied, low, err
}

func (s *Store) getState(k kv.Key) ([]byte, bool, error) {
	it, err := s.opts.Engines.State.NewIter(nil)
	if err != nil {
		return nil, false, err
	}
	defer it.Close()
	key := storage.Key(k)
	if !it.SeekGE(key) || !bytes.Equal(it.Key(), key) {
		return nil, false, it.Error()
	}
	v, err := it.ValueAndErr()
	return bytes.Clone(v), err == nil, err
}

// loadDescriptors reads the descriptors of all ranges that this store has state of.
func (s *Store) loadDescriptors() (ds []*kv.RangeDescriptor, err error) {
	it, err := s.opts.Engines.State.NewIter(nil)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	first := keys.RangeState(0, "")
	prefix := first[:len(first)-8]
	for ok := it.SeekGE(storage.Key(first)); ok && bytes.HasPrefix(it.Key(), prefix); ok = it.Next() {
		k, _, err := storage.Decode(it.Key())
		if err != nil {
			return nil, err
		}
		if string(k[len(first):]) != stateDesc {
			continue
		}
		v, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		d, err := decodeDescriptor(bytes.Clone(v))
		if err != nil {
			return nil, err
		}
		ds = append(ds, d)
	}
	return ds, it.Error()
}
