package bind

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/go-sql-driver/mysql"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

func TestMySQL(t *testing.T) {
	file := os.Getenv("CMP")
	if file == "" {
		t.Skip()
	}
	db, err := sql.Open("mysql", "root@tcp(127.0.0.1:23307)/binda?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	text, _ := os.ReadFile(file)
	m := newMemory()
	var same, diff int
	drop := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if word == "table" {
			rest = strings.ReplaceAll(rest, "test.", "binda.")
			name, cols, _ := strings.Cut(rest, "(")
			m.declare(t, "binda."+rest)
			ddl := "drop table if exists " + name + "; create table " + name + "("
			for i, c := range strings.Split(strings.TrimSuffix(cols, ")"), ",") {
				if i > 0 {
					ddl += ","
				}
				w := strings.Fields(c)
				switch w[0] {
				case "primary":
					ddl += "primary key (" + strings.Join(w[2:], ",") + ")"
				case "unique":
					ddl += "unique key " + w[1] + "(" + strings.Join(w[2:], ",") + ")"
				default:
					if strings.HasPrefix(w[1], "decimal(") {
						w[1] = strings.TrimSuffix(w[1], ")") + ";2)"
						w[1] = strings.ReplaceAll(w[1], ";", ",")
					}
					ddl += w[0] + " " + w[1]
					if len(w) > 2 && w[2] == "notnull" {
						ddl += " not null"
					}
				}
			}
			ddl += ")"
			if !drop[name] {
				drop[name] = true
				if _, err := db.Exec(ddl); err != nil {
					t.Fatal(ddl, err)
				}
			}
			continue
		}
		if word == "set" {
			m.settings.OnlyFullGroupBy = rest == "full"
			mode := "only_full_group_by,strict_trans_tables,no_zero_in_date,no_zero_date,error_for_division_by_zero"
			if rest != "full" {
				mode = "strict_trans_tables"
			}
			if _, err := db.Exec("set sql_mode='" + mode + "'"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if word != ">" {
			continue
		}
		rest = strings.TrimPrefix(rest, "columns ")
		theirs := mysqlAnswer(db, rest)
		ours := ourAnswer(m, rest)
		if theirs == ours {
			same++
			continue
		}
		diff++
		fmt.Printf("%s\n  mysql: %s\n  ours:  %s\n", rest, theirs, ours)
	}
	fmt.Println("same", same, "different", diff)
}

func mysqlAnswer(db *sql.DB, q string) string {
	q = toMySQL(q)
	rows, err := db.Query(q)
	if err != nil {
		var e *mysql.MySQLError
		if errors.As(err, &e) {
			return fmt.Sprintf("error %d %s: %s", e.Number, e.SQLState, e.Message)
		}
		return err.Error()
	}
	defer rows.Close()
	ts, _ := rows.ColumnTypes()
	var out []string
	for _, c := range ts {
		null, _ := c.Nullable()
		s := c.Name() + " " + strings.ToLower(c.DatabaseTypeName())
		if p, sc, ok := c.DecimalSize(); ok && c.DatabaseTypeName() == "DECIMAL" {
			s += fmt.Sprintf("(%d,%d)", p, sc)
		} else if n, ok := c.Length(); ok {
			s += fmt.Sprintf("(%d)", n)
		}
		if !null {
			s += " not null"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func ourAnswer(m *memory, q string) string { return ourAnswerIn(hostIn{m}, q) }

func ourAnswerIn(m Host, q string) string {
	stmt, err := sqlparser.Parse(q)
	if err != nil {
		return "error 1064 42000: " + err.Error()
	}
	ss, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		return ""
	}
	bound, err := Bind(m, ss)
	if err != nil {
		var e *expr.Error
		if errors.As(err, &e) {
			return fmt.Sprintf("error %d %s: %s", e.Code, e.State, e.Message)
		}
		return err.Error()
	}
	if err := check(bound); err != nil {
		return "BROKEN " + err.Error()
	}
	var out []string
	for _, o := range bound.Out {
		tt := bound.Meta.Columns[o.Col].Type
		s := o.Name + " " + strings.Replace(typeName(tt), " unsigned", "", 1)
		if tt.Unsigned {
			s = o.Name + " unsigned " + typeName(tt)
		}
		if !o.Nullable {
			s += " not null"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func typeName(t expr.Type) string {
	t.Unsigned = false
	s := typeText(t)
	if i := strings.Index(s, "("); i >= 0 && t.Kind() != expr.KindDecimal {
		s = s[:i]
	}
	return s
}

type hostIn struct{ *memory }

func (h hostIn) Database() string { return "binda" }

func toMySQL(q string) string {
	for {
		i := strings.Index(q, ", `with rollup`()")
		if i < 0 {
			break
		}
		q = q[:i] + " with rollup" + q[i+len(", `with rollup`()"):]
	}
	for _, w := range []string{"all", "any"} {
		q = strings.ReplaceAll(q, "(select /*"+w+"*/", w+" (select")
	}
	return q
}
