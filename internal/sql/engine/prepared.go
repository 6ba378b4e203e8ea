package engine

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// PREPARE, EXECUTE and DEALLOCATE PREPARE. A prepared statement is its text: EXECUTE runs it as if the client had sent it, with the values
// of user variables as parameters. It has its own kind, warnings, transaction and repetitions.

// preparedText is a statement of PREPARE.
type preparedText struct {
	text       string
	database   string // the current one when it was prepared, in which it is executed
	parameters int
	limits     map[string]bool // the parameters that stand in LIMIT
}

func init() {
	ownVerbs["prepare"] = prepareStatement
	ownVerbs["deallocate"] = deallocateStatement
	ownVerbs["drop"] = dropRoutine
}

// unprepared are the statements that PREPARE refuses with error 1295, by their first words.
var unprepared = map[string]bool{"begin": true, "start": true, "use": true, "lock": true, "unlock": true, "prepare": true, "execute": true,
	"deallocate": true, "savepoint": true, "release": true, "load": true, "handler": true, "signal": true, "resignal": true, "get": true}

func errUnprepared() error {
	return mysql.NewSQLError(1295, "HY000", "This command is not supported in the prepared statement protocol yet")
}

func errUnknownPrepared(name, verb string) error {
	return mysql.NewSQLError(1243, "HY000", "Unknown prepared statement handler (%s) given to %s", name, verb)
}

func errExecuteArguments() error {
	return mysql.NewSQLError(1210, "HY000", "Incorrect arguments to EXECUTE")
}

// refusedByPrepare reports whether PREPARE does not take a statement.
func refusedByPrepare(query string) bool {
	words := wordsOf(query)
	is := func(i int, text ...string) bool {
		for _, t := range text {
			if i < len(words) && words[i].is(query, t) {
				return true
			}
		}
		return false
	}
	if len(words) == 0 {
		return false
	}
	switch first := strings.ToLower(words[0].text(query)); first {
	case "show":
		return is(1, "warnings", "errors")
	case "alter":
		return is(1, "database", "schema", "procedure", "function", "event")
	case "rollback":
		return is(1, "to") || is(1, "work") && is(2, "to")
	case "drop":
		return is(1, "procedure", "function", "trigger", "event", "prepare")
	case "create":
		for i := 1; i < min(len(words), 12); i++ {
			switch {
			case is(i, "procedure", "function", "trigger", "event"):
				return true
			case is(i, "table", "view", "database", "schema", "index", "user", "role"):
				return false
			}
		}
		return false
	default:
		return unprepared[first]
	}
}

// prepareStatement is PREPARE name FROM 'text' or @variable.
func prepareStatement(t ownText) *ownStatement {
	name, rest := cutName(t.behind(0))
	from := firstWord(rest)
	if name == "" || !from.is(rest, "from") {
		return nil
	}
	source := strings.TrimSpace(rest[from.to:])
	if source == "" || source[0] != '\'' && source[0] != '"' && source[0] != '@' {
		return nil
	}
	stmt, err := sqlparser.Parse("SELECT " + source)
	sel, ok := stmt.(*sqlparser.Select)
	if err != nil || !ok || len(sel.SelectExprs) != 1 || sel.From != nil && sqlparser.String(sel.From) != "dual" {
		return nil
	}
	e, ok := sel.SelectExprs[0].(*sqlparser.AliasedExpr)
	if !ok || !e.As.IsEmpty() {
		return nil
	}
	_, name = splitName(name)
	return &ownStatement{answer: func(x *execution, sc *sql.Context) error { return x.prepareText(sc, name, e.Expr) }}
}

// prepareText keeps a statement under a name. One that had the name before is gone, even if this one is refused.
func (x *execution) prepareText(sc *sql.Context, name string, source sqlparser.Expr) error {
	var text string
	switch e := source.(type) {
	case *sqlparser.SQLVal:
		text = string(e.Val)
	case *sqlparser.ColName:
		v, err := userValue(sc, e.Name.String())
		if err != nil {
			return err
		}
		if text = "NULL"; !v.IsNull() {
			if text, err = expr.ToText(environment(sc), v); err != nil {
				return err
			}
		}
	}
	name = strings.ToLower(name)
	delete(x.s.prepared, name)
	text = strings.TrimSpace(text)
	if text == "" {
		return mysql.NewSQLError(1065, "42000", "Query was empty")
	}
	query := rewrite(text)
	if refusedByPrepare(query) {
		return errUnprepared()
	}
	p := &preparedText{text: text, database: sc.GetCurrentDatabase()}
	own := ownAlone(query)
	if end := endOfStatement(text); strings.TrimSpace(strings.TrimPrefix(text[end:], ";")) != "" {
		return mysql.NewSQLError(1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version "+
			"for the right syntax to use near '%s' at line 1", strings.TrimSpace(strings.TrimPrefix(text[end:], ";")))
	}
	if own == nil || own.answer == nil {
		if own != nil {
			query = own.instead
		}
		stmt, _, err := parseQuery(query, sql.LoadSqlMode(sc).ParserOptions())
		if err == nil {
			p.parameters, p.limits = parameters(stmt), limitParameters(stmt)
		}
		if _, err := x.h.describe(sc, x.s, text); err != nil {
			return err
		}
	}
	if p.parameters > mostParameters {
		return errTooManyParameters
	}
	if x.s.prepared == nil {
		x.s.prepared = map[string]*preparedText{}
	}
	if limit, ok := integerVariable(sc, "max_prepared_stmt_count"); ok && int64(len(x.s.prepared)) >= limit {
		return mysql.NewSQLError(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)", limit)
	}
	x.s.prepared[name] = p
	x.out.ok(types.OkResult{Info: info("Statement prepared")})
	return nil
}

// info is a text with which an OK packet ends.
type info string

func (i info) String() string { return string(i) }

// deallocateStatement is DEALLOCATE PREPARE name, or DROP PREPARE name.
func deallocateStatement(t ownText) *ownStatement {
	if t.word(1) != "prepare" {
		return nil
	}
	name, rest := cutName(t.behind(1))
	if name == "" || rest != "" {
		return nil
	}
	_, name = splitName(name)
	return &ownStatement{answer: func(x *execution, _ *sql.Context) error {
		if _, ok := x.s.prepared[strings.ToLower(name)]; !ok {
			return errUnknownPrepared(name, "DEALLOCATE PREPARE")
		}
		delete(x.s.prepared, strings.ToLower(name))
		x.out.ok(types.OkResult{})
		return nil
	}}
}

// executes takes EXECUTE apart: the statement that it names, as a request of its own, and what stands behind it. nil: the request is
// something else.
func (x *execution) executes(sc *sql.Context, r request) (p *preparedText, inner request, rest string, err error) {
	if w := firstWord(r.query); !w.is(r.query, "execute") {
		return nil, inner, "", nil
	}
	stmt, _, rest, err := sql.DefaultMySQLParser.ParseWithOptions(sc, r.query, ';', r.multi, sql.LoadSqlMode(sc).ParserOptions())
	e, ok := stmt.(*sqlparser.Execute)
	if err != nil || !ok {
		return nil, inner, "", nil // the error is worded elsewhere
	}
	if p = x.s.prepared[strings.ToLower(e.Name)]; p == nil {
		return nil, inner, rest, errUnknownPrepared(e.Name, "EXECUTE")
	}
	if len(e.VarList) != p.parameters {
		return nil, inner, rest, errExecuteArguments()
	}
	inner = request{query: p.text, rows: r.rows, bindings: make(map[string]*querypb.BindVariable, p.parameters)}
	for i, name := range e.VarList {
		v, err := userValue(sc, name)
		if err != nil {
			return nil, inner, rest, err
		}
		parameter := "v" + strconv.Itoa(i+1)
		if p.limits[parameter] {
			if v, err = limitArgument(v); err != nil {
				return nil, inner, rest, err
			}
		}
		if inner.bindings[parameter], err = bindVariable(sc, v); err != nil {
			return nil, inner, rest, err
		}
	}
	return p, inner, rest, nil
}

// limitParameters are the parameters of a statement that stand in LIMIT.
func limitParameters(stmt sqlparser.Statement) (out map[string]bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if l, ok := n.(*sqlparser.Limit); ok && l != nil {
			for _, e := range []sqlparser.Expr{l.Rowcount, l.Offset} {
				if v, ok := e.(*sqlparser.SQLVal); ok && v.Type == sqlparser.ValArg {
					if out == nil {
						out = map[string]bool{}
					}
					out[strings.TrimPrefix(string(v.Val), ":")] = true
				}
			}
		}
		return true, nil
	}, stmt)
	return out
}

// limitArgument is a value as the count of a LIMIT: NULL is 0.
func limitArgument(v expr.Value) (expr.Value, error) {
	switch {
	case v.IsNull():
		return expr.Int(0), nil
	case v.Kind() == expr.KindUint, v.Kind() == expr.KindInt && v.RawInt() >= 0:
		return v, nil
	case v.Kind() == expr.KindInt:
		return v, mysql.NewSQLError(1690, "22003", "unsigned integer value is out of range in 'EXECUTE'")
	}
	return v, errExecuteArguments()
}

// executePrepared runs a prepared statement in the database in which it was prepared.
func (x *execution) executePrepared(sc *sql.Context, p *preparedText, r request, rest string) error {
	x.behind, x.unknown = rest != "", nil
	if now := sc.GetCurrentDatabase(); now != p.database {
		x.s.SetCurrentDatabase(p.database)
		defer x.s.SetCurrentDatabase(now)
	}
	_, err := x.runStatement(sc, r)
	return err
}

// userValue is the value of a user variable: @name, or name.
func userValue(sc *sql.Context, name string) (expr.Value, error) {
	t, v, err := sc.GetUserVariable(sc, strings.TrimPrefix(name, "@"))
	if err != nil || v == nil || t == nil {
		return expr.Null, err
	}
	return valueOfType(sc, v, t, exprType(t, expr.Implicit))
}

// bindVariable is a value as one that is bound to a parameter. Dates and times are texts, as they are in user variables.
func bindVariable(sc *sql.Context, v expr.Value) (*querypb.BindVariable, error) {
	if v.IsNull() {
		return sqltypes.NullBindVariable, nil
	}
	text, err := expr.ToText(environment(sc), v)
	if err != nil {
		return nil, err
	}
	t := sqltypes.VarBinary
	switch v.Kind() {
	case expr.KindInt:
		t = sqltypes.Int64
	case expr.KindUint:
		t = sqltypes.Uint64
	case expr.KindFloat:
		t = sqltypes.Float64
	case expr.KindDecimal:
		t = sqltypes.Decimal
	}
	return &querypb.BindVariable{Type: t, Value: []byte(text)}, nil
}
