package engine

import (
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/expr"
)

// ALTER TABLE that changes the type of a column converts its values as an assignment does, with MySQL's errors and warnings. (go-mysql-server,
// sql/rowexec/ddl_iters.go, has conversions of its own: a DATETIME became the seconds since 1970.)

// retyping is such a change.
type retyping struct {
	t       *table
	old     int   // the column's place
	new     int   // its place in the new rows
	places  []int // of the columns of the new rows in the old ones
	typ     sql.Type
	from    expr.Type
	to      expr.Target
	notNull bool
	same    bool // only whether it takes NULL changes
}

// retypes is the change if it can be made here; nil: go-mysql-server has to. d is the table as it will be.
func (t *table) retypes(d *catalog.Table, old, new *sql.Column) *retyping {
	if old == nil || new == nil || new.AutoIncrement || old.Generated != nil || new.Generated != nil || t.l.indexesCalculated() {
		return nil
	}
	for i := range d.Columns {
		c := &d.Columns[i]
		if c.Generated == "" || isPart(c) {
			continue
		}
		if e, err := parseRule(c.Generated); err != nil || readsColumn(e, old.Name) || readsColumn(e, new.Name) {
			return nil // it has to be calculated anew
		}
	}
	to, ok := targetType(new.Type)
	if !ok || !expr.Assignable(to) {
		return nil
	}
	r := &retyping{t: t, old: findColumn(t.l.desc, old.Name), new: findColumn(d, new.Name), typ: old.Type, notNull: !new.Nullable,
		same: old.Type.Equals(new.Type)}
	if r.old < 0 || r.new < 0 {
		return nil
	}
	r.from = t.l.queries().columns[r.old].Type
	if to.Name == expr.JSONType && r.from.Kind() != expr.KindText && r.from.Kind() != expr.KindJSON {
		return nil // ALTER TABLE makes a document of a number, INSERT does not
	}
	r.to = expr.Target{Type: declaredType(to, d.Columns[r.new].Type.Declared), Name: new.Name}
	for i := range d.Columns {
		at := slices.IndexFunc(t.l.desc.Columns, func(c catalog.Column) bool { return c.ID == d.Columns[i].ID })
		if at < 0 {
			return nil
		}
		r.places = append(r.places, at)
	}
	return r
}

// rewrite writes all rows anew.
func (r *retyping) rewrite(ctx *sql.Context, rows sql.RowIter, to *rewriter) error {
	defer rows.Close(ctx)
	env := environment(ctx)
	env.Change = true
	for r.to.Row = 1; ; r.to.Row++ {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			return to.Close(ctx)
		}
		if err != nil {
			return err
		}
		out := make(sql.Row, len(r.places))
		for i, at := range r.places {
			out[i] = row[at]
		}
		if out[r.new], err = r.value(ctx, env, row[r.old]); err != nil {
			return clientSide(err)
		}
		if err := to.Insert(ctx, out); err != nil {
			return err
		}
	}
}

// value converts a value of the column.
func (r *retyping) value(ctx *sql.Context, env *expr.Env, v any) (any, error) {
	from, err := valueOfType(ctx, v, r.typ, r.from)
	if err != nil {
		return nil, err
	}
	out, err := expr.Assign(env, from, &r.to)
	if err != nil {
		return nil, err
	}
	if out.IsNull() && r.notNull {
		switch {
		case env.Strict() && r.same:
			return nil, mysql.NewSQLError(1138, "22004", "Invalid use of NULL value")
		case r.to.Type.Name == expr.TimestampType:
			return ctx.QueryTime(), nil
		default:
			if err := env.StrictOrWarn(1265, "01000", "Data truncated for column '%s' at row %d", r.to.Name, r.to.Row); err != nil {
				return nil, err
			}
			switch out = expr.ImplicitDefault(r.to.Type); r.to.Type.Name {
			case expr.EnumType:
				out = expr.Enum(0, "")
			case expr.JSONType:
				return types.JSONDocument{}, nil
			}
		}
	}
	if err := env.Failed(); err != nil {
		return nil, err
	}
	return toHost(out, r.to.Type)
}

// narrows reports whether a column's type has attributes (declared) that values have not been stored under.
func (t *table) narrows(ctx *sql.Context, old, new *sql.Column) bool {
	at := findColumn(t.l.desc, old.Name)
	if at < 0 || !definesColumn(ctx, new.Name) {
		return false
	}
	was, is := t.l.desc.Columns[at].Type.Declared, notesOf(ctx).declaredOf(new.Name)
	return is.Unsigned && !was.Unsigned || is.Fixed && (!was.Fixed || was.Digits != is.Digits || was.Width != is.Width)
}
