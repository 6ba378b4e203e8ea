package engine

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// INSERT ... SELECT and REPLACE ... SELECT: the query is planned and executed by our own packages, and the rest of the statement by
// go-mysql-server, which sees the rows as those of a table of the database longitude.

// querySourceName is what the table is called.
const querySourceName = "rows of the query"

// insertedQuery is the query of such a statement.
type insertedQuery struct {
	stmt       sqlparser.SelectStatement
	parameters map[string]*querypb.BindVariable
	names      []string // of the parameters in it
	locks      lockPlan
	plan       *rel.Query // of the attempt under way
	schema     sql.Schema // of its rows
	warned     []*sql.Warning
	// into is the table that the statement inserts into; replaces: it deletes rows of it, too.
	into     sqlparser.TableName
	replaces bool
	keeps    bool // the rows are all read before the first is inserted
}

// insertsQuery takes the query out of an INSERT ... SELECT: of the statement only a reference to its rows is left. nil: it is none, or
// is left to go-mysql-server as a whole.
func (x *execution) insertsQuery(sc *sql.Context, r *request) (*sqlparser.Insert, *insertedQuery) {
	if w := firstWord(r.query); !w.is(r.query, "insert") && !w.is(r.query, "replace") || !x.s.settings(sc).ownPlanner || mentionsAsOf(r.query) {
		return nil, nil
	}
	parsed, _, err := parseQuery(r.query, sql.LoadSqlMode(sc).ParserOptions())
	if err == nil {
		parsed, err = x.program.localize(parsed)
	}
	ins, ok := parsed.(*sqlparser.Insert)
	if err != nil || !ok || ins.With != nil || len(ins.OnDup) > 0 || len(ins.Returning) > 0 {
		return nil, nil
	}
	q, ok := ins.Rows.(sqlparser.SelectStatement)
	if !ok || leftToOrdinary(q) {
		return nil, nil
	}
	out := &insertedQuery{into: ins.Table, replaces: strings.EqualFold(ins.Action, sqlparser.ReplaceStr), stmt: q, parameters: r.bindings, locks: x.lockPlan(sc, q, nil)}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if v, ok := n.(*sqlparser.SQLVal); ok && v.Type == sqlparser.ValArg {
			out.names = append(out.names, strings.TrimPrefix(string(v.Val), ":"))
		}
		return true, nil
	}, q)
	withoutClauses(q)
	ins.Rows = &sqlparser.Select{SelectExprs: sqlparser.SelectExprs{&sqlparser.StarExpr{}}, From: sqlparser.TableExprs{&sqlparser.AliasedTableExpr{
		Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE}, Expr: sqlparser.TableName{Name: sqlparser.NewTableIdent(querySourceName), DbQualifier: sqlparser.NewTableIdent(SystemDatabase)}}}}
	stmt, err := rewriteStatement(ins, r.query, r.query, nil)
	if err != nil {
		return nil, nil
	}
	return stmt.(*sqlparser.Insert), out
}

// without are the bindings that are not parameters of the query.
func (i *insertedQuery) without(bindings map[string]sqlparser.Expr) map[string]sqlparser.Expr {
	out := map[string]sqlparser.Expr{}
	for name, v := range bindings {
		if !slices.Contains(i.names, name) {
			out[name] = v
		}
	}
	return out
}

// bind plans the query for one attempt. errOrdinary: go-mysql-server has to execute all of the statement.
func (i *insertedQuery) bind(x *execution, sc *sql.Context) error {
	t, err := x.s.current(sc)
	if err != nil {
		return err
	}
	x.s.latest = t
	x.s.stmt.locks.tables = append(x.s.stmt.locks.tables, i.locks.tables...)
	h := &queryHost{ctx: sc, s: x.s, parameters: i.parameters, program: x.program}
	q, warned, err := x.plan(sc, i.stmt, h)
	if errors.Is(err, bind.ErrUnsupported) {
		return errOrdinary
	}
	if err != nil {
		return clientSide(err)
	}
	i.plan, i.schema, i.warned = q, nil, warned
	if i.keeps, err = i.meets(sc, h); err != nil {
		return err
	}
	for n, c := range querySchema(q) {
		i.schema = append(i.schema, &sql.Column{Name: "c" + strconv.Itoa(n), Type: c.Type, Nullable: c.Nullable, Source: querySourceName, DatabaseSource: SystemDatabase})
	}
	x.s.stmt.source = i
	return nil
}

// meets reports whether the query may read rows that the statement writes: of its table, or by triggers and foreign keys of others.
func (i *insertedQuery) meets(sc *sql.Context, h *queryHost) (bool, error) {
	database := i.into.DbQualifier.String()
	if database == "" {
		database = sc.GetCurrentDatabase()
	}
	s, err := h.s.schema(sc)
	if err != nil {
		return true, err
	}
	db := s.snap.Database(database)
	if db == nil || len(db.Triggers) > 0 || i.replaces {
		return true, nil
	}
	into := s.snap.Table(db.ID, i.into.Name.String())
	return into == nil || slices.Contains(h.tables, into.ID), nil
}

// sourceTable is the rows of the query as a table.
type sourceTable struct{ i *insertedQuery }

var _ sql.Table = (*sourceTable)(nil)

// Name implements sql.Nameable.
func (t *sourceTable) Name() string { return querySourceName }

// String implements fmt.Stringer.
func (t *sourceTable) String() string { return querySourceName }

// Schema implements sql.Table.
func (t *sourceTable) Schema(*sql.Context) sql.Schema { return t.i.schema }

// Collation implements sql.Table.
func (t *sourceTable) Collation() sql.CollationID { return sql.Collation_Default }

// IsTemporary implements sql.TemporaryTable.
func (t *sourceTable) IsTemporary() bool { return false }

// Partitions implements sql.Table.
func (t *sourceTable) Partitions(*sql.Context) (sql.PartitionIter, error) { return &partitions{}, nil }

// PartitionRows implements sql.Table.
func (t *sourceTable) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range t.i.warned {
		s.Warn(w)
	}
	it := &sourceRows{i: t.i, values: make([]expr.Value, len(t.i.plan.Out)),
		run: exec.New(t.i.plan, environment(ctx), &querySource{ctx: ctx, s: s}, queryOptions(ctx, s, nil))}
	if err := it.run.Open(); err != nil {
		return nil, errors.Join(clientSide(err), it.run.Close())
	}
	if !t.i.keeps {
		return it, nil
	}
	var rows []sql.Row // those from before the statement writes
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			return sql.RowsToRowIter(rows...), it.Close(ctx)
		}
		if err != nil {
			return nil, errors.Join(err, it.Close(ctx))
		}
		rows = append(rows, row)
	}
}

// sourceRows gives the rows of the query.
type sourceRows struct {
	i      *insertedQuery
	run    *exec.Execution
	values []expr.Value
}

// Next implements sql.RowIter.
func (r *sourceRows) Next(ctx *sql.Context) (sql.Row, error) {
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	ok, err := r.run.Next(r.values)
	if err != nil {
		return nil, clientSide(err)
	}
	if !ok {
		return nil, io.EOF
	}
	row := make(sql.Row, len(r.values))
	for n, v := range r.values {
		if row[n], err = toHost(v, r.i.plan.Meta.Columns[r.i.plan.Out[n].Col].Type); err != nil {
			return nil, clientSide(err)
		}
	}
	return row, nil
}

// Close implements sql.RowIter.
func (r *sourceRows) Close(*sql.Context) error { return r.run.Close() }
