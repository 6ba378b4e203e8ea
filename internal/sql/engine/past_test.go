package engine

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// A parameter can say at what time a statement reads, each time another.
func TestAsOfParameter(t *testing.T) {
	c := startCluster(t, 1)
	db := c.nodes[0].root
	for _, q := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 10)"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	at := make([]string, 3)
	for i := range at {
		if _, err := conn.ExecContext(t.Context(), "UPDATE d.t SET v = ? WHERE id = 1", 20+i); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRowContext(t.Context(), "SELECT @@longitude_commit_timestamp").Scan(&at[i]); err != nil {
			t.Fatal(err)
		}
	}
	st, err := conn.PrepareContext(t.Context(), "SELECT v FROM d.t AS OF ? WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i := range at {
		var v int
		if err := st.QueryRow(at[i], 1).Scan(&v); err != nil || v != 20+i {
			t.Errorf("at %s: %d %v", at[i], v, err)
		}
	}
	var v int
	if err := st.QueryRow(nil, 1).Scan(&v); err == nil {
		t.Error("AS OF NULL is a time")
	}
}

// A session that writes through node 1 and reads through node 3, which leads nothing: with the session's token each read shows
// the write, from the first on. As soon as the replicas of node 3 have closed it, reads ask no other node.
func TestSessionTokenWithoutAHop(t *testing.T) {
	c := startCluster(t, 3)
	c.waitReplicated()
	a, b := c.nodes[0], c.nodes[2]
	a.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 0), (2, 0)",
		"CALL longitude_split('d.t', 'PRIMARY', 2)", "CALL longitude_move_lease('d.t', 'PRIMARY', 2, 2)")
	b.query("SELECT * FROM d.t")
	var hops atomic.Int64
	c.calls = func(_ kv.NodeID, m *kv.Message) {
		if m.Batch == nil {
			return
		}
		for i := range m.Batch.Requests {
			if r := m.Batch.Requests[i].Read; r != nil && r.AnyReplica {
				hops.Add(1)
			}
		}
	}
	writer, reader := a.session(t), b.session(t)
	exec := func(x *sql.Conn, q string, args ...any) {
		t.Helper()
		if _, err := x.ExecContext(context.Background(), q, args...); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	for _, way := range []struct {
		set   string
		local bool // what is closed here counts; else it is younger, and the leaseholder is asked
	}{{"SET longitude_max_staleness = '1h'", true}, {"SET longitude_max_staleness = '', longitude_read_as_of = 'earliest'", false}} {
		exec(reader, way.set)
		exec(writer, "UPDATE d.t SET v = v + 1")
		want, err := rows(writer, "SELECT id, v FROM d.t ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		token, err := rows(writer, "SELECT @@longitude_session_token")
		if err != nil {
			t.Fatal(err)
		}
		exec(reader, "SET longitude_session_token = ?", token[0])
		without := 0
		for end := time.Now().Add(time.Minute); without == 0 && time.Now().Before(end); {
			before := hops.Load()
			got, err := rows(reader, "SELECT id, v FROM d.t ORDER BY id")
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s: %v %v, the session has written %v", way.set, got, err, want)
			}
			if hops.Load() == before {
				without++
			}
			if !way.local {
				break
			}
		}
		if without == 0 && way.local {
			t.Errorf("%s: every read asked another node for a minute", way.set)
		}
	}
	exec(reader, "SET longitude_read_as_of = ''")
	for end := time.Now().Add(time.Minute); ; { // exact staleness
		before := hops.Load()
		if _, err := rows(reader, "SELECT * FROM d.t AS OF '-5s'"); err == nil && hops.Load() == before {
			break
		}
		if time.Now().After(end) {
			t.Fatal("reads of five seconds ago ask another node")
		}
	}
}

// session is a connection of its own.
func (s *member) session(t *testing.T) *sql.Conn {
	x, err := s.root.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// Transactions that only read, in wait ordering, of several statements on rows that are written all the time, through all nodes:
// each shows one state, and none is refused or begun again.
func TestReadOnlyTransactionsAreNeverRefused(t *testing.T) {
	c := startCluster(t, 3)
	c.waitReplicated()
	c.nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 0), (2, 0), (3, 0)",
		"CALL longitude_split('d.t', 'PRIMARY', 2)", "CALL longitude_move_lease('d.t', 'PRIMARY', 2, 2)",
		"CALL longitude_split('d.t', 'PRIMARY', 3)", "CALL longitude_move_lease('d.t', 'PRIMARY', 3, 3)")
	stop := make(chan struct{})
	writers := make(chan error, 6)
	var written atomic.Int64
	for w := range cap(writers) {
		go func() {
			for {
				select {
				case <-stop:
					writers <- nil
					return
				default:
				}
				from, to := 1+w%3, 1+(w+1)%3 // over two ranges; the order of their locks differs
				_, err := c.nodes[w%3].root.Exec("UPDATE d.t SET v = v + IF(id = ?, -1, 1) WHERE id IN (?, ?)", from, from, to)
				if err != nil && code(err) != 1213 {
					writers <- err
					return
				}
				written.Add(1)
			}
		}()
	}
	const want = 60
	for done := 0; done < want || written.Load() < want; done++ {
		s := c.nodes[done%3]
		tx, err := s.root.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for id := range 3 { // one after the other: in between others write
			var v int
			if err := tx.QueryRow("SELECT v FROM d.t WHERE id = ?", id+1).Scan(&v); err != nil {
				t.Fatalf("transaction %d: %v", done, err)
			}
			sum += v
		}
		if err := tx.Commit(); err != nil || sum != 0 {
			t.Fatalf("transaction %d: the rows add up to %d, %v", done, sum, err)
		}
	}
	close(stop)
	for range cap(writers) {
		if err := <-writers; err != nil {
			t.Error(err)
		}
	}
	for _, s := range c.nodes {
		if got := s.query("SELECT state, retry_reasons, retries FROM longitude.transactions WHERE read_only = 1 AND (retries > 0 OR state LIKE 'error%')"); len(got) > 0 {
			t.Errorf("node %d: %v", s.id, got)
		}
	}
}
