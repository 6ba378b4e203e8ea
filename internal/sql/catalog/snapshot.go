package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/longitude-db/longitude/internal/kv"
)

// Snapshot is the catalog as of one version (K3).
type Snapshot struct {
	Meta      Meta
	databases map[uint64]*Database
	tables    map[uint64]*Table
	byName    map[string]*Database
	tableName map[uint64]map[string]*Table // by database
	texts     map[string]parsed            // by key, as they were read
	// temporary and temporaryName are the temporary tables of the session that sees the catalog so (With).
	temporary     map[uint64]*Table
	temporaryName map[uint64]map[string]*Table
	// Aux is for the layer above to keep what it derives from this version.
	Aux any
}

// ParseMeta reads the meta entry; of an absent one, that of an empty catalog.
func ParseMeta(value []byte) (Meta, error) {
	m := Meta{Format: Format, NextID: 1}
	if len(value) == 0 {
		return m, nil
	}
	m.Format = 0
	if err := json.Unmarshal(value, &m); err != nil {
		return m, fmt.Errorf("catalog: %w", err)
	}
	if m.Format > Format {
		return m, fmt.Errorf("the catalog has format %d; this version knows %d: use a newer one", m.Format, Format)
	}
	if m.Format < Format {
		return m, fmt.Errorf("the catalog has format %d; this version knows %d, in which the keys of texts are others: dump the data with the"+
			" version that wrote them, and restore them into a new store", m.Format, Format)
	}
	return m, nil
}

// Build makes a snapshot of the entries found in Span.
func Build(entries func(yield func(kv.Key, []byte) bool)) (*Snapshot, error) {
	return BuildLike(nil, entries)
}

// BuildLike is Build that takes descriptors from an older snapshot, if their entries are the same (K3): these are most, and to parse
// them takes much longer than to see that. old may be nil.
func BuildLike(old *Snapshot, entries func(yield func(kv.Key, []byte) bool)) (*Snapshot, error) {
	s := &Snapshot{databases: map[uint64]*Database{}, tables: map[uint64]*Table{}, texts: map[string]parsed{}}
	s.Meta, _ = ParseMeta(nil)
	var err error
	entries(func(k kv.Key, v []byte) bool {
		switch {
		case bytes.Equal(k, MetaKey()):
			s.Meta, err = ParseMeta(v)
		case bytes.HasPrefix(k, under(partCatalog, 'd')):
			var d *Database
			if d, err = take[Database](s, old, k, v); err == nil {
				s.databases[d.ID] = d
			}
		case bytes.HasPrefix(k, under(partCatalog, 't')):
			var t *Table
			if t, err = take[Table](s, old, k, v); err == nil {
				s.tables[t.ID] = t
			}
		}
		return err == nil
	})
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	s.index()
	return s, nil
}

// parsed is an entry and what it says.
type parsed struct {
	text string
	desc any
}

// take parses an entry, or finds it in an older snapshot.
func take[T Database | Table](s, old *Snapshot, k kv.Key, v []byte) (*T, error) {
	if old != nil {
		if p, ok := old.texts[string(k)]; ok && p.text == string(v) {
			s.texts[string(k)] = p
			return p.desc.(*T), nil
		}
	}
	d := new(T)
	if err := json.Unmarshal(v, d); err != nil {
		return nil, err
	}
	s.texts[string(k)] = parsed{string(v), d}
	return d, nil
}

func (s *Snapshot) index() {
	s.byName, s.tableName = map[string]*Database{}, map[uint64]map[string]*Table{}
	for _, d := range s.databases {
		s.byName[strings.ToLower(d.Name)] = d
		s.tableName[d.ID] = map[string]*Table{}
	}
	for _, t := range s.tables {
		if in := s.tableName[t.Database]; in != nil {
			in[strings.ToLower(t.Name)] = t
		}
	}
}

// Database returns the database of that name in any case, or nil.
func (s *Snapshot) Database(name string) *Database { return s.byName[strings.ToLower(name)] }

// Databases returns all databases.
func (s *Snapshot) Databases() map[uint64]*Database { return s.databases }

// Table returns the table of that name in any case, or nil. A temporary one stands before one of the catalog.
func (s *Snapshot) Table(database uint64, name string) *Table {
	if t := s.Temporary(database, name); t != nil {
		return t
	}
	return s.tableName[database][strings.ToLower(name)]
}

// TableByID returns the table, or nil.
func (s *Snapshot) TableByID(id uint64) *Table {
	if IsTemporary(id) {
		return s.temporary[id]
	}
	return s.tables[id]
}

// Tables returns a database's tables by their names in lower case, without temporary ones.
func (s *Snapshot) Tables(database uint64) map[string]*Table { return s.tableName[database] }

// References returns the foreign keys of all tables that refer to this one, always in the same order: they are checked in it.
func (s *Snapshot) References(database, table string) (fks []ForeignKey) {
	for _, id := range slices.Sorted(maps.Keys(s.tables)) {
		for _, fk := range s.tables[id].ForeignKeys {
			if strings.EqualFold(fk.ParentTable, table) && strings.EqualFold(fk.ParentDatabase, database) {
				fks = append(fks, fk)
			}
		}
	}
	return fks
}

// ForeignKey returns the foreign key of that name on a table of that name, or nil.
func (s *Snapshot) ForeignKey(table, name string) *ForeignKey {
	for _, t := range s.tables {
		for i := range t.ForeignKeys {
			if strings.EqualFold(t.Name, table) && strings.EqualFold(t.ForeignKeys[i].Name, name) {
				return &t.ForeignKeys[i]
			}
		}
	}
	return nil
}
