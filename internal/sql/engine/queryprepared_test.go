package engine

import (
	"fmt"
	"testing"
	"time"
)

// Prepared queries and INSERT ... SELECT by our own packages, with parameters of all kinds, again and again.
func TestPreparedQueries(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(10), d DATETIME(6))", "CREATE TABLE b (n BIGINT, v VARCHAR(20))",
		"INSERT INTO a VALUES (1, 'x', '2024-02-29 10:11:12.5'), (2, 'y', NULL), (3, NULL, '2024-01-01')")
	for range 3 {
		for _, test := range []struct {
			q    string
			args []any
			want string
		}{
			{"SELECT id + ?, ? FROM a WHERE id >= ? ORDER BY id LIMIT ?", []any{10, "p", 2, 1}, "12\tp"},
			{"SELECT id FROM a WHERE v = ? OR v IN (?, ?)", []any{"x", "y", nil}, "1\n2"},
			{"SELECT id FROM a WHERE d = ?", []any{"2024-02-29 10:11:12.500000"}, "1"},
			{"SELECT id FROM a WHERE d < ?", []any{time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)}, "3"},
			{"SELECT ? + ?, ? * 2, CONCAT(?, ?)", []any{1, 2, 1.5, "a", 7}, "3\t3\ta7"},
			{"SELECT COUNT(*) FROM a x JOIN a y ON y.id > ANY (SELECT id FROM a WHERE id < ?)", []any{3}, "6"},
		} {
			st, err := s.root.Prepare(test.q)
			if err != nil {
				t.Fatalf("%s: %v", test.q, err)
			}
			got := ""
			r, err := st.Query(test.args...)
			if err != nil {
				t.Fatalf("%s: %v", test.q, err)
			}
			columns, _ := r.Columns()
			for r.Next() {
				vs, ps := make([]any, len(columns)), make([]any, len(columns))
				for i := range vs {
					ps[i] = &vs[i]
				}
				if err := r.Scan(ps...); err != nil {
					t.Fatal(err)
				}
				if got != "" {
					got += "\n"
				}
				for i, v := range vs {
					if i > 0 {
						got += "\t"
					}
					if b, ok := v.([]byte); ok {
						v = string(b)
					}
					got += fmt.Sprint(v)
				}
			}
			if err := r.Err(); err != nil || got != test.want {
				t.Errorf("%s: %q, %v, want %q", test.q, got, err, test.want)
			}
			r.Close()
			st.Close()
		}
		st, err := s.root.Prepare("INSERT INTO b (n, v) SELECT id + ?, CONCAT(v, ?) FROM a WHERE id <= ? AND id NOT IN (SELECT n FROM b WHERE n < 0)")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			r, err := st.Exec(100*i, "!", 2)
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := r.RowsAffected(); n != 2 {
				t.Errorf("%d rows are inserted, want 2", n)
			}
		}
		st.Close()
	}
	if got := fmt.Sprint(s.query("SELECT n, v, COUNT(*) FROM b GROUP BY n, v ORDER BY n")); got != "[1\tx!\t3 2\ty!\t3 101\tx!\t3 102\ty!\t3]" {
		t.Error(got)
	}
	if got := s.query("SELECT SUM(own_planner) > 5 FROM longitude.statements"); got[0] != "1" {
		t.Errorf("our own packages have planned nothing: %v", got)
	}
}
