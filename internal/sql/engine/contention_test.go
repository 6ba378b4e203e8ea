package engine

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// hotCounter lets clients on all nodes add one to the same row, each as often as it can, and checks that nothing was lost.
type hotCounter struct {
	c       *cluster
	clients int
	body    func(x *sql.Conn) error // one increment; 1213 is repeated
}

// outcome of a run.
type outcome struct {
	n        int
	repeated float64 // per increment: by nodes and by clients
	p50, p99 time.Duration
}

func (h *hotCounter) value(tb testing.TB) (n int) {
	if err := h.c.nodes[0].root.QueryRow("SELECT n FROM d.counter WHERE id = 1").Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

func (h *hotCounter) repeats() (n float64) {
	for _, s := range h.c.nodes {
		reasons := make(chan prometheus.Metric, 64)
		s.e.m.Repeated.Collect(reasons)
		close(reasons)
		for r := range reasons {
			var m dto.Metric
			_ = r.Write(&m)
			n += m.GetCounter().GetValue()
		}
	}
	return n
}

func (h *hotCounter) run(tb testing.TB, increments int) outcome {
	before, repeats := h.value(tb), h.repeats()
	var mu sync.Mutex
	var took []time.Duration
	left, again := increments, 0
	var wg sync.WaitGroup
	for i := range h.clients {
		x, err := h.c.nodes[i%len(h.c.nodes)].root.Conn(context.Background())
		if err != nil {
			tb.Fatal(err)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer x.Close()
			for {
				mu.Lock()
				left--
				over := left < 0
				mu.Unlock()
				if over {
					return
				}
				began := time.Now()
				err := h.body(x)
				for ; code(err) == 1213; err = h.body(x) {
					mu.Lock()
					again++
					mu.Unlock()
				}
				if err != nil {
					tb.Errorf("increment: %v", err)
					return
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	if got := h.value(tb); got != before+len(took) || len(took) != increments {
		tb.Fatalf("%d increments took the counter from %d to %d", len(took), before, got)
	}
	slices.Sort(took)
	return outcome{n: len(took), repeated: (h.repeats() - repeats + float64(again)) / float64(increments),
		p50: took[len(took)/2], p99: took[len(took)*99/100]}
}

// increments are ways to add one. What an UPDATE finds is locked before it is read, by its key or, in a table as small as this
// one, by looking at all rows; what a plain SELECT finds is not.
var increments = map[string]func(x *sql.Conn) error{
	"update": func(x *sql.Conn) error {
		_, err := x.ExecContext(context.Background(), "UPDATE d.counter SET n = n + 1 WHERE id = 1")
		return err
	},
	"update-by-scan": func(x *sql.Conn) error {
		_, err := x.ExecContext(context.Background(), "UPDATE d.counter SET n = n + 1 WHERE id + 0 = 1")
		return err
	},
	"upsert": func(x *sql.Conn) error {
		_, err := x.ExecContext(context.Background(), "INSERT INTO d.counter VALUES (1, 1) ON DUPLICATE KEY UPDATE n = n + 1")
		return err
	},
	"read-then-write":          func(x *sql.Conn) error { return readThenWrite(x, " FOR UPDATE") },
	"read-then-write-unlocked": func(x *sql.Conn) error { return readThenWrite(x, "") },
}

// readThenWrite is what applications do: read, compute, write, in a transaction of several statements.
func readThenWrite(x *sql.Conn, clause string) error {
	ctx := context.Background()
	t, err := x.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }()
	var n int
	if err := t.QueryRow("SELECT n FROM d.counter WHERE id = 1" + clause).Scan(&n); err != nil {
		return err
	}
	if _, err := t.Exec(fmt.Sprintf("UPDATE d.counter SET n = %d WHERE id = 1", n+1)); err != nil {
		return err
	}
	return t.Commit()
}

func startCounter(tb testing.TB, nodes, clients int) *hotCounter {
	c := startCluster(tb, nodes)
	c.waitReplicated()
	c.nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.counter (id INT PRIMARY KEY, n INT NOT NULL)", "INSERT INTO d.counter VALUES (1, 0)")
	return &hotCounter{c: c, clients: clients}
}

// TestHotCounter shows that transactions which lock what they are going to write take turns: next to none is repeated.
func TestHotCounter(t *testing.T) {
	h := startCounter(t, 3, 64)
	for _, how := range []string{"update", "update-by-scan", "upsert", "read-then-write"} {
		h.body = increments[how]
		h.run(t, 64) // whoever leads the range now, and what the catalog is, is known everywhere
		out := h.run(t, 300)
		t.Logf("%s: %.1f %% repeated, p50 %s, p99 %s", how, 100*out.repeated, out.p50, out.p99)
		if out.repeated > 0.05 {
			t.Errorf("%s: %.0f %% of the increments were repeated", how, 100*out.repeated)
		}
	}
	h.body = increments["read-then-write-unlocked"] // right all the same
	h.run(t, 50)
}

// BenchmarkHotCounter is 64 clients on three nodes and one row.
func BenchmarkHotCounter(b *testing.B) {
	h := startCounter(b, 3, 64)
	for _, how := range []string{"update", "update-by-scan", "upsert", "read-then-write", "read-then-write-unlocked"} {
		b.Run(how, func(b *testing.B) {
			h.body = increments[how]
			began := time.Now()
			out := h.run(b, b.N)
			b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "increments/s")
			b.ReportMetric(100*out.repeated, "%repeated")
			b.ReportMetric(float64(out.p50.Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(out.p99.Microseconds())/1000, "p99-ms")
		})
	}
}
