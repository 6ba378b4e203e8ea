package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

var (
	_ sql.AlterableTable          = (*table)(nil)
	_ sql.CommentAlterableTable   = (*table)(nil)
	_ sql.CollationAlterableTable = (*table)(nil)
)

func spanOf(x *indexLayout) kv.Span { return catalog.IndexSpan(x.table.desc.ID, x.desc.ID) }

// putColumn puts a column where the order says: at the end, first, or behind another one.
func putColumn[T any](list []T, x T, order *sql.ColumnOrder, name func(T) string) ([]T, error) {
	switch {
	case order == nil:
		return append(list, x), nil
	case order.First:
		return slices.Insert(list, 0, x), nil
	}
	i := slices.IndexFunc(list, func(o T) bool { return strings.EqualFold(name(o), order.AfterColumn) })
	if i < 0 {
		return nil, sql.ErrColumnNotFound.New(order.AfterColumn)
	}
	return slices.Insert(list, i+1, x), nil
}

func columnName(c catalog.Column) string { return c.Name }

func findColumn(d *catalog.Table, name string) int {
	return slices.IndexFunc(d.Columns, func(c catalog.Column) bool { return strings.EqualFold(c.Name, name) })
}

// AddColumn implements sql.AlterableTable. Rows that are there get the fill, without being touched.
func (t *table) AddColumn(ctx *sql.Context, c *sql.Column, order *sql.ColumnOrder) error {
	err := t.alter(ctx, func(d *catalog.Table) error {
		col, err := t.db.describeColumn(ctx, d, c, d.NextColumnID)
		if err != nil {
			return err
		}
		d.NextColumnID++
		if col.Fill, err = fill(ctx, c, col.ID); err != nil {
			return err
		}
		d.Columns, err = putColumn(d.Columns, col, order, columnName)
		return err
	})
	if err != nil {
		return err
	}
	return t.reload(ctx)
}

// fill is the value of a new column in rows that are there: its default, or zero if it cannot be NULL.
func fill(ctx *sql.Context, c *sql.Column, id uint32) ([]byte, error) {
	var v any
	var err error
	switch {
	case c.Virtual:
		return nil, nil
	case c.Default != nil:
		if v, err = c.Default.Eval(ctx, nil); err != nil {
			return nil, err
		}
	case !c.Nullable:
		if v, _, err = c.Type.Convert(ctx, c.Type.Zero()); err != nil {
			return nil, err
		}
	}
	if v == nil {
		return nil, nil
	}
	kind, err := kindOf(c.Type)
	if err != nil {
		return nil, err
	}
	if v, _, err = c.Type.Convert(ctx, v); err != nil {
		return nil, err
	}
	d, err := toDatum(ctx, kind, v)
	if err != nil {
		return nil, err
	}
	return rowcodec.AppendValue(rowcodec.BeginValue(nil), &rowcodec.Column{ID: id, Kind: kind}, d), nil
}

// fillable reports whether a new column's value in rows that are there is one and the same.
func fillable(c *sql.Column) bool {
	if c.AutoIncrement || c.Generated != nil && !c.Virtual || c.PrimaryKey {
		return false
	}
	if c.Default == nil || c.Default.IsLiteral() {
		return true
	}
	return strings.HasPrefix(c.Default.String(), "CURRENT_TIMESTAMP")
}

// DropColumn implements sql.AlterableTable. What rows hold of it is skipped by readers. Indexes of it alone go with it;
// of other indexes and of keys it is taken out by a rewrite (ShouldRewriteTable).
func (t *table) DropColumn(ctx *sql.Context, name string) error {
	x, err := ddl(ctx)
	if err != nil {
		return err
	}
	err = t.alter(ctx, func(d *catalog.Table) error {
		i := findColumn(d, name)
		if i < 0 && sql.IsHiddenSystemColumn(name) {
			return nil // gone with its index
		}
		if i < 0 {
			return sql.ErrTableColumnNotFound.New(t.Name(), name)
		}
		if isPart(&d.Columns[i]) && d.IndexOf(d.Columns[i].ID) != "" {
			return nil // of another index, whose name begins alike
		}
		if err := dependsOn(d, name); err != nil {
			return err
		}
		id := d.Columns[i].ID
		d.Columns = slices.Delete(d.Columns, i, i+1)
		d.Indexes = slices.DeleteFunc(d.Indexes, func(o catalog.Index) bool {
			gone := slices.ContainsFunc(o.Columns, func(p catalog.IndexPart) bool { return p.Column == id })
			if gone {
				x.edit.Discard(d.ID, o.ID)
			}
			return gone
		})
		return nil
	})
	if err != nil {
		return err
	}
	x.cleanup = append(x.cleanup, t.db.e.garbage.wake)
	return t.reload(ctx)
}

// ModifyColumn implements sql.AlterableTable, for changes that leave stored values as they are.
func (t *table) ModifyColumn(ctx *sql.Context, name string, c *sql.Column, order *sql.ColumnOrder) error {
	err := t.alter(ctx, func(d *catalog.Table) error {
		i := findColumn(d, name)
		if i < 0 {
			return sql.ErrTableColumnNotFound.New(t.Name(), name)
		}
		if !strings.EqualFold(name, c.Name) {
			if err := dependsOn(d, name); err != nil {
				return err
			}
		}
		col, err := t.db.describeColumn(ctx, d, c, d.Columns[i].ID)
		if err != nil {
			return err
		}
		col.Fill = d.Columns[i].Fill
		if order == nil {
			d.Columns[i] = col
			return t.db.retypeParts(ctx, d, false)
		}
		d.Columns = slices.Delete(d.Columns, i, i+1)
		if d.Columns, err = putColumn(d.Columns, col, order, columnName); err != nil {
			return err
		}
		return t.db.retypeParts(ctx, d, false)
	})
	if err != nil {
		return err
	}
	return t.reload(ctx)
}

// sameStorage reports whether values of the old type are, as they are stored, values of the new one that sort alike.
func sameStorage(old, new sql.Type) bool {
	if old.Equals(new) {
		return true
	}
	a, errA := kindOf(old)
	b, errB := kindOf(new)
	if errA != nil || errB != nil || a != b {
		return false
	}
	if old.Type() == sqltypes.Time || new.Type() == sqltypes.Time {
		return old.Type() == new.Type() && timeDigits(old) <= timeDigits(new)
	}
	if x, ok := old.(sql.NumberType); ok {
		y, ok := new.(sql.NumberType)
		return ok && !x.IsFloat() && !y.IsFloat() && old.MaxTextResponseByteLength(nil) <= new.MaxTextResponseByteLength(nil)
	}
	if x, ok := old.(sql.StringType); ok {
		y, ok := new.(sql.StringType)
		fixed := func(t sql.Type) bool { return strings.HasPrefix(strings.ToLower(t.String()), "binary") }
		return ok && x.Collation() == y.Collation() && x.Length() <= y.Length() && !fixed(old) && !fixed(new)
	}
	if x, ok := old.(sql.EnumType); ok {
		y, ok := new.(sql.EnumType)
		return ok && x.Collation() == y.Collation() && len(x.Values()) <= len(y.Values()) && slices.Equal(x.Values(), y.Values()[:len(x.Values())])
	}
	if x, ok := old.(types.BitType); ok {
		y, ok := new.(types.BitType)
		return ok && x.NumberOfBits() <= y.NumberOfBits()
	}
	return false
}

// ModifyComment implements sql.CommentAlterableTable.
func (t *table) ModifyComment(ctx *sql.Context, comment string) error {
	return t.alter(ctx, func(d *catalog.Table) error {
		d.Comment = comment
		return nil
	})
}

// ModifyDefaultCollation implements sql.CollationAlterableTable.
func (t *table) ModifyDefaultCollation(ctx *sql.Context, c sql.CollationID) error {
	return t.alter(ctx, func(d *catalog.Table) error {
		d.Collation = c.Name()
		return nil
	})
}

// ModifyStoredCollation implements sql.CollationAlterableTable: all texts are put under another collation, and indexed
// anew.
func (t *table) ModifyStoredCollation(ctx *sql.Context, c sql.CollationID) error {
	return t.rewrite(ctx, func(d *catalog.Table) error {
		d.Collation = c.Name()
		for i := range d.Columns {
			if d.Columns[i].Type.Collation == "" {
				continue
			}
			if d.Columns[i].Type.Name == "JSON" {
				return fmt.Errorf("column %s cannot have a collation", d.Columns[i].Name)
			}
			d.Columns[i].Type.Collation = c.Name()
		}
		return nil
	})
}
