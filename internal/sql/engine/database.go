package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// database is a handle: what is in it is looked up in the transaction's catalog at each call.
type database struct {
	noEvents
	e         *Engine
	id        uint64
	name      string
	collation string
}

var (
	_ sql.Database            = (*database)(nil)
	_ sql.TableCreator        = (*database)(nil)
	_ sql.IndexedTableCreator = (*database)(nil)
	_ sql.TableDropper        = (*database)(nil)
	_ sql.TableRenamer        = (*database)(nil)
	_ sql.CollatedDatabase    = (*database)(nil)
	_ sql.ViewDatabase        = (*database)(nil)
	_ sql.TriggerDatabase     = (*database)(nil)
	_ sql.IndexNameGenerator  = (*database)(nil)
)

// Name implements sql.Nameable.
func (d *database) Name() string { return d.name }

// desc is the database's descriptor for reading.
func (d *database) desc(ctx *sql.Context) (*schema, *catalog.Database, error) {
	s, err := d.e.schemaOf(ctx)
	if err != nil {
		return nil, nil, err
	}
	desc := s.snap.Databases()[d.id]
	if desc == nil {
		return nil, nil, sql.ErrDatabaseNotFound.New(d.name)
	}
	return s, desc, nil
}

// whole is the descriptor for those who look at its views, triggers or procedures.
func (d *database) whole(ctx *sql.Context) (*catalog.Database, error) {
	_, desc, err := d.desc(ctx)
	if err == nil {
		d.e.used(ctx, func(u *uses) { u.database(d.id) })
	}
	return desc, err
}

// change lets fn change a copy of the descriptor.
func (d *database) change(ctx *sql.Context, fn func(*catalog.Database) error) error {
	t, err := ddl(ctx)
	if err != nil {
		return err
	}
	desc := t.edit.Snapshot().Databases()[d.id]
	if desc == nil {
		return sql.ErrDatabaseNotFound.New(d.name)
	}
	desc = catalog.Clone(desc)
	if err := fn(desc); err != nil {
		return err
	}
	return t.edit.PutDatabase(desc)
}

// GetTableInsensitive implements sql.Database.
func (d *database) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	s, desc, err := d.desc(ctx)
	if err != nil {
		return nil, false, err
	}
	t := s.snap.Table(d.id, name)
	if t == nil {
		d.e.used(ctx, func(u *uses) { u.missing(d.id, name) })
		return nil, false, nil
	}
	d.e.used(ctx, func(u *uses) { u.table(t.ID) })
	l, err := s.layout(desc, t)
	if err != nil {
		return nil, false, err
	}
	return newTable(d, l), true, nil
}

// GetTableNames implements sql.Database.
func (d *database) GetTableNames(ctx *sql.Context) ([]string, error) {
	s, _, err := d.desc(ctx)
	if err != nil {
		return nil, err
	}
	d.e.used(ctx, (*uses).everything)
	var names []string
	for _, t := range s.snap.Tables(d.id) {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names, nil
}

// CreateTable implements sql.TableCreator.
func (d *database) CreateTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, collation sql.CollationID, comment string) error {
	return d.CreateIndexedTable(ctx, name, schema, sql.IndexDef{}, collation, comment)
}

// CreateIndexedTable implements sql.IndexedTableCreator: pk holds the prefix lengths of the primary key.
func (d *database) CreateIndexedTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, pk sql.IndexDef, collation sql.CollationID, comment string) error {
	t, err := ddl(ctx)
	if err != nil {
		return err
	}
	if t.existing(d.id, name) != nil {
		if s, err := sessionOf(ctx); err == nil && s.stmt.by != nil {
			if c, ok := s.stmt.by.ast.(*sqlparser.DDL); ok && c.IfNotExists {
				ctx.Session.Warn(&sql.Warning{Level: "Note", Code: 1050, Message: fmt.Sprintf("Table '%s' already exists", name)})
			}
		}
		return sql.ErrTableAlreadyExists.New(name)
	}
	id, err := t.newTableID(ctx)
	if err != nil {
		return err
	}
	desc := &catalog.Table{ID: id, Database: d.id, Name: name, Collation: collation.Name(), Comment: comment,
		Dense: t.temporary || t.denseIDs(ctx), NextColumnID: 1, NextIndexID: 2, Primary: catalog.Index{ID: 1, Name: "PRIMARY", Unique: true}}
	for _, c := range schema.Schema {
		col, err := d.describeColumn(ctx, desc, c, desc.NextColumnID)
		if err != nil {
			return err
		}
		desc.NextColumnID++
		desc.Columns = append(desc.Columns, col)
	}
	var keys []sql.IndexColumn
	for _, at := range schema.PkOrdinals {
		keys = append(keys, sql.IndexColumn{Name: schema.Schema[at].Name})
	}
	descending := descendingParts(ctx, "PRIMARY", keys)
	for i, at := range schema.PkOrdinals {
		p := catalog.IndexPart{Column: desc.Columns[at].ID, Desc: isDescending(descending, i)}
		for _, ic := range pk.Columns {
			if strings.EqualFold(ic.Name, desc.Columns[at].Name) {
				p.Length = int(ic.Length)
			}
		}
		if err := checkIndexable(schema.Schema[at], p.Length); err != nil {
			return err
		}
		desc.Primary.Columns = append(desc.Primary.Columns, p)
	}
	if _, err := newLayout(d.name, desc); err != nil {
		return err
	}
	return t.edit.PutTable(desc)
}

// denseIDs is what the session wants of tables that it creates (D2).
func (t *tx) denseIDs(ctx *sql.Context) bool {
	s, err := sessionOf(ctx)
	return err != nil || s.settings(ctx).denseIDs
}

// DropTable implements sql.TableDropper.
func (d *database) DropTable(ctx *sql.Context, name string) error {
	t, err := ddl(ctx)
	if err != nil {
		return err
	}
	desc := t.edit.Snapshot().Table(d.id, name)
	if desc == nil {
		return sql.ErrTableNotFound.New(name)
	}
	t.edit.DropTable(desc.ID)
	t.cleanup = append(t.cleanup, d.e.garbage.wake)
	return nil
}

// RenameTable implements sql.TableRenamer. Foreign keys are renamed by the engine.
func (d *database) RenameTable(ctx *sql.Context, from, to string) error {
	t, err := ddl(ctx)
	if err != nil {
		return err
	}
	old := t.edit.Snapshot().Table(d.id, from)
	if old == nil {
		return sql.ErrTableNotFound.New(from)
	}
	if other := t.existing(d.id, to); other != nil && other.ID != old.ID {
		return sql.ErrTableAlreadyExists.New(to)
	}
	desc := catalog.Clone(old)
	desc.Name = to
	for i := range desc.Checks { // those that were given no name follow the table
		c := &desc.Checks[i]
		if n, ok := strings.CutPrefix(strings.ToLower(c.Name), strings.ToLower(from)+"_chk_"); ok && strings.Trim(n, "0123456789") == "" {
			c.Name = to + "_chk_" + n
		}
	}
	if err := t.edit.PutTable(desc); err != nil {
		return err
	}
	if desc.Temporary() {
		return nil
	}
	return d.moveTriggers(ctx, from, to)
}

// GetCollation implements sql.CollatedDatabase.
func (d *database) GetCollation(*sql.Context) sql.CollationID {
	if c, err := sql.ParseCollation("", d.collation, false); err == nil {
		return c
	}
	return defaultCollation
}

// SetCollation implements sql.CollatedDatabase.
func (d *database) SetCollation(ctx *sql.Context, c sql.CollationID) error {
	return d.change(ctx, func(desc *catalog.Database) error {
		desc.Collation = c.Name()
		return nil
	})
}

// GenerateIndexName implements sql.IndexNameGenerator.
func (d *database) GenerateIndexName(ctx *sql.Context, _ string, def sql.IndexDef, t sql.Table) (string, error) {
	return sql.GenerateMySqlIndexName(ctx, def, t)
}

// describeColumn is how a column of a table is kept in the catalog; t is the table so far. What the statement does not say of its
// expressions stays as it is.
func (d *database) describeColumn(ctx *sql.Context, t *catalog.Table, c *sql.Column, id uint32) (catalog.Column, error) {
	out, err := describePlain(ctx, c, id)
	if err != nil {
		return out, err
	}
	was := t.ColumnByID(id)
	if out.Invisible = was != nil && was.Invisible; was == nil || definesColumn(ctx, c.Name) {
		out.Invisible = notesOf(ctx).invisible[strings.ToLower(c.Name)]
	}
	if definesColumn(ctx, c.Name) {
		out.Type.Declared = notesOf(ctx).declared[strings.ToLower(c.Name)]
	} else if was != nil && was.Type.Name == out.Type.Name {
		out.Type.Declared = was.Type.Declared
	}
	if c.HiddenSystem && was != nil {
		out.Type, out.Nullable, out.Generated = was.Type, was.Nullable, was.Generated
		return out, nil
	}
	n := notesOf(ctx)
	name := strings.ToLower(c.Name)
	if p, ok := n.parts[name]; ok {
		return out, d.describePart(ctx, t, &out, p)
	}
	if e := n.generated[name]; e != nil && out.Generated != "" {
		if text := keptText(ctx, e, t.Columns); text != "" {
			out.Generated = text
		}
	} else if was != nil && was.Generated != "" && out.Generated != "" {
		out.Generated = was.Generated
	}
	if e := n.defaults[name]; e != nil && out.Default != "" {
		if text := keptText(ctx, e, t.Columns); text != "" {
			out.Default = "(" + text + ")"
		}
	} else if was != nil && strings.HasPrefix(was.Default, "(") && strings.HasPrefix(out.Default, "(") {
		out.Default = was.Default
	}
	return out, nil
}

// definesColumn reports whether the statement says what a column is.
func definesColumn(ctx *sql.Context, name string) bool {
	return notesOf(ctx).defined[strings.ToLower(name)]
}

// describePlain is describeColumn as far as go-mysql-server says it.
func describePlain(ctx *sql.Context, c *sql.Column, id uint32) (catalog.Column, error) {
	if t, ok := c.Type.(timeType); ok && t.fsp > 6 {
		return catalog.Column{}, mysql.NewSQLError(1426, "42000", "Too-big precision %d specified for '%s'. Maximum is 6.", t.fsp, c.Name)
	}
	typ, err := describeType(c.Type)
	if err != nil {
		return catalog.Column{}, fmt.Errorf("column %s: %w", c.Name, err)
	}
	if _, err := kindOf(c.Type); err != nil {
		return catalog.Column{}, err
	}
	out := catalog.Column{ID: id, Name: c.Name, Type: typ, Nullable: c.Nullable, AutoIncrement: c.AutoIncrement, Virtual: c.Virtual,
		Hidden: c.Hidden, HiddenSystem: c.HiddenSystem, Comment: c.Comment}
	for _, x := range []struct {
		from *sql.ColumnDefaultValue
		to   *string
	}{{c.Default, &out.Default}, {c.Generated, &out.Generated}, {c.OnUpdate, &out.OnUpdate}} {
		if *x.to, err = expressionText(ctx, x.from); err != nil {
			return out, err
		}
	}
	return out, nil
}

// maxKeyText is how long an indexed column without a prefix length may be, as in MySQL.
const maxKeyText = 3072

func checkIndexable(c *sql.Column, prefix int) error {
	kind, err := kindOf(c.Type)
	if err != nil {
		return err
	}
	if c.Type.String() == "json" {
		return fmt.Errorf("JSON column %s cannot be indexed: index a generated column instead", c.Name)
	}
	_ = kind
	if prefix > maxKeyText {
		return sql.ErrKeyTooLong.New()
	}
	return nil
}
