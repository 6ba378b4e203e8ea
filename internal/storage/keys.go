package storage

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// The state instance's keys are a key of the key space, a zero byte, and for a version its timestamp and the length of
// that. They sort by key, then unversioned first, then versions from the newest to the oldest. Timestamps are never
// negative and a version's is never zero.

// AppendKey appends the engine key of an unversioned key: meta, system and everything local.
func AppendKey(dst []byte, k kv.Key) []byte { return append(append(dst, k...), 0x00) }

// AppendVersion appends the engine key of a version.
func AppendVersion(dst []byte, k kv.Key, ts clock.Timestamp) []byte {
	dst = append(append(dst, k...), 0x00)
	if ts.IsZero() {
		panic(fmt.Sprintf("storage: a version of %s at the zero timestamp", k))
	}
	return cockroachkvs.AppendTimestamp(dst, uint64(ts.Wall), ts.Logical)
}

// Key is AppendKey to nothing.
func Key(k kv.Key) []byte { return AppendKey(make([]byte, 0, len(k)+1), k) }

// Version is AppendVersion to nothing.
func Version(k kv.Key, ts clock.Timestamp) []byte {
	return AppendVersion(make([]byte, 0, len(k)+cockroachkvs.MaxSuffixLen), k, ts)
}

// Span returns the engine keys that bound all versions, and the unversioned values, of a span's keys.
func Span(s kv.Span) (lower, upper []byte) { return Key(s.Start), Key(s.End) }

// Split cuts an engine key after its key part and zero byte.
func Split(engineKey []byte) int { return cockroachkvs.Split(engineKey) }

// Decode takes an engine key apart; ts is zero for an unversioned one. The key is a part of the argument.
func Decode(engineKey []byte) (k kv.Key, ts clock.Timestamp, err error) {
	roach, version, ok := cockroachkvs.DecodeEngineKey(engineKey)
	if !ok || (len(version) != 0 && len(version) != 8 && len(version) != 12) {
		return nil, clock.Timestamp{}, fmt.Errorf("storage: malformed engine key %x", engineKey)
	}
	if len(version) >= 8 {
		ts.Wall = int64(binary.BigEndian.Uint64(version))
	}
	if len(version) == 12 {
		ts.Logical = binary.BigEndian.Uint32(version[8:])
	}
	return roach, ts, nil
}
