package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/sqltext"
)

// Columns that hold the expressions of functional indexes (tableddl.go). Their values stand in the rows, and are calculated where a row
// is written (rowexpressions.go): readers find them there.

// isPart reports whether a column holds an expression that an index is on.
func isPart(c *catalog.Column) bool { return c.HiddenSystem && c.Generated != "" }

// keptText is how the catalog keeps an expression over columns; "": as go-mysql-server writes it.
func keptText(ctx *sql.Context, e sqlparser.Expr, columns []catalog.Column) string {
	text, err := sqltext.Expr(e, sqltext.Options{Charset: connectionCharset(ctx), Column: func(name string) string {
		for i := range columns {
			if strings.EqualFold(columns[i].Name, name) {
				return columns[i].Name
			}
		}
		return name
	}})
	if err != nil {
		return ""
	}
	return text
}

// connectionCharset is character_set_connection.
func connectionCharset(ctx *sql.Context) string {
	if v, err := ctx.GetSessionVariable(ctx, "character_set_connection"); err == nil {
		if s, ok := v.(string); ok && s != "" {
			return s
		}
	}
	return "utf8mb4"
}

// namesColumn reports whether an expression reads a column.
func readsColumn(e sqlparser.Expr, column string) (found bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if c, ok := n.(*sqlparser.ColName); ok && strings.EqualFold(c.Name.String(), column) {
			found = true
		}
		return !found, nil
	}, e)
	return found
}

// describePart makes the column of an expression: its type is the expression's. d is the table without it.
func (d *database) describePart(ctx *sql.Context, t *catalog.Table, c *catalog.Column, p functionalPart) error {
	s, err := sessionOf(ctx)
	if err != nil {
		return err
	}
	if inner, ok := withoutParens(p.expr).(*sqlparser.ColName); ok && !strings.HasPrefix(inner.Name.String(), "@") {
		return mysql.NewSQLError(3762, "HY000", "Functional index on a column is not supported. Consider using a regular index instead.")
	}
	node, nullable, err := d.bindKept(ctx, s, t, p.expr, "functional index")
	if err != nil {
		return partError(err, p.index)
	}
	reads := rel.Cols{}
	rel.CollectCols(reads, node)
	for at := range reads {
		if t.Columns[at].AutoIncrement {
			return mysql.NewSQLError(3754, "HY000", "Functional index '%s' cannot refer to an auto-increment column.", p.index)
		}
	}
	typ, err := partType(node.Type(), p)
	if err != nil {
		return err
	}
	if c.Type, err = describeType(typ); err != nil {
		return err
	}
	c.Nullable, c.Virtual, c.HiddenSystem = nullable, true, true
	if c.Generated = keptText(ctx, p.expr, t.Columns); c.Generated == "" {
		return mysql.NewSQLError(3761, "HY000", "The used storage engine cannot index the expression '%s'.", sqlparser.String(p.expr))
	}
	return nil
}

func withoutParens(e sqlparser.Expr) sqlparser.Expr {
	for {
		p, ok := e.(*sqlparser.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// bindKept binds an expression over the columns of a table.
func (d *database) bindKept(ctx *sql.Context, s *Session, t *catalog.Table, e sqlparser.Expr, where string) (expr.Node, bool, error) {
	l, err := newLayout(d.name, t)
	if err != nil {
		return nil, false, err
	}
	return bind.TableExpr(&queryHost{ctx: ctx, s: s}, newQueryTable(newTable(d, l)), e, where)
}

// partError is what is wrong with an expression of a functional index.
func partError(err error, index string) error {
	var not *bind.NotOfTable
	switch {
	case !errors.As(err, &not):
		if errors.Is(err, bind.ErrUnsupported) {
			return mysql.NewSQLError(3761, "HY000", "The used storage engine cannot index the expression '%s'.", strings.TrimSuffix(err.Error(), ": "+bind.ErrUnsupported.Error()))
		}
		return clientSide(err)
	case not.Unwrap() != nil:
		return clientSide(not.Unwrap())
	case not.Variable:
		return mysql.NewSQLError(3772, "HY000", "Default value expression of column '%s' cannot refer user or system variables.", index)
	}
	return mysql.NewSQLError(3758, "HY000", "Expression of functional index '%s' contains a disallowed function.", index)
}

// generatedError is what is wrong with the expression of a generated column.
func generatedError(err error, column string) error {
	var not *bind.NotOfTable
	switch {
	case !errors.As(err, &not):
		return nil // go-mysql-server finds it
	case not.Unwrap() != nil:
		return clientSide(not.Unwrap())
	case not.Variable:
		return mysql.NewSQLError(3772, "HY000", "Default value expression of column '%s' cannot refer user or system variables.", column)
	case not.Function == "":
		return mysql.NewSQLError(3102, "HY000", "Expression of generated column '%s' contains a disallowed function.", column)
	}
	return mysql.NewSQLError(3763, "HY000", "Expression of generated column '%s' contains a disallowed function: %s.", column, not.Function)
}

// mostIndexed is how many characters a text may have that an index is on: a longer one is a TEXT.
const mostIndexed = 16383

// partType is the type of the column for values of a type.
func partType(t expr.Type, p functionalPart) (sql.Type, error) {
	switch t.Name {
	case expr.JSONType, expr.OtherType:
		return nil, mysql.NewSQLError(3753, "42000", "Cannot create a functional index on a function that returns a JSON or GEOMETRY value.")
	case expr.NullType:
		return nil, mysql.NewSQLError(3761, "HY000", "The used storage engine cannot index the expression '%s'.", strings.ToUpper(sqlparser.String(withoutParens(p.expr))))
	}
	if t.IsString() && (t.Name == expr.TextType || t.Name == expr.Blob || t.Length < 0 || t.Length > mostIndexed) {
		return nil, mysql.NewSQLError(3757, "HY000", "Cannot create a functional index on an expression that returns a BLOB or TEXT. Please consider using CAST.")
	}
	return hostType(t), nil
}

// dropOrphans drops the columns that hold expressions of indexes that are gone.
func dropOrphans(t *catalog.Table) error {
	t.Columns = slices.DeleteFunc(t.Columns, func(c catalog.Column) bool { return isPart(&c) && t.IndexOf(c.ID) == "" })
	return nil
}

// dependsOn is error 3837: an index is on an expression that reads the column.
func dependsOn(t *catalog.Table, column string) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		if !isPart(c) {
			continue
		}
		if e, err := parseRule(c.Generated); err != nil || readsColumn(e, column) {
			return mysql.NewSQLError(3837, "HY000", "Column '%s' has a functional index dependency and cannot be dropped or renamed.", column)
		}
	}
	return nil
}

// retypeParts gives the columns that hold expressions the types that these have now that columns have changed. rewritten: all rows are
// going to be written anew; else the new type must keep values as they are.
func (d *database) retypeParts(ctx *sql.Context, t *catalog.Table, rewritten bool) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		if !isPart(c) {
			continue
		}
		e, err := parseRule(c.Generated)
		if err != nil {
			return err
		}
		index, now := t.IndexOf(c.ID), *c
		if err := d.describePart(ctx, t, &now, functionalPart{index: index, expr: e}); err != nil {
			return err
		}
		old, err := columnType(c.Type)
		if err != nil {
			return err
		}
		typ, err := columnType(now.Type)
		if err != nil {
			return err
		}
		if !rewritten && !sameStorage(old, typ) {
			return mysql.NewSQLError(1235, "42000", "This version of Longitude doesn't yet support changing the type of a column that the functional index '%s' reads; drop the index first", index)
		}
		c.Type, c.Nullable = now.Type, now.Nullable
	}
	return nil
}
