package engine

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// twin is one of two clusters that are told the same things: one executes statements by plans, the other does not.
type twin struct {
	c    *cluster
	conn *sql.Conn
	wire *tape
	stmt map[string]*sql.Stmt
}

// tape is what a server has sent.
type tape struct {
	net.Conn
	mu   sync.Mutex
	read bytes.Buffer
}

func (t *tape) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.read.Write(b[:n])
	return n, err
}

func (t *tape) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.read.String()
	t.read.Reset()
	return s
}

var tapes sync.Map // by network name

func newTwin(t testing.TB, opts []option, name, params string, setup ...string) *twin {
	c := startCluster(t, 1, opts...)
	tw := &twin{c: c, stmt: map[string]*sql.Stmt{}}
	mysql.RegisterDialContext(name, func(ctx context.Context, addr string) (net.Conn, error) {
		x, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		tp := &tape{Conn: x}
		tapes.Store(name, tp)
		return tp, nil
	})
	db, err := sql.Open("mysql", fmt.Sprintf("root@%s(%s)/%s", name, c.nodes[0].addr, params))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if tw.conn, err = db.Conn(context.Background()); err != nil {
		t.Fatal(err)
	}
	tp, _ := tapes.Load(name)
	tw.wire = tp.(*tape)
	for _, q := range setup {
		if _, err := tw.conn.ExecContext(context.Background(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return tw
}

// do sends a statement, with values as a prepared one (prepared again), and returns every byte of the answer.
func (tw *twin) do(t testing.TB, q string, args []any, prepared, again bool) string {
	ctx := context.Background()
	tw.wire.take()
	var rs *sql.Rows
	var err error
	if prepared {
		st := tw.stmt[q]
		if st == nil {
			if st, err = tw.conn.PrepareContext(ctx, q); err == nil {
				tw.stmt[q] = st
			}
		} else if again { // most drivers prepare a statement each time that they execute it
			_ = st.Close()
			if st, err = tw.conn.PrepareContext(ctx, q); err == nil {
				tw.stmt[q] = st
			} else {
				delete(tw.stmt, q)
			}
		}
		if err == nil {
			rs, err = st.QueryContext(ctx, args...)
		}
	} else {
		rs, err = tw.conn.QueryContext(ctx, q)
	}
	if err == nil {
		for rs.Next() {
		}
		err = rs.Err()
		_ = rs.Close()
	}
	if err != nil && code(err) < 0 {
		t.Fatalf("%s %v: %v", q, args, err)
	}
	return tw.wire.take()
}

// pair is the two of them.
type pair struct {
	t       testing.TB
	on, off *twin
	n       int // statements so far
}

func newPair(t testing.TB, opts []option, params string, setup ...string) *pair {
	p := &pair{t: t}
	p.on = newTwin(t, opts, "on"+t.Name(), params, setup...)
	p.off = newTwin(t, opts, "off"+t.Name(), params, append([]string{"SET longitude_compiled = 0"}, setup...)...)
	return p
}

// same has both do something, and compares.
func (p *pair) same(q string, args []any, prepared bool) {
	p.t.Helper()
	again := p.n%3 == 0
	a, b := p.on.do(p.t, q, args, prepared, again), p.off.do(p.t, q, args, prepared, again)
	p.n++
	if a != b {
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		from := max(0, at-40)
		p.t.Fatalf("statement %d, %s %v, prepared %v: byte %d differs. A plan answers\n%q\nthe ordinary path\n%q", p.n, q, args, prepared, at, a[from:min(len(a), at+80)], b[from:min(len(b), at+80)])
	}
}

// after compares what the session knows of the statement before.
func (p *pair) after() {
	p.t.Helper()
	p.same("SELECT ROW_COUNT(), FOUND_ROWS(), LAST_INSERT_ID(), @@warning_count", nil, false)
}

// compiled is how many statements were executed by plans.
func (p *pair) compiled(tw *twin) int {
	n, err := strconv.Atoi(tw.c.nodes[0].query("SELECT CAST(SUM(compiled) AS SIGNED) FROM longitude.statements")[0])
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

var sameTables = []string{
	"CREATE DATABASE d", "USE d",
	`CREATE TABLE n (id INT PRIMARY KEY, t TINYINT, ts SMALLINT NOT NULL DEFAULT 7, m MEDIUMINT, b BIGINT, ub BIGINT UNSIGNED, ut TINYINT UNSIGNED, f FLOAT, d DOUBLE,
		x DECIMAL(10,2), y DECIMAL(30,10), bo BOOL, bi BIT(5), ye YEAR)`,
	`CREATE TABLE s (k VARCHAR(20) PRIMARY KEY, c CHAR(5), v VARCHAR(10) COLLATE utf8mb4_bin, te TEXT, ti TINYTEXT, vb VARBINARY(10), bl BLOB, bn BINARY(4), e ENUM('a','b'),
		st SET('x','y'), j JSON, l VARCHAR(5) CHARACTER SET latin1, u3 VARCHAR(5) CHARACTER SET utf8mb3, v0 VARCHAR(8) NOT NULL DEFAULT 'it''s')`,
	`CREATE TABLE d (a INT, b VARCHAR(10), da DATE, dt DATETIME, d6 DATETIME(6), tm TIMESTAMP NULL, ti TIME, de DATE DEFAULT '2020-02-02', PRIMARY KEY (b, a))`,
	`CREATE TABLE p (id BIGINT AUTO_INCREMENT PRIMARY KEY, u VARCHAR(10), n INT, UNIQUE (u), KEY (n))`,
	`CREATE TABLE c (id SERIAL PRIMARY KEY, p BIGINT, q VARCHAR(10), m INT DEFAULT -3, FOREIGN KEY (p) REFERENCES p (id), FOREIGN KEY (q) REFERENCES p (u))`,
	"CREATE TABLE kb (k VARCHAR(8) COLLATE utf8mb4_bin, h CHAR(3), n SMALLINT UNSIGNED, v TEXT COLLATE utf8mb4_general_ci, PRIMARY KEY (k, h, n))",
	"CREATE TABLE kt (k TINYINT PRIMARY KEY, u3 VARCHAR(4) CHARACTER SET utf8mb3, v INT)", "CREATE TABLE k3 (k VARCHAR(4) CHARACTER SET utf8mb3 PRIMARY KEY, v INT)",
	`CREATE TABLE w (k VARBINARY(8) PRIMARY KEY, v INT UNSIGNED, z INT, KEY (v, z), UNIQUE (z))`,
}

// templates are statements with places for values.
var templates = []string{
	"SELECT * FROM n WHERE id = ?", "SELECT d, f, x, y, t, ub FROM n WHERE id = ?", "SELECT b AS Big, ID FROM n AS a WHERE a.id = ? LIMIT 1", "SELECT id FROM n WHERE id IN (?, ?, ?)",
	"SELECT `n`.* FROM `n` WHERE `n`.`id` = ? ORDER BY `n`.`id` ASC LIMIT ?", "SELECT * FROM n WHERE ? = id", "SELECT b FROM n WHERE id = ? AND b = ?",
	"INSERT INTO n VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "INSERT INTO n (id, t) VALUES (?, ?)", "INSERT INTO n (id, ts, b) VALUES (?, ?, ?), (?, ?, ?)",
	"INSERT INTO n (id, f, d) VALUES (?, ?, ?)", "INSERT INTO n (id, x, y) VALUES (?, ?, ?)", "INSERT INTO n (id, ub, ut, bo) VALUES (?, ?, ?, ?)",
	"UPDATE n SET b = b + ? WHERE id = ?", "UPDATE n SET b = b - ?, m = t + ? WHERE id = ?", "UPDATE n SET t = ? WHERE id = ?", "UPDATE n SET ts = ?, x = ?, d = ? WHERE id = ?",
	"UPDATE n SET ub = ub + ? WHERE id = ?", "UPDATE n SET y = ? WHERE id = ? AND t = ?", "UPDATE n SET f = ?, ut = ? WHERE id = ?", "DELETE FROM n WHERE id = ?",
	"SELECT * FROM s WHERE k = ?", "SELECT v, c, te FROM s WHERE k IN (?, ?)", "SELECT * FROM s WHERE k >= ? ORDER BY k LIMIT ?", "SELECT k, v0 FROM s WHERE k > ? ORDER BY k LIMIT ?",
	"INSERT INTO s (k, c, v, te, ti) VALUES (?, ?, ?, ?, ?)", "INSERT INTO s (k, vb, bl, bn) VALUES (?, ?, ?, ?)", "INSERT INTO s (k, l, u3, v0) VALUES (?, ?, ?, ?)",
	"INSERT INTO s (k, e, st, j) VALUES (?, ?, ?, ?)", "UPDATE s SET v = ?, c = ? WHERE k = ?", "UPDATE s SET te = ? WHERE k = ?", "UPDATE s SET bl = ?, vb = ? WHERE k = ?", "DELETE FROM s WHERE k = ?",
	"INSERT INTO d (a, b, da, dt, d6, tm) VALUES (?, ?, ?, ?, ?, ?)", "INSERT INTO d (a, b, ti) VALUES (?, ?, ?)", "SELECT * FROM d WHERE a = ? AND b = ?", "SELECT da, d6, tm FROM d WHERE b = ? AND a = ?",
	"UPDATE d SET dt = ?, da = ? WHERE a = ? AND b = ?", "UPDATE d SET tm = ? WHERE a = ? AND b = ?", "DELETE FROM d WHERE b = ? AND a = ?",
	"INSERT INTO p (u, n) VALUES (?, ?)", "INSERT INTO p VALUES (?, ?, ?)", "INSERT INTO p (u) VALUES (?), (?)", "INSERT INTO p VALUES (?, ?, ?), (?, ?, ?)", "SELECT * FROM p WHERE id = ?",
	"UPDATE p SET n = n + ? WHERE id = ?", "UPDATE p SET u = ? WHERE id = ?", "UPDATE p SET n = ? WHERE id = ?", "DELETE FROM p WHERE id = ?",
	"INSERT INTO c (p) VALUES (?)", "INSERT INTO c (p, q) VALUES (?, ?)", "INSERT INTO c VALUES (?, ?, ?, ?)", "UPDATE c SET m = m + ? WHERE id = ?", "UPDATE c SET p = ? WHERE id = ?", "DELETE FROM c WHERE id = ?",
	"INSERT INTO w VALUES (?, ?, ?)", "SELECT * FROM w WHERE k = ?", "SELECT * FROM w WHERE k >= ? ORDER BY k LIMIT ?", "UPDATE w SET z = ? WHERE k = ?", "UPDATE w SET v = ?, z = z + ? WHERE k = ?", "DELETE FROM w WHERE k = ?",
	"SELECT * FROM kb WHERE k = ? AND h = ? AND n = ?", "INSERT INTO kb VALUES (?, ?, ?, ?)", "UPDATE kb SET v = ? WHERE k = ? AND n = ? AND h = ?", "DELETE FROM kb WHERE n = ? AND h = ? AND k = ?",
	"INSERT INTO kt VALUES (?, ?, ?)", "SELECT * FROM kt WHERE k = ?", "UPDATE kt SET v = v + ? WHERE k = ?", "SELECT * FROM kt WHERE k > ? ORDER BY k LIMIT ?",
	"INSERT INTO k3 VALUES (?, ?)", "SELECT * FROM k3 WHERE k = ?", "DELETE FROM k3 WHERE k = ?",
	"SELECT * FROM w WHERE v = ?", "SELECT k FROM w WHERE v = ?", "SELECT z, v FROM w WHERE v = ? AND z = ?", "SELECT * FROM p WHERE n = ?", "SELECT id FROM p WHERE n = ? LIMIT ?", "SELECT * FROM p WHERE u = ?",
	"SELECT id, u FROM p WHERE n >= ? AND n < ?", "SELECT * FROM p WHERE u > ? LIMIT ?", "SELECT * FROM n WHERE id BETWEEN ? AND ?", "SELECT id, b FROM n WHERE id > ? AND id <= ? ORDER BY id", "SELECT k FROM s WHERE k < ?",
	"SELECT * FROM kb WHERE k = ?", "SELECT * FROM kb WHERE k = ? AND h >= ?", "SELECT n FROM kb WHERE k = ? AND h = ? AND n > ? ORDER BY n LIMIT ?", "SELECT p, m FROM c WHERE p = ?", "SELECT * FROM c WHERE q = ?",
	"SELECT z FROM w WHERE z = ?", "SELECT * FROM w WHERE z >= ?", "SELECT * FROM p WHERE n <= ?", "SELECT id FROM p WHERE id >= ? LIMIT 2",
	"SELECT * FROM n WHERE id <= ? ORDER BY id DESC LIMIT ?", "SELECT id, b FROM n WHERE id > ? AND id < ? ORDER BY id DESC", "SELECT * FROM n ORDER BY id DESC LIMIT ?", "SELECT k FROM s ORDER BY k LIMIT ?",
	"SELECT * FROM p WHERE n = ? ORDER BY id DESC LIMIT ?", "SELECT * FROM p WHERE n = ? ORDER BY id", "SELECT id, n FROM p WHERE n = ? ORDER BY n, id DESC", "SELECT * FROM p WHERE n >= ? ORDER BY n LIMIT ?",
	"SELECT * FROM p WHERE n > ? AND n <= ? ORDER BY n", "SELECT u, id FROM p WHERE n < ? ORDER BY n DESC, id DESC LIMIT ?", "SELECT id, u FROM p WHERE u >= ? ORDER BY u LIMIT ?", "SELECT * FROM p WHERE u < ? ORDER BY u",
	"SELECT * FROM w WHERE v = ? ORDER BY z, k LIMIT ?", "SELECT z, v, k FROM w WHERE v = ? AND z > ? ORDER BY z DESC, k DESC", "SELECT * FROM w WHERE v BETWEEN ? AND ? ORDER BY v LIMIT ?",
	"SELECT * FROM kb WHERE k = ? ORDER BY h DESC, n DESC LIMIT ?", "SELECT * FROM kb WHERE k = ? ORDER BY h", "SELECT n FROM kb ORDER BY k, h DESC LIMIT ?", "SELECT * FROM kb WHERE k >= ? ORDER BY k DESC, h DESC, n DESC LIMIT ?",
	"SELECT SUM(b) FROM n WHERE id BETWEEN ? AND ?", "SELECT COUNT(*), SUM(t), SUM(ub) FROM n WHERE id >= ?", "SELECT COUNT(*) FROM p WHERE n = ?", "SELECT COUNT(*) AS c FROM n WHERE id < ? AND id > ?", "SELECT COUNT(*), SUM(n) AS s FROM p WHERE n = ?",
	"SELECT COUNT(*) FROM p WHERE n BETWEEN ? AND ?", "SELECT SUM(id) FROM p WHERE n > ?", "SELECT SUM(z) FROM w WHERE v = ?", "SELECT sum(m), COUNT(*) FROM c WHERE p = ?", "SELECT COUNT(*) FROM kb WHERE k = ? AND h = ?", "SELECT COUNT(*), SUM(v) FROM w WHERE v = ?",
	"SELECT v FROM kb WHERE k >= ? ORDER BY v", "SELECT DISTINCT v FROM kb WHERE k >= ? ORDER BY v DESC", "SELECT * FROM kb WHERE k < ? ORDER BY v LIMIT ?", "SELECT v, k FROM s WHERE k > ? ORDER BY v DESC LIMIT ?",
	"SELECT DISTINCT c FROM s WHERE k BETWEEN ? AND ? ORDER BY c", "SELECT k, te FROM s WHERE k >= ? ORDER BY c", "SELECT b, id FROM n WHERE id BETWEEN ? AND ? ORDER BY b DESC", "SELECT DISTINCT b FROM n WHERE id >= ? ORDER BY b LIMIT ?",
	"SELECT id, ut FROM n WHERE id > ? ORDER BY ts", "SELECT * FROM w WHERE v = ? ORDER BY k DESC", "SELECT b AS id, t FROM n WHERE id >= ? ORDER BY id LIMIT ?", "SELECT id, m FROM c WHERE p = ? ORDER BY m", "SELECT DISTINCT m FROM c WHERE p = ? ORDER BY m DESC",
	"SELECT b, t FROM n WHERE id = ? FOR UPDATE", "SELECT * FROM s WHERE k = ? LOCK IN SHARE MODE", "SELECT 1", "SELECT 100", "SELECT 2000",
	"BEGIN", "COMMIT", "ROLLBACK", "START TRANSACTION", "BEGIN", "COMMIT",
}

// likely draws a value of the kind that most columns of a statement's table have, mostly.
func likely(r *rand.Rand, q string) (text string, bound any) {
	words := strings.Fields(q)
	at := slices.IndexFunc(words, func(w string) bool { return w == "FROM" || w == "INTO" || w == "UPDATE" })
	if at < 0 || r.Intn(4) == 0 {
		return drawValue(r)
	}
	switch table := strings.Trim(words[at+1], "`"); {
	case table == "s" || table == "k3" || table == "kb" && r.Intn(3) > 0 || table == "w" && r.Intn(2) == 0 || table == "d" && r.Intn(2) == 0 || table == "p" && r.Intn(4) == 0:
		s := []string{"a", "A", "b", "ä", "k1", "K1", "k2", "k3", "x"}[r.Intn(9)]
		return "'" + s + "'", s
	case table == "d" && r.Intn(2) == 0:
		s := []string{"2020-01-31", "2021-12-31 23:59:59", "2021-12-31 23:59:59.999999"}[r.Intn(3)]
		return "'" + s + "'", s
	}
	n := int64(r.Intn(9))
	return strconv.FormatInt(n, 10), n
}

// drawValue draws what may stand in a place: as it is written in a text, and as it is bound.
func drawValue(r *rand.Rand) (text string, bound any) {
	quote := func(s string) string {
		return "'" + strings.NewReplacer("'", []string{"''", `\'`}[r.Intn(2)], `\`, `\\`, "\x00", `\0`, "\n", `\n`).Replace(s) + "'"
	}
	switch r.Intn(16) {
	case 0:
		return "NULL", nil
	case 1, 2, 3, 4, 5, 6:
		n := int64(r.Intn(6))
		return strconv.FormatInt(n, 10), n
	case 7:
		n := []int64{-1, -3, 127, 128, -128, -129, 255, 256, 32767, 32768, -32769, 8388607, 8388608, 2147483647, 2147483648, -2147483649, 1 << 53, 9223372036854775807, -9223372036854775808}[r.Intn(19)]
		return strconv.FormatInt(n, 10), n
	case 8:
		s := []string{"1.5", "-0.005", "2.0", "99999999.994", "99999999.995", "12345678901234567890.12345678905", "0.1"}[r.Intn(7)]
		f, _ := strconv.ParseFloat(s, 64)
		return s, f
	case 9:
		s := []string{"2020-01-31", "2020-02-30", "0000-00-00", "2021-12-31 23:59:59", "2021-12-31 23:59:59.999999", "1969-12-31 23:00:00", "2038-01-19 03:14:08", "20200131", "12:30", "9999-12-31"}[r.Intn(10)]
		return quote(s), s
	case 10:
		s := []string{"18446744073709551615", "007", "1e3", "-5", "1 ", " 1", "1x", "x", "", "true", "0x10", "1.5"}[r.Intn(12)]
		return quote(s), s
	case 11:
		b := []byte{0, 1, 0xff, 'a'}[:r.Intn(5)]
		return quote(string(b)), b
	case 12:
		s := []string{strings.Repeat("ä", 8), strings.Repeat("a", 11), strings.Repeat("b", 21), strings.Repeat("z", 300), "\U0001f600", "it's", `\`, "a\nb", "a ", "A"}[r.Intn(10)]
		return quote(s), s
	}
	s := []string{"a", "A", "b", "ä", "Ä", "x", "k1", "K1", "k2"}[r.Intn(9)]
	return quote(s), s
}

// What plans answer is what the ordinary path answers, to the byte, whatever values stand where, in transactions and outside of
// them; so is what the session knows afterwards, and what is in the tables in the end.
func TestPlansDoAsTheOrdinaryPath(t *testing.T) {
	seeds, each := 3, 1500
	if n, err := strconv.Atoi(os.Getenv("LONGITUDE_TEST_SEEDS")); err == nil {
		seeds = n
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewSource(int64(seed)))
			params := []string{"", "?clientFoundRows=true", "?collation=utf8mb4_bin"}[seed%3]
			p := newPair(t, nil, params, sameTables...)
			revert := ""
			for range each {
				q := templates[r.Intn(len(templates))]
				var args []any
				var text strings.Builder
				prepared := r.Intn(2) == 0
				for i, part := range strings.Split(q, "?") {
					if i > 0 {
						s, v := likely(r, q)
						text.WriteString(s)
						args = append(args, v)
					}
					text.WriteString(part)
				}
				if !prepared {
					q = text.String()
				}
				p.same(q, args, prepared)
				if r.Intn(3) == 0 {
					p.after()
				}
				if revert != "" && r.Intn(20) == 0 {
					p.same(revert, nil, false)
					revert = ""
				} else if revert == "" && r.Intn(60) == 0 {
					s := [][2]string{{"SET autocommit = 0", "SET autocommit = 1"}, {"SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "SET sql_mode = DEFAULT"},
						{"SET character_set_results = latin1", "SET NAMES utf8mb4"}, {"ALTER TABLE n COMMENT = 'changed'", ""}, {"SET time_zone = '+02:00'", "SET time_zone = DEFAULT"},
						{"SET sql_mode = 'ANSI_QUOTES'", "SET sql_mode = DEFAULT"}, {"SET character_set_results = NULL", "SET NAMES utf8mb4"},
						{"SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE"},
						{"SET TRANSACTION READ ONLY", ""}, {"SET longitude_ordering = 'uncertainty'", "SET longitude_ordering = 'wait'"}, {"SET innodb_lock_wait_timeout = 3", ""}}[r.Intn(11)]
					p.same(s[0], nil, false)
					revert = s[1]
				}
			}
			p.same("ROLLBACK", nil, false)
			for _, table := range []string{"n", "s", "d", "p", "c", "w", "kb", "kt", "k3"} {
				p.same("SELECT * FROM "+table, nil, false)
				p.same("CHECK TABLE "+table, nil, false)
			}
			on, off := p.compiled(p.on), p.compiled(p.off)
			t.Logf("%d of %d statements were executed by plans", on, p.n)
			for _, row := range p.on.c.nodes[0].query("SELECT digest_text, executions, errors FROM longitude.statements WHERE compiled = 0 AND executions - errors > 4") {
				t.Logf("never: %s", row)
			}
			if off != 0 || on < p.n/6 {
				t.Errorf("%d of %d statements were executed by plans, and %d where they were off", on, p.n, off)
			}
		})
	}
}

// Results of many rows, with many that the order does not tell apart, by both protocols, held back as a whole or sent in parts.
func TestPlansOfManyRows(t *testing.T) {
	t.Run("whole", func(t *testing.T) { manyRows(t, nil) })
	t.Run("in parts", func(t *testing.T) { manyRows(t, []option{func(o *Options) { o.ResultBuffer = 5_000 }}) })
}

func manyRows(t *testing.T, opts []option) {
	r := rand.New(rand.NewSource(1))
	var rows []string
	for i := range 1500 {
		v := []string{"NULL", "'a'", "'A'", "'ab'", "'B'", "'b'", "''", "'é'", "'E'", "'" + strings.Repeat("long ", 1+r.Intn(300)) + "'"}[r.Intn(10)]
		rows = append(rows, fmt.Sprintf("(%d, %d, %d, %s, '2021-01-%02d 10:00:00', %d.5)", i, r.Intn(9), r.Int63()-r.Int63(), v, 1+r.Intn(28), r.Intn(100)))
	}
	p := newPair(t, opts, "", "CREATE DATABASE d", "USE d", "CREATE TABLE m (id INT PRIMARY KEY, g SMALLINT, b BIGINT, v TEXT, at DATETIME, x DECIMAL(6,1), KEY (g))",
		"INSERT INTO m VALUES "+strings.Join(rows, ","))
	n := 0
	for _, q := range []string{"SELECT * FROM m WHERE id >= ?", "SELECT * FROM m WHERE id >= ? ORDER BY id DESC", "SELECT * FROM m WHERE id < ? ORDER BY id DESC LIMIT 300", "SELECT v, id FROM m WHERE id >= ? ORDER BY v",
		"SELECT v, id FROM m WHERE id >= ? ORDER BY v DESC LIMIT 100", "SELECT DISTINCT v FROM m WHERE id >= ? ORDER BY v", "SELECT DISTINCT v FROM m WHERE id >= ? ORDER BY v DESC LIMIT 4", "SELECT id FROM m WHERE id >= ? ORDER BY at",
		"SELECT id, at FROM m WHERE id >= ? ORDER BY at DESC LIMIT 99", "SELECT * FROM m WHERE g = ?", "SELECT * FROM m WHERE g = ? ORDER BY id DESC LIMIT 20", "SELECT id, g FROM m WHERE g >= ? ORDER BY g LIMIT 400",
		"SELECT * FROM m WHERE g > ? ORDER BY g DESC, id DESC LIMIT 250", "SELECT x, v FROM m WHERE g = ? ORDER BY v", "SELECT SUM(b), COUNT(*) FROM m WHERE id > ?", "SELECT SUM(g), COUNT(*) FROM m WHERE g = ?",
		"SELECT COUNT(*) FROM m WHERE g >= ?", "SELECT * FROM m ORDER BY id LIMIT 500", "SELECT v FROM m ORDER BY id DESC LIMIT 7", "SELECT id, x FROM m ORDER BY at LIMIT 30"} {
		for _, from := range []int64{0, 3, 590, 3, 7} {
			for _, prepared := range []bool{true, false} {
				if !strings.Contains(q, "?") {
					p.same(q, nil, prepared)
				} else if prepared {
					p.same(q, []any{from}, true)
				} else {
					p.same(strings.ReplaceAll(q, "?", strconv.FormatInt(from, 10)), nil, false)
				}
				p.after()
				n++
			}
		}
	}
	// SUM(b) leaves 64 bits, mostly; and each statement is executed once before it has a plan.
	if on, off := p.compiled(p.on), p.compiled(p.off); off != 0 || on < n*3/4 {
		t.Errorf("%d of %d statements were executed by plans, and %d where they were off", on, n, off)
	}
}
