package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// index shows an index to the planner.
type index struct {
	db string
	x  *indexLayout
}

var (
	_ sql.Index         = (*index)(nil)
	_ sql.FilteredIndex = (*index)(nil)
	_ sql.OrderedIndex  = (*index)(nil)
	_ sql.ExtendedIndex = (*index)(nil)
)

func newIndex(db string, x *indexLayout) *index { return &index{db: db, x: x} }

func (i *index) ID() string                                 { return i.x.desc.Name }
func (i *index) Database() string                           { return i.db }
func (i *index) Table() string                              { return i.x.table.desc.Name }
func (i *index) IsUnique() bool                             { return i.x.desc.Unique }
func (i *index) IsSpatial() bool                            { return false }
func (i *index) IsFullText() bool                           { return false }
func (i *index) IsVector() bool                             { return false }
func (i *index) Comment() string                            { return i.x.desc.Comment }
func (i *index) IndexType() string                          { return "BTREE" }
func (i *index) IsGenerated() bool                          { return false }
func (i *index) CanSupportOrderBy(sql.Expression) bool      { return false }
func (i *index) PrefixLengths() []uint16                    { return i.x.prefixes }
func (i *index) Order(*sql.Context) sql.IndexOrder          { return i.order() }
func (i *index) Reversible(*sql.Context) bool               { return i.order() == sql.IndexOrderAsc }
func (i *index) CanSupport(*sql.Context, ...sql.Range) bool { return true }

func (i *index) order() sql.IndexOrder {
	if i.x.prefixes != nil {
		return sql.IndexOrderNone
	}
	return sql.IndexOrderAsc
}

func (i *index) expression(p part) string {
	return i.x.table.desc.Name + "." + i.x.table.desc.Columns[p.at].Name
}

// Expressions implements sql.Index.
func (i *index) Expressions() (out []string) {
	for _, p := range i.x.parts {
		out = append(out, i.expression(p))
	}
	return out
}

// ColumnExpressionTypes implements sql.Index.
func (i *index) ColumnExpressionTypes(*sql.Context) (out []sql.ColumnExpressionType) {
	for _, p := range i.x.parts {
		out = append(out, sql.ColumnExpressionType{Expression: i.expression(p), Type: i.x.table.schema.Schema[p.at].Type})
	}
	return out
}

// suffix is the primary key columns behind the index's own, where the table has any.
func (i *index) suffix() []part {
	if i.x.table.desc.Keyless() {
		return nil
	}
	return i.x.suffix
}

// ExtendedExpressions implements sql.ExtendedIndex.
func (i *index) ExtendedExpressions(*sql.Context) []string {
	out := i.Expressions()
	for _, p := range i.suffix() {
		out = append(out, i.expression(p))
	}
	return out
}

// ExtendedColumnExpressionTypes implements sql.ExtendedIndex.
func (i *index) ExtendedColumnExpressionTypes(ctx *sql.Context) []sql.ColumnExpressionType {
	out := i.ColumnExpressionTypes(ctx)
	for _, p := range i.suffix() {
		out = append(out, sql.ColumnExpressionType{Expression: i.expression(p), Type: i.x.table.schema.Schema[p.at].Type})
	}
	return out
}

// CoversColumns implements sql.Index.
func (i *index) CoversColumns(names []string) bool {
	if i.x.isPK {
		return true
	}
	for _, n := range names {
		at := i.x.table.schema.Schema.IndexOfColName(strings.ToLower(n))
		if !slices.Contains(i.x.covering, at) {
			return false
		}
	}
	return true
}

// HandledFilters implements sql.FilteredIndex: filters that need not be evaluated again after a lookup.
func (i *index) HandledFilters(ctx *sql.Context, filters []sql.Expression) (out []sql.Expression) {
	if i.x.prefixes != nil {
		return nil // the key holds only the beginning of the value
	}
	for _, f := range filters {
		if expression.PreciseComparison(ctx, f) {
			out = append(out, f)
		}
	}
	return out
}
