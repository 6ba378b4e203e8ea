package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

var (
	_ sql.ForeignKeyTable     = (*table)(nil)
	_ sql.CheckTable          = (*table)(nil)
	_ sql.CheckAlterableTable = (*table)(nil)
)

// alter lets fn change a copy of the table's descriptor.
func (t *table) alter(ctx *sql.Context, fn func(*catalog.Table) error) error {
	x, err := ddl(ctx)
	if err != nil {
		return err
	}
	d, err := x.table(t.l.desc.ID)
	if err != nil {
		return err
	}
	if err := fn(d); err != nil {
		return err
	}
	if _, err := newLayout(t.db.name, d); err != nil {
		return err
	}
	return x.edit.PutTable(d)
}

// reload makes the handle show what the transaction has made of the table.
func (t *table) reload(ctx *sql.Context) error {
	s, err := t.db.e.schemaOf(ctx)
	if err != nil {
		return err
	}
	d := s.snap.TableByID(t.l.desc.ID)
	if d == nil {
		return sql.ErrTableNotFound.New(t.Name())
	}
	l, err := s.layout(s.snap.Databases()[d.Database], d)
	if err != nil {
		return err
	}
	t.l, t.schema = l, copySchema(l.schema.Schema)
	return nil
}

func constraintOf(f catalog.ForeignKey) sql.ForeignKeyConstraint {
	return sql.ForeignKeyConstraint{Name: f.Name, Database: f.Database, Table: f.Table, Columns: slices.Clone(f.Columns),
		ParentDatabase: f.ParentDatabase, ParentTable: f.ParentTable, ParentColumns: slices.Clone(f.ParentColumns),
		OnUpdate: sql.ForeignKeyReferentialAction(f.OnUpdate), OnDelete: sql.ForeignKeyReferentialAction(f.OnDelete), IsResolved: f.Resolved}
}

func describeConstraint(f sql.ForeignKeyConstraint) catalog.ForeignKey {
	return catalog.ForeignKey{Name: f.Name, Database: f.Database, Table: f.Table, Columns: f.Columns,
		ParentDatabase: f.ParentDatabase, ParentTable: f.ParentTable, ParentColumns: f.ParentColumns,
		OnUpdate: string(f.OnUpdate), OnDelete: string(f.OnDelete), Resolved: f.IsResolved}
}

// GetDeclaredForeignKeys implements sql.ForeignKeyTable.
func (t *table) GetDeclaredForeignKeys(ctx *sql.Context) (out []sql.ForeignKeyConstraint, err error) {
	s, err := t.db.e.schemaOf(ctx)
	if err != nil {
		return nil, err
	}
	if d := s.snap.TableByID(t.l.desc.ID); d != nil {
		for _, f := range d.ForeignKeys {
			out = append(out, constraintOf(f))
		}
	}
	return out, nil
}

// GetReferencedForeignKeys implements sql.ForeignKeyTable.
func (t *table) GetReferencedForeignKeys(ctx *sql.Context) (out []sql.ForeignKeyConstraint, err error) {
	s, err := t.db.e.schemaOf(ctx)
	if err != nil {
		return nil, err
	}
	if t.l.desc.Temporary() {
		return nil, nil
	}
	for _, f := range s.snap.References(t.db.name, t.Name()) {
		out = append(out, constraintOf(f))
	}
	return out, nil
}

// AddForeignKey implements sql.ForeignKeyTable.
func (t *table) AddForeignKey(ctx *sql.Context, fk sql.ForeignKeyConstraint) error {
	if t.l.desc.Temporary() {
		return errTemporaryForeignKey
	}
	x, err := ddl(ctx)
	if err != nil {
		return err
	}
	for _, o := range x.edit.Snapshot().Tables(t.db.id) {
		for _, f := range o.ForeignKeys {
			if strings.EqualFold(f.Name, fk.Name) {
				return sql.ErrForeignKeyDuplicateName.New(fk.Name)
			}
		}
	}
	return t.alter(ctx, func(d *catalog.Table) error {
		d.ForeignKeys = append(d.ForeignKeys, describeConstraint(fk))
		return nil
	})
}

// DropForeignKey implements sql.ForeignKeyTable.
func (t *table) DropForeignKey(ctx *sql.Context, name, _, _ string) error {
	return t.alter(ctx, func(d *catalog.Table) error {
		n := len(d.ForeignKeys)
		d.ForeignKeys = slices.DeleteFunc(d.ForeignKeys, func(f catalog.ForeignKey) bool { return strings.EqualFold(f.Name, name) })
		if len(d.ForeignKeys) == n {
			return sql.ErrForeignKeyNotFound.New(name, t.Name())
		}
		return nil
	})
}

// UpdateForeignKey implements sql.ForeignKeyTable.
func (t *table) UpdateForeignKey(ctx *sql.Context, name string, fk sql.ForeignKeyConstraint) error {
	// The engine also asks when a statement meets a key that was declared while its parent was missing. Then the key is as
	// it was but for being resolved, which every statement can find out again: that is no change of the catalog.
	s, err := sessionOf(ctx)
	if err != nil {
		return err
	}
	if s.stmt.kind != changingCatalog {
		return nil
	}
	return t.alter(ctx, func(d *catalog.Table) error {
		for i, f := range d.ForeignKeys {
			if strings.EqualFold(f.Name, name) {
				d.ForeignKeys[i] = describeConstraint(fk)
				return nil
			}
		}
		return sql.ErrForeignKeyNotFound.New(name, t.Name())
	})
}

// GetForeignKeyEditor implements sql.ForeignKeyTable.
func (t *table) GetForeignKeyEditor(ctx *sql.Context) sql.ForeignKeyEditor {
	return &fkEditor{editor: t.editor(ctx), table: t}
}

// GetChecks implements sql.CheckTable.
func (t *table) GetChecks(ctx *sql.Context) (out []sql.CheckDefinition, err error) {
	s, err := t.db.e.schemaOf(ctx)
	if err != nil {
		return nil, err
	}
	if d := s.snap.TableByID(t.l.desc.ID); d != nil {
		for _, c := range d.Checks {
			out = append(out, sql.CheckDefinition{Name: c.Name, CheckExpression: c.Expr, Enforced: c.Enforced})
		}
	}
	return out, nil
}

// CreateCheck implements sql.CheckAlterableTable.
func (t *table) CreateCheck(ctx *sql.Context, c *sql.CheckDefinition) error {
	return t.alter(ctx, func(d *catalog.Table) error {
		name := c.Name
		taken := func(n string) bool {
			return slices.ContainsFunc(d.Checks, func(o catalog.Check) bool { return strings.EqualFold(o.Name, n) })
		}
		for i := 1; name == "" || c.Name == "" && taken(name); i++ {
			name = fmt.Sprintf("%s_chk_%d", t.Name(), i)
		}
		if taken(name) {
			return sql.ErrDuplicateCheckName.New(name)
		}
		d.Checks = append(d.Checks, catalog.Check{Name: name, Expr: shownText(c.CheckExpression), Enforced: c.Enforced})
		return nil
	})
}

// DropCheck implements sql.CheckAlterableTable.
func (t *table) DropCheck(ctx *sql.Context, name string) error {
	return t.alter(ctx, func(d *catalog.Table) error {
		n := len(d.Checks)
		d.Checks = slices.DeleteFunc(d.Checks, func(c catalog.Check) bool { return strings.EqualFold(c.Name, name) })
		if len(d.Checks) == n {
			return sql.ErrUnknownConstraint.New(name)
		}
		return nil
	})
}
