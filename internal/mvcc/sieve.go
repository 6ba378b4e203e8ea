package mvcc

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync/atomic"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// Sieve knows of most keys that there is no intent on them, and of most transactions that they have no record, without a search in
// the engine. Every evaluated request asks for both, and mostly there is neither. It counts, by a hash of the engine key, the
// intents and records of a store: a slot with zero holds none.
//
//	E1  A slot counts at least what state has of its keys, at any moment: who writes state counts up before it becomes visible
//	    (Sift.Before), and down after it (Sift.After).
//	E2  A write that takes the place of an intent or a record says so in its first byte, and is not counted. A removal is of
//	    what is there: evaluation has looked, under the latches that are held until it is applied. One key is removed once by
//	    a command.
//	E3  Only who holds latches may ask: else what is removed while he looks is neither in the sieve nor, where he looks, a version.
//	    Whoever resolves an intent, or removes a record, has latches that no read passes (without a timestamp). A commit in
//	    one phase that removes an intent of its own passes only reads of limits below it, which its version is above.
//
// Counting too much costs searches. Counting too little would be an intent overlooked; tests (build tag invariants) look each
// time whether there is one.
type Sieve struct {
	// Intents go soon, records stay for minutes: they share no slots, so that many of these do not bring back searches for those.
	intents [1 << 15]atomic.Uint32
	records [1 << 16]atomic.Uint32
}

var sieveSeed = maphash.MakeSeed() // another one in each process, so that nobody can choose keys that share a slot

// sieved is the hash of an engine key; the lowest bit says whether it is that of a record.
func sieved(engineKey []byte) uint64 {
	h := maphash.Bytes(sieveSeed, engineKey) &^ 1
	if engineKey[1] == keys.RecordPrefix[1] {
		h |= 1
	}
	return h
}

func (s *Sieve) slot(hash uint64) *atomic.Uint32 {
	if i := hash >> 1; hash&1 == 0 {
		return &s.intents[i%uint64(len(s.intents))]
	} else {
		return &s.records[i%uint64(len(s.records))]
	}
}

// none reports whether there is certainly nothing at the engine key of an intent or a record. A nil sieve knows of nothing.
func (s *Sieve) none(engineKey []byte) bool {
	return s != nil && s.slot(sieved(engineKey)).Load() == 0
}

// Load counts what state has. Nothing else may use the sieve meanwhile.
func (s *Sieve) Load(r storage.Reader) error {
	var in Sift
	for _, prefix := range []kv.Key{keys.LockPrefix, keys.RecordPrefix} {
		if err := in.Found(r, kv.Span{Start: prefix, End: keys.PrefixEnd(prefix)}); err != nil {
			return err
		}
	}
	for _, h := range in.down {
		s.slot(h).Add(1)
	}
	return nil
}

// Sift is what a batch does to a sieve. Its zero value is empty.
type Sift struct{ up, down []uint64 }

// Add takes in a write of a batch to an intent or a record. Others are passed over.
func (f *Sift) Add(engineKey, value []byte, removed bool) {
	if !bytes.HasPrefix(engineKey, keys.LockPrefix) && !bytes.HasPrefix(engineKey, keys.RecordPrefix) {
		return
	}
	h := sieved(engineKey)
	switch {
	case removed:
		f.down = append(f.down, h)
	case len(value) == 0 || value[0] != replacing:
		f.up = append(f.up, h)
	}
}

// Once ends the writes of a command that were taken in since there were so many removals: what it removes twice counts once (E2).
func (f *Sift) Once(from int) {
	if len(f.down)-from > 1 {
		slices.Sort(f.down[from:])
		f.down = f.down[:from+len(slices.Compact(f.down[from:]))]
	}
}

// Removals is how many there are so far.
func (f *Sift) Removals() int { return len(f.down) }

// Found takes in what state has in a span of lock or record keys, as removed.
func (f *Sift) Found(r storage.Reader, s kv.Span) error {
	lower, upper := storage.Span(s)
	it, err := r.NewIter(&storage.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for valid := it.First(); valid; valid = it.Next() {
		f.Add(it.Key(), nil, true)
	}
	return errors.Join(it.Error(), it.Close())
}

// Before counts up what the batch will write.
func (s *Sieve) Before(f *Sift) {
	for _, h := range f.up {
		s.slot(h).Add(1)
	}
	f.up = f.up[:0]
}

// After counts down what the batch has removed.
func (s *Sieve) After(f *Sift) {
	for _, h := range f.down {
		if s.slot(h).Add(^uint32(0)) == ^uint32(0) {
			// The range may be quarantined for it, and the others go on: what a slot counts too much costs searches only (E1).
			s.slot(h).Store(1 << 30)
			panic("mvcc: E2: more intents or records are removed than there were")
		}
	}
	f.down = f.down[:0]
}

// surely is for tests: that a sieve knows of nothing is so.
func surely(key []byte, found bool) {
	if found {
		panic(fmt.Sprintf("mvcc: E1: the sieve knows nothing of %x, which is there", key))
	}
}
