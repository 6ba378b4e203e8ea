package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// one opens a pool of one connection, connected.
func (s *member) one(t *testing.T, params string) *sql.Conn {
	t.Helper()
	db := s.open(t, params)
	t.Cleanup(func() { _ = db.Close() })
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// E1 and E2: while a node stops, every statement is either answered or refused with error 1053 before it began. What was
// acknowledged is there, what was refused is not, and no client is in doubt.
func TestStatementsAreAnsweredWhileTheNodeStops(t *testing.T) {
	c := startCluster(t, 3)
	c.nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	c.waitReplicated()
	for round := range 3 {
		s := c.nodes[2-round%2]
		if round == 2 {
			break // two nodes are stopped, one is left to count
		}
		var wg sync.WaitGroup
		var acked, refused, unsent atomic.Int64
		var ids sync.Map // acknowledged: true; refused: false
		for w := range 24 {
			params := ""
			if w%3 == 1 {
				params = "checkConnLiveness=false" // it sends without looking
			}
			conn := s.one(t, params)
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := 0; ; i++ {
					id := round*1_000_000 + w*10_000 + i
					var err error
					if w%2 == 0 {
						_, err = conn.ExecContext(context.Background(), fmt.Sprintf("INSERT INTO d.t VALUES (%d)", id))
					} else {
						_, err = conn.ExecContext(context.Background(), "INSERT INTO d.t VALUES (?)", id)
					}
					switch {
					case err == nil:
						acked.Add(1)
						ids.Store(id, true)
						if w%4 == 3 {
							time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
						}
						continue
					case code(err) == 1053:
						refused.Add(1)
						ids.Store(id, false)
					case errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone):
						unsent.Add(1) // the driver has seen that the connection is over before it sent anything
						ids.Store(id, false)
					default:
						t.Errorf("a statement of unknown outcome: %v (%T)", err, err)
					}
					return
				}
			}()
		}
		time.Sleep(300 * time.Millisecond) // of load
		s.node.HandOverLeases()
		if err := s.e.Close(5 * time.Second); err != nil {
			t.Error(err)
		}
		wg.Wait()
		t.Logf("%d acknowledged, %d refused with 1053, %d not sent", acked.Load(), refused.Load(), unsent.Load())
		if acked.Load() == 0 || refused.Load() == 0 {
			t.Error("nothing was acknowledged, or nothing refused")
		}
		have := map[string]bool{}
		for _, r := range c.nodes[0].query(fmt.Sprintf("SELECT id FROM d.t WHERE id >= %d", round*1_000_000)) {
			have[r] = true
		}
		ids.Range(func(id, ok any) bool {
			if have[fmt.Sprint(id)] != ok.(bool) {
				t.Errorf("row %v is there: %t; it was acknowledged: %t", id, have[fmt.Sprint(id)], ok)
			}
			return true
		})
	}
}

// E3: a transaction that is open goes on until its commit is answered; the next statement is refused. A client that is idle reads the
// error when it comes back, one that stays away is not waited for.
func TestOpenTransactionsEndWhileTheNodeStops(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	ctx := context.Background()
	writer, idle, sleeper := s.one(t, "checkConnLiveness=false"), s.one(t, "checkConnLiveness=false"), s.one(t, "")
	do := func(q string) {
		t.Helper()
		if _, err := writer.ExecContext(ctx, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	do("BEGIN")
	do("INSERT INTO d.t VALUES (1)")
	slept := make(chan error, 1)
	go func() {
		var n int
		slept <- sleeper.QueryRowContext(ctx, "SELECT SLEEP(0.5)").Scan(&n)
	}()
	wait(5*time.Second, func() bool { return s.e.active.Load() == 1 })
	closed := make(chan error, 1)
	go func() { closed <- s.e.Close(20 * time.Second) }()
	wait(5*time.Second, s.e.draining.Load)
	if _, err := idle.ExecContext(ctx, "INSERT INTO d.t VALUES (2)"); code(err) != 1053 {
		t.Errorf("a statement of an idle connection: %v", err)
	} else if e := new(mysql.MySQLError); errors.As(err, &e) && string(e.SQLState[:]) != "08S01" {
		t.Errorf("SQLSTATE %s", e.SQLState)
	}
	do("INSERT INTO d.t VALUES (3)")
	do("COMMIT")
	if _, err := writer.ExecContext(ctx, "INSERT INTO d.t VALUES (4)"); code(err) != 1053 {
		t.Errorf("after the commit: %v", err)
	}
	if err := <-slept; err != nil {
		t.Errorf("a statement that was under way: %v", err)
	}
	began := time.Now()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("closing took another %s", took)
	}
}

// What takes longer than the limit is ended, and told so: a statement is killed, a transaction rolled back.
func TestLimitOfStopping(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	ctx := context.Background()
	sleeper, holder := s.one(t, ""), s.one(t, "checkConnLiveness=false")
	if _, err := holder.ExecContext(ctx, "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := holder.ExecContext(ctx, "INSERT INTO d.t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	slept := make(chan error, 1)
	go func() {
		var n int
		slept <- sleeper.QueryRowContext(ctx, "SELECT SLEEP(600)").Scan(&n)
	}()
	wait(5*time.Second, func() bool { return s.e.active.Load() == 1 })
	if err := s.e.Close(50 * time.Millisecond); err != nil {
		t.Error(err)
	}
	if err := <-slept; code(err) != 1317 {
		t.Errorf("the statement that was killed: %v", err)
	}
	if _, err := holder.ExecContext(ctx, "COMMIT"); code(err) != 1053 {
		t.Errorf("the commit of a transaction that was rolled back: %v", err)
	}
}

// Where commands begin and end is known whatever the pieces in which they come.
func TestFrames(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	packet := func(n int) []byte { return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0}, make([]byte, n)...) }
	for range 200 {
		var f frame
		for range 1 + r.IntN(4) {
			size := r.IntN(40)
			p := packet(size)
			if r.IntN(8) == 0 {
				p = append(packet(mysqlMaxPacket), packet(size)...)
			}
			for len(p) > 0 {
				n := 1 + r.IntN(min(len(p), 1<<r.IntN(25)))
				f.take(p[:n])
				if p = p[n:]; f.between() != (len(p) == 0) {
					t.Fatalf("%d bytes of the command are missing: %+v", len(p), f)
				}
			}
		}
	}
}

const mysqlMaxPacket = 1<<24 - 1
