package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/longitude-db/longitude/internal/kv"
)

// store is what the key-value store would hold.
type store map[string][]byte

func (s store) apply(t *testing.T, e *Edit) {
	t.Helper()
	writes, err := e.Writes()
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range writes {
		if len(v) == 0 {
			delete(s, k)
		} else {
			s[k] = v
		}
	}
}

func (s store) load(t *testing.T) *Snapshot {
	t.Helper()
	var ks []string
	for k := range s {
		if Span().Contains(kv.Key(k)) {
			ks = append(ks, k)
		}
	}
	slices.Sort(ks)
	snap, err := Build(Entries(ks, func(k string) (kv.Key, []byte) { return kv.Key(k), s[k] }))
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func (s store) garbage() (out []string) {
	for k := range s {
		if GarbageSpan().Contains(kv.Key(k)) {
			table, index, err := ParseGarbageKey(kv.Key(k))
			out = append(out, fmt.Sprint(table, " ", index, " ", err))
		}
	}
	slices.Sort(out)
	return out
}

func table(id, db uint64, name string) *Table {
	return &Table{ID: id, Database: db, Name: name, Columns: []Column{{ID: 1, Name: "id", Type: Type{Name: "INT32"}}},
		Primary: Index{ID: 1, Name: "PRIMARY", Columns: []IndexPart{{Column: 1}}}, Indexes: []Index{{ID: 2, Name: "x", Columns: []IndexPart{{Column: 1}}}}}
}

// What an edit shows while it is made is what is found in the store afterwards; each edit is one version (K1), ids are
// not given twice (K2), and snapshots stay as they were (K3).
func TestEdits(t *testing.T) {
	s := store{}
	empty := s.load(t)
	if empty.Meta.Version != 0 || NewEdit(empty).Dirty() {
		t.Fatalf("an empty catalog is %+v", empty.Meta)
	}
	e := NewEdit(empty)
	db := &Database{ID: e.NewID(), Name: "App"}
	if err := e.PutDatabase(db); err != nil {
		t.Fatal(err)
	}
	one := table(e.NewID(), db.ID, "One")
	one.ForeignKeys = []ForeignKey{{Name: "f", Database: "App", Table: "One", ParentDatabase: "app", ParentTable: "two"}}
	if err := e.PutTable(one); err != nil {
		t.Fatal(err)
	}
	if e.Snapshot().Table(db.ID, "ONE") == nil || empty.Database("app") != nil {
		t.Fatal("the edit shows through, or does not show itself")
	}
	if err := e.PutTable(table(e.NewID(), db.ID, "oNe")); err == nil {
		t.Error("two tables of one name")
	}
	s.apply(t, e)

	first := s.load(t)
	if first.Meta.Version != 1 || first.Database("APP") == nil || first.Table(db.ID, "one") == nil {
		t.Fatalf("after the first edit: %+v", first.Meta)
	}
	if refs := first.References("APP", "TWO"); len(refs) != 1 || refs[0].Name != "f" {
		t.Errorf("references: %v", refs)
	}
	e = NewEdit(first)
	if id := e.NewID(); id <= one.ID {
		t.Errorf("id %d was given before", id)
	}
	changed := Clone(first.TableByID(one.ID))
	changed.Name = "uno"
	changed.Indexes = nil
	e.Discard(one.ID, 2)
	if err := e.PutTable(changed); err != nil {
		t.Fatal(err)
	}
	s.apply(t, e)
	second := s.load(t)
	if second.Meta.Version != 2 || second.Table(db.ID, "one") != nil || second.Table(db.ID, "uno") == nil || first.Table(db.ID, "one") == nil {
		t.Error("renaming")
	}
	e = NewEdit(second)
	e.DropDatabase(db.ID)
	s.apply(t, e)
	if last := s.load(t); last.Meta.Version != 3 || len(last.Databases()) != 0 || last.TableByID(one.ID) != nil {
		t.Error("dropping")
	}
	if g := fmt.Sprint(s.garbage()); g != fmt.Sprintf("[%d 1 <nil> %d 2 <nil>]", one.ID, one.ID) {
		t.Errorf("garbage: %s", g)
	}
}

func TestFormatOfLaterVersion(t *testing.T) {
	_, err := ParseMeta([]byte(`{"format": 99}`))
	if err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("%v", err)
	}
}

// Keys of texts were others in format 1: to read them would be to miss rows.
func TestFormatOfEarlierVersion(t *testing.T) {
	for _, meta := range []string{`{"format": 1, "version": 7, "next_id": 3}`, `{"version": 7, "next_id": 3}`} {
		if _, err := ParseMeta([]byte(meta)); err == nil || !strings.Contains(err.Error(), "dump the data") {
			t.Errorf("%s: %v", meta, err)
		}
	}
}

// Indexes of a table lie together, tables one behind the other, and none in another's span.
func TestLayout(t *testing.T) {
	var all []kv.Span
	for _, id := range []uint64{1, 2, 200, 255, 256, 70_000, 1 << 40} {
		for _, index := range []uint32{1, 2, 127, 300} {
			all = append(all, IndexSpan(id, index))
		}
	}
	for i := 1; i < len(all); i++ {
		if all[i].Start.Less(all[i-1].End) {
			t.Errorf("%s overlaps %s", all[i], all[i-1])
		}
	}
	if all[0].Overlaps(Span()) || all[0].Overlaps(GarbageSpan()) {
		t.Error("rows overlap the catalog")
	}
}
