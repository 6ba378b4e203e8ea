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

// IntentFilter is a counting filter over the intent and record keys of a store's state. A slot with count zero proves that no key
// with its hash is there, so most requests need no search in the engine for an intent or a record.
//
//	E1  A slot counts at least the keys in state that have its hash, at any moment: the writer of state counts up before its batch
//	    becomes visible (FilterDelta, CountWrites), and down after it (CountRemovals).
//	E2  A write that replaces an intent or a record says so in its first byte, and is not counted. A removal is of a key that
//	    exists: evaluation has looked, under the latches that are held until the removal is applied. A command removes a key
//	    at most once.
//	E3  Callers must hold latches: otherwise an intent that is resolved concurrently could be missed both in the filter and as a
//	    version. A request that resolves an intent, or removes a record, holds latches that no read passes (without a timestamp). A
//	    one-phase commit that removes an intent of its own passes only reads of limits below it, which its version is above.
//
// A count that is too high costs searches. A count that is too low would hide an intent; tests (build tag invariants) look each
// time whether there is one.
type IntentFilter struct {
	// Intents are removed soon, records stay for minutes. They share no slots, so that many records cause no searches for intents.
	intents [1 << 15]atomic.Uint32
	records [1 << 16]atomic.Uint32
}

var filterSeed = maphash.MakeSeed() // random for each process, so that no client can choose keys that share a slot

// filterHash is the hash of an engine key; its lowest bit is 1 for a record.
func filterHash(engineKey []byte) uint64 {
	h := maphash.Bytes(filterSeed, engineKey) &^ 1
	if engineKey[1] == keys.RecordPrefix[1] {
		h |= 1
	}
	return h
}

func (s *IntentFilter) slot(hash uint64) *atomic.Uint32 {
	if i := hash >> 1; hash&1 == 0 {
		return &s.intents[i%uint64(len(s.intents))]
	} else {
		return &s.records[i%uint64(len(s.records))]
	}
}

// provesAbsence reports whether the engine key of an intent or a record is certainly not in state. A nil filter proves nothing.
func (s *IntentFilter) provesAbsence(engineKey []byte) bool {
	return s != nil && s.slot(filterHash(engineKey)).Load() == 0
}

// Load counts the intents and records in state. Nothing else may use the filter meanwhile.
func (s *IntentFilter) Load(r storage.Reader) error {
	var in FilterDelta
	for _, prefix := range []kv.Key{keys.LockPrefix, keys.RecordPrefix} {
		if err := in.AddStored(r, kv.Span{Start: prefix, End: keys.PrefixEnd(prefix)}); err != nil {
			return err
		}
	}
	for _, h := range in.down {
		s.slot(h).Add(1)
	}
	return nil
}

// FilterDelta is the changes of a batch to an IntentFilter. The zero value is empty.
type FilterDelta struct{ up, down []uint64 }

// Add records a batch's write to an intent or a record. It ignores other keys.
func (f *FilterDelta) Add(engineKey, value []byte, removed bool) {
	if !bytes.HasPrefix(engineKey, keys.LockPrefix) && !bytes.HasPrefix(engineKey, keys.RecordPrefix) {
		return
	}
	h := filterHash(engineKey)
	switch {
	case removed:
		f.down = append(f.down, h)
	case len(value) == 0 || value[0] != replacing:
		f.up = append(f.up, h)
	}
}

// DedupRemovals ends the writes of a command, whose removals begin at index from: a key that it removes twice counts once (E2).
func (f *FilterDelta) DedupRemovals(from int) {
	if len(f.down)-from > 1 {
		slices.Sort(f.down[from:])
		f.down = f.down[:from+len(slices.Compact(f.down[from:]))]
	}
}

// Removals is the number of removals recorded so far.
func (f *FilterDelta) Removals() int { return len(f.down) }

// AddStored records all keys of state in a span of lock or record keys as removed.
func (f *FilterDelta) AddStored(r storage.Reader, s kv.Span) error {
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

// CountWrites counts up the keys that the batch will write. Call it before the batch becomes visible.
func (s *IntentFilter) CountWrites(f *FilterDelta) {
	for _, h := range f.up {
		s.slot(h).Add(1)
	}
	f.up = f.up[:0]
}

// CountRemovals counts down the keys that the batch has removed. Call it after the batch is visible.
func (s *IntentFilter) CountRemovals(f *FilterDelta) {
	for _, h := range f.down {
		if s.slot(h).Add(^uint32(0)) == ^uint32(0) {
			// The range may be quarantined for this while the others go on: a slot that counts too much costs searches only (E1).
			s.slot(h).Store(1 << 30)
			panic("mvcc: E2: more intents or records are removed than there were")
		}
	}
	f.down = f.down[:0]
}

// assertAbsent panics if the filter proved the absence of a key that is there. For builds with assertions.
func assertAbsent(key []byte, found bool) {
	if found {
		panic(fmt.Sprintf("mvcc: E1: the intent filter proves the absence of %x, which is there", key))
	}
}
