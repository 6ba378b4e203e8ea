package engine

import (
	"fmt"
	"testing"
)

// What an upsert tells the client: rows, the id in the OK packet, and LAST_INSERT_ID(). ORMs take ids of associations from it (GORM, ent).
// Recorded from MySQL 9.7; ids that are given to rows which turn out to be there already are left out here and not by MySQL, so new rows
// stand before those in lists.
func TestInsertIDOfUpserts(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, k INT UNIQUE, v INT)")
	for _, x := range []struct {
		query          string
		rows, id, last int64
	}{
		{"INSERT INTO t (k, v) VALUES (1, 1), (2, 2), (3, 3)", 3, 1, 1},
		{"INSERT INTO t (k, v) VALUES (2, 5) ON DUPLICATE KEY UPDATE v = 5", 2, 2, 1},
		{"INSERT INTO t (k, v) VALUES (2, 5) ON DUPLICATE KEY UPDATE v = 5", 0, 0, 1},
		{"INSERT INTO t (k, v) VALUES (2, 5) ON DUPLICATE KEY UPDATE id = id", 0, 0, 1},
		{"INSERT INTO t (k, v) VALUES (3, 9) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = 9", 2, 3, 3},
		{"INSERT INTO t (k, v) VALUES (3, 9) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = 9", 0, 3, 3},
		{"INSERT INTO t (k, v) VALUES (1, 8), (2, 12) ON DUPLICATE KEY UPDATE v = VALUES(v)", 4, 2, 3},
		{"INSERT INTO t (k, v) VALUES (1, 8), (2, 12) ON DUPLICATE KEY UPDATE id = id", 0, 0, 3},
		{"INSERT INTO t (id, k, v) VALUES (100, 40, 12) ON DUPLICATE KEY UPDATE id = id", 1, 100, 3},
		{"INSERT INTO t (id, k, v) VALUES (100, 40, 12) ON DUPLICATE KEY UPDATE id = id", 0, 0, 3},
		{"INSERT INTO t (id, k, v) VALUES (100, 41, 12), (0, 42, 1) ON DUPLICATE KEY UPDATE v = 13", 3, 101, 101},
		{"INSERT IGNORE INTO t (k, v) VALUES (1, 1)", 0, 0, 101},
		{"INSERT INTO t (k, v) SELECT k, v + 1 FROM t AS u WHERE k IN (1, 2) ON DUPLICATE KEY UPDATE v = VALUES(v)", 4, 0, 101},
		{"INSERT INTO t (k, v) SELECT 1, 1000 UNION ALL SELECT 2, 2000 ON DUPLICATE KEY UPDATE v = v + VALUES(v)", 4, 0, 101},
	} {
		r, err := s.root.Exec(x.query)
		if err != nil {
			t.Errorf("%s: %v", x.query, err)
			continue
		}
		rows, _ := r.RowsAffected()
		id, _ := r.LastInsertId()
		last := s.query("SELECT LAST_INSERT_ID()")[0]
		if rows != x.rows || id != x.id || last != fmt.Sprint(x.last) {
			t.Errorf("%s: %d rows, id %d, then LAST_INSERT_ID() %s; want %d, %d, %d", x.query, rows, id, last, x.rows, x.id, x.last)
		}
	}
	if got := fmt.Sprint(s.query("SELECT k, v FROM t WHERE k < 4 ORDER BY k")); got != "[1\t1009 2\t2013 3\t9]" {
		t.Errorf("rows %s", got)
	}
	st, err := s.root.Prepare("INSERT INTO t (k, v) SELECT k, ? FROM t AS u WHERE k = ? ON DUPLICATE KEY UPDATE v = VALUES(v)")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, err := st.Exec(70+i, 3); err != nil {
			t.Error(err)
		}
	}
	if got := s.query("SELECT v FROM t WHERE k = 3")[0]; got != "71" {
		t.Errorf("the prepared one stored %s", got)
	}
}
