package engine

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// Several sessions change the schema at the same time, through different nodes: they take turns (H6), and none is told to repeat.
func TestChangesTakeTurns(t *testing.T) {
	const sessions, each = 4, 12
	c := startCluster(t, 3)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d")
	c.waitReplicated()
	began := time.Now()
	var wg sync.WaitGroup
	for w := range sessions {
		wg.Add(1)
		go func() {
			defer wg.Done()
			db := c.nodes[w%3].open(t, "")
			defer db.Close()
			for i := range each {
				q := fmt.Sprintf("CREATE TABLE d.t%d_%d (id INT PRIMARY KEY, v INT, KEY (v))", w, i)
				if _, err := db.Exec(q); err != nil {
					t.Errorf("%s: %v", q, err)
				}
			}
		}()
	}
	wg.Wait()
	t.Logf("%d changes by %d sessions in %s", sessions*each, sessions, time.Since(began).Round(time.Millisecond))
	for _, n := range c.nodes {
		if got := n.query("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd'"); got[0] != fmt.Sprint(sessions*each) {
			t.Errorf("node %d has %s tables, want %d", n.id, got[0], sessions*each)
		}
	}
	if again := s.query("SELECT COUNT(*) FROM longitude.statements WHERE digest_text LIKE 'CREATE TABLE%' AND deadlocks > 0"); again[0] != "0" {
		t.Errorf("%s kinds of changes were refused", again[0])
	}
}

// A change of one table is none of the business of a transaction that works on others (H5), though it commits long after the change;
// one that works on the table itself is repeated.
func TestChangesOfOtherTables(t *testing.T) {
	c := startCluster(t, 2)
	s, other := c.nodes[0], c.nodes[1]
	s.exec("CREATE DATABASE d", "CREATE DATABASE ci", "CREATE TABLE d.a (id INT PRIMARY KEY, v INT)", "CREATE TABLE d.b (id INT PRIMARY KEY, v INT)",
		"CREATE TABLE d.child (id INT PRIMARY KEY, a INT)", "INSERT INTO d.a VALUES (1, 0), (2, 0)")
	for i, tt := range []struct {
		change string
		code   int
	}{
		{"CREATE TABLE d.other (id INT PRIMARY KEY)", 0},
		{"ALTER TABLE d.b ADD COLUMN w INT DEFAULT 3", 0},
		{"CREATE INDEX v ON d.b (v)", 0},
		{"DROP TABLE d.other", 0},
		{"CREATE TABLE ci.build (id INT PRIMARY KEY)", 0},
		{"USE ci; CREATE VIEW ci.w AS SELECT 1", 0},
		{"ALTER TABLE d.a ADD COLUMN w INT DEFAULT 3", 1213},
		{"ALTER TABLE d.child ADD FOREIGN KEY (a) REFERENCES d.a (id)", 1213},
		{"ALTER TABLE d.a RENAME COLUMN w TO ww", 1213},
		{"CREATE TRIGGER d.tr BEFORE UPDATE ON d.a FOR EACH ROW SET NEW.v = 7", 1213},
	} {
		for _, compiled := range []int{1, 0} {
			if compiled == 0 && tt.code != 0 {
				continue // the change is made once
			}
			if compiled == 0 {
				tt.change = strings.NewReplacer("d.other", "d.more", "COLUMN w ", "COLUMN x ", "INDEX v ", "INDEX v2 ", "ci.build", "ci.build2", "ci.w", "ci.x").Replace(tt.change)
				if strings.HasPrefix(tt.change, "DROP") {
					continue
				}
			}
			conn, err := s.root.Conn(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			run := func(q string) error { _, err := conn.ExecContext(context.Background(), q); return err }
			column := "v"
			update := fmt.Sprintf("UPDATE d.a SET %s = %s + 1 WHERE id = 1", column, column)
			for _, q := range []string{fmt.Sprintf("SET longitude_compiled = %d", compiled), update, update, "BEGIN", update} {
				if err := run(q); err != nil {
					t.Fatalf("%d: %s: %v", i, q, err)
				}
			}
			other.exec(tt.change)
			// What the transaction has written is read by others meanwhile, so that it has to commit above the change.
			other.query("SELECT * FROM d.a")
			err = run("COMMIT")
			if code(err) != tt.code {
				t.Errorf("%s (compiled %d): commit: %v, want %d", tt.change, compiled, err, tt.code)
			}
			_ = conn.Close()
		}
	}
	s.checkIndexes(t)
}

// Writers go on while tables are created, altered and dropped beside them, without errors and without losing anything.
func TestWritesBesideChanges(t *testing.T) {
	c := startCluster(t, 3)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL, KEY (n))", "INSERT INTO d.t VALUES (0,0),(1,0),(2,0)")
	c.waitReplicated()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	written := make([]int, 3)
	for w := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			db := c.nodes[w].open(t, "")
			defer db.Close()
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := again(db, func(tx *sql.Tx) error {
					var n int
					if err := tx.QueryRow("SELECT n FROM d.t WHERE id = ?", w).Scan(&n); err != nil {
						return err
					}
					_, err := tx.Exec("UPDATE d.t SET n = ? WHERE id = ?", n+1, w)
					return err
				})
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				written[w]++
			}
		}()
	}
	for i := range 10 {
		s.exec(fmt.Sprintf("CREATE TABLE d.x%d (id INT PRIMARY KEY)", i), fmt.Sprintf("ALTER TABLE d.t ADD COLUMN c%d INT DEFAULT %d", i, i),
			fmt.Sprintf("CREATE INDEX i%d ON d.t (c%d)", i, i), fmt.Sprintf("DROP TABLE d.x%d", i))
	}
	close(stop)
	wg.Wait()
	for w := range 3 {
		if got := s.query(fmt.Sprintf("SELECT n, c9 FROM d.t WHERE id = %d", w)); got[0] != fmt.Sprintf("%d\t9", written[w]) {
			t.Errorf("writer %d counted %d, the table has %s", w, written[w], got[0])
		}
	}
	t.Logf("%v writes beside 40 changes", written)
	s.checkIndexes(t)
}

// An index whose filling is killed is gone: nothing is left that writes would have to keep, and the name is free.
func TestKillOfAnIndexBuild(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d")
	for _, unique := range []string{"", "UNIQUE "} {
		s.exec("DROP TABLE IF EXISTS d.t", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
		var vs []string
		for i := range 20_000 {
			vs = append(vs, fmt.Sprintf("(%d, %d)", i, i))
		}
		s.exec("INSERT INTO d.t VALUES " + strings.Join(vs, ","))
		done := make(chan error, 1)
		go func() {
			_, err := s.root.Exec("CREATE " + unique + "INDEX v ON d.t (v)")
			done <- err
		}()
		var building string
		for building == "" {
			if got := s.query("SELECT table_schema, table_name, index_name, columns, connection_id FROM longitude.index_builds WHERE connection_id IS NOT NULL"); len(got) > 0 {
				building = got[0]
			}
		}
		at := strings.LastIndex(building, "\t")
		if building[:at] != "d\tt\tv\tv" {
			t.Errorf("longitude.index_builds: %q", building)
		}
		s.exec("KILL QUERY " + building[at+1:])
		if err := <-done; code(err) != 1317 {
			t.Errorf("%sINDEX: %v, want 1317", unique, err)
		}
		if left := s.query("SELECT * FROM longitude.index_builds"); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
		if _, err := s.root.Exec("DROP INDEX v ON d.t"); code(err) != 1091 {
			t.Errorf("DROP INDEX: %v, want 1091", err)
		}
		s.exec("INSERT INTO d.t VALUES (20001, 5)", "DELETE FROM d.t WHERE id = 20001", "CREATE "+unique+"INDEX v ON d.t (v)")
		s.checkIndexes(t)
	}
}

// beginIndex does the first step of CREATE INDEX, as a node that stops then.
func (s *member) beginIndex(db, table, name, column string) {
	s.c.t.Helper()
	err := s.e.o.DB.Run(context.Background(), txn.Options{}, func(ctx context.Context, x *txn.Txn) error {
		snap, err := readCatalog(ctx, x, nil)
		if err != nil {
			return err
		}
		d := catalog.Clone(snap.Table(snap.Database(db).ID, table))
		d.Indexes = append(d.Indexes, catalog.Index{ID: d.NextIndexID, Name: name, State: catalog.WriteOnly,
			Columns: []catalog.IndexPart{{Column: d.Columns[findColumn(d, column)].ID}}})
		d.NextIndexID++
		e := catalog.NewEdit(snap)
		if err := e.PutTable(d); err != nil {
			return err
		}
		writes, err := e.Writes()
		for k, v := range writes {
			x.Put(kv.Key(k), v)
		}
		return err
	})
	if err != nil {
		s.c.t.Fatal(err)
	}
}

// An index that was begun by a node which stopped can be seen, finished by the same statement, and dropped.
func TestUnfinishedIndexes(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 2)")
	for _, name := range []string{"finished", "dropped", "altered"} {
		s.beginIndex("d", "t", name, "v")
	}
	want := []string{"altered", "dropped", "finished"}
	if got := s.query("SELECT index_name FROM longitude.index_builds"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("longitude.index_builds has %v, want %v", got, want)
	}
	if got := s.query("EXPLAIN FORMAT=TREE SELECT id FROM t WHERE v = 2"); strings.Contains(fmt.Sprint(got), "IndexedTableAccess") {
		t.Errorf("an unfinished index is used: %v", got)
	}
	s.exec("INSERT INTO t VALUES (4, 2)", "CREATE INDEX finished ON t (v)", "DROP INDEX dropped ON t", "ALTER TABLE t DROP INDEX altered")
	if got := s.query("SELECT index_name FROM longitude.index_builds"); len(got) > 0 {
		t.Errorf("longitude.index_builds still has %v", got)
	}
	if got := s.query("SELECT COUNT(*) FROM t WHERE v = 2"); got[0] != "3" {
		t.Errorf("%s rows by the index, want 3", got[0])
	}
	if _, err := s.root.Exec("DROP INDEX dropped ON t"); code(err) != 1091 {
		t.Errorf("dropped twice: %v", err)
	}
	s.checkIndexes(t)
}

// ANALYZE TABLE beside statements that are being planned: go-mysql-server's keeper of statistics is a map without a lock, and Go ends
// the process when one is read and written at the same time.
func TestAnalyzeBesideOthers(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d")
	s.numbers("d.t", 300)
	s.numbers("d.t2", 10)
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 40 {
				var q string
				var err error
				if w%2 == 0 {
					q = fmt.Sprintf("SELECT COUNT(*) FROM d.t a JOIN d.t b ON a.id = b.v WHERE a.id < %d + %d", i, w)
				}
				if w%2 == 0 {
					_, err = rows(s.root, q)
				} else {
					q = "USE d; ANALYZE TABLE t"
					_, err = s.root.Exec(q)
				}
				if err != nil {
					t.Errorf("%s: %v", q, err)
					return
				}
			}
		}()
	}
	wg.Wait()
}
