package engine

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"
)

// migration is what a tool sends that brings a schema up to date: tables, columns, indexes, foreign keys, a table dropped.
func migration(prefix string, statements int) (out []string) {
	for n := 0; len(out) < statements; n++ {
		t := fmt.Sprintf("m.%s%d", prefix, n)
		out = append(out, "CREATE TABLE "+t+" (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(40), parent INT, KEY (a))",
			"ALTER TABLE "+t+" ADD COLUMN c INT NOT NULL DEFAULT 7",
			"CREATE INDEX ib ON "+t+" (b, c)",
			"ALTER TABLE "+t+" ADD FOREIGN KEY (parent) REFERENCES "+t+" (id)",
			"ALTER TABLE "+t+" MODIFY b VARCHAR(80)",
			"CREATE TABLE "+t+"x (id INT PRIMARY KEY)",
			"DROP TABLE "+t+"x")
	}
	return out[:statements]
}

// migrate executes 300 changes of the schema on three nodes, by so many connections at once, and returns the errors.
func (c *cluster) migrate(t testing.TB, connections, statements int) (errs []error) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range connections {
		db := c.nodes[i%len(c.nodes)].open(t, "")
		conn, err := db.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer db.Close()
			defer conn.Close()
			for _, q := range migration(fmt.Sprintf("c%d_%d_", connections, i), statements/connections) {
				if err := execOn(conn, q); err != nil {
					mu.Lock()
					errs = append(errs, fmt.Errorf("%s: %w", q, err))
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return errs
}

func execOn(c *sql.Conn, q string) error {
	_, err := c.ExecContext(context.Background(), q)
	return err
}

// Changes of the schema by several connections, of several nodes, take turns: none of them fails. (H6)
func TestMigrationsBesideEachOther(t *testing.T) {
	c := startCluster(t, 3)
	c.waitReplicated()
	c.nodes[0].exec("CREATE DATABASE m")
	for _, err := range c.migrate(t, 4, 56) {
		t.Error(err)
	}
	for _, s := range c.nodes {
		if got := s.query("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'm'"); got[0] != "8" {
			t.Errorf("%s tables, want 8", got[0])
		}
	}
}

// BenchmarkMigration is the time of 300 changes of the schema on three nodes in one process, and the processor time of all of it.
func BenchmarkMigration(b *testing.B) {
	for _, connections := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("connections=%d", connections), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				c := startCluster(b, 3, func(o *Options) { o.CatalogLead = 150 * time.Millisecond })
				c.waitReplicated()
				c.nodes[0].exec("CREATE DATABASE m")
				var before, after syscall.Rusage
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
				b.StartTimer()
				for _, err := range c.migrate(b, connections, 300) {
					b.Error(err)
				}
				b.StopTimer()
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
				cpu := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
				b.ReportMetric(cpu.Seconds(), "cpu-s")
			}
		})
	}
}
