package engine

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/txn"
)

// Reads of the past: a session says so for all its transactions, or one statement says so with AS OF.
const (
	// asOfVariable is the time at which the session's transactions read; empty: the present. See parseAsOf.
	asOfVariable = "longitude_read_as_of"
	// stalenessVariable is how old what the session reads may be; empty: not at all.
	stalenessVariable = "longitude_max_staleness"
	// tokenVariable is no lower than anything that the session has committed or read. Set in another session it makes
	// that one's bounded stale reads see as much.
	tokenVariable = "longitude_session_token"
	// commitVariable is the commit timestamp of the session's last transaction that wrote something.
	commitVariable = "longitude_commit_timestamp"
)

const asOfForms = "a time back like '-5s', a time in UTC like '2026-01-31 12:00:00.5', a timestamp like '1700000000.000000001,3', or 'earliest'"

// parseAsOf reads a time to read at.
func parseAsOf(s string) (p txn.Past, err error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return p, nil
	case strings.EqualFold(s, "earliest"):
		return txn.Past{Earliest: true}, nil
	case strings.HasPrefix(s, "-"):
		d, err := time.ParseDuration(s[1:])
		if err != nil || d <= 0 {
			return p, fmt.Errorf("'%s' is no time to read at: it is %s", s, asOfForms)
		}
		return txn.Past{Back: d}, nil
	}
	if ts, err := clock.ParseTimestamp(s); err == nil && ts.Wall > 0 {
		return txn.Past{At: ts}, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05.999999999", time.RFC3339Nano, "2006-01-02"} {
		if at, err := time.Parse(layout, s); err == nil && at.UnixNano() > 0 {
			return txn.Past{At: clock.Timestamp{Wall: at.UnixNano()}}, nil
		}
	}
	return p, fmt.Errorf("'%s' is no time to read at: it is %s", s, asOfForms)
}

// checkedType is a system variable of text that is looked at when it is set.
type checkedType struct {
	sql.SystemVariableType
	name  string
	check func(string) error
}

// Convert implements sql.Type.
func (t checkedType) Convert(_ context.Context, v any) (any, sql.ConvertInRange, error) {
	s, ok := v.(string)
	if v == nil {
		s, ok = "", true
	}
	if !ok {
		return nil, sql.Overflow, mysql.NewSQLError(1232, "42000", "Incorrect argument type to variable '%s': it is text", t.name)
	}
	if err := t.check(s); err != nil {
		return nil, sql.InRange, mysql.NewSQLError(1231, "42000", "Variable '%s' can't be set to the value of '%s': %v", t.name, s, err)
	}
	return s, sql.InRange, nil
}

func checkAsOf(s string) error { _, err := parseAsOf(s); return err }

func checkTimestamp(s string) error {
	if s == "" {
		return nil
	}
	_, err := clock.ParseTimestamp(s)
	return err
}

func checkStaleness(s string) error {
	if s == "" {
		return nil
	}
	if d, err := time.ParseDuration(s); err != nil || d <= 0 {
		return fmt.Errorf("it is a length of time like '10s' or '500ms'")
	}
	return nil
}

func pastVariables() (out []sql.SystemVariable) {
	for _, v := range []struct {
		name  string
		check func(string) error
	}{{asOfVariable, checkAsOf}, {stalenessVariable, checkStaleness}, {tokenVariable, checkTimestamp}, {commitVariable, checkTimestamp}} {
		out = append(out, &sql.MysqlSystemVariable{
			Name: v.name, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Session), Dynamic: true, Default: "",
			Type: checkedType{types.NewSystemStringType(v.name), v.name, v.check},
		})
	}
	return out
}

// past is the time at which a transaction that begins now reads.
func (s *Session) past(ctx *sql.Context) (p txn.Past) {
	if s.stmt.asOf != nil {
		return *s.stmt.asOf
	}
	k := s.settings(ctx)
	if k.asOf == "" && k.staleness == "" {
		return p
	}
	if p, _ = parseAsOf(k.asOf); p.Present() {
		p.AtMost, _ = time.ParseDuration(k.staleness)
	}
	if p.AtMost > 0 || p.Earliest { // one's own writes are seen; who names a time gets that one
		p.NotBefore = s.token
	}
	return p
}

// remember notes what the session has committed and read.
func (s *Session) remember(t *tx) {
	if t.kv == nil {
		return
	}
	s.token = s.token.Forward(t.kv.Token())
	if c := t.kv.CommitTimestamp(); !c.IsZero() {
		s.committed = c
	}
}

// asOfWords are in every statement that says AS OF.
var asOfWords = regexp.MustCompile(`(?i)\bas\s+of\b`)

// mentionsAsOf looks for OF first: the expression alone takes a second for a statement with a value of 30 MB.
func mentionsAsOf(query string) bool {
	for i := 3; i+1 < len(query); i++ {
		if query[i]|0x20 == 'o' && query[i+1]|0x20 == 'f' && (query[i-1] == ' ' || query[i-1] >= '\t' && query[i-1] <= '\r') {
			return asOfWords.MatchString(query)
		}
	}
	return false
}

// findAsOf finds the time that a statement reads at, and settles it: go-mysql-server need not know it. A prepared statement
// was settled when it was prepared, so the time is looked for in its text.
func (x *execution) findAsOf(sc *sql.Context, query string, stmt sqlparser.Statement, bindings map[string]sqlparser.Expr) (*txn.Past, error) {
	if stmt == nil || !mentionsAsOf(query) {
		return nil, nil
	}
	asked := stmt
	if _, prepared := x.s.GetPreparedQuery(sql.RemoveSpaceAndDelimiter(query, ';')); prepared {
		again, _, err := x.h.e.gms.Parser.ParseOneWithOptions(sc, query, sql.LoadSqlMode(sc).ParserOptions())
		if err != nil {
			return nil, err
		}
		asked = again
	}
	p, err := asOf(asked, bindings)
	for _, name := range settleAsOf(asked) {
		delete(bindings, name) // go-mysql-server counts them
	}
	settleAsOf(stmt)
	return p, err
}

// settleAsOf puts a constant in the place of each time, which GetTableInsensitiveAsOf need not look at: the transaction
// reads at the time that was asked for. go-mysql-server itself cannot do with a parameter there. It returns the names of
// parameters that were there.
func settleAsOf(stmt sqlparser.Statement) (parameters []string) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if t, ok := n.(*sqlparser.AliasedTableExpr); ok && t.AsOf != nil && t.AsOf.Time != nil {
			if name, ok := parameter(t.AsOf.Time); ok {
				parameters = append(parameters, name)
			}
			t.AsOf.Time = sqlparser.NewStrVal([]byte("settled"))
		}
		return true, nil
	}, stmt)
	return parameters
}

// parameter is the name under which a parameter is bound.
func parameter(e sqlparser.Expr) (string, bool) {
	v, ok := e.(*sqlparser.SQLVal)
	if !ok || v.Type != sqlparser.ValArg {
		return "", false
	}
	return strings.TrimPrefix(string(v.Val), ":"), true
}

// asOf finds the time at which a statement wants its tables to be read. All its tables name the same time: a transaction
// reads at one.
func asOf(stmt sqlparser.Statement, bindings map[string]sqlparser.Expr) (*txn.Past, error) {
	var times []string
	with, without := map[string]bool{}, ""
	var failed error
	err := sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.CommonTableExpr:
			with[strings.ToLower(n.As.String())] = true
		case *sqlparser.AliasedTableExpr:
			name, isTable := n.Expr.(sqlparser.TableName)
			switch {
			case n.AsOf != nil && n.AsOf.Time != nil:
				s, err := asOfText(n.AsOf.Time, bindings)
				if err != nil {
					failed = err
				}
				times = append(times, s)
			case n.AsOf != nil:
				failed = fmt.Errorf("the versions between two times cannot be read, only one time: AS OF %s", asOfForms)
			case isTable && !strings.EqualFold(name.Name.String(), "dual") && !with[strings.ToLower(name.Name.String())]:
				without = name.Name.String()
			}
		}
		return true, nil
	}, stmt)
	switch {
	case failed != nil:
		err = failed
	case err == nil && len(times) == 0:
		return nil, nil
	case err == nil && without != "":
		err = fmt.Errorf("AS OF is missing at table %s: all tables of a statement are read at the same time", without)
	}
	for _, s := range times {
		if err == nil && s != times[0] {
			err = fmt.Errorf("AS OF '%s' and AS OF '%s': all tables of a statement are read at the same time", times[0], s)
		}
	}
	var p txn.Past
	if err == nil {
		p, err = parseAsOf(times[0])
	}
	if err == nil && p.Present() {
		err = fmt.Errorf("AS OF '' is no time: it is %s", asOfForms)
	}
	if err != nil {
		return nil, mysql.NewSQLError(1210, "HY000", "Incorrect arguments to AS OF: %v", err)
	}
	return &p, nil
}

func asOfText(e sqlparser.Expr, bindings map[string]sqlparser.Expr) (string, error) {
	asked := sqlparser.String(e)
	if name, ok := parameter(e); ok {
		e = bindings[name]
	}
	v, ok := e.(*sqlparser.SQLVal)
	if !ok {
		return "", fmt.Errorf("%s is not a constant: it is %s", asked, asOfForms)
	}
	return string(v.Val), nil
}

// GetTableInsensitiveAsOf implements sql.VersionedDatabase. The transaction reads at that time already (asOf).
func (d *database) GetTableInsensitiveAsOf(ctx *sql.Context, name string, _ any) (sql.Table, bool, error) {
	return d.GetTableInsensitive(ctx, name)
}

// GetTableNamesAsOf implements sql.VersionedDatabase.
func (d *database) GetTableNamesAsOf(ctx *sql.Context, _ any) ([]string, error) {
	return d.GetTableNames(ctx)
}

var _ sql.VersionedDatabase = (*database)(nil)
