package engine

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// numbers fills a table with n rows.
func (s *member) numbers(table string, n int) {
	s.c.t.Helper()
	s.exec("CREATE TABLE " + table + " (id INT PRIMARY KEY, v INT NOT NULL)")
	var vs []string
	for i := range n {
		vs = append(vs, fmt.Sprintf("(%d, %d)", i, i%7))
	}
	s.exec("INSERT INTO " + table + " VALUES " + strings.Join(vs, ","))
}

// endless statements compute for longer than anybody waits, each in another operator's loop.
var endless = map[string]string{
	"join":          "SELECT COUNT(*) FROM n a, n b, n c, n d WHERE a.v + b.v + c.v + d.v = -1",
	"subquery":      "SELECT COUNT(*) FROM n a WHERE (SELECT COUNT(*) FROM n b, n c, n d WHERE b.v + c.v + d.v + a.v = -1) > 0",
	"derived":       "SELECT SUM(x) FROM (SELECT a.v + b.v AS x FROM n a, n b, n c, n d) t",
	"group":         "SELECT a.id + b.id + c.id + d.id AS k, COUNT(*) FROM n a, n b, n c, n d GROUP BY k HAVING k < 0",
	"sort":          "SELECT a.v FROM n a, n b, n c, n d ORDER BY a.v + b.v + c.v LIMIT 1",
	"distinct":      "SELECT DISTINCT a.v FROM n a, n b, n c, n d",
	"recursive":     "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT r.i + 1 FROM r, n a, n b WHERE r.i < 9000) SELECT COUNT(*) FROM r",
	"values":        "SELECT COUNT(*) FROM (VALUES ROW(1), ROW(2), ROW(3)) t (x), n a, n b, n c, n d WHERE a.v + b.v + c.v + d.v + x = -1",
	"insert select": "INSERT INTO sink SELECT a.v + b.v + c.v + d.v FROM n a, n b, n c, n d WHERE a.v + b.v + c.v + d.v = -1",
	"sleep":         "SELECT SLEEP(600) FROM n",
}

// underWay waits until a statement is in the list of processes that begins so, and returns its connection.
func (s *member) underWay(t *testing.T, text string) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		for _, p := range s.query("SELECT id, info FROM information_schema.processlist WHERE command = 'Query'") {
			if id, info, _ := strings.Cut(p, "\t"); strings.HasPrefix(info, text) {
				return id
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%q does not begin", text)
		}
	}
}

// soon is how long a statement that was told to end may take to do so, here on a busy machine.
const soon = 5 * time.Second

// KILL QUERY ends every statement soon, whatever loop it is in, and the connection goes on.
func TestKillEndsEveryLoop(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE sink (v INT)")
	s.numbers("n", 400)
	for name, q := range endless {
		t.Run(name, func(t *testing.T) {
			db := s.open(t, "")
			defer db.Close()
			conn, err := db.Conn(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.ExecContext(context.Background(), "USE d"); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := rows(conn, q)
				done <- err
			}()
			s.exec("KILL QUERY " + s.underWay(t, q[:20]))
			select {
			case err := <-done:
				if code(err) != 1317 {
					t.Errorf("ended with %v, want 1317", err)
				}
			case <-time.After(soon):
				t.Fatalf("still under way %s after KILL", soon)
			}
			if got, err := rows(conn, "SELECT COUNT(*) FROM sink"); err != nil || got[0] != "0" {
				t.Errorf("afterwards: %v, %v", got, err)
			}
		})
	}
}

// max_execution_time ends a SELECT with error 3024, as a variable and as a hint, and nothing but SELECTs.
func TestMaxExecutionTime(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE sink (v INT)")
	s.numbers("n", 400)
	s.query("SELECT v FROM n WHERE id = 1") // compiled from now on
	s.exec("SET max_execution_time = 100")
	for _, name := range []string{"join", "recursive", "sleep"} {
		if _, err := rows(s.root, endless[name]); code(err) != 3024 {
			t.Errorf("%s: %v, want 3024", name, err)
		}
	}
	if got := s.query("SELECT v FROM n WHERE id = 2"); got[0] != "2" {
		t.Errorf("a short one: %v", got)
	}
	s.exec("INSERT INTO sink SELECT SLEEP(0.3)", "SET max_execution_time = 0")
	if _, err := rows(s.root, strings.Replace(endless["join"], "SELECT", "SELECT /*+ MAX_EXECUTION_TIME(100) */", 1)); code(err) != 3024 {
		t.Errorf("by a hint: %v, want 3024", err)
	}
	if got := s.query("SELECT /*+ MAX_EXECUTION_TIME(100) */ SLEEP(600)"); got[0] != "1" {
		t.Errorf("SLEEP alone is %v, want 1: it was interrupted, which is no error", got)
	}
	if got := s.query("SELECT /*+ MAX_EXECUTION_TIME(60000) */ COUNT(*) FROM n"); got[0] != "400" {
		t.Errorf("by a hint, and in time: %v", got)
	}
	// In a transaction the statement is over, and the transaction goes on.
	s.exec("BEGIN", "INSERT INTO sink VALUES (5)")
	if _, err := rows(s.root, strings.Replace(endless["join"], "SELECT", "SELECT /*+ MAX_EXECUTION_TIME(50) */", 1)); code(err) != 3024 {
		t.Errorf("in a transaction: %v, want 3024", err)
	}
	s.exec("COMMIT")
	if got := s.query("SELECT COUNT(*) FROM sink"); got[0] != "2" {
		t.Errorf("%v rows in the sink, want 2", got)
	}
}

// A client that goes away takes its statement with it.
func TestStatementEndsWithItsClient(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d")
	s.numbers("n", 400)
	ctx, leave := context.WithCancel(context.Background())
	db := s.open(t, "")
	defer db.Close()
	q := strings.Replace(endless["join"], "n ", "d.n ", -1)
	done := make(chan error, 1)
	go func() { // the driver closes the connection when the context is over
		r, err := db.QueryContext(ctx, q)
		if err == nil {
			err = r.Close()
		}
		done <- err
	}()
	id := s.underWay(t, q[:20])
	leave()
	<-done
	for end := time.Now().Add(soon); ; time.Sleep(10 * time.Millisecond) {
		if left := s.query("SELECT COUNT(*) FROM information_schema.processlist WHERE id = " + id); left[0] == "0" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the statement is under way %s after its client has gone", soon)
		}
	}
}

// Texts that would be longer than max_allowed_packet are NULL, with MySQL's warning 1301; before, they ended the node, or never ended.
func TestTextsThatAreTooLong(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	for _, q := range []string{"SELECT LENGTH(LPAD('x', 1000000000000, 'y'))", "SELECT LENGTH(RPAD('x', 1000000000000, 'y'))", "SELECT SPACE(1e20)",
		"SELECT SPACE(100000000000)", "SELECT LENGTH(REPEAT('xyz', 1e12))", "SELECT LENGTH(REPEAT(REPEAT('x', 1000000), 1000000))"} {
		if got := s.query(q); got[0] != "NULL" {
			t.Errorf("%s: %v, want NULL", q, got)
		}
		if w := s.query("SHOW WARNINGS"); len(w) == 0 || !strings.HasPrefix(w[0], "Warning\t1301\t") {
			t.Errorf("%s: warnings %q, want 1301", q, w)
		}
	}
	if got := s.query("SELECT CONCAT(LPAD('x', 3, 'y'), RPAD('x', 3, 'y'), '[', SPACE(2), ']', REPEAT('ab', 2))"); got[0] != "yyxxyy[  ]abab" {
		t.Errorf("short ones: %q", got)
	}
	s.exec("SET GLOBAL max_allowed_packet = 2048")
	defer s.exec("SET GLOBAL max_allowed_packet = DEFAULT")
	db := s.open(t, "")
	defer db.Close()
	if got, err := rows(db, "SELECT LENGTH(REPEAT('x', 2049)), LENGTH(REPEAT('x', 2048))"); err != nil || got[0] != "NULL\t2048" {
		t.Errorf("with a limit of 2048: %q, %v", got, err)
	}
}

// Connections that are idle for too long end with MySQL's error 4031, those with an open transaction with 1159, and the
// transaction is rolled back.
func TestIdleConnectionsEnd(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	for _, tt := range []struct {
		set  []string
		code int
	}{
		{[]string{"SET wait_timeout = 1"}, 4031},
		{[]string{"SET longitude_idle_transaction_timeout = 1", "BEGIN", "INSERT INTO d.t VALUES (1)", "SELECT * FROM d.t WHERE id = 1 FOR UPDATE"}, 1159},
	} {
		conn, raw := s.tapped(t)
		for _, q := range tt.set {
			if _, err := conn.ExecContext(context.Background(), q); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
		if got := unasked(t, raw); got != tt.code {
			t.Errorf("%q: told %d, want %d", tt.set, got, tt.code)
		}
		_ = conn.Close()
	}
	// The lock is gone, and the row was never there.
	if _, err := s.root.Exec("INSERT INTO d.t VALUES (1)"); err != nil {
		t.Error(err)
	}
	// One that works is not idle.
	db := s.open(t, "")
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("SET wait_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	var id, again string
	scan := func(to *string) {
		if err := db.QueryRow("SELECT CONNECTION_ID() FROM (SELECT SLEEP(1.5)) t").Scan(to); err != nil {
			t.Error(err)
		}
	}
	scan(&id)
	scan(&again)
	if id != again {
		t.Errorf("connection %s was ended while it worked; the next is %s", id, again)
	}
}

// tapped is a connection, and what is below it.
func (s *member) tapped(t *testing.T) (conn *sql.Conn, raw net.Conn) {
	t.Helper()
	network := fmt.Sprintf("tap%d", taps.Add(1))
	mysql.RegisterDialContext(network, func(ctx context.Context, _ string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", s.addr)
		raw = c
		return c, err
	})
	db, err := sql.Open("mysql", fmt.Sprintf("root@%s(x)/", network))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if conn, err = db.Conn(context.Background()); err != nil {
		t.Fatal(err)
	}
	return conn, raw
}

var taps atomic.Int64

// unasked is the code of the error that the server sends without being asked.
func unasked(t *testing.T, raw net.Conn) int {
	t.Helper()
	_ = raw.SetReadDeadline(time.Now().Add(20 * time.Second))
	head := make([]byte, 7)
	if _, err := io.ReadFull(raw, head); err != nil {
		t.Fatalf("the server says nothing: %v", err)
	}
	if head[4] != 0xff {
		t.Fatalf("not an error: %x", head)
	}
	return int(head[5]) | int(head[6])<<8
}

// A statement that is longer than max_allowed_packet is refused with 1153 while it comes in, and a row that no command can carry with
// 1118 before any of it is replicated.
func TestStatementsAndRowsThatAreTooLong(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v LONGBLOB)", "SET GLOBAL max_allowed_packet = 1073741824")
	defer s.exec("SET GLOBAL max_allowed_packet = DEFAULT")
	conn, _ := s.tapped(t)
	defer conn.Close()
	before := s.e.o.DB.Stats()
	_, err := conn.ExecContext(context.Background(), "INSERT INTO d.t VALUES (1, CONCAT(REPEAT('x', 40000000), REPEAT('y', 40000000)))")
	if code(err) != 1118 {
		t.Errorf("a row of 80 MB: %v, want 1118", err)
	}
	if after := s.e.o.DB.Stats(); after.Spilled != before.Spilled || after.OnePhase != before.OnePhase {
		t.Errorf("something of it was sent: %+v, before %+v", after, before)
	}
	for _, n := range []int{1 << 20, 20 << 20} {
		if _, err := conn.ExecContext(context.Background(), "REPLACE INTO d.t VALUES (2, REPEAT('x', ?))", n); err != nil {
			t.Errorf("a row of %d bytes: %v", n, err)
		}
		if got, err := rows(conn, "SELECT LENGTH(v) FROM d.t WHERE id = 2"); err != nil || got[0] != fmt.Sprint(n) {
			t.Errorf("a row of %d bytes: %v, %v", n, got, err)
		}
	}
	if after := s.e.o.DB.Stats(); after.Spilled != before.Spilled {
		t.Error("one large row was laid as an intent first, and so replicated twice")
	}
	s.exec("SET GLOBAL max_allowed_packet = 1000000")
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/?maxAllowedPacket=100000000", s.addr))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("SELECT 1 -- " + strings.Repeat("x", 900_000)); err != nil {
		t.Errorf("a statement that is short enough: %v", err)
	}
	for _, n := range []int{1_000_001, 20_000_000} { // of one packet, and of two
		if _, err := db.Exec("SELECT 1 -- " + strings.Repeat("x", n)); code(err) != 1153 {
			t.Errorf("a statement of %d bytes: %v, want 1153", n, err)
		}
	}
}
