package engine

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/txn"
)

// A client over TCP, with the driver that most programs in Go use: prepared statements, types, several statements at once.
func TestDriver(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d")
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/d?parseTime=true&multiStatements=true", s.addr))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, i INT, u BIGINT UNSIGNED, f DOUBLE, m DECIMAL(10,2), s VARCHAR(50), b BLOB, d DATETIME(6), n INT)"); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2024, 2, 29, 12, 34, 56, 789012000, time.UTC)
	insert, err := db.Prepare("INSERT INTO t (i, u, f, m, s, b, d, n) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n <= 3; n++ {
		r, err := insert.Exec(-n, uint64(math.MaxUint64), 1.5, "12.34", "Größe", []byte{0, 1, 255}, when, nil)
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := r.LastInsertId(); id != n {
			t.Errorf("id %d, want %d", id, n)
		}
	}
	var i, id int64
	var u uint64
	var f float64
	var m, text string
	var b []byte
	var d time.Time
	var n sql.NullInt64
	get, err := db.Prepare("SELECT id, i, u, f, m, s, b, d, n FROM t WHERE i = ? AND s = ?")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := get.QueryRow(-2, "größe").Scan(&id, &i, &u, &f, &m, &text, &b, &d, &n); err != nil {
			t.Fatal(err)
		}
		if id != 2 || i != -2 || u != math.MaxUint64 || f != 1.5 || m != "12.34" || text != "Größe" || string(b) != "\x00\x01\xff" || !d.Equal(when) || n.Valid {
			t.Errorf("%d %d %d %g %s %s %v %s %v", id, i, u, f, m, text, b, d, n)
		}
	}
	if _, err := db.Exec("CREATE TABLE many (id INT PRIMARY KEY); INSERT INTO many VALUES (1), (2); INSERT INTO many VALUES (3)"); err != nil {
		t.Fatal(err)
	}
	rs, err := db.Query("SELECT COUNT(*) FROM many; SELECT id FROM many ORDER BY id; SELECT nothing")
	if err != nil {
		t.Fatal(err)
	}
	var results []string
	for {
		var line []string
		for rs.Next() {
			var v string
			if err := rs.Scan(&v); err != nil {
				t.Fatal(err)
			}
			line = append(line, v)
		}
		results = append(results, strings.Join(line, " "))
		if !rs.NextResultSet() {
			break
		}
	}
	if fmt.Sprint(results) != "[3 1 2 3]" || code(rs.Err()) != 1054 {
		t.Errorf("%q, then %v", results, rs.Err())
	}
	_ = rs.Close()
	if _, err := db.Prepare("SELECT * FROM nothing WHERE id = ?"); code(err) != 1146 {
		t.Errorf("prepare: %v", err)
	}
	if _, err := db.Query("SELECT * FROM many AS OF ?", when); code(err) <= 0 {
		t.Errorf("AS OF: %v", err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO many VALUES (?), (?)", 4, 5); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT COUNT(*) FROM many WHERE id > ?", 0).Scan(&i); err != nil || i != 3 {
		t.Errorf("%d rows, %v", i, err)
	}
	if _, err := db.Exec("INSERT INTO many VALUES (?)", "x"); code(err) != 1366 {
		t.Errorf("insert of a text: %v", err)
	}
}

// Results beyond the buffer are sent while they are read (S1); the others come whole.
func TestLargeResult(t *testing.T) {
	c := startCluster(t, 1, func(o *Options) { o.ResultBuffer = 4096 })
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, pad VARCHAR(200))",
		"SET cte_max_recursion_depth = 10000", "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, REPEAT('x', 100) FROM n")
	if got := s.query("SELECT id FROM t ORDER BY id"); len(got) != 5000 || got[4999] != "5000" {
		t.Errorf("%d rows", len(got))
	}
	s.exec("BEGIN")
	if got := s.query("SELECT pad FROM t"); len(got) != 5000 {
		t.Errorf("%d rows", len(got))
	}
	s.exec("UPDATE t SET pad = '' WHERE id = 1", "COMMIT")
	// An error in the middle, after rows have left, comes as it is, and the connection goes on.
	if _, err := rows(s.root, "SELECT 1 / (id - 4000), CAST(IF(id = 4500, 'x', '{}') AS JSON), pad FROM t"); code(err) <= 0 {
		t.Errorf("not an error of the server's: %v", err)
	}
	if got := s.query("SELECT COUNT(*) FROM d.t"); got[0] != "5000" {
		t.Error(got)
	}
}

// S3: a statement that is a transaction of its own is repeated by the node, whatever others do to its rows.
func TestRepeatedByTheNode(t *testing.T) {
	for _, o := range []txn.Ordering{txn.Wait, txn.Uncertainty} {
		t.Run(o.String(), func(t *testing.T) {
			c := startCluster(t, 2, func(x *Options) { x.DefaultOrdering = o })
			c.nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "INSERT INTO d.t VALUES (1, 0), (2, 0)")
			if got := c.nodes[1].query("SELECT @@longitude_ordering"); got[0] != o.String() {
				t.Errorf("the default is %v", got)
			}
			const workers, each = 8, 25
			errs := make(chan error, workers)
			for w := range workers {
				go func() {
					db := c.nodes[w%2].open(t, "")
					defer db.Close()
					for range each {
						if _, err := db.Exec("UPDATE d.t SET n = n + 1"); err != nil {
							errs <- err
							return
						}
					}
					errs <- nil
				}()
			}
			for range workers {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
			if got := c.nodes[0].query("SELECT n FROM d.t"); fmt.Sprint(got) != fmt.Sprintf("[%d %d]", workers*each, workers*each) {
				t.Errorf("%v, want %d twice", got, workers*each)
			}
		})
	}
}

// Closing lets a statement finish and ends idle connections at once.
func TestClose(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	idle, err := s.root.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	done := make(chan error)
	go func() {
		_, err := rows(s.root, "SELECT SLEEP(0.5)")
		done <- err
	}()
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	if err := s.e.Close(10 * time.Second); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < 200*time.Millisecond || took > 5*time.Second {
		t.Errorf("closing took %s", took)
	}
	if err := <-done; err != nil {
		t.Errorf("the statement that was under way: %v", err)
	}
	if _, err := rows(idle, "SELECT 1"); err == nil {
		t.Error("the idle connection is still open")
	}
	if x, err := net.Dial("tcp", s.addr); err == nil {
		_ = x.Close()
		t.Error("the port is still open")
	}
}
