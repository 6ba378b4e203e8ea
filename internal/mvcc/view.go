package mvcc

import (
	"encoding/binary"
	"errors"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// Options say what a View looks for.
type Options struct {
	TS    clock.Timestamp // r
	Limit clock.Timestamp // g; below TS it counts as TS
	Txn   kv.TxnID        // whose intents are not in the way
	// Pushed are pending transactions that will commit above a timestamp; their intents are not in the way below it.
	Pushed map[kv.TxnID]clock.Timestamp
	// MaxIntents bounds Intents; 0: no bound.
	MaxIntents int
	// Finished are transactions that are decided, whose intents are read as what they will become.
	Finished map[kv.TxnID]kv.TxnStatus
	// IntentFilter, if not nil, spares searches for intents. Only under latches (E3).
	IntentFilter *IntentFilter
	// Own: the transaction has intents, and sees these of them.
	Own *kv.Own
}

// Version names a version of a key.
type Version struct {
	Key kv.Key
	TS  clock.Timestamp
}

// Found is an intent and the key that it is on.
type Found struct {
	Key    kv.Key
	Intent kv.Intent
}

// View reads state at one timestamp, with one iterator for all that a request reads. It sees state as of Open. After a
// call that sets Uncertain or adds to Intents, what the calls returned is no answer.
type View struct {
	it   *storage.Iterator
	o    Options
	seek []byte // the key last sought; short, while it fits
	far  []byte // scanReverse: a key to jump to
	kept []byte // likewise: a value that may turn out to be the one
	mem  arena
	// laying: intents of decided transactions are laid over what is read just now, and so are not in the way.
	laying bool

	short [128]byte

	// Newest is the newest version that the answers so far depend on (M6).
	Newest clock.Timestamp
	// Uncertain is the first version found in (TS, Limit].
	Uncertain *Version
	// Intents are those in the way.
	Intents []Found
}

// Open makes a view. It must be closed.
func Open(r storage.Reader, o Options) (*View, error) {
	o.Limit = o.Limit.Forward(o.TS)
	if o.TS.IsZero() {
		return nil, assertionf("a read at the zero timestamp")
	}
	it, err := r.NewIter(nil)
	if err != nil {
		return nil, err
	}
	v := &View{it: it, o: o}
	v.seek = v.short[:0]
	return v, nil
}

// Close ends the view. What it returned stays valid.
func (v *View) Close() error { return v.it.Close() }

// Get returns the value of a key, nil if it has none.
func (v *View) Get(k kv.Key) ([]byte, error) {
	if v.seekIntent(k) {
		if v.overlays() {
			if row, ok, err := v.laidOver(k); err != nil {
				return nil, err
			} else if ok {
				return v.through(row)
			}
			v.seekIntent(k) // it is there; looking whether it is a copy has moved the iterator
			v.laying = true
			defer func() { v.laying = false }()
		}
		if err := v.meet(k); err != nil {
			return nil, err
		}
	} else if err := v.it.Error(); err != nil {
		return nil, err
	}
	v.seek = storage.AppendVersion(v.seek[:0], k, v.o.Limit)
	if !v.it.SeekPrefixGE(v.seek) {
		return nil, v.it.Error()
	}
	ts, err := v.version()
	if err != nil {
		return nil, err
	}
	if v.o.TS.Less(ts) {
		v.uncertain(k, ts)
		return nil, nil
	}
	return v.take(ts)
}

// NewestVersion returns the timestamp of a key's newest version at any time, zero if it has none, and whether that is
// a tombstone. Intents do not count.
func (v *View) NewestVersion(k kv.Key) (ts clock.Timestamp, deleted bool, err error) {
	v.seek = storage.AppendVersion(v.seek[:0], k, clock.MaxTimestamp)
	if !v.it.SeekPrefixGE(v.seek) {
		return clock.Timestamp{}, false, v.it.Error()
	}
	if ts, err = v.version(); err != nil {
		return ts, false, err
	}
	stored, err := v.it.ValueAndErr()
	if err != nil {
		return ts, false, err
	}
	value, err := decodeValue(stored)
	return ts, value == nil, err
}

// SignedSince is NewestVersion, and looks on among the versions at or above since for the one that names a transaction. by is
// its timestamp, zero if there is none. All versions above since are passed, and most often there are none.
func (v *View) SignedSince(k kv.Key, id kv.TxnID, since clock.Timestamp) (newest clock.Timestamp, deleted bool, by clock.Timestamp, err error) {
	newest, deleted, err = v.NewestVersion(k)
	if err != nil || newest.IsZero() {
		return newest, deleted, by, err
	}
	for ts := newest; !ts.Less(since); {
		stored, err := v.it.ValueAndErr()
		if err != nil {
			return newest, deleted, by, err
		}
		if signedBy(stored, id) {
			return newest, deleted, ts, nil
		}
		if !v.it.Next() { // after a search by prefix it ends with the key
			return newest, deleted, by, v.it.Error()
		}
		if ts, err = v.version(); err != nil {
			return newest, deleted, by, err
		}
	}
	return newest, deleted, by, nil
}

// SignedAt is SignedSince for who wants to know nothing else.
func SignedAt(r storage.Reader, k kv.Key, id kv.TxnID, since clock.Timestamp) (clock.Timestamp, error) {
	v, err := Open(r, Options{TS: anyTime})
	if err != nil {
		return clock.Timestamp{}, err
	}
	_, _, by, err := v.SignedSince(k, id, since)
	return by, errors.Join(err, v.Close())
}

// hasVersion reports whether a key has a version at exactly ts.
func (v *View) hasVersion(k kv.Key, ts clock.Timestamp) (bool, error) {
	v.seek = storage.AppendVersion(v.seek[:0], k, ts)
	if !v.it.SeekPrefixGE(v.seek) {
		return false, v.it.Error()
	}
	at, err := v.version()
	return err == nil && at == ts, err
}

// version is the timestamp of the version that the iterator is at.
func (v *View) version() (clock.Timestamp, error) {
	k := v.it.Key()
	return suffixTS(k, storage.Split(k))
}

// take copies the value of the version that the iterator is at, and depends on it.
func (v *View) take(ts clock.Timestamp) ([]byte, error) {
	stored, err := v.it.ValueAndErr()
	if err != nil {
		return nil, err
	}
	value, err := decodeValue(stored)
	if err != nil {
		return nil, err
	}
	v.Newest = v.Newest.Forward(ts)
	if value == nil {
		return nil, nil
	}
	return v.mem.copy(value), nil
}

// anyTime is for views that look at intents alone.
var anyTime = clock.Timestamp{Wall: 1}

func (v *View) uncertain(k kv.Key, ts clock.Timestamp) {
	if v.Uncertain == nil {
		v.Uncertain = &Version{Key: v.mem.copy(k), TS: ts}
	}
}

// suffixTS decodes the timestamp that begins at n in an engine key; zero if there is none.
func suffixTS(k []byte, n int) (ts clock.Timestamp, err error) {
	switch len(k) - n {
	case 0:
		return clock.Timestamp{}, nil
	case 9:
		ts.Wall = int64(binary.BigEndian.Uint64(k[n:]))
	case 13:
		ts.Wall = int64(binary.BigEndian.Uint64(k[n:]))
		ts.Logical = binary.BigEndian.Uint32(k[n+8:])
	default:
		return ts, assertionf("malformed version in engine key %x", k)
	}
	return ts, nil
}
