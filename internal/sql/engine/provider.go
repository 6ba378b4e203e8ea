package engine

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// defaultCollation is that of databases created without one, as in MySQL 8.
const defaultCollation = sql.Collation_utf8mb4_0900_ai_ci

// SystemDatabase is the name of the database with tables about the cluster.
const SystemDatabase = "longitude"

// provider gives the engine its databases.
type provider struct {
	e        *Engine
	external sql.ExternalStoredProcedureRegistry
}

var (
	_ sql.DatabaseProvider                = (*provider)(nil)
	_ sql.CollatedDatabaseProvider        = (*provider)(nil)
	_ sql.ExternalStoredProcedureProvider = (*provider)(nil)
)

// schemaOf is the catalog as the context's transaction has to see it.
func (e *Engine) schemaOf(ctx *sql.Context) (*schema, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		en, err := e.schemas.latest(ctx)
		return en.schema, err
	}
	return s.schema(ctx)
}

// Database implements sql.DatabaseProvider.
func (p *provider) Database(ctx *sql.Context, name string) (sql.Database, error) {
	if strings.EqualFold(name, SystemDatabase) {
		return &systemDatabase{e: p.e}, nil
	}
	s, err := p.e.schemaOf(ctx)
	if err != nil {
		return nil, err
	}
	d := s.snap.Database(name)
	if d == nil {
		p.e.used(ctx, func(u *uses) { u.missing(0, name) })
		return nil, sql.ErrDatabaseNotFound.New(name)
	}
	return &database{e: p.e, id: d.ID, name: d.Name, collation: d.Collation}, nil
}

// HasDatabase implements sql.DatabaseProvider.
func (p *provider) HasDatabase(ctx *sql.Context, name string) bool {
	_, err := p.Database(ctx, name)
	return err == nil
}

// AllDatabases implements sql.DatabaseProvider. It cannot report an error: the statement that asks fails at its next look
// at the catalog. Planning asks for every statement: on a node whose clock gives no readings, one that looks at the system's
// tables alone must not become a transaction by that, which could not be finished.
func (p *provider) AllDatabases(ctx *sql.Context) []sql.Database {
	out := []sql.Database{&systemDatabase{e: p.e}}
	if _, err := p.e.o.Clock.Now(); err != nil {
		return out
	}
	s, err := p.e.schemaOf(ctx)
	if err != nil {
		return out
	}
	if own, err := sessionOf(ctx); err == nil && listsSchema(own.stmt.query) {
		p.e.used(ctx, (*uses).everything)
	}
	for _, id := range slices.Sorted(maps.Keys(s.snap.Databases())) {
		d := s.snap.Databases()[id]
		out = append(out, &database{e: p.e, id: d.ID, name: d.Name, collation: d.Collation})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name() < out[j].Name() })
	return out
}

// CreateDatabase implements sql.MutableDatabaseProvider.
func (p *provider) CreateDatabase(ctx *sql.Context, name string) error {
	return p.CreateCollatedDatabase(ctx, name, defaultCollation)
}

// CreateCollatedDatabase implements sql.CollatedDatabaseProvider.
func (p *provider) CreateCollatedDatabase(ctx *sql.Context, name string, collation sql.CollationID) error {
	if collation == sql.Collation_Unspecified || collation == sql.Collation_Default && !strings.Contains(strings.ToLower(ctx.Query()), "collate") {
		collation = defaultCollation
	}
	if strings.EqualFold(name, SystemDatabase) || strings.EqualFold(name, "information_schema") || strings.EqualFold(name, "mysql") {
		return sql.ErrDatabaseExists.New(name)
	}
	t, err := ddl(ctx)
	if err != nil {
		return err
	}
	if t.edit.Snapshot().Database(name) != nil {
		return sql.ErrDatabaseExists.New(name)
	}
	return t.edit.PutDatabase(&catalog.Database{ID: t.edit.NewID(), Name: name, Collation: collation.Name()})
}

// DropDatabase implements sql.MutableDatabaseProvider.
func (p *provider) DropDatabase(ctx *sql.Context, name string) error {
	if strings.EqualFold(name, SystemDatabase) {
		return fmt.Errorf("the database %s shows the state of the cluster and cannot be dropped", SystemDatabase)
	}
	t, err := ddl(ctx)
	if err != nil {
		return err
	}
	d := t.edit.Snapshot().Database(name)
	if d == nil {
		return sql.ErrDatabaseNotFound.New(name)
	}
	t.edit.DropDatabase(d.ID)
	t.cleanup = append(t.cleanup, p.e.garbage.wake)
	return nil
}

// ExternalStoredProcedure implements sql.ExternalStoredProcedureProvider.
func (p *provider) ExternalStoredProcedure(_ *sql.Context, name string, n int) (*sql.ExternalStoredProcedureDetails, error) {
	return p.external.LookupByNameAndParamCount(name, n)
}

// ExternalStoredProcedures implements sql.ExternalStoredProcedureProvider.
func (p *provider) ExternalStoredProcedures(_ *sql.Context, name string) ([]sql.ExternalStoredProcedureDetails, error) {
	return p.external.LookupByName(name)
}
