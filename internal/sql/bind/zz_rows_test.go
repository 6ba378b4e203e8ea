package bind

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/go-sql-driver/mysql"

	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/optimize"
)

func TestRandomRows(t *testing.T) {
	file := os.Getenv("CMPROWS")
	if file == "" {
		t.Skip()
	}
	db, err := sql.Open("mysql", "root@tcp(127.0.0.1:23307)/binda?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	db.Exec("set max_execution_time=2000")
	text, _ := os.ReadFile(file)
	m := newMemory()
	db.Exec("set sql_mode='only_full_group_by,strict_trans_tables,no_zero_in_date,no_zero_date,error_for_division_by_zero'")
	R := rand.New(rand.NewSource(7))
	var same, diff, skipped int
	for _, line := range strings.Split(string(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if word == "table" {
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
						w[1] = strings.TrimSuffix(w[1], ")") + ",2)"
					}
					ddl += w[0] + " " + w[1]
					if len(w) > 2 && w[2] == "notnull" {
						ddl += " not null"
					}
				}
			}
			if _, err := db.Exec(ddl + ")"); err != nil {
				t.Fatal(ddl, err)
			}
			tab := m.relations["binda."+name].Table.(*table)
			for i := 0; i < 6; i++ {
				var vals []string
				for j, c := range tab.cols {
					v := ""
					switch {
					case j == 0:
						v = fmt.Sprint(i + 1)
					case c.Nullable && R.Intn(4) == 0:
						v = "null"
					case c.Type.IsInteger():
						v = fmt.Sprint(R.Intn(5))
					case c.Type.Kind() == expr.KindDecimal:
						v = fmt.Sprintf("%d.%d", R.Intn(4), R.Intn(2)*5)
					case c.Type.Kind() == expr.KindFloat:
						v = fmt.Sprintf("%d.5", R.Intn(3))
					case c.Type.IsString():
						v = []string{"'1'", "'2'", "'x'", "'a'", "''", "'X'"}[R.Intn(6)]
					case c.Type.Kind() == expr.KindDate:
						v = []string{"'2024-01-01'", "'2023-05-05'"}[R.Intn(2)]
					default:
						v = []string{"'2024-01-01 00:00:00'", "'2023-05-05 10:00:00'"}[R.Intn(2)]
					}
					vals = append(vals, v)
				}
				row := strings.Join(vals, ", ")
				if _, err := db.Exec("insert into " + name + " values (" + row + ")"); err != nil {
					t.Fatal(err)
				}
				got, err := m.executeIn(hostIn{m}, "select "+row, false)
				if err != nil {
					t.Fatal(err)
				}
				for i := range got[0] {
					v, err := expr.Assign(m.settings.Env, got[0][i], &expr.Target{Type: tab.cols[i].Type, Name: tab.cols[i].Name})
					if err != nil {
						t.Fatal(err)
					}
					got[0][i] = v
				}
				tab.rows = append(tab.rows, got[0])
			}
			continue
		}
		if word != ">" || strings.Contains(rest, "any_value") {
			continue
		}
		rest = strings.TrimPrefix(rest, "columns ")
		theirs, n := mysqlRows(db, rest)
		if n < 0 || strings.HasPrefix(theirs, "error") {
			skipped++
			continue
		}
		for _, opt := range []bool{false, true} {
			ours := func() (s string) {
				defer func() {
					if e := recover(); e != nil {
						s = fmt.Sprint("PANIC ", e)
					}
				}()
				rows, err := m.executeIn(hostIn{m}, rest, opt)
				if err != nil {
					return "error " + err.Error()
				}
				lines := m.texts(rows)
				sort.Strings(lines)
				return strings.Join(lines, "|")
			}()
			if theirs == ours {
				same++
				continue
			}
			if strings.Contains(ours, "Illegal mix") {
				continue
			}
			diff++
			fmt.Printf("%s\n  mysql: %s\n  ours:  %s (opt %v)\n", rest, theirs, ours, opt)
		}
	}
	fmt.Println("same", same, "different", diff, "skipped", skipped)
}

func mysqlRows(db *sql.DB, q string) (string, int) {
	q = toMySQL(q)
	rows, err := db.Query(q)
	if err != nil {
		var e *mysql.MySQLError
		if errors.As(err, &e) {
			return fmt.Sprintf("error %d %s: %s", e.Number, e.SQLState, e.Message), -1
		}
		return err.Error(), -1
	}
	defer rows.Close()
	cs, _ := rows.Columns()
	var lines []string
	for rows.Next() {
		vals := make([]sql.NullString, len(cs))
		p := make([]any, len(cs))
		for i := range vals {
			p[i] = &vals[i]
		}
		if err := rows.Scan(p...); err != nil {
			return err.Error(), -1
		}
		var out []string
		for _, v := range vals {
			if !v.Valid {
				out = append(out, "NULL")
			} else {
				out = append(out, v.String)
			}
		}
		lines = append(lines, strings.Join(out, ", "))
	}
	if rows.Err() != nil {
		return rows.Err().Error(), -1
	}
	sort.Strings(lines)
	return strings.Join(lines, "|"), len(lines)
}

func (m *memory) executeIn(h Host, text string, optimized bool) ([][]expr.Value, error) {
	stmt, err := sqlparser.Parse(text)
	if err != nil {
		return nil, err
	}
	q, err := Bind(h, stmt.(sqlparser.SelectStatement))
	if err != nil {
		return nil, err
	}
	if optimized {
		if err := optimize.Optimize(q, m.settings.Env, optimize.Options{}); err != nil {
			return nil, err
		}
	}
	x := exec.New(q, m.settings.Env, zzSource{m}, exec.Options{MaxRecursion: 1000})
	defer x.Close()
	if err := x.Open(); err != nil {
		return nil, err
	}
	var rows [][]expr.Value
	out := make([]expr.Value, len(q.Out))
	for {
		ok, err := x.Next(out)
		if err != nil || !ok {
			return rows, err
		}
		for i, v := range out {
			if k := q.Meta.Columns[q.Out[i].Col].Type.Kind(); !v.IsNull() && v.Kind() != k {
				return nil, fmt.Errorf("column %s is of kind %d and holds one of kind %d", q.Out[i].Name, k, v.Kind())
			}
			if v.IsNull() && !q.Out[i].Nullable {
				return nil, fmt.Errorf("column %s is not nullable and holds NULL", q.Out[i].Name)
			}
		}
		rows = append(rows, append([]expr.Value(nil), out...))
	}
}

type zzSource struct{ m *memory }

func (z zzSource) Read(r *exec.Request) (exec.Rows, error) {
	t := r.Table.(*table)
	if r.Index == nil {
		return z.m.Read(r)
	}
	env := z.m.settings.Env
	parts := r.Index.Parts()
	cmp := func(at int, a, b expr.Value) int {
		o := expr.OrderOf(t.cols[at].Type)
		x, err := o.Prepare(env, a)
		if err != nil {
			panic(err)
		}
		y, err := o.Prepare(env, b)
		if err != nil {
			panic(err)
		}
		n, err := o.Compare(env, x, y)
		if err != nil {
			panic(err)
		}
		return n
	}
	var out [][]expr.Value
	for _, row := range t.rows {
		for _, s := range r.Spans {
			ok := true
			for i, v := range s.Equal {
				at := parts[i].Place
				w := row[at]
				if v.IsNull() || w.IsNull() {
					ok = ok && v.IsNull() && w.IsNull()
				} else {
					ok = ok && cmp(at, w, v) == 0
				}
			}
			if ok && len(s.Equal) < len(parts) && (s.Low != nil || s.High != nil || s.IncludeNull) {
				at := parts[len(s.Equal)].Place
				w := row[at]
				if w.IsNull() {
					ok = s.IncludeNull
				} else {
					if s.Low != nil {
						c := cmp(at, w, *s.Low)
						ok = ok && (c > 0 || c == 0 && !s.LowOpen)
					}
					if s.High != nil {
						c := cmp(at, w, *s.High)
						ok = ok && (c < 0 || c == 0 && !s.HighOpen)
					}
				}
			}
			if ok {
				out = append(out, row)
				break
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		for _, p := range append(parts, r.Index.Suffix()...) {
			c := cmp(p.Place, out[i][p.Place], out[j][p.Place])
			if c != 0 {
				return (c < 0) != r.Reverse
			}
		}
		return false
	})
	return &memoryRows{rows: out, places: r.Places}, nil
}
