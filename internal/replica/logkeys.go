package replica

import (
	"encoding/binary"

	"github.com/longitude-db/longitude/internal/kv"
)

// Keys of the log instance: 'r' <range id> and then
//
//	'e' <index>  an entry
//	'h'          the hard state
//	't'          index and term of the last entry that was truncated
const (
	logPrefix    = 'r'
	logEntry     = 'e'
	logHardState = 'h'
	logTruncated = 't'
)

const entryKeyBytes = 1 + 8 + 1 + 8

func logKey(id kv.RangeID, kind byte) []byte {
	return appendLogKey(make([]byte, 0, entryKeyBytes), id, kind)
}

func appendLogKey(k []byte, id kv.RangeID, kind byte) []byte {
	return append(binary.BigEndian.AppendUint64(append(k, logPrefix), uint64(id)), kind)
}

func entryKey(id kv.RangeID, index uint64) []byte {
	return appendEntryKey(make([]byte, 0, entryKeyBytes), id, index)
}

func appendEntryKey(k []byte, id kv.RangeID, index uint64) []byte {
	return binary.BigEndian.AppendUint64(appendLogKey(k, id, logEntry), index)
}

// entryID is a position of a log.
type entryID struct{ index, term uint64 }

func (e entryID) encode() []byte { return e.append(make([]byte, 0, 16)) }

func (e entryID) append(b []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, e.index), e.term)
}

func decodeEntryID(b []byte) entryID {
	if len(b) != 16 {
		panic("replica: a log position has 16 bytes")
	}
	return entryID{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}
