package engine

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// BenchmarkQuery compares queries planned and executed by our own packages with the same ones by go-mysql-server
// (SET longitude_own_planner = 0), on one node: the processor time of server and client together, by operation. Both take turns in
// bursts, so that what else the machine does falls on both; the figures are medians of bursts.
func BenchmarkQuery(b *testing.B) {
	s := startCluster(b, 1).nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.a(id INT PRIMARY KEY, g INT, k INT, v VARCHAR(30), INDEX (g))",
		"CREATE TABLE d.b(id INT PRIMARY KEY, a_id INT, n DECIMAL(10,2), v VARCHAR(30), INDEX (a_id))",
		"CREATE TABLE d.c(id INT PRIMARY KEY, v VARCHAR(30))")
	for from := 0; from < 10_000; from += 1_000 {
		var as, bs, cs []string
		for i := from; i < from+1_000; i++ {
			as = append(as, fmt.Sprintf("(%d,%d,%d,'value %d')", i, i/100, i*7919%10_000, i))
			bs = append(bs, fmt.Sprintf("(%d,%d,%d.25,'value %d')", i, i*3%20_000, i%50, i))
			cs = append(cs, fmt.Sprintf("(%d,'text %d')", i, i%50))
		}
		s.exec("INSERT INTO d.a VALUES "+strings.Join(as, ","), "INSERT INTO d.b VALUES "+strings.Join(bs, ","))
		if from == 0 {
			s.exec("INSERT INTO d.c VALUES " + strings.Join(cs, ","))
		}
	}
	var conns [2]*sql.Conn
	for own := range conns {
		conn, err := s.root.Conn(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		planner := fmt.Sprintf("SET longitude_own_planner = %d", own)
		for _, set := range []string{"USE d", "SET longitude_compiled = 0", planner, "ANALYZE TABLE a, b, c"} {
			if _, err := conn.ExecContext(context.Background(), set); err != nil {
				b.Fatal(err)
			}
		}
		conns[own] = conn
	}
	for _, q := range []struct {
		name, text string // each %d is the number of the execution
		rows       int
	}{
		{"point", "SELECT v FROM a WHERE id = %[1]d", 1},
		{"constant", "SELECT %[1]d + 1", 1},
		{"range_100", "SELECT id, g, v FROM a WHERE id >= %[1]d AND id < 100 + %[1]d", 100},
		{"join_by_key_100", "SELECT a.v, b.v FROM a JOIN b ON b.id = a.k WHERE a.g = %[1]d", 100},
		{"left_join_by_index_100",
			"SELECT a.v, b.v FROM a LEFT JOIN b ON b.a_id = a.id WHERE a.id >= 30 * %[1]d AND a.id < 30 * %[1]d + 100", 100},
		{"join_of_1_row", "SELECT a.v, b.v FROM a JOIN b ON b.id = a.k WHERE a.id = %[1]d", 1},
		{"hash_join_10000", "SELECT COUNT(*), MAX(b.n + a.g) FROM a JOIN b ON b.id = a.k", 1},
		{"group_by_10000", "SELECT g, COUNT(*), SUM(k) + %[1]d FROM a GROUP BY g", 100},
		{"group_by_text", "SELECT v, SUM(id) + %[1]d FROM c GROUP BY v", 50},
		{"order_by_limit", "SELECT id, v FROM a ORDER BY k DESC LIMIT 10", 10},
		{"order_by_text_1000", "SELECT id, v FROM c ORDER BY v", 1000},
		{"in_subquery", "SELECT COUNT(*) + 0 FROM a WHERE id IN (SELECT k FROM a WHERE g = %[1]d)", 1},
		{"count_join", "SELECT COUNT(*) FROM a JOIN b ON b.id = a.k WHERE a.g = %[1]d", 1},
		{"union", "SELECT id, v FROM a WHERE g = %[1]d UNION SELECT id, v FROM b WHERE id < 100", 0},
		{"exists_1000", "SELECT COUNT(*) + 0 FROM c WHERE EXISTS (SELECT 1 FROM b WHERE b.a_id = c.id AND b.n > 10)", 1},
		{"scalar_subquery_100", "SELECT a.id, (SELECT COUNT(*) FROM b WHERE b.a_id = a.id) FROM a WHERE a.g = %[1]d", 100},
		{"filter_10000", "SELECT id FROM a WHERE v LIKE '%%99%%' AND k > %[1]d", 0},
	} {
		b.Run(q.name, func(b *testing.B) {
			text := func(i int) string {
				if !strings.Contains(q.text, "%") {
					return q.text
				}
				return fmt.Sprintf(q.text, i%100)
			}
			var perOp [2][]float64
			burst := 1
			for i := 0; b.Loop(); i++ {
				for _, own := range [2][2]int{{0, 1}, {1, 0}}[i%2] {
					before := processCPU(b)
					for n := range burst {
						if rows := countRows(b, conns[own], text(i+n)); q.rows > 0 && rows != q.rows {
							b.Fatalf("%d rows of %s, want %d", rows, q.text, q.rows)
						}
					}
					perOp[own] = append(perOp[own], float64(processCPU(b)-before)/float64(burst))
				}
				if i == 0 { // bursts of 10 ms and more
					burst = int(min(100, max(1, 10e6/min(perOp[0][0], perOp[1][0]))))
					perOp = [2][]float64{}
				}
			}
			old, own := median(perOp[0]), median(perOp[1])
			b.ReportMetric(old/1e3, "old-µs/op")
			b.ReportMetric(own/1e3, "own-µs/op")
			b.ReportMetric(own/old, "own/old")
		})
	}
}

func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[len(of)/2]
}

func countRows(b *testing.B, conn *sql.Conn, q string) (n int) {
	r, err := conn.QueryContext(context.Background(), q)
	if err != nil {
		b.Fatal(q, err)
	}
	for r.Next() {
		n++
	}
	if err := r.Err(); err != nil {
		b.Fatal(q, err)
	}
	return n
}
