package engine

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// Procedures for placing data by hand:
//
//	CALL longitude_split('table', 'index or PRIMARY', value [, value ...])
//	CALL longitude_move_lease('table', 'index or PRIMARY', value [, value ...], node_id)
//
// and for changing the clock source of one node or of all (package clock, Switch):
//
//	CALL longitude_set_clock('source' [, node_id])
//
// The values are those of the first columns of the index; the table may be written database.table. All arguments are
// texts for MySQL's protocol, and are converted to the types of the columns.

func (e *Engine) registerProcedures() {
	rows := sql.Schema{{Name: "table_name", Type: textType}, {Name: "index_name", Type: textType}, {Name: "key", Type: textType},
		{Name: "range_id", Type: types.Uint64}, {Name: "leaseholder", Type: types.Uint32, Nullable: true}}
	for _, p := range []struct {
		name string
		fn   any
	}{
		{"longitude_split", func(ctx *sql.Context, table, index string, values ...string) (sql.RowIter, error) {
			return e.split(ctx, table, index, values)
		}},
		{"longitude_move_lease", func(ctx *sql.Context, table, index string, values ...string) (sql.RowIter, error) {
			return e.moveLease(ctx, table, index, values)
		}},
	} {
		e.provider.external.Register(sql.ExternalStoredProcedureDetails{Name: p.name, Schema: rows, Function: p.fn, ReadOnly: true})
	}
	e.provider.external.Register(sql.ExternalStoredProcedureDetails{Name: "longitude_set_clock", ReadOnly: true,
		Schema: sql.Schema{{Name: "node_id", Type: types.Uint32}, {Name: "source", Type: textType}, {Name: "done", Type: textType}},
		Function: func(ctx *sql.Context, source string, node ...string) (sql.RowIter, error) {
			return e.setClock(ctx, source, node)
		}})
}

// setClock changes clock sources.
func (e *Engine) setClock(ctx *sql.Context, source string, nodes []string) (sql.RowIter, error) {
	if e.o.SetClock == nil || len(nodes) > 1 {
		return nil, fmt.Errorf("longitude_set_clock: wanted: CALL longitude_set_clock('source') or CALL longitude_set_clock('source', node_id)")
	}
	var node uint64
	if len(nodes) == 1 {
		var ok bool
		var err error
		if node, ok, err = sqlUint64(ctx, nodes[0]); err != nil || !ok || node == 0 || node > 1<<32-1 {
			return nil, fmt.Errorf("longitude_set_clock: %q is not the id of a node; see longitude.nodes", nodes[0])
		}
	}
	changes, err := e.o.SetClock(ctx, source, kv.NodeID(node))
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	for _, c := range changes {
		rows = append(rows, sql.Row{uint32(c.Node), c.Source, c.Done})
	}
	return sql.RowsToRowIter(rows...), nil
}

// split makes the row with these key values the first of a range.
func (e *Engine) split(ctx *sql.Context, table, index string, values []string) (sql.RowIter, error) {
	key, x, err := e.keyOf(ctx, table, index, values)
	if err != nil {
		return nil, err
	}
	if err := e.o.Router.Split(ctx, key); err != nil {
		return nil, fmt.Errorf("splitting %s at (%s): %w", table, strings.Join(values, ", "), err)
	}
	return e.placed(ctx, key, x, 0)
}

// moveLease makes a node the leaseholder of the range with these key values. The last value is the node.
func (e *Engine) moveLease(ctx *sql.Context, table, index string, values []string) (sql.RowIter, error) {
	if len(values) == 0 {
		return nil, fmt.Errorf("longitude_move_lease: say to which node: CALL longitude_move_lease('table', 'index', value, node_id)")
	}
	last := values[len(values)-1]
	node, ok, err := sqlUint64(ctx, last)
	if err != nil || !ok || node == 0 || node > 1<<32-1 {
		return nil, fmt.Errorf("longitude_move_lease: %q is not the id of a node; see longitude.nodes", last)
	}
	key, x, err := e.keyOf(ctx, table, index, values[:len(values)-1])
	if err != nil {
		return nil, err
	}
	if err := e.o.Router.TransferLease(ctx, key, kv.NodeID(node)); err != nil {
		return nil, fmt.Errorf("moving the lease of %s to node %d: %w", table, node, err)
	}
	return e.placed(ctx, key, x, kv.NodeID(node))
}

func (e *Engine) placed(ctx *sql.Context, key kv.Key, x *indexLayout, node kv.NodeID) (sql.RowIter, error) {
	d, err := e.o.Router.Lookup(ctx, key)
	if err != nil {
		return nil, err
	}
	if node == 0 {
		node = e.o.Router.Leaseholder(d.ID)
	}
	var leaseholder any // NULL: a range that was made just now has none yet that we know of
	if node != 0 {
		leaseholder = uint32(node)
	}
	return sql.RowsToRowIter(sql.Row{x.table.desc.Name, x.desc.Name, printKey(key), uint64(d.ID), leaseholder}), nil
}

// keyOf is the key where the rows with these values of an index begin.
func (e *Engine) keyOf(ctx *sql.Context, name, indexName string, values []string) (kv.Key, *indexLayout, error) {
	dbName, tableName, qualified := strings.Cut(name, ".")
	if !qualified {
		dbName, tableName = ctx.GetCurrentDatabase(), name
	}
	if dbName == "" {
		return nil, nil, sql.ErrNoDatabaseSelected.New()
	}
	e.used(ctx, (*uses).everything)
	s, err := e.schemaOf(ctx)
	if err != nil {
		return nil, nil, err
	}
	db := s.snap.Database(dbName)
	if db == nil {
		return nil, nil, sql.ErrDatabaseNotFound.New(dbName)
	}
	t := s.snap.Table(db.ID, tableName)
	if t == nil {
		return nil, nil, sql.ErrTableNotFound.New(name)
	}
	l, err := s.layout(db, t)
	if err != nil {
		return nil, nil, err
	}
	x := l.indexByName(indexName)
	if x == nil {
		return nil, nil, fmt.Errorf("table %s has no index %s", name, indexName)
	}
	parts := x.allParts()
	if len(values) > len(parts) {
		return nil, nil, fmt.Errorf("index %s of table %s has %d columns, %d values were given", indexName, name, len(parts), len(values))
	}
	key := bytes.Clone(x.prefix)
	for i, v := range values {
		typ := l.schema.Schema[parts[i].at].Type
		c, in, err := typ.Convert(ctx, v)
		if err != nil || in != sql.InRange {
			return nil, nil, fmt.Errorf("%q is not a value of column %s (%s)", v, t.Columns[parts[i].at].Name, typ)
		}
		d, err := toDatum(ctx, parts[i].col.Kind, c)
		if err != nil {
			return nil, nil, err
		}
		if key, err = rowcodec.AppendKey(key, &parts[i].col, d); err != nil {
			return nil, nil, err
		}
	}
	return key, x, nil
}

// whose says which index a key belongs to, if any.
func (s *schema) whose(key kv.Key) (db, table, index string) {
	for _, d := range s.snap.Databases() {
		for _, t := range s.snap.Tables(d.ID) {
			l, err := s.layout(d, t)
			if err != nil {
				continue
			}
			for _, x := range append([]*indexLayout{l.primary}, l.indexes...) {
				if bytes.HasPrefix(key, x.prefix) {
					return d.Name, t.Name, x.desc.Name
				}
			}
		}
	}
	return "", "", ""
}
