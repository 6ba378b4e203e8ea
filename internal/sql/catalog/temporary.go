package catalog

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// A temporary table belongs to one session, and no entry of the catalog describes it: its descriptor is kept by the session alone. Its rows
// and index entries lie among those of other tables, under an id that no table of the catalog ever has.
//
//	K5  The ids of temporary tables begin at firstTemporary, far above those that the meta entry gives out. A node reserves them in
//	    blocks, and writes a block down before it uses the first id of it: what a node that has crashed has left can be found.

// firstTemporary is the least id of a temporary table.
const firstTemporary = 1 << 48

// Temporary reports whether the table is a temporary one.
func (t *Table) Temporary() bool { return IsTemporary(t.ID) }

// IsTemporary reports whether an id is that of a temporary table.
func IsTemporary(id uint64) bool { return id >= firstTemporary }

// TemporaryID is the id of the nth temporary table of the cluster.
func TemporaryID(n uint64) uint64 { return firstTemporary + n }

// TemporaryBlocks covers the blocks of ids that a node has reserved.
func TemporaryBlocks(node kv.NodeID) kv.Span { return span(temporaryBlocks(node)) }

func temporaryBlocks(node kv.NodeID) kv.Key {
	return binary.BigEndian.AppendUint64(under(partTemporary), uint64(node))
}

// TemporaryBlockKey is where a node writes down that it has reserved a block that begins with an id.
func TemporaryBlockKey(node kv.NodeID, first uint64) kv.Key {
	return binary.BigEndian.AppendUint64(temporaryBlocks(node), first)
}

// TemporaryBlock is what stands there: how many ids the block has.
func TemporaryBlock(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// ParseTemporaryBlock reads what TemporaryBlockKey and TemporaryBlock write.
func ParseTemporaryBlock(k kv.Key, v []byte) (first, n uint64, err error) {
	if len(k) < 8 || len(v) != 8 {
		return 0, 0, errors.New("malformed block of ids of temporary tables")
	}
	return binary.BigEndian.Uint64(k[len(k)-8:]), binary.BigEndian.Uint64(v), nil
}

// TablesSpan covers the rows and index entries of n tables with consecutive ids.
func TablesSpan(first, n uint64) kv.Span {
	return kv.Span{Start: rowcodec.AppendID(Rows(), first), End: rowcodec.AppendID(Rows(), first+n)}
}

// IndexRef names an index.
type IndexRef struct {
	Table uint64
	Index uint32
}

// With is the catalog as a session sees it that has these temporary tables: each of them stands in the place of the table of its name. What
// lists tables (Tables, References) does not know them.
func (s *Snapshot) With(temporary []*Table) *Snapshot {
	c := *s
	c.setTemporary(temporary)
	return &c
}

func (s *Snapshot) setTemporary(ts []*Table) {
	s.temporary, s.temporaryName = map[uint64]*Table{}, map[uint64]map[string]*Table{}
	for _, t := range ts {
		s.temporary[t.ID] = t
		if s.temporaryName[t.Database] == nil {
			s.temporaryName[t.Database] = map[string]*Table{}
		}
		s.temporaryName[t.Database][strings.ToLower(t.Name)] = t
	}
}

// Temporaries are the temporary tables, in the order of their ids.
func (s *Snapshot) Temporaries() (out []*Table) {
	for _, id := range slices.Sorted(maps.Keys(s.temporary)) {
		out = append(out, s.temporary[id])
	}
	return out
}

// Temporary returns the temporary table of that name in any case, or nil.
func (s *Snapshot) Temporary(database uint64, name string) *Table {
	if len(s.temporary) == 0 {
		return nil
	}
	return s.temporaryName[database][strings.ToLower(name)]
}

// Base returns the table of the catalog of that name in any case, or nil: what foreign keys, triggers and views name.
func (s *Snapshot) Base(database uint64, name string) *Table {
	return s.tableName[database][strings.ToLower(name)]
}

// putTemporary adds or replaces a temporary table: no entry of the catalog changes.
func (e *Edit) putTemporary(t *Table) {
	ts := slices.DeleteFunc(e.now.Temporaries(), func(o *Table) bool { return o.ID == t.ID })
	e.now = e.now.With(append(ts, t))
}

// DiscardedTemporary are the indexes of temporary tables that nothing refers to any more.
func (e *Edit) DiscardedTemporary() []IndexRef { return e.discarded }
