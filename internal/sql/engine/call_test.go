package engine

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// Each query of a procedure has a result of its own, in both protocols; what came before an error is sent; the values of OUT parameters of a prepared
// CALL are a result behind the others.
func TestResultsOfProcedures(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(10))", "INSERT INTO a VALUES (1, 'x'), (2, NULL)",
		"CREATE PROCEDURE two(n INT) BEGIN SELECT id, v FROM a WHERE id <= n ORDER BY id; DO 1; SELECT COUNT(*), n FROM a; UPDATE a SET v = v; END",
		"CREATE PROCEDURE fails() BEGIN SELECT 1; INSERT INTO a VALUES (1, 'y'); SELECT 2; END",
		"CREATE PROCEDURE outs(a INT, OUT b INT, INOUT c VARCHAR(20)) BEGIN SELECT a; SET b = a * 2, c = CONCAT(c, '!'); END")
	for _, test := range []struct {
		q    string
		args []any
		want string
	}{
		{"CALL two(2)", nil, "[id v] 1 x; 2 <nil>; | [COUNT(*) n] 2 2;"},
		{"CALL two(?)", []any{1}, "[id v] 1 x; | [COUNT(*) n] 2 1;"},
		{"CALL fails()", nil, "[1] 1; error Error 1062 (23000): Duplicate entry '1' for key 'a.PRIMARY'"},
		{"CALL outs(?, ?, ?)", []any{5, 0, "q"}, "[a] 5; | [b c] 10 q!;"},
		{"SELECT 7", nil, "[7] 7;"},
	} {
		if got := results(s.root, test.q, test.args); got != test.want {
			t.Errorf("%s: %s, want %s", test.q, got, test.want)
		}
	}
}

// results are those of a statement: columns, rows, and its error.
func results(db *sql.DB, q string, args []any) string {
	var b strings.Builder
	r, err := db.QueryContext(context.Background(), q, args...)
	if err != nil {
		return "error " + err.Error()
	}
	defer r.Close()
	for {
		names, _ := r.Columns()
		if len(names) > 0 {
			fmt.Fprintf(&b, "%v ", names)
		}
		for r.Next() {
			vs, ps := make([]any, len(names)), make([]any, len(names))
			for i := range vs {
				ps[i] = &vs[i]
			}
			if err := r.Scan(ps...); err != nil {
				return err.Error()
			}
			for i, v := range vs {
				if x, ok := v.([]byte); ok {
					v = string(x)
				}
				if i > 0 {
					b.WriteByte(' ')
				}
				fmt.Fprint(&b, v)
			}
			b.WriteString("; ")
		}
		if !r.NextResultSet() {
			break
		}
		b.WriteString("| ")
	}
	if err := r.Err(); err != nil {
		return b.String() + "error " + err.Error()
	}
	return strings.TrimSuffix(strings.TrimRight(b.String(), " "), " |")
}
