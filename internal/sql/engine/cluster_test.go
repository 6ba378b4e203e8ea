package engine

import (
	"database/sql"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// waitReplicated waits until every range has a voter on every node.
func (c *cluster) waitReplicated() {
	c.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		ready := true
		for _, r := range c.nodes[0].node.Store.Ranges() {
			ready = ready && r.Desc.Voters() == len(c.nodes)
		}
		if ready {
			return
		}
		if time.Now().After(end) {
			c.t.Fatal("the ranges are not replicated after 30 s")
		}
	}
}

// again runs fn in a transaction until no error 1213 ends it, as a client does.
func again(db *sql.DB, fn func(*sql.Tx) error) error {
	for {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		if err = fn(tx); err == nil {
			err = tx.Commit()
		} else {
			_ = tx.Rollback()
		}
		if code(err) != 1213 {
			return err
		}
	}
}

// H3: what one node has acknowledged, every other one sees at once, data and schema.
func TestSchemaIsSeenEverywhere(t *testing.T) {
	c := startCluster(t, 3)
	c.nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	for i := range 12 {
		at, from := c.nodes[i%3], c.nodes[(i+1)%3]
		at.exec(fmt.Sprintf("ALTER TABLE d.t ADD COLUMN c%d INT DEFAULT %d", i, i), fmt.Sprintf("INSERT INTO d.t (id) VALUES (%d)", i))
		got := from.query(fmt.Sprintf("SELECT c%d FROM d.t WHERE id = %d", i, i))
		if len(got) != 1 || got[0] != fmt.Sprint(i) {
			t.Fatalf("node %d sees %v of what node %d did", from.id, got, at.id)
		}
	}
	c.nodes[1].exec("DROP TABLE d.t")
	if _, err := c.nodes[2].root.Exec("INSERT INTO d.t (id) VALUES (99)"); code(err) != 1146 {
		t.Errorf("insert into a dropped table: %v", err)
	}
}

const socialRead = "SELECT posts.id, posts.title, COUNT(*) FROM posts LEFT JOIN likes ON posts.id = likes.post_id GROUP BY posts.id ORDER BY COUNT(*) DESC"

// The read of the social workload is one round: each node is asked once, for its part of both tables.
func TestSocialReadRounds(t *testing.T) {
	c := startCluster(t, 3)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT)",
		"CREATE TABLE likes(id SERIAL PRIMARY KEY, post_id INTEGER, FOREIGN KEY (post_id) REFERENCES posts (id), INDEX (post_id))")
	c.waitReplicated()
	for i, at := range []int{34, 67} {
		s.exec(fmt.Sprintf("CALL longitude_split('posts', 'PRIMARY', %d)", at), fmt.Sprintf("CALL longitude_split('likes', 'post_id', %d)", at))
		for _, index := range []string{"'posts', 'PRIMARY'", "'likes', 'post_id'"} {
			s.exec(fmt.Sprintf("CALL longitude_move_lease(%s, %d, %d)", index, at, c.nodes[i+1].id))
		}
	}
	var posts, likes []string
	for i := range 100 {
		posts = append(posts, fmt.Sprintf("(%d, 'title %d')", i+1, i+1))
	}
	for i := range 1000 {
		likes = append(likes, fmt.Sprintf("(%d)", i%100+1))
	}
	s.exec("INSERT INTO posts VALUES "+strings.Join(posts, ","), "INSERT INTO likes(post_id) VALUES "+strings.Join(likes, ","))
	s.query(socialRead) // sizes and leaseholders become known

	var batches, reads atomic.Int64
	c.calls = func(_ kv.NodeID, m *kv.Message) {
		if m.Batch == nil {
			return
		}
		counts, rows := int64(0), int64(0)
		for _, q := range m.Batch.Requests {
			if q.Read != nil && q.Read.Groups != nil {
				counts++
			} else if q.Read != nil && len(q.Read.Spans) > 0 {
				rows++
			}
		}
		if counts > 0 {
			batches.Add(1)
			reads.Add(counts + rows)
		}
	}
	got := s.query(socialRead)
	c.calls = nil
	if len(got) != 100 || !strings.HasSuffix(got[0], "\t10") {
		t.Fatalf("%d rows, the first %q", len(got), got[0])
	}
	// To each of two other nodes one message, with a count of likes and a scan of posts for each range that it leads.
	if b, r := batches.Load(), reads.Load(); b != 2 || r != 5 {
		t.Errorf("the read took %d messages with %d reads to other nodes, want 2 with 5", b, r)
	}
}

// Concurrent transfers between accounts in several ranges, through all nodes, in both orderings: the total is always the
// same for whoever looks.
func TestBank(t *testing.T) {
	const accounts, balance = 12, 100
	c := startCluster(t, 3)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE bank", "USE bank", "CREATE TABLE accounts (id INT PRIMARY KEY, owner VARCHAR(20), balance INT NOT NULL, KEY (balance), CHECK (balance >= 0))")
	for i := range accounts {
		s.exec(fmt.Sprintf("INSERT INTO accounts VALUES (%d, 'owner %d', %d)", i, i, balance))
	}
	c.waitReplicated()
	s.exec("CALL longitude_split('accounts', 'PRIMARY', 4)", "CALL longitude_split('accounts', 'PRIMARY', 8)",
		fmt.Sprintf("CALL longitude_move_lease('accounts', 'PRIMARY', 4, %d)", c.nodes[1].id))
	end := time.Now().Add(3 * time.Second)
	var wg sync.WaitGroup
	var transfers, refused, sums atomic.Int64
	for w := range 9 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewSource(int64(w)))
			db := c.nodes[w%3].open(t, "")
			defer db.Close()
			conn := func(q string, args ...any) error { _, err := db.Exec(q, args...); return err }
			db.SetMaxOpenConns(1)
			if w%2 == 1 {
				if err := conn("SET longitude_ordering = 'uncertainty'"); err != nil {
					t.Error(err)
					return
				}
			}
			for time.Now().Before(end) {
				if w < 3 {
					got, err := rows(db, "SELECT SUM(balance), COUNT(*), MIN(balance) >= 0 FROM bank.accounts")
					if err != nil || len(got) != 1 || got[0] != fmt.Sprintf("%d\t%d\t1", accounts*balance, accounts) {
						t.Errorf("%v, %v", got, err)
						return
					}
					sums.Add(1)
					continue
				}
				from, to, n := r.Intn(accounts), r.Intn(accounts), r.Intn(40)
				err := again(db, func(tx *sql.Tx) error {
					var have int
					if err := tx.QueryRow("SELECT balance FROM bank.accounts WHERE id = ?", from).Scan(&have); err != nil {
						return err
					}
					if _, err := tx.Exec("UPDATE bank.accounts SET balance = balance - ? WHERE id = ?", n, from); err != nil {
						return err
					}
					_, err := tx.Exec("UPDATE bank.accounts SET balance = balance + ? WHERE id = ?", n, to)
					return err
				})
				switch code(err) {
				case 0:
					transfers.Add(1)
				case 3819:
					refused.Add(1)
				default:
					t.Errorf("transfer: %v", err)
					return
				}
			}
		}()
	}
	wg.Wait()
	t.Logf("%d transfers, %d refused, %d sums", transfers.Load(), refused.Load(), sums.Load())
	if transfers.Load() == 0 || sums.Load() == 0 {
		t.Error("nothing was done")
	}
	s.checkIndexes(t)
}

// Indexes are built while others write to the table, through other nodes.
func TestIndexBuiltUnderLoad(t *testing.T) {
	c := startCluster(t, 2)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, k INT, v VARCHAR(20))")
	var vs []string
	for i := range 3000 {
		vs = append(vs, fmt.Sprintf("(%d, %d, 'v%d')", i, i, i))
	}
	s.exec("INSERT INTO t VALUES " + strings.Join(vs, ","))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var writes atomic.Int64
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewSource(int64(w)))
			db := c.nodes[w%2].open(t, "")
			defer db.Close()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				id := r.Intn(3000)
				var err error
				switch r.Intn(3) {
				case 0:
					_, err = db.Exec("UPDATE d.t SET k = ? WHERE id = ?", 10_000+w*1_000_000+n, id)
				case 1:
					_, err = db.Exec("DELETE FROM d.t WHERE id = ?", id)
				case 2:
					_, err = db.Exec("INSERT IGNORE INTO d.t (id, k, v) VALUES (?, ?, 'new')", id, 20_000+w*1_000_000+n)
				}
				if err != nil && code(err) != 1213 {
					t.Errorf("writer: %v", err)
					return
				}
				writes.Add(1)
			}
		}()
	}
	s.exec("CREATE INDEX kv ON t (k, v)", "CREATE UNIQUE INDEX k ON t (k)", "ALTER TABLE t ADD COLUMN w INT NOT NULL DEFAULT 5", "CREATE INDEX w ON t (w)", "DROP INDEX kv ON t")
	close(stop)
	wg.Wait()
	t.Logf("%d writes meanwhile", writes.Load())
	s.checkIndexes(t)
	a, b := s.query("SELECT COUNT(*), SUM(id) FROM t"), s.query("SELECT COUNT(*), SUM(id) FROM t WHERE w = 5")
	if a[0] != b[0] {
		t.Errorf("by rows %v, by index %v", a, b)
	}
}

// What one node has acknowledged is seen by whoever begins later on another, in both orderings.
func TestRecency(t *testing.T) {
	c := startCluster(t, 2)
	c.nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 0)")
	for _, ordering := range []txn.Ordering{txn.Wait, txn.Uncertainty} {
		for _, s := range c.nodes {
			s.root.SetMaxOpenConns(1)
			s.exec("SET longitude_ordering = '" + ordering.String() + "'")
		}
		for i := range 100 {
			at, from := c.nodes[i%2], c.nodes[(i+1)%2]
			at.exec(fmt.Sprintf("UPDATE d.t SET v = %d WHERE id = 1", i))
			if got := from.query("SELECT v FROM d.t WHERE id = 1"); len(got) != 1 || got[0] != fmt.Sprint(i) {
				t.Fatalf("%v: node %d sees %v after node %d has written %d", ordering, from.id, got, at.id, i)
			}
		}
	}
}
