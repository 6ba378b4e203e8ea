package catalog

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

const (
	partCatalog   = 0x00
	partRows      = 0x01
	partGarbage   = 0x02
	partNamed     = 0x03
	partTemporary = 0x04
)

func under(part byte, more ...byte) kv.Key {
	return append(append(slices.Clone(keys.DataPrefix), part), more...)
}

func span(prefix kv.Key) kv.Span { return kv.Span{Start: prefix, End: keys.PrefixEnd(prefix)} }

// MetaKey is where the catalog's version is kept.
func MetaKey() kv.Key { return under(partCatalog, 'm') }

// Span covers the whole catalog, meta included.
func Span() kv.Span { return span(under(partCatalog)) }

// Rows begins all keys of rows and index entries.
func Rows() kv.Key { return under(partRows) }

func databaseKey(id uint64) kv.Key {
	return binary.BigEndian.AppendUint64(under(partCatalog, 'd'), id)
}

func tableKey(id uint64) kv.Key { return binary.BigEndian.AppendUint64(under(partCatalog, 't'), id) }

// IndexPrefix begins the keys of one index of a table; of the primary one, the table's rows.
func IndexPrefix(table uint64, index uint32) kv.Key {
	return rowcodec.AppendID(rowcodec.AppendID(Rows(), table), uint64(index))
}

// IndexSpan covers one index.
func IndexSpan(table uint64, index uint32) kv.Span { return span(IndexPrefix(table, index)) }

// GarbageSpan covers the list of indexes to be cleared.
func GarbageSpan() kv.Span { return span(under(partGarbage)) }

// GarbageKey lists an index as garbage.
func GarbageKey(table uint64, index uint32) kv.Key {
	k := binary.BigEndian.AppendUint64(under(partGarbage), table)
	return binary.BigEndian.AppendUint32(k, index)
}

// NamedLockKey is where the holder of a GET_LOCK is kept. Names are told apart without regard to case.
func NamedLockKey(name string) kv.Key {
	return under(partNamed, []byte(strings.ToLower(name))...)
}

// ParseGarbageKey reads what GarbageKey writes.
func ParseGarbageKey(k kv.Key) (table uint64, index uint32, err error) {
	prefix := under(partGarbage)
	if len(k) != len(prefix)+12 {
		return 0, 0, errors.New("malformed entry in the list of indexes to be cleared")
	}
	k = k[len(prefix):]
	return binary.BigEndian.Uint64(k), binary.BigEndian.Uint32(k[8:]), nil
}
