package engine

import (
	"context"
	"database/sql"
	"testing"
	"time"
)

// GET_LOCK holds in the whole cluster (N1), until it is released or its session is over.
func TestNamedLocksAcrossNodes(t *testing.T) {
	c := startCluster(t, 3)
	c.waitReplicated()
	conns := make([]*sql.Conn, 3)
	for i, n := range c.nodes {
		var err error
		if conns[i], err = n.root.Conn(context.Background()); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conns[i].Close() }()
	}
	one := func(i int, q string) string {
		t.Helper()
		out, err := rows(conns[i], q)
		if err != nil || len(out) != 1 {
			t.Fatalf("%s: %v, %v", q, out, err)
		}
		return out[0]
	}
	for _, s := range []struct {
		node    int
		q, want string
	}{
		{0, "SELECT GET_LOCK('migrations', 0)", "1"},
		{1, "SELECT GET_LOCK('Migrations', 0)", "0"},
		{2, "SELECT IS_FREE_LOCK('migrations'), IS_FREE_LOCK('other'), IS_USED_LOCK('other')", "0\t1\tNULL"},
		{1, "SELECT RELEASE_LOCK('migrations'), RELEASE_LOCK('other')", "0\tNULL"},
		{0, "SELECT GET_LOCK('migrations', 0), RELEASE_LOCK('migrations')", "1\t1"}, // held twice, and once again
		{1, "SELECT GET_LOCK('migrations', 0.1)", "0"},
		{0, "SELECT RELEASE_LOCK('migrations'), RELEASE_LOCK('migrations')", "1\tNULL"},
		{1, "SELECT GET_LOCK('migrations', 0), GET_LOCK('second', 10)", "1\t1"},
		{1, "SELECT RELEASE_ALL_LOCKS()", "2"},
		{1, "SELECT GET_LOCK('migrations', 0)", "1"},
	} {
		if got := one(s.node, s.q); got != s.want {
			t.Errorf("node %d, %s: %q instead of %q", s.node+1, s.q, got, s.want)
		}
	}
	// Whoever waits gets the lock when the holder's connection is gone.
	got := make(chan string, 1)
	go func() {
		out, err := rows(conns[2], "SELECT GET_LOCK('migrations', 60)")
		if err != nil || len(out) != 1 {
			got <- "an error"
			return
		}
		got <- out[0]
	}()
	c.nodes[1].root.SetMaxIdleConns(0)
	_ = conns[1].Close()
	select {
	case v := <-got:
		if v != "1" {
			t.Errorf("after the holder's connection was closed: %s", v)
		}
	case <-time.After(60 * time.Second):
		t.Error("the lock of a connection that is gone is not released")
	}
	if _, err := rows(conns[0], "SELECT GET_LOCK(NULL, 1)"); code(err) != 3057 {
		t.Errorf("GET_LOCK(NULL, 1): %v", err)
	}
}
