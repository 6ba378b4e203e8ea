package engine

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// temporaryRows counts the rows and index entries of temporary tables, of all sessions.
func (s *member) temporaryRows(t *testing.T) (n int) {
	t.Helper()
	err := s.e.o.DB.Run(context.Background(), txn.Options{ReadOnly: true}, func(ctx context.Context, x *txn.Txn) error {
		rows, err := x.ScanMany(ctx, []kv.Span{catalog.TablesSpan(catalog.TemporaryID(0), 1<<40)})
		n = len(rows[0])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// temporaryConn is a connection with a temporary table of two rows and an index.
func (s *member) temporaryConn(t *testing.T) (c *sql.Conn, end func()) {
	t.Helper()
	pool := s.open(t, "")
	c, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"CREATE TEMPORARY TABLE d.own (id INT PRIMARY KEY, v INT, KEY (v))", "INSERT INTO d.own VALUES (1, 1), (2, 2)"} {
		if _, err := c.ExecContext(context.Background(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return c, func() {
		_ = c.Close()
		_ = pool.Close()
	}
}

// cleared waits until no rows of temporary tables are left: the end of a connection is noticed by itself.
func (s *member) cleared(t *testing.T, after string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); s.temporaryRows(t) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %d rows and index entries of temporary tables are left", after, s.temporaryRows(t))
		}
		if err := s.e.garbage.clearQueued(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// A temporary table goes with its session: at the end of the connection, by COM_RESET_CONNECTION, and by COM_CHANGE_USER. (M5)
func TestTemporaryTablesEnd(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d")
	conn, end := s.temporaryConn(t)
	if n := s.temporaryRows(t); n != 4 {
		t.Fatalf("%d rows and index entries, want 4", n)
	}
	if _, err := conn.ExecContext(context.Background(), "TRUNCATE d.own"); err != nil {
		t.Fatal(err)
	}
	s.cleared(t, "TRUNCATE")
	end()
	s.cleared(t, "the end of a connection without rows")
	_, end = s.temporaryConn(t)
	end()
	s.cleared(t, "the end of the connection")
	for name, command := range map[string][]byte{"COM_RESET_CONNECTION": {0x1f}, "COM_CHANGE_USER": []byte("\x11root\x00\x00d\x00\xff\x00mysql_native_password\x00")} {
		x, _ := dialRaw(t, s.addr, "d", false)
		x.first("auto")
		x.expect("CREATE TEMPORARY TABLE own (id INT PRIMARY KEY)", "auto")
		x.expect("INSERT INTO own VALUES (1)", "auto")
		if n := s.temporaryRows(t); n != 1 {
			t.Fatalf("%s: %d rows, want 1", name, n)
		}
		x.write(0, command)
		if b, sequence := x.read(); b[0] == 0xfe { // asked for the password anew: there is none
			x.write(sequence+1, nil)
			x.read()
		}
		s.cleared(t, name)
		x.expect("SELECT * FROM own", "error 1146")
	}
}

// What a process has left that ended without an end of its sessions is cleared by the node's next one, and nothing else is. (M5,
// catalog/K5)
func TestTemporaryTablesCrash(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.kept (id INT PRIMARY KEY)", "INSERT INTO d.kept VALUES (1)")
	_, end := s.temporaryConn(t)
	defer end()
	o := s.e.o
	next := New(o) // the process that is started after the crash; the first one does not get to clear anything
	defer func() {
		if err := next.Close(time.Second); err != nil {
			t.Error(err)
		}
	}()
	own, err := next.temporary.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	key := catalog.IndexPrefix(own, 1)
	put := func(_ context.Context, x *txn.Txn) error { x.Put(key, []byte{1}); return nil }
	if err := o.DB.Run(context.Background(), txn.Options{}, put); err != nil {
		t.Fatal(err)
	}
	if err := next.garbage.clear(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := s.temporaryRows(t); n != 1 {
		t.Errorf("%d rows and index entries are left, want the one of the new process", n)
	}
	if got := s.query("SELECT COUNT(*) FROM d.kept"); got[0] != "1" {
		t.Errorf("%s rows in the table of the catalog, want 1", got[0])
	}
}

// A session's temporary table does not keep its transactions from committing beside changes of the catalog, nor hide them. (M3, H5)
func TestTemporaryTablesBesideDDL(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "CREATE TABLE d.u (id INT PRIMARY KEY)")
	conn, end := s.temporaryConn(t)
	defer end()
	run := func(q string) error {
		_, err := conn.ExecContext(context.Background(), q)
		return err
	}
	for _, q := range []string{"BEGIN", "INSERT INTO d.t SELECT id FROM d.own"} {
		if err := run(q); err != nil {
			t.Fatal(err)
		}
	}
	s.exec("ALTER TABLE d.u ADD COLUMN a INT")
	if err := run("COMMIT"); err != nil {
		t.Errorf("a change of another table: %v", err)
	}
	for _, q := range []string{"BEGIN", "INSERT INTO d.t SELECT id + 10 FROM d.own"} {
		if err := run(q); err != nil {
			t.Fatal(err)
		}
	}
	s.exec("ALTER TABLE d.t ADD COLUMN a INT")
	s.query("SELECT * FROM d.t") // the transaction cannot stand before the change any more
	if err := run("COMMIT"); code(err) != 1213 {
		t.Errorf("a change of its table: %v, want 1213", err)
	}
	if got, err := rows(conn, "SELECT * FROM d.t JOIN d.own USING (id) ORDER BY 1"); err != nil || len(got) != 2 || got[0] != "1\tNULL\t1" {
		t.Errorf("%v, %v", got, err)
	}
}
