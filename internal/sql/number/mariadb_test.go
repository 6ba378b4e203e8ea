package number

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
)

// TestAgainstServer compares random calculations with a MariaDB (or MySQL) whose DSN is in LONGITUDE_TEST_SERVER, such as
// root@tcp(127.0.0.1:3306)/. Only what both answer alike is asked: MariaDB's decimals have up to 38 places, MySQL's 30.
// Doubles are printed by CONCAT: the driver would print them by itself.
func TestAgainstServer(t *testing.T) {
	dsn := os.Getenv("LONGITUDE_TEST_SERVER")
	if dsn == "" {
		t.Skip("LONGITUDE_TEST_SERVER names no server")
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(3, 4))
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		return b.String()
	}
	decimal := func() string {
		s := strings.TrimLeft(digits(r.IntN(18)), "0") + digits(1)
		if n := r.IntN(12); n > 0 {
			s += "." + digits(n)
		}
		return s
	}
	type question struct{ sql, want string }
	ask := func() question {
		a, b := decimal(), decimal()
		x, y := dec(t, a), dec(t, b)
		if r.IntN(2) == 0 {
			a, x = "(-"+a+")", Neg(x)
		}
		places := r.IntN(20) - 8
		if Scale(x) == 0 {
			places = min(places, 0) // integers have functions of their own
		}
		switch r.IntN(12) {
		case 0:
			d, _ := Add(x, y)
			return question{a + "+" + b, Text(d)}
		case 1:
			d, _ := Sub(x, y)
			return question{a + "-" + b, Text(d)}
		case 2:
			d, _ := Mul(x, y)
			return question{a + "*" + b, Text(d)}
		case 3:
			q, _, defined := Div(x, y, 4)
			if !defined {
				return question{a + "/" + b, "NULL"}
			}
			return question{a + "/" + b, Format(q, min(30, Scale(x)+4))}
		case 4:
			m, defined := Mod(x, y)
			if !defined {
				return question{a + "%" + b, "NULL"}
			}
			return question{a + "%" + b, Text(m)}
		case 5:
			return question{fmt.Sprintf("ROUND(%s,%d)", a, places), Format(Round(x, min(places, Scale(x))), max(0, places))}
		case 6:
			return question{fmt.Sprintf("TRUNCATE(%s,%d)", a, places), Format(Truncate(x, min(places, Scale(x))), max(0, places))}
		case 7:
			return question{"FLOOR(" + a + ")", Text(Floor(x))}
		case 8:
			return question{"CEIL(" + a + ")", Text(Ceil(x))}
		case 9:
			p := 1 + r.IntN(20)
			s := r.IntN(p + 1)
			d, _, _ := Fit(x, p, s)
			return question{fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", a, p, s), Text(d)}
		case 10:
			f := (r.Float64() - .5) * RoundDouble(1e20*r.Float64(), int64(r.IntN(30)-25))
			return question{fmt.Sprintf("CONCAT(%se0)", strconv.FormatFloat(f, 'f', 30, 64)), FormatDouble(f)}
		}
		s := decimal() + []string{"", "e3", "x", "e-2", " ", "e", ".1.2"}[r.IntN(7)]
		f, _ := ParseDouble(s)
		return question{"CONCAT('" + s + "'+0)", FormatDouble(f)}
	}
	for range 60 {
		var qs []question
		var columns []string
		for range 50 {
			q := ask()
			qs = append(qs, q)
			columns = append(columns, q.sql)
		}
		got := make([]sql.NullString, len(qs))
		into := make([]any, len(qs))
		for i := range got {
			into[i] = &got[i]
		}
		if err := db.QueryRow("SELECT " + strings.Join(columns, ", ")).Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, q := range qs {
			if !got[i].Valid {
				got[i].String = "NULL"
			}
			if got[i].String != q.want && !(q.want == "-0" && got[i].String == "0") { // MariaDB prints no -0
				t.Errorf("%s: the server says %s, this package %s", q.sql, got[i].String, q.want)
			}
		}
	}
}
