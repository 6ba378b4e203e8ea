package engine

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// uses is what statements have learned of the catalog: the tables that they have looked up, the names that were not there, and
// the databases whose views, triggers or procedures they have looked at. Two versions of the catalog in which all of this is the
// same are one and the same to them (H5): a change of other tables is none of their business.
type uses struct {
	// all: something was looked at that is not kept apart here, such as a list of tables.
	all     bool
	tables  []uint64 // by id
	absent  []absentName
	objects []uint64 // databases by id: the whole descriptor
	// temporary: a temporary table was looked up. It does not have to be the same at the commit (M3), but no plan may be made (M4).
	temporary bool
}

// absentName is a table that there is not; or, with database 0, a database.
type absentName struct {
	database uint64
	name     string
}

// maxUses is from when on a transaction counts as one that has looked at everything.
const maxUses = 256

func (u *uses) table(id uint64) {
	if catalog.IsTemporary(id) {
		u.temporary = true
		return
	}
	if u.all || slices.Contains(u.tables, id) {
		return
	}
	u.tables = append(u.tables, id)
	u.bound()
}

func (u *uses) missing(database uint64, name string) {
	n := absentName{database, strings.ToLower(name)}
	if u.all || slices.Contains(u.absent, n) {
		return
	}
	u.absent = append(u.absent, n)
	u.bound()
}

func (u *uses) database(id uint64) {
	if u.all || slices.Contains(u.objects, id) {
		return
	}
	u.objects = append(u.objects, id)
	u.bound()
}

func (u *uses) everything() { *u = uses{all: true, temporary: u.temporary} }

func (u *uses) bound() {
	if len(u.tables)+len(u.absent)+len(u.objects) > maxUses {
		u.everything()
	}
}

// add takes over what another statement has used.
func (u *uses) add(o *uses) {
	if o.all {
		u.everything()
	}
	u.temporary = u.temporary || o.temporary
	for _, id := range o.tables {
		u.table(id)
	}
	for _, n := range o.absent {
		u.missing(n.database, n.name)
	}
	for _, id := range o.objects {
		u.database(id)
	}
}

// holds reports whether two versions of the catalog are the same as far as they were used.
func (u *uses) holds(a, b *catalog.Snapshot) bool {
	if a == b || a.Meta.Version == b.Meta.Version {
		return true
	}
	if u.all {
		return false
	}
	for _, id := range u.tables {
		x, y := a.TableByID(id), b.TableByID(id)
		if x == nil || y == nil || x != y && !reflect.DeepEqual(x, y) {
			return false
		}
		dx, dy := a.Databases()[x.Database], b.Databases()[y.Database]
		if dx == nil || dy == nil || dx.Name != dy.Name || dx.Collation != dy.Collation || !reflect.DeepEqual(a.References(dx.Name, x.Name), b.References(dy.Name, y.Name)) {
			return false
		}
	}
	for _, n := range u.absent {
		if n.database == 0 && b.Database(n.name) != nil || n.database != 0 && b.Table(n.database, n.name) != nil {
			return false
		}
		if n.database == 0 && a.Database(n.name) != nil || n.database != 0 && a.Table(n.database, n.name) != nil {
			return false
		}
	}
	for _, id := range u.objects {
		x, y := a.Databases()[id], b.Databases()[id]
		if x == nil || y == nil || x != y && !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// used notes what the present statement has looked at, and its transaction with it.
func (e *Engine) used(ctx *sql.Context, note func(*uses)) {
	s, err := sessionOf(ctx)
	if err != nil {
		return
	}
	note(&s.stmt.uses)
	if t := s.transaction(); t != nil {
		note(t.used())
	}
}

// used is what the transaction has used, to be added to.
func (t *tx) used() *uses {
	if t.uses == nil {
		t.uses = &uses{}
	} else if t.sharedUses {
		own := &uses{}
		own.add(t.uses)
		t.uses, t.sharedUses = own, false
	}
	return t.uses
}

// usePlan notes what a compiled statement uses. Most transactions are one such statement, which is why a list is shared.
func (t *tx) usePlan(p *compiled) {
	if t.uses == nil {
		t.uses, t.sharedUses = p.uses, true
	} else if t.uses != p.uses {
		t.used().add(p.uses)
	}
}

// listsSchema reports whether a text reads the catalog as tables: what it learns by that is not kept apart.
func listsSchema(text string) bool {
	const name = "information_schema"
	for i := 0; i+len(name) <= len(text); i++ {
		if c := text[i]; (c == 'i' || c == 'I') && strings.EqualFold(text[i:i+len(name)], name) {
			return true
		}
	}
	return false
}
