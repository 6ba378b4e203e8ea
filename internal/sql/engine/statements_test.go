package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/txn"
)

func TestStatementsAreCountedByDigest(t *testing.T) {
	s := newStatements()
	var r txn.Repeats
	r.Add("refresh failed", 2*time.Millisecond)
	r.Add("uncertain", time.Millisecond)
	r.Add("refresh failed", time.Millisecond)
	s.done(s.digest("SELECT a FROM t WHERE id = 1"), 10*time.Millisecond, 0, r, false, false)
	s.done(s.digest("SELECT a FROM t WHERE id = 2"), 30*time.Millisecond, 1213, txn.Repeats{}, false, false)
	s.done(s.digest("SELECT a FROM t WHERE id = 3"), 20*time.Millisecond, 1064, txn.Repeats{N: 1, Why: map[string]uint64{"uncertain": 1}}, false, false)
	st := s.order.Front().Value.(*statementStats)
	if st.count != 3 || st.errors != 2 || st.given != 1 || st.total != 60*time.Millisecond || st.longest != 30*time.Millisecond {
		t.Errorf("%+v", st)
	}
	if got := st.repeats.Reasons(); st.repeats.N != 4 || got != "refresh failed 2, uncertain 2" || st.repeats.Lost != 4*time.Millisecond {
		t.Errorf("%d: %s, %s lost", st.repeats.N, got, st.repeats.Lost)
	}

	// Memory is bounded: those used last are kept.
	for i := range 3 * keepStatements {
		s.done(s.digest(fmt.Sprintf("SELECT c%d FROM t WHERE id = ?", i)), time.Millisecond, 0, txn.Repeats{}, false, false)
		s.done(s.digest("SELECT a FROM t WHERE id = 4"), time.Millisecond, 0, txn.Repeats{}, false, false)
	}
	if len(s.byText) != keepStatements || s.order.Len() != keepStatements || len(s.known) > keepStatements {
		t.Errorf("%d digests, %d in order, %d texts", len(s.byText), s.order.Len(), len(s.known))
	}
	if s.byText["SELECT a FROM t WHERE id = ?"] == nil || s.byText["SELECT c0 FROM t WHERE id = ?"] != nil {
		t.Error("the wrong ones are kept")
	}
}

// A transaction that the node had to repeat says so afterwards: how often, why, and what time that took.
func TestRepeatedTransactionsAreRemembered(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "CREATE TABLE d.u (id INT PRIMARY KEY, n INT)",
		"INSERT INTO d.t VALUES (1, 0)", "INSERT INTO d.u VALUES (1, 0)")
	stop := make(chan struct{})
	others := make(chan error, 2)
	for _, q := range []string{"UPDATE d.t SET n = n + 1 WHERE id = 1", "SELECT * FROM d.u"} { // changes what was read, and pushes the write above that
		go func() {
			for {
				select {
				case <-stop:
					others <- nil
					return
				default:
				}
				if _, err := s.root.Exec(q); err != nil {
					others <- err
					return
				}
			}
		}()
	}
	var got []string
	for end := time.Now().Add(30 * time.Second); len(got) == 0 && time.Now().Before(end); {
		if _, err := s.root.Exec("UPDATE d.u SET n = (SELECT n FROM d.t WHERE id = 1) WHERE id = 1"); err != nil {
			t.Fatal(err)
		}
		got = s.query("SELECT CONCAT_WS('|', state, statement, retries > 0, retry_reasons <> '', retry_ms > 0, age_ms >= retry_ms) FROM longitude.transactions WHERE state = 'committed' AND retries > 0 AND statement LIKE 'UPDATE d.u%' LIMIT 1")
	}
	close(stop)
	for range 2 {
		if err := <-others; err != nil {
			t.Error(err)
		}
	}
	if want := "committed|UPDATE d.u SET n = (SELECT n FROM d.t WHERE id = ?) WHERE id = ?|1|1|1|1"; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is over is kept up to a number, the latest first.
func TestFinishedTransactionsAreBounded(t *testing.T) {
	c := startCluster(t, 1)
	e := c.nodes[0].e
	s := e.makeSession("", sql.Client{}, 7)
	for i := range 3 * keepTransactions {
		s.stmt = &statement{query: fmt.Sprintf("SELECT c%d", i)}
		t := &tx{e: e}
		s.watch(t)
		t.repeated("refresh failed", time.Millisecond)
		s.unwatch()
		s.watch(&tx{e: e}) // nothing happens to this one
		s.watched.become(outcomeCommitted)
		s.unwatch()
	}
	rows, err := transactionRows(nil, e)
	if err != nil || len(rows) != keepTransactions {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if first, last := rows[0][8], rows[keepTransactions-1][8]; first != fmt.Sprintf("SELECT c%d", 3*keepTransactions-1) || last != fmt.Sprintf("SELECT c%d", 2*keepTransactions) {
		t.Errorf("from %q to %q", first, last)
	}
}
