package engine

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/expr"
)

// queryHost is what one statement of a session is bound against: the catalog as its transaction sees it, and the session.
type queryHost struct {
	ctx *sql.Context
	s   *Session
	// parameters are those that were bound, by name. preparing: they are not known yet.
	parameters map[string]*querypb.BindVariable
	preparing  bool
	env        *expr.Env // for constants; nil: the session's
	// program is the one that the statement is of; nil: it is the client's.
	program *invocation
	// keeps: the plan is executed again when variables of the program have other values.
	keeps bool
	// assigning are the user variables that the statement assigns to somewhere, in lower case.
	assigning map[string]bool
	// tables are the tables that were found, by id.
	tables []uint64
	// temporary are those of them that are temporary. ofView: what is bound is the query of a view, which knows none.
	temporary map[uint64]bool
	ofView    bool
}

var _ bind.Host = (*queryHost)(nil)

// Database implements bind.Host.
func (h *queryHost) Database() string { return h.ctx.GetCurrentDatabase() }

// Settings implements bind.Host.
func (h *queryHost) Settings() bind.Settings {
	if h.env == nil {
		h.env = environment(h.ctx)
	}
	out := bind.Settings{Env: h.env, OnlyFullGroupBy: sql.LoadSqlMode(h.ctx).ModeEnabled("ONLY_FULL_GROUP_BY"), Arith: arithForm(h.ctx),
		MaxRecursion: 1000}
	if n, ok := integerVariable(h.ctx, "cte_max_recursion_depth"); ok {
		out.MaxRecursion = int(n)
	}
	return out
}

// Relation implements bind.Host. What was looked at is noted as go-mysql-server's planner has it noted (uses).
func (h *queryHost) Relation(database, name string) (bind.Relation, error) {
	var none bind.Relation
	if database == "" {
		if database = h.Database(); database == "" {
			return none, mysql.NewSQLError(1046, "3D000", "No database selected")
		}
	}
	if q, err := h.temporaryRelation(database, name); err != nil || q != nil {
		if err != nil {
			return none, err
		}
		return bind.Relation{Table: q, Generated: q.q.indexed}, nil
	}
	if t := logTableNamed(database, name); t != nil {
		return bind.Relation{Table: newHostTable(h.ctx, "mysql", t)}, nil
	}
	db, err := h.s.e.gms.Analyzer.Catalog.Database(h.ctx, database)
	if sql.ErrDatabaseNotFound.Is(err) {
		return none, mysql.NewSQLError(1049, "42000", "Unknown database '%s'", database)
	}
	if err != nil {
		return none, err
	}
	if vs, ok := db.(sql.ViewDatabase); ok {
		def, found, err := vs.GetViewDefinition(h.ctx, name)
		if err != nil {
			return none, err
		}
		if found {
			v, err := h.view(db.Name(), def)
			return bind.Relation{View: v}, err
		}
	}
	var t sql.Table
	ok := false
	if h.ofView {
		h.s.temporary.without(func() { t, ok, err = db.GetTableInsensitive(h.ctx, name) })
	} else {
		t, ok, err = db.GetTableInsensitive(h.ctx, name)
	}
	if err != nil {
		return none, err
	}
	if !ok {
		return none, mysql.NewSQLError(1146, "42S02", "Table '%s.%s' doesn't exist", db.Name(), name)
	}
	if own, ok := t.(*table); ok {
		q := newQueryTable(own)
		h.tables = append(h.tables, own.l.desc.ID)
		q.locked = h.s.stmt.lockFor(own, false).Mode != kv.NoLock
		q.virtual, err = h.virtualOf(db.Name(), own.l)
		return bind.Relation{Table: q, Generated: q.q.indexed}, err
	}
	if c, ok := t.(sql.CatalogTable); ok {
		t = c.AssignCatalog(h.s.e.gms.Analyzer.Catalog)
	}
	return bind.Relation{Table: newHostTable(h.ctx, db.Name(), t)}, nil
}

// view parses a view.
func (h *queryHost) view(database string, def sql.ViewDefinition) (*bind.View, error) {
	mode := sql.NewSqlModeFromString(def.SqlMode)
	stmt, _, err := parseQuery(def.CreateViewStatement, mode.ParserOptions())
	if err != nil {
		return nil, fmt.Errorf("%w: the view %s.%s cannot be parsed: %v", bind.ErrUnsupported, database, def.Name, err)
	}
	d, ok := stmt.(*sqlparser.DDL)
	if !ok || d.ViewSpec == nil {
		return nil, fmt.Errorf("%w: the view %s.%s is no query", bind.ErrUnsupported, database, def.Name)
	}
	v := &bind.View{Database: database, Name: def.Name, Query: d.ViewSpec.ViewExpr, Bind: func(fn func()) {
		was := h.ofView
		h.ofView = true
		defer func() { h.ofView = was }()
		fn()
	}}
	for _, c := range d.ViewSpec.Columns {
		v.Columns = append(v.Columns, c.String())
	}
	return v, nil
}

// Collation implements bind.Host.
func (h *queryHost) Collation(name string) (uint16, error) {
	c, err := sql.ParseCollation("", name, false)
	if err != nil {
		return 0, mysql.NewSQLError(1273, "HY000", "Unknown collation: '%s'", name)
	}
	return uint16(c), nil
}

// CharacterSet implements bind.Host.
func (h *queryHost) CharacterSet(name string) (uint16, error) {
	c, err := sql.ParseCharacterSet(name)
	if err != nil {
		return 0, mysql.NewSQLError(1115, "42000", "Unknown character set: '%s'", name)
	}
	if c.Name() == "utf8mb4" {
		return expr.DefaultCollation, nil
	}
	return uint16(c.DefaultCollation()), nil
}

// Parameter implements bind.Host.
func (h *queryHost) Parameter(name string) (expr.Node, error) {
	if h.preparing {
		return nil, nil
	}
	if local, ok := strings.CutPrefix(strings.TrimPrefix(name, ":"), localMark); ok {
		if v := h.program.variable(local); v != nil {
			return &localNode{v, h.keeps}, nil
		}
	}
	b, ok := h.parameters[strings.TrimPrefix(name, ":")]
	if !ok {
		return nil, mysql.NewSQLError(1210, "HY000", "Incorrect arguments to EXECUTE")
	}
	return parameterNode(h.ctx, b)
}
