// Package keys is the layout of the key space.
//
//	\x01 'i' <range id>  <suffix>       state of one replica, by range id (descriptor, applied index); not addressed
//	\x01 'k' <key>                      lock table: the intent on <key>; belongs to the range that holds <key>
//	\x01 't' <esc key> <txn id>         transaction records, at the transaction's anchor key; likewise
//	\x01 's' <name>                     of the store itself (package storage); belongs to no range
//	\x02 <end key>                      meta: the descriptor of the range that ends there (unversioned)
//	\x03 <name>                         system: counters, nodes, cluster settings (unversioned)
//	\x04 ... \xfe                       data (versioned): SQL catalog, tables, indexes
//	\xff                                end of the key space
//
// Keys \x02 and up are addressed through ranges; \x01 is local to the replicas of a range and moves with it.
package keys

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/longitude-db/longitude/internal/kv"
)

var (
	// Min and Max bound what ranges address: the first range starts at Min (empty), the last ends at Max.
	Min = kv.Key{}
	Max = kv.Key{0xff}

	// MetaPrefix, SystemPrefix and DataPrefix begin their parts of the key space.
	MetaPrefix   = kv.Key{0x02}
	SystemPrefix = kv.Key{0x03}
	DataPrefix   = kv.Key{0x04}
)

const (
	local   = 0x01
	byID    = 'i'
	locks   = 'k'
	records = 't'
)

// IsLocal reports whether a key is local to replicas: state of one, a lock or a record. Such keys are not addressed.
func IsLocal(k kv.Key) bool { return len(k) > 0 && k[0] == local }

// RangeState is the key of one item of a replica's own state.
func RangeState(id kv.RangeID, suffix string) kv.Key { return AppendRangeState(nil, id, suffix) }

// AppendRangeState is RangeState, appended.
func AppendRangeState(dst kv.Key, id kv.RangeID, suffix string) kv.Key {
	k := binary.BigEndian.AppendUint64(append(dst, local, byID), uint64(id))
	return append(k, suffix...)
}

// Lock is where the intent on a key is kept. Lock keys sort as the keys do.
func Lock(k kv.Key) kv.Key {
	out := make(kv.Key, 0, len(k)+2)
	return append(append(out, local, locks), k...)
}

// LockSpan covers the intents on all keys of a span.
func LockSpan(s kv.Span) kv.Span { return kv.Span{Start: Lock(s.Start), End: Lock(s.End)} }

// LockedKey is the key that the intent at a lock key is on.
func LockedKey(lock kv.Key) kv.Key { return lock[2:] }

// LockPrefix and RecordPrefix begin all locks and all records.
var (
	LockPrefix   = kv.Key{local, locks}
	RecordPrefix = kv.Key{local, records}
)

// Record is where the record of a transaction with this anchor key is kept.
func Record(anchor kv.Key, id kv.TxnID) kv.Key {
	return AppendRecord(make(kv.Key, 0, len(anchor)+len(id)+8), anchor, id)
}

// AppendRecord is Record, appended.
func AppendRecord(dst, anchor kv.Key, id kv.TxnID) kv.Key {
	k := escape(append(dst, local, records), anchor)
	k = append(k, 0x00, 0x01)
	return append(k, id[:]...)
}

// RecordTxn is the transaction whose record is at a key.
func RecordTxn(k kv.Key) (id kv.TxnID) {
	copy(id[:], k[len(k)-len(id):])
	return id
}

// RecordAnchor is the anchor key of the transaction whose record is at a key.
func RecordAnchor(k kv.Key) kv.Key {
	return bytes.ReplaceAll(k[2:len(k)-len(kv.TxnID{})-2], []byte{0x00, 0xff}, []byte{0x00})
}

// RecordSpan covers the records of all transactions anchored in a span.
func RecordSpan(s kv.Span) kv.Span {
	return kv.Span{
		Start: escape(kv.Key{local, records}, s.Start),
		End:   escape(kv.Key{local, records}, s.End),
	}
}

// escape appends k so that a terminator of 0x00 0x01 sorts before every longer key with the same beginning.
func escape(dst, k kv.Key) kv.Key {
	for {
		i := bytes.IndexByte(k, 0x00)
		if i < 0 {
			return append(dst, k...)
		}
		dst = append(dst, k[:i]...)
		dst = append(dst, 0x00, 0xff)
		k = k[i+1:]
	}
}

// Meta is where the descriptor of the range that ends at this key is published.
func Meta(end kv.Key) kv.Key { return append(slices.Clone(MetaPrefix), end...) }

// MetaLookup is the span whose first entry is the descriptor of the range that holds the key.
func MetaLookup(k kv.Key) kv.Span {
	return kv.Span{Start: Next(Meta(k)), End: SystemPrefix}
}

// System is the key of a named system value.
func System(name string) kv.Key { return append(slices.Clone(SystemPrefix), name...) }

// Next is the first key after k.
func Next(k kv.Key) kv.Key { return append(slices.Clone(k), 0x00) }

// PrefixEnd is the first key that does not begin with the prefix.
func PrefixEnd(prefix kv.Key) kv.Key {
	end := slices.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
	return slices.Clone(Max)
}
