package engine

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func ints(t testing.TB, texts []string) (out []int64) {
	t.Helper()
	for _, s := range texts {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// Ids are small, whichever node inserts, and the same table can be told to spread them instead.
func TestIDsAreDense(t *testing.T) {
	const rows = 60
	c := startCluster(t, 3)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT)",
		"SET longitude_auto_increment = 'spread'", "CREATE TABLE d.spread (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT)",
		"SET longitude_auto_increment = 'dense'")
	c.waitReplicated()
	for i := range rows {
		c.nodes[i%3].exec("INSERT INTO d.t (v) VALUES (1)", "INSERT INTO d.spread (v) VALUES (1)")
	}
	ids := ints(t, s.query("SELECT id FROM d.t ORDER BY id"))
	if len(ids) != rows || ids[0] != 1 || ids[rows-1] > 3*rows {
		t.Errorf("%d rows by three nodes have the ids %v, want small ones", rows, ids)
	}
	if got := ints(t, s.query("SELECT COUNT(DISTINCT id DIV 281474976710656) FROM d.spread")); got[0] != 3 {
		t.Errorf("spread over %d shards, want 3", got[0])
	}
	// What one node inserts alone is consecutive.
	s.exec("CREATE TABLE d.alone (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
	for range 100 {
		s.exec("INSERT INTO d.alone (v) VALUES (1)")
	}
	if got := s.query("SELECT MIN(id), MAX(id), COUNT(*) FROM d.alone"); got[0] != "1\t100\t100" {
		t.Errorf("by one node: %v", got)
	}
}

// The ids of one INSERT with several rows are consecutive (D4), while other sessions and nodes insert, too: clients work them out from
// LAST_INSERT_ID. Prepared and not, by the ordinary path and compiled.
func TestIDsOfOneInsertAreConsecutive(t *testing.T) {
	c := startCluster(t, 2)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id BIGINT AUTO_INCREMENT PRIMARY KEY, w INT, n INT, i INT)")
	c.waitReplicated()
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			conn, err := c.nodes[w%2].root.Conn(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if _, err := conn.ExecContext(context.Background(), fmt.Sprintf("SET longitude_compiled = %d", w/2%2)); err != nil {
				t.Error(err)
			}
			for n := range 25 {
				const rows = 7
				var vs []string
				var args []any
				for i := range rows {
					if w < 2 {
						vs = append(vs, fmt.Sprintf("(%d, %d, %d)", w, n, i))
					} else {
						vs, args = append(vs, "(?, ?, ?)"), append(args, w, n, i)
					}
				}
				r, err := conn.ExecContext(context.Background(), "INSERT INTO d.t (w, n, i) VALUES "+strings.Join(vs, ", "), args...)
				if err != nil {
					t.Error(err)
					return
				}
				first, _ := r.LastInsertId()
				got, err := rows2(conn, fmt.Sprintf("SELECT id FROM d.t WHERE w = %d AND n = %d ORDER BY i", w, n))
				if err != nil {
					t.Error(err)
					return
				}
				for i, id := range ints(t, got) {
					if id != first+int64(i) {
						t.Errorf("insert %d of session %d: ids %v, the client was told %d", n, w, got, first)
						break
					}
				}
			}
		}()
	}
	wg.Wait()
}

// rows2 is rows, where a constant is called rows.
var rows2 = rows

// AUTO_INCREMENT = n is exact, never below what is there (D5); explicit ids move the generator; TRUNCATE starts it over; a node
// that comes anew goes on above.
func TestIDsStartedOver(t *testing.T) {
	for _, typ := range []string{"INT", "BIGINT", "BIGINT UNSIGNED"} {
		t.Run(typ, func(t *testing.T) {
			c := startCluster(t, 1)
			s := c.nodes[0]
			s.root.SetMaxOpenConns(1)
			s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id "+typ+" AUTO_INCREMENT PRIMARY KEY, v INT) AUTO_INCREMENT = 1000")
			last := func(want int64, do ...string) {
				t.Helper()
				s.exec(do...)
				s.exec("INSERT INTO t (v) VALUES (1)")
				if got := ints(t, s.query("SELECT LAST_INSERT_ID()")); got[0] != want {
					t.Errorf("%q: the next id is %d, want %d", do, got[0], want)
				}
			}
			last(1000)
			last(1001)
			last(2000, "ALTER TABLE t AUTO_INCREMENT = 2000")
			last(2001, "ALTER TABLE t AUTO_INCREMENT = 5") // MySQL: not below what is there
			last(5001, "INSERT INTO t VALUES (5000, 2)")
			last(5002, "INSERT INTO t VALUES (7, 2)")
			given := "-3"
			if typ == "BIGINT UNSIGNED" {
				given = "8"
			}
			last(5003, "INSERT INTO t VALUES ("+given+", 2)")
			last(1, "TRUNCATE TABLE t")
			last(100, "DELETE FROM t", "ALTER TABLE t AUTO_INCREMENT = 100")
			last(2000000001, "INSERT INTO t VALUES (2000000000, 2)")
			// Another engine on the same data, as after a restart: above, and not far.
			e := New(s.e.o)
			defer func() { _ = e.Close(0) }()
			g := sequence{}
			for k := range s.e.ids.blocks {
				g = k
			}
			n, err := e.ids.take(context.Background(), g, 1, blockSize{smallBlock, smallBlock})
			if err != nil || n < 1 {
				t.Errorf("after a restart: %d, %v", n, err)
			}
			if shown := s.query("SHOW CREATE TABLE t"); !strings.Contains(shown[0], "AUTO_INCREMENT=2000000002") {
				t.Errorf("SHOW CREATE TABLE: %s", shown[0])
			}
		})
	}
}

// At the end of the column's type there are no ids left: error 1467, and nothing wraps around.
func TestIDsRunOut(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d")
	for typ, top := range map[string]string{"TINYINT": "127", "SMALLINT UNSIGNED": "65535", "INT": "2147483647", "BIGINT": "9223372036854775807"} {
		s.exec("DROP TABLE IF EXISTS t", "CREATE TABLE t (id "+typ+" AUTO_INCREMENT PRIMARY KEY, v INT)", "INSERT INTO t VALUES ("+top+", 1)")
		if _, err := s.root.Exec("INSERT INTO t (v) VALUES (2)"); code(err) != 1467 {
			t.Errorf("%s: %v, want 1467", typ, err)
		}
		if got := s.query("SELECT id FROM t"); !slices.Equal(got, []string{top}) {
			t.Errorf("%s: %v", typ, got)
		}
	}
}

// Many sessions on three nodes insert at once, into a dense table and a spread one by turns: no id is given twice, and it logs what each
// kind gets through.
func TestIDsUnderLoad(t *testing.T) {
	const sessions, rounds = 9, 4
	c := startCluster(t, 3)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "CREATE TABLE d.dense (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT)", "SET longitude_auto_increment = 'spread'",
		"CREATE TABLE d.spread (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT)")
	c.waitReplicated()
	pools := make([]*sql.DB, sessions)
	for i := range pools {
		pools[i] = c.nodes[i%3].open(t, "")
		pools[i].SetMaxOpenConns(1)
		defer pools[i].Close()
	}
	done := map[string]int64{}
	for range rounds {
		for _, table := range []string{"dense", "spread"} {
			end := time.Now().Add(400 * time.Millisecond)
			var wg sync.WaitGroup
			var n atomic.Int64
			for _, db := range pools {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for time.Now().Before(end) {
						if _, err := db.Exec("INSERT INTO d." + table + " (v) VALUES (1)"); err != nil {
							t.Error(err)
							return
						}
						n.Add(1)
					}
				}()
			}
			wg.Wait()
			done[table] += n.Load()
		}
	}
	for table, n := range done {
		if got := s.query("SELECT COUNT(*), COUNT(DISTINCT id) FROM d." + table); got[0] != fmt.Sprintf("%d\t%d", n, n) {
			t.Errorf("%s: %s rows and ids, %d were acknowledged", table, got[0], n)
		}
	}
	t.Logf("dense %d, spread %d inserts: ratio %.2f; the greatest dense id is %s", done["dense"], done["spread"], float64(done["dense"])/float64(done["spread"]),
		s.query("SELECT MAX(id) FROM d.dense")[0])
}
