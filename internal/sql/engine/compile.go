package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// compiler makes a plan of a statement that the ordinary path has just executed.
type compiler struct {
	e      *Engine
	sc     *sql.Context
	schema *schema
	db     *catalog.Database
	l      *layout
	alias  string     // by which the statement calls its table
	result sql.Schema // that the ordinary path has answered with
	// described is how it was described, if not by result.
	described *rel.Query
	// anyOrder: in which order rows are read does not show.
	anyOrder bool
}

// learn looks at a statement that has succeeded on the ordinary path, so that it can be executed by a plan when it comes again.
func (x *execution) learn(sc *sql.Context) {
	if x.unknown == nil || x.more {
		return
	}
	if x.s.stmt.uses.temporary {
		return // M4
	}
	k := x.unknown
	version := x.h.e.schemas.newest() // of a statement that has not looked: it need not be looked at again before the next
	if x.pinned != nil {
		version = x.pinned.snap.Meta.Version
	}
	en := &planEntry{key: *k, version: version}
	options := sql.LoadSqlMode(sc).ParserOptions()
	if stmt, end, err := sql.DefaultMySQLParser.ParseOneWithOptions(sc, k.text, options); err == nil && end >= len(k.text) {
		c := &compiler{e: x.h.e, sc: sc, schema: x.pinned, result: x.schema, described: x.described}
		en.plan = c.statement(stmt, k.text, k.database)
	}
	if en.plan != nil {
		u := x.s.stmt.uses // of the execution just now
		en.plan.uses, en.plan.digest = &u, digest(k.text)
		en.plan.schema.Store(x.pinned)
	}
	x.h.e.plans.put(en)
}

func (c *compiler) statement(stmt sqlparser.Statement, text, database string) *compiled {
	switch s := stmt.(type) {
	case *sqlparser.Begin:
		if s.TransactionCharacteristic == "" {
			return &compiled{kind: control, begin: beginMode(s), form: beginForm{}}
		}
	case *sqlparser.Commit, *sqlparser.Rollback:
		return &compiled{kind: control, form: controlForm(stmt, text)}
	}
	if c.schema == nil {
		return nil
	}
	var f form
	p := &compiled{kind: writing}
	switch s := stmt.(type) {
	case *sqlparser.Select:
		f, p.kind, p.counter = c.selection(s, database), reading, "Com_select"
	case *sqlparser.Insert:
		f, p.inserts, p.counter = c.insertion(s, database), true, "Com_insert"
	case *sqlparser.Update:
		f, p.counter = c.update(s, database), "Com_update"
	case *sqlparser.Delete:
		f, p.counter = c.deletion(s, database), "Com_delete"
	}
	if f == nil {
		return nil
	}
	p.form = f
	return p
}

// table finds the one table of a FROM clause. One that only the ordinary path can deal with counts as none.
func (c *compiler) table(from sqlparser.TableExprs, database string) bool {
	if len(from) != 1 {
		return false
	}
	a, ok := from[0].(*sqlparser.AliasedTableExpr)
	if !ok || a.Hints != nil || a.AsOf != nil || len(a.Partitions) > 0 || a.Lateral {
		return false
	}
	name, ok := a.Expr.(sqlparser.TableName)
	if !ok {
		return false
	}
	c.alias = name.Name.String()
	if !a.As.IsEmpty() {
		c.alias = a.As.String()
	}
	return c.named(name, database)
}

func (c *compiler) named(name sqlparser.TableName, database string) bool {
	if !name.DbQualifier.IsEmpty() {
		database = name.DbQualifier.String()
	}
	if !name.SchemaQualifier.IsEmpty() {
		return false
	}
	if c.db = c.schema.snap.Database(database); c.db == nil {
		return false
	}
	t := c.schema.snap.Table(c.db.ID, name.Name.String())
	if t == nil || t.Keyless() {
		return false
	}
	for _, v := range c.db.Views {
		if strings.EqualFold(v.Name, t.Name) {
			return false
		}
	}
	l, err := c.schema.layout(c.db, t)
	if err != nil {
		return false
	}
	for i := range t.Columns {
		if col := &t.Columns[i]; col.Generated != "" || col.Virtual || col.Hidden || col.HiddenSystem || col.Invisible || col.Type.Declared != (catalog.Declared{}) {
			return false
		}
	}
	c.l = l
	return true
}
