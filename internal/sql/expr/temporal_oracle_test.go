package expr

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// TestTemporalOracle compares random expressions with a MariaDB server, at the address LONGITUDE_MARIADB (a DSN of go-sql-driver), in
// the fields where MariaDB and MySQL agree. LONGITUDE_ORACLE_SEED and LONGITUDE_ORACLE_ROUNDS choose what is compared.
func TestTemporalOracle(t *testing.T) {
	dsn := os.Getenv("LONGITUDE_MARIADB")
	if dsn == "" {
		t.Skip("LONGITUDE_MARIADB names no server")
	}
	seed, rounds := uint64(1), 2000
	if n, err := strconv.ParseUint(os.Getenv("LONGITUDE_ORACLE_SEED"), 10, 64); err == nil {
		seed = n
	}
	if n, err := strconv.Atoi(os.Getenv("LONGITUDE_ORACLE_ROUNDS")); err == nil {
		rounds = n
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{
		"SET sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,TIME_ROUND_FRACTIONAL'", "SET time_zone = '+00:00'",
		fmt.Sprintf("SET timestamp = %d.345678", testNow.Unix()), "SET NAMES utf8mb4",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	g := &temporalTexts{rand.New(rand.NewPCG(seed, 7))}
	const most = 40
	for differ := 0; rounds > 0 && differ < most; rounds-- {
		text := g.expression()
		var theirs sql.NullString
		if err := db.QueryRow("SELECT " + text).Scan(&theirs); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := "NULL"
		if theirs.Valid {
			want = theirs.String
		}
		got, _, _ := strings.Cut(answer(t, text, defaultMode, time.UTC), " | ")
		if shortest(got) != shortest(want) {
			differ++
			t.Errorf("seed %d: %s\n   is %s\n MariaDB %s", seed, text, got, want)
		}
	}
}

// shortest takes away what the servers write differently: MySQL gives texts six digits of a fraction or none, MariaDB as many as its
// arguments have.
func shortest(s string) string {
	if strings.Contains(s, ".") && strings.Contains(s, ":") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// temporalTexts makes expressions of dates and times. It makes none in which MariaDB is known to differ: zero dates in functions of
// weeks and days of the year, days that a month does not have in STR_TO_DATE, numbers of seven digits as dates, EXTRACT from numbers,
// fractions in TIME_TO_SEC, sums above 838:59:59.
type temporalTexts struct{ *rand.Rand }

func (g *temporalTexts) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *temporalTexts) date() string {
	if g.IntN(12) == 0 {
		return g.pick("1970-01-01", "0001-01-01", "9999-12-31", "2000-02-29", "1900-02-28", "2023-02-29", "2038-01-19")
	}
	return fmt.Sprintf("%04d-%02d-%02d", 1+g.IntN(9999), 1+g.IntN(12), 1+g.IntN(29))
}

func (g *temporalTexts) clock() string {
	return fmt.Sprintf("%02d:%02d:%02d", g.IntN(24), g.IntN(60), g.IntN(60))
}

func (g *temporalTexts) fraction() string {
	if g.IntN(2) == 0 {
		return ""
	}
	return "." + fmt.Sprintf("%07d", g.IntN(10_000_000))[:1+g.IntN(7)]
}

func (g *temporalTexts) datetime() string { return g.date() + " " + g.clock() + g.fraction() }

func (g *temporalTexts) span() string {
	sign := g.pick("", "", "-")
	switch g.IntN(5) {
	case 0:
		return sign + fmt.Sprintf("%d %s", g.IntN(16), g.clock()) + g.fraction()
	case 1:
		return sign + fmt.Sprintf("%d:%02d:%02d", g.IntN(400), g.IntN(61), g.IntN(60))
	case 2:
		return sign + fmt.Sprint(g.IntN(4_000_000)) + g.fraction()
	}
	return sign + g.clock() + g.fraction()
}

// value is a literal that can be read as a date.
func (g *temporalTexts) value() string {
	switch g.IntN(9) {
	case 0:
		return "DATE'" + g.realDate() + "'"
	case 1:
		return "TIMESTAMP'" + g.realDate() + " " + g.clock() + g.pick("", ".5", ".123456") + "'"
	case 2:
		return strings.ReplaceAll(g.realDate(), "-", "")
	case 3:
		return strings.NewReplacer("-", "", ":", "", " ", "").Replace(g.realDate() + g.clock())
	case 4, 5:
		return "'" + g.date() + "'"
	}
	return "'" + g.datetime() + "'"
}

func (g *temporalTexts) realDate() string {
	return fmt.Sprintf("%04d-%02d-%02d", 1000+g.IntN(9000), 1+g.IntN(12), 1+g.IntN(28))
}

func (g *temporalTexts) clockValue() string {
	switch g.IntN(4) {
	case 0:
		return "TIME'" + g.clock() + g.pick("", ".25", ".000001") + "'"
	case 1:
		return fmt.Sprint(g.IntN(8_385_959))
	}
	return "'" + g.span() + "'"
}

func (g *temporalTexts) unit() string {
	return g.pick("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND")
}

func (g *temporalTexts) interval() string {
	if g.IntN(2) == 0 {
		n := g.IntN(200) - 100
		if g.IntN(6) == 0 {
			n = g.IntN(1_000_000_000)
		}
		return fmt.Sprintf("INTERVAL %d %s", n, g.unit())
	}
	text := g.pick("", "", "-", "+") + fmt.Sprint(g.IntN(50))
	for range g.IntN(4) {
		text += g.pick(":", " ", "-", ".", "/") + fmt.Sprint(g.IntN(100))
	}
	return fmt.Sprintf("INTERVAL '%s' %s", text, g.pick("YEAR_MONTH", "DAY_HOUR", "DAY_MINUTE", "DAY_SECOND", "HOUR_MINUTE", "HOUR_SECOND",
		"MINUTE_SECOND", "DAY_MICROSECOND", "HOUR_MICROSECOND", "MINUTE_MICROSECOND", "SECOND_MICROSECOND"))
}

func (g *temporalTexts) format() string {
	var b strings.Builder
	for range 1 + g.IntN(6) {
		b.WriteString(g.pick("%Y", "%y", "%m", "%c", "%d", "%e", "%H", "%k", "%h", "%I", "%l", "%i", "%s", "%S", "%f", "%p", "%r", "%T",
			"%j", "%D",
			"%M", "%b", "%W", "%a", "%w", "%U", "%u", "%V", "%v", "%X", "%x", "%%", "%q"))
		b.WriteString(g.pick("", " ", "-", ":", "x"))
	}
	return b.String()
}

func (g *temporalTexts) expression() string {
	switch g.IntN(16) {
	case 0, 1:
		return fmt.Sprintf("%s(%s)", g.pick("YEAR", "MONTH", "DAY", "QUARTER", "DAYOFYEAR", "WEEKDAY", "DAYOFWEEK", "WEEKOFYEAR", "TO_DAYS",
			"TO_SECONDS",
			"DAYNAME", "MONTHNAME", "LAST_DAY", "DATE", "YEARWEEK", "WEEK"), g.value())
	case 2:
		return fmt.Sprintf("%s(%s, %d)", g.pick("WEEK", "YEARWEEK"), g.value(), g.IntN(8))
	case 3:
		return fmt.Sprintf("%s(%s)", g.pick("HOUR", "MINUTE", "SECOND", "MICROSECOND"), g.clockValue())
	case 4, 5:
		return fmt.Sprintf("%s(%s, %s)", g.pick("DATE_ADD", "DATE_SUB"), g.value(), g.interval())
	case 6:
		return fmt.Sprintf("TIMESTAMPDIFF(%s, %s, %s)", g.unit(), g.value(), g.value())
	case 7:
		return fmt.Sprintf("DATEDIFF(%s, %s)", g.value(), g.value())
	case 8:
		return fmt.Sprintf("DATE_FORMAT(%s, '%s')", g.value(), g.format())
	case 9:
		return fmt.Sprintf("CAST(%s AS %s)", g.value(), g.pick("DATE", "DATETIME", "DATETIME(3)", "DATETIME(6)"))
	case 10:
		return fmt.Sprintf("CAST(%s AS %s)", g.clockValue(), g.pick("TIME", "TIME(2)", "TIME(6)"))
	case 11:
		return fmt.Sprintf("EXTRACT(%s FROM '%s')", g.pick("YEAR", "MONTH", "DAY", "WEEK", "QUARTER", "YEAR_MONTH"), g.datetime())
	case 12:
		return fmt.Sprintf("ADDTIME('%s', '%s')", g.span(), g.span())
	case 13:
		return fmt.Sprintf("CONVERT_TZ('%04d-%02d-%02d %s', '%s', '%s')", 1970+g.IntN(66), 1+g.IntN(12), 1+g.IntN(28), g.clock(),
			g.pick("+00:00", "+05:30", "-12:00"), g.pick("+00:00", "-08:00", "+13:00"))
	case 14:
		return g.pick(fmt.Sprintf("MAKEDATE(%d, %d)", g.IntN(3000), g.IntN(800)-10), fmt.Sprintf("MAKETIME(%d, %d, %d)", g.IntN(1000)-100,
			g.IntN(62), g.IntN(62)),
			fmt.Sprintf("SEC_TO_TIME(%d)", g.IntN(4_000_000)-100_000), fmt.Sprintf("FROM_DAYS(%d)", 366+g.IntN(3_652_000)),
			fmt.Sprintf("FROM_UNIXTIME(%d)", g.IntN(1<<31-1)), fmt.Sprintf("UNIX_TIMESTAMP('%d-%02d-%02d %s')", 1971+g.IntN(66), 1+g.IntN(12),
				1+g.IntN(28), g.clock()),
			fmt.Sprintf("PERIOD_ADD(%d, %d)", 190001+100*g.IntN(200), g.IntN(500)), fmt.Sprintf("PERIOD_DIFF(%d, %d)", 190001+100*g.IntN(200),
				190001+100*g.IntN(200)))
	}
	format := g.pick("%Y-%m-%d", "%d.%m.%y", "%Y-%m-%d %H:%i:%s", "%H:%i:%s", "%d %b %Y", "%Y %j", "%M %e %Y %h:%i %p", "%x %v %a",
		"%X %V %W", "%Y %U %w")
	var text strings.Builder
	if g.IntN(4) == 0 {
		return fmt.Sprintf("STR_TO_DATE('%s', '%s')", g.datetime(), format)
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			text.WriteByte(format[i])
			continue
		}
		i++
		switch format[i] {
		case 'Y', 'x', 'X':
			fmt.Fprint(&text, 1000+g.IntN(9000))
		case 'b', 'M':
			text.WriteString(cut(time.Month(1+g.IntN(12)).String(), format[i] == 'b'))
		case 'a', 'W':
			text.WriteString(cut(time.Weekday(g.IntN(7)).String(), format[i] == 'a'))
		case 'p':
			text.WriteString(g.pick("am", "PM", "xm"))
		case 'j':
			fmt.Fprint(&text, g.IntN(370))
		case 'w':
			fmt.Fprint(&text, g.IntN(8))
		default:
			fmt.Fprint(&text, g.IntN(29))
		}
	}
	return fmt.Sprintf("STR_TO_DATE('%s', '%s')", text.String(), format)
}

// cut is a name, or its first three letters.
func cut(name string, short bool) string {
	if short {
		return name[:3]
	}
	return name
}
