package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/longitude-db/longitude/internal/kv"
)

// Edit is a set of changes to the catalog, made by one transaction.
type Edit struct {
	now       *Snapshot
	changed   map[string][]byte // by key; nil: to be removed
	garbage   map[string]bool
	bumped    bool
	discarded []IndexRef // of temporary tables
}

// NewEdit begins to change a snapshot that the transaction has itself read.
func NewEdit(base *Snapshot) *Edit {
	return &Edit{now: base, changed: map[string][]byte{}, garbage: map[string]bool{}}
}

// Snapshot is the catalog with the changes made so far.
func (e *Edit) Snapshot() *Snapshot { return e.now }

// Dirty reports whether there are changes.
func (e *Edit) Dirty() bool { return e.bumped }

// fork replaces the present snapshot by a copy that may be changed until it is indexed.
func (e *Edit) fork() *Snapshot {
	s := &Snapshot{Meta: e.now.Meta, databases: maps.Clone(e.now.databases), tables: maps.Clone(e.now.tables),
		temporary: e.now.temporary, temporaryName: e.now.temporaryName}
	if !e.bumped {
		s.Meta.Version++ // K1
		e.bumped = true
	}
	e.now = s
	return s
}

// NewID gives out an id (K2).
func (e *Edit) NewID() uint64 {
	s := e.fork()
	id := s.Meta.NextID
	s.Meta.NextID++
	s.index()
	e.changed[string(MetaKey())] = nil // written by Writes
	return id
}

// PutDatabase adds or replaces a database. It must not be changed afterwards.
func (e *Edit) PutDatabase(d *Database) error {
	v, err := json.Marshal(d)
	if err != nil {
		return err
	}
	s := e.fork()
	s.databases[d.ID] = d
	s.index()
	e.changed[string(databaseKey(d.ID))] = v
	return nil
}

// DropDatabase removes a database and its tables.
func (e *Edit) DropDatabase(id uint64) {
	for _, t := range e.now.Tables(id) {
		e.DropTable(t.ID)
	}
	s := e.fork()
	delete(s.databases, id)
	s.index()
	e.changed[string(databaseKey(id))] = nil
}

// PutTable adds or replaces a table. It must not be changed afterwards.
func (e *Edit) PutTable(t *Table) error {
	if t.Temporary() {
		if old := e.now.Temporary(t.Database, t.Name); old != nil && old.ID != t.ID {
			return fmt.Errorf("catalog: two temporary tables named %s", t.Name)
		}
		e.putTemporary(t)
		return nil
	}
	if old := e.now.Base(t.Database, t.Name); old != nil && old.ID != t.ID {
		return fmt.Errorf("catalog: two tables named %s", t.Name)
	}
	v, err := json.Marshal(t)
	if err != nil {
		return err
	}
	s := e.fork()
	s.tables[t.ID] = t
	s.index()
	e.changed[string(tableKey(t.ID))] = v
	return nil
}

// DropTable removes a table and lists its indexes as garbage.
func (e *Edit) DropTable(id uint64) {
	if t := e.now.TableByID(id); t != nil {
		e.Discard(t.ID, t.Primary.ID)
		for _, i := range t.Indexes {
			e.Discard(t.ID, i.ID)
		}
	}
	s := e.fork()
	delete(s.tables, id)
	s.index()
	e.changed[string(tableKey(id))] = nil
}

// Changed are the tables that the edit has made or changed, in the order of their ids.
func (e *Edit) Changed() (out []*Table) {
	for _, id := range slices.Sorted(maps.Keys(e.now.tables)) {
		if _, ok := e.changed[string(tableKey(id))]; ok {
			out = append(out, e.now.tables[id])
		}
	}
	return append(out, e.now.Temporaries()...)
}

// Discard lists an index as garbage: nothing refers to it any more.
func (e *Edit) Discard(table uint64, index uint32) {
	if IsTemporary(table) {
		e.discarded = append(e.discarded, IndexRef{table, index})
		return
	}
	s := e.fork()
	s.index()
	e.garbage[string(GarbageKey(table, index))] = true
}

// Writes returns what the transaction has to put (an empty value: remove) to make the changes.
func (e *Edit) Writes() (map[string][]byte, error) {
	if !e.Dirty() {
		return nil, nil
	}
	out := maps.Clone(e.changed)
	for k := range e.garbage {
		out[k] = []byte{1}
	}
	meta, err := json.Marshal(e.now.Meta)
	out[string(MetaKey())] = meta
	return out, err
}

// Clone is a deep copy to be changed and put.
func Clone[T Database | Table](x *T) *T {
	v, err := json.Marshal(x)
	if err != nil {
		panic("catalog: " + err.Error())
	}
	c := new(T)
	if err := json.Unmarshal(v, c); err != nil {
		panic("catalog: " + err.Error())
	}
	return c
}

// Entries adapts rows to Build.
func Entries[R any](rows []R, split func(R) (kv.Key, []byte)) func(yield func(kv.Key, []byte) bool) {
	return func(yield func(kv.Key, []byte) bool) {
		for _, r := range rows {
			if k, v := split(r); !yield(k, v) {
				return
			}
		}
	}
}
