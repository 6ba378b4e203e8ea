package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// SELECT ... INTO @a, @b. INTO OUTFILE and DUMPFILE are refused as MySQL refuses them with secure_file_priv = NULL: a node writes no files for
// clients.

// takeInto takes the INTO clause off a query; nil: it has none.
func takeInto(stmt sqlparser.SelectStatement) (into *sqlparser.Into) {
	switch s := stmt.(type) {
	case *sqlparser.Select:
		into, s.Into = s.Into, nil
	case *sqlparser.SetOp:
		into, s.Into = s.Into, nil
	case *sqlparser.ParenSelect:
		into = takeInto(s.Select)
	}
	return into
}

// doneQuery is the query that DO stands for.
func doneQuery(q string) (query string, does bool) {
	if w := firstWord(q); w.is(q, "do") {
		return "SELECT " + q[w.to:], true
	}
	return q, false
}

// selectInto executes a query and gives the values of its row to variables.
func (x *execution) selectInto(sc *sql.Context, q *rel.Query) error {
	if x.into.Outfile != "" || x.into.Dumpfile != "" {
		return mysql.NewSQLError(1290, "HY000", "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement")
	}
	if len(x.into.Variables) != len(q.Out) {
		return mysql.NewSQLError(1222, "21000", "The used SELECT statements have a different number of columns")
	}
	to := &intoVariables{sc: sc, q: q, into: x.into, program: x.program}
	for _, v := range x.into.Variables {
		if x.program.variable(v.String()) == nil && !strings.HasPrefix(v.String(), "@") {
			return mysql.NewSQLError(1327, "42000", "Undeclared variable: %s", v.String())
		}
	}
	if err := x.executeQuery(sc, q, nil, to); err != nil {
		return err
	}
	if to.rows == 0 {
		sc.Warn(1329, "No data - zero rows fetched, selected, or processed")
	}
	x.out.ok(types.OkResult{RowsAffected: uint64(to.rows)})
	return nil
}

// intoVariables takes the one row of SELECT ... INTO. The variables have its values even if a second one follows, which is an error.
type intoVariables struct {
	sc      *sql.Context
	q       *rel.Query
	into    *sqlparser.Into
	program *invocation // nil: the statement is the client's
	rows    int
}

// send implements rowReceiver.
func (i *intoVariables) send(env *expr.Env, row []expr.Value) error {
	if i.rows++; i.rows > 1 {
		return mysql.NewSQLError(1172, "42000", "Result consisted of more than one row")
	}
	for n, v := range i.into.Variables {
		t := i.q.Meta.Columns[i.q.Out[n].Col].Type
		if i.program != nil {
			if err := i.program.give(v.String(), row[n], t); err != nil {
				return err
			}
			continue
		}
		if err := setUserVariable(i.sc, env, strings.TrimPrefix(v.String(), "@"), row[n], t); err != nil {
			return err
		}
	}
	return nil
}
