package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// What the statement before has left in the diagnostics area: SHOW ERRORS, SHOW COUNT(*) ERRORS, SHOW COUNT(*) WARNINGS, @@error_count and
// @@warning_count. SHOW WARNINGS is go-mysql-server's.

// conditionCount is the value of a system variable that counts conditions; is is false if the name is none of them.
func (s *Session) conditionCount(name string) (n int, is bool) {
	switch strings.ToLower(name) {
	case "warning_count":
		return len(s.Warnings()), true
	case "error_count":
		return len(s.errors()), true
	}
	return 0, false
}

// errors are the conditions of the level Error.
func (s *Session) errors() (out []*sql.Warning) {
	for _, w := range s.Warnings() {
		if w.Level == "Error" {
			out = append(out, w)
		}
	}
	return out
}

// showConditions is SHOW ERRORS or SHOW COUNT(*) ERRORS or WARNINGS; nil: the statement is none of these.
func showConditions(t ownText) *ownStatement {
	switch {
	case len(t.words) == 2 && t.word(1) == "errors":
		return &ownStatement{keepsConditions: true, answer: func(x *execution, sc *sql.Context) error {
			var rows []sql.Row
			for _, w := range x.s.errors() {
				rows = append(rows, sql.Row{w.Level, int64(w.Code), w.Message})
			}
			return x.rowsOf(sc, sql.Schema{textColumn("Level"), {Name: "Code", Type: types.Int64}, textColumn("Message")}, rows)
		}}
	case len(t.words) == 3 && t.word(1) == "count" && (t.word(2) == "errors" || t.word(2) == "warnings"):
		name := strings.TrimSuffix(t.word(2), "s") + "_count"
		return &ownStatement{keepsConditions: true, answer: func(x *execution, sc *sql.Context) error {
			n, _ := x.s.conditionCount(name)
			return x.rowsOf(sc, sql.Schema{{Name: "@@session." + name, Type: types.Int64}}, []sql.Row{{int64(n)}})
		}}
	}
	return nil
}
