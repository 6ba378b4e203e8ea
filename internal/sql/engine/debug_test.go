package engine

import "testing"

func TestDebug(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT, b VARCHAR(10), UNIQUE KEY (b))", "INSERT INTO t VALUES (1,'x'), (2,'y')")
	s.exec("INSERT INTO t VALUES (1, 'dup')")
	t.Log(s.query("SELECT * FROM t"))
	t.Log(s.query("SELECT * FROM t WHERE b='dup'"))
	_, err := s.root.Exec("ALTER TABLE t ADD PRIMARY KEY (id)")
	t.Log(err)
	t.Log(s.query("SELECT * FROM t"))
	t.Log(rows(s.root, "SELECT * FROM t WHERE b='dup'"))
	t.Log(s.query("SELECT * FROM t WHERE b='y'"))
	_, err = s.root.Exec("DELETE FROM t WHERE b='dup'")
	t.Log(err)
	t.Log(s.query("SELECT * FROM t"))
}
