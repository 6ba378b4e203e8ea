package e2e

import (
	"context"
	"database/sql"
	"syscall"
	"testing"
	"time"
)

// A lock of GET_LOCK passes to another session when the node of its holder stands still or is gone, and a holder whose node goes on
// later is told before anything that it sends is executed (N2, N3 in engine/namedlocks.go).
func TestNamedLockOfAStoppedNode(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes; not with -short")
	}
	nodes := startCluster(t)
	replicated(t, nodes)
	nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.work (id INT PRIMARY KEY)")
	holder := lockOn(t, nodes[0], "the holder")
	send := func(s syscall.Signal) {
		t.Helper()
		if err := nodes[0].cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	send(syscall.SIGSTOP)
	second := lockOn(t, nodes[1], "another session, after the holder's node stood still")
	late := make(chan error, 1)
	go func() {
		_, err := holder.ExecContext(context.Background(), "INSERT INTO d.work VALUES (1)")
		late <- err
	}()
	time.Sleep(300 * time.Millisecond) // so that the statement is the first that the process finds when it goes on
	send(syscall.SIGCONT)
	if err := <-late; err == nil {
		t.Error("a statement of the holder was executed after another session had got its lock")
	} else {
		t.Logf("the holder is told: %v", err)
	}
	if n := one[int](nodes[1], "SELECT COUNT(*) FROM d.work"); n != 0 {
		t.Error("the holder's statement had an effect")
	}
	if _, err := second.ExecContext(context.Background(), "INSERT INTO d.work VALUES (2)"); err != nil {
		t.Errorf("the new holder: %v", err)
	}
	nodes[1].kill()
	lockOn(t, nodes[2], "a third session, after the second one's node was killed")
}

// lockOn waits until a session of its own on a node has the lock.
func lockOn(t *testing.T, n *node, who string) *sql.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := n.db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	var got sql.NullInt64
	if err := c.QueryRowContext(ctx, "SELECT GET_LOCK('work', 90)").Scan(&got); err != nil || got.Int64 != 1 {
		t.Fatalf("%s: GET_LOCK is %v, %v", who, got, err)
	}
	return c
}
