package engine

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLarge is what docs/transactions.md gives figures of: transactions of so many rows, half a kilobyte each, on three nodes
// in this process, while another client reads and writes. It is run by hand:
//
//	LONGITUDE_LARGE_ROWS=1000000 LONGITUDE_LARGE_DIR=/var/tmp/large go test -tags gms_pure_go -run TestLarge -v -timeout 1h ./internal/sql/engine
//
// Otherwise it runs with few rows and a small buffer, in memory.
func TestLarge(t *testing.T) {
	rows, width := 6000, 50
	c := &cluster{t: t}
	if n, err := strconv.Atoi(os.Getenv("LONGITUDE_LARGE_ROWS")); err == nil {
		rows, width, c.dir = n, 500, os.Getenv("LONGITUDE_LARGE_DIR")
	} else {
		c.spillAt(200 << 10)
	}
	c.startAll(3)
	c.waitReplicated()
	db := c.nodes[0].open(t, "multiStatements=true&maxAllowedPacket=67108864")
	defer func() { _ = db.Close() }()
	exec := func(x interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
	}, q string, args ...any) {
		t.Helper()
		if _, err := x.ExecContext(t.Context(), q, args...); err != nil {
			t.Fatalf("%.100s: %v", q, err)
		}
	}
	exec(db, "CREATE DATABASE large; USE large; CREATE TABLE a (id BIGINT PRIMARY KEY, n INT, pad VARCHAR(600)); CREATE TABLE b LIKE a;"+
		"CREATE TABLE hot (id INT PRIMARY KEY, n INT); INSERT INTO hot VALUES (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0)")
	for node, at := range []int{0, rows / 3, 2 * rows / 3} {
		for _, table := range []string{"a", "b"} {
			if at > 0 {
				exec(db, fmt.Sprintf("CALL longitude_split('large.%s', 'PRIMARY', %d)", table, at))
				exec(db, fmt.Sprintf("CALL longitude_move_lease('large.%s', 'PRIMARY', %d, %d)", table, at, node+1))
			}
		}
	}
	x, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	exec(x, "USE large")
	count := func(table string, want, sum int) {
		t.Helper()
		var n, s int
		if err := x.QueryRowContext(t.Context(), "SELECT count(*), coalesce(sum(n), 0) FROM "+table).Scan(&n, &s); err != nil {
			t.Fatal(err)
		}
		if n != want || s != sum {
			t.Fatalf("%s has %d rows, sum %d; want %d, %d", table, n, s, want, sum)
		}
	}
	w := startWitness(t, c.nodes[1], rows)
	pad := strings.Repeat("x", width)
	w.phase("nothing", func() { time.Sleep(time.Duration(rows/300) * time.Millisecond) })
	w.phase("BEGIN, inserts of 500 rows, COMMIT", func() {
		exec(x, "BEGIN")
		for i := 0; i < rows; i += 500 {
			var q strings.Builder
			q.WriteString("INSERT INTO a VALUES ")
			for j := i; j < min(i+500, rows); j++ {
				if j > i {
					q.WriteByte(',')
				}
				fmt.Fprintf(&q, "(%d, 1, '%s')", j, pad)
			}
			exec(x, q.String())
		}
		exec(x, "COMMIT")
	})
	count("a", rows, rows)
	w.phase("INSERT INTO b SELECT * FROM a", func() { exec(x, "INSERT INTO b SELECT * FROM a") })
	count("b", rows, rows)
	w.phase("UPDATE b SET n = n + 1", func() { exec(x, "UPDATE b SET n = n + 1") })
	count("b", rows, 2*rows)
	w.phase("BEGIN, DELETE FROM b, ROLLBACK", func() {
		exec(x, "BEGIN")
		exec(x, "DELETE FROM b WHERE n > 0")
		exec(x, "ROLLBACK")
	})
	count("b", rows, 2*rows)
	w.phase("DELETE FROM b WHERE n > 0", func() { exec(x, "DELETE FROM b WHERE n > 0") })
	count("b", 0, 0)
	w.stop()
	if c.nodes[0].node.DB.Stats().Spilled < 5 {
		t.Errorf("only %d transactions have laid intents before their commit", c.nodes[0].node.DB.Stats().Spilled)
	}
}

// witness is another client: it reads and changes single rows, of another table and of those that are written.
type witness struct {
	t     *testing.T
	over  atomic.Bool
	done  chan struct{}
	name  atomic.Pointer[string]
	peak  atomic.Int64
	mu    sync.Mutex
	times map[string][]time.Duration // of the present phase, by operation
}

func startWitness(t *testing.T, s *member, rows int) *witness {
	w := &witness{t: t, done: make(chan struct{}), times: map[string][]time.Duration{}}
	none := ""
	w.name.Store(&none)
	db := s.open(t, "multiStatements=true")
	conn, err := db.Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), "USE large")
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer func() { _ = conn.Close(); _ = db.Close(); close(w.done) }()
		for i := 0; !w.over.Load(); i++ {
			for _, op := range []struct{ name, query string }{
				{"read another table", fmt.Sprintf("SELECT n FROM hot WHERE id = %d", i%10)},
				{"write another table", fmt.Sprintf("UPDATE hot SET n = n + 1 WHERE id = %d", i%10)},
				{"read a row of it", fmt.Sprintf("SELECT n FROM b WHERE id = %d", i*7919%rows)},
			} {
				phase, began := w.name.Load(), time.Now()
				if _, err := conn.ExecContext(context.Background(), op.query); err != nil {
					t.Errorf("%s while %s: %v", op.query, *phase, err)
					return
				}
				w.mu.Lock()
				if w.name.Load() == phase {
					w.times[op.name] = append(w.times[op.name], time.Since(began))
				}
				w.mu.Unlock()
			}
			w.peak.Store(max(w.peak.Load(), resident()))
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return w
}

func (w *witness) phase(name string, fn func()) {
	w.began(name)
	w.peak.Store(0)
	began := time.Now()
	fn()
	w.t.Logf("%-36s %8s, memory at most %d MiB", name, time.Since(began).Round(time.Millisecond), w.peak.Load()>>20)
	times := w.began("between")
	names := make([]string, 0, len(times))
	for n := range times {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		d := times[n]
		slices.Sort(d)
		at := func(q float64) time.Duration { return d[int(q*float64(len(d)-1))].Round(10 * time.Microsecond) }
		w.t.Logf("    %-24s n %6d  p50 %8s  p99 %8s  max %8s", n, len(d), at(0.5), at(0.99), at(1))
	}
}

// began notes the beginning of a phase, and returns the times of the one before.
func (w *witness) began(name string) map[string][]time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	times := w.times
	w.times = map[string][]time.Duration{}
	w.name.Store(&name)
	return times
}

func (w *witness) stop() {
	w.over.Store(true)
	<-w.done
}

// resident is how much memory this process has; 0: not known.
func resident() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
