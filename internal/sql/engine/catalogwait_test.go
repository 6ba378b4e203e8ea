package engine

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
)

// H4, rule 2 for what a statement has learned of the catalog. Nodes 1 and 2 have wide clocks, so a change that node 1 commits is visible
// at node 2 a quarter of a second before it is past. The clock of node 3 is precise: a statement that begins there meanwhile
// has a limit below the change. So node 2 must not tell of the change before a statement on node 3 sees it.
func TestCatalogIsPastBeforeItIsTold(t *testing.T) {
	const wide = 250 * time.Millisecond
	c := (&cluster{t: t, mute: true, clocks: []clock.Conditions{{Bound: wide}, {Bound: wide}, {Bound: time.Millisecond}}}).startAll(3)
	c.nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.old (id INT PRIMARY KEY)")

	var made, gone int // tables d.new<n> that were created, d.old<n> that are dropped
	rowsOf := func(q string) func(*sql.DB) (bool, error) {
		return func(db *sql.DB) (bool, error) {
			out, err := rows(db, q)
			return len(out) > 0, err
		}
	}
	// missing reports that the statement failed because the catalog lacks what it names.
	missing := func(err error) (bool, error) {
		switch code(err) {
		case 0:
			return false, nil
		case 1049, 1146, 1051:
			return true, nil
		}
		return false, err
	}
	for _, x := range []struct {
		name    string
		before  func() string               // what is there before the change
		change  func() string               // the change
		learned func(*sql.DB) (bool, error) // whether a node knows of it
	}{
		{"SHOW TABLES", nil, func() string { return fmt.Sprintf("CREATE TABLE d.new%d (id INT PRIMARY KEY)", made) },
			func(db *sql.DB) (bool, error) {
				return rowsOf(fmt.Sprintf("SHOW TABLES FROM d LIKE 'new%d'", made))(db)
			}},
		{"information_schema", nil, func() string { return fmt.Sprintf("CREATE TABLE d.new%d (id INT PRIMARY KEY)", made) },
			func(db *sql.DB) (bool, error) {
				return rowsOf(fmt.Sprintf("SELECT 1 FROM information_schema.tables WHERE table_name = 'new%d'", made))(db)
			}},
		{"empty result", nil, func() string { return fmt.Sprintf("CREATE TABLE d.new%d (id INT PRIMARY KEY)", made) },
			func(db *sql.DB) (bool, error) {
				_, err := rows(db, fmt.Sprintf("SELECT id FROM d.new%d", made))
				m, err := missing(err)
				return err == nil && !m, err
			}},
		{"error", func() string { return fmt.Sprintf("CREATE TABLE d.old%d (id INT PRIMARY KEY)", gone) },
			func() string { return fmt.Sprintf("DROP TABLE d.old%d", gone) },
			func(db *sql.DB) (bool, error) {
				_, err := rows(db, fmt.Sprintf("SELECT id FROM d.old%d", gone))
				return missing(err)
			}},
		{"error of a write", func() string { return fmt.Sprintf("CREATE TABLE d.old%d (id INT PRIMARY KEY)", gone) },
			func() string { return fmt.Sprintf("DROP TABLE d.old%d", gone) },
			func(db *sql.DB) (bool, error) {
				_, err := db.Exec(fmt.Sprintf("DELETE FROM d.old%d WHERE id = 1", gone))
				return missing(err)
			}},
		{"prepared", nil, func() string { return fmt.Sprintf("CREATE TABLE d.new%d (id INT PRIMARY KEY)", made) },
			func(db *sql.DB) (bool, error) {
				p, err := db.Prepare(fmt.Sprintf("SELECT id FROM d.new%d WHERE id = ?", made))
				if err == nil {
					_ = p.Close()
				}
				m, err := missing(err)
				return err == nil && !m, err
			}},
		{"prepared, missing", func() string { return fmt.Sprintf("CREATE TABLE d.old%d (id INT PRIMARY KEY)", gone) },
			func() string { return fmt.Sprintf("DROP TABLE d.old%d", gone) },
			func(db *sql.DB) (bool, error) {
				p, err := db.Prepare(fmt.Sprintf("SELECT id FROM d.old%d WHERE id = ?", gone))
				if err == nil {
					_ = p.Close()
				}
				return missing(err)
			}},
		{"database of a connection", nil, func() string { return fmt.Sprintf("CREATE DATABASE db%d", made) },
			func(db *sql.DB) (bool, error) {
				_, err := db.Exec(fmt.Sprintf("USE db%d", made))
				m, err := missing(err)
				return err == nil && !m, err
			}},
		{"database of a new connection", nil, func() string { return fmt.Sprintf("CREATE DATABASE db%d", made) },
			func(db *sql.DB) (bool, error) {
				at := c.nodes[1]
				if db == c.nodes[2].root {
					at = c.nodes[2]
				}
				own, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/db%d", at.addr, made))
				if err != nil {
					return false, err
				}
				defer own.Close()
				m, err := missing(own.Ping())
				return err == nil && !m, err
			}},
	} {
		t.Run(x.name, func(t *testing.T) {
			made, gone = made+1, gone+1
			if x.before != nil {
				c.nodes[0].exec(x.before())
			}
			done := make(chan error, 1)
			go func() {
				_, err := c.nodes[0].root.Exec(x.change())
				done <- err
			}()
			for end := time.Now().Add(20 * time.Second); ; {
				knows, err := x.learned(c.nodes[1].root)
				if err != nil {
					t.Fatalf("node 2: %v", err)
				}
				if knows {
					break
				}
				if time.Now().After(end) {
					t.Fatal(errors.New("node 2 never learned of the change"))
				}
			}
			if knows, err := x.learned(c.nodes[2].root); err != nil || !knows {
				t.Errorf("node 2 has told of %q; a statement that began after that on node 3 does not know it (%v)", x.change(), err)
			}
			if err := <-done; err != nil {
				t.Fatalf("%s: %v", x.change(), err)
			}
		})
	}
}
