package engine

import "testing"

// What vitess's grammar lacks and queries are parsed with nevertheless (querysyntax.go) can be prepared as well.
func TestPrepareQuerySyntax(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	for _, x := range []struct {
		query string
		args  []any
		want  string
	}{
		{"SELECT ? SOUNDS LIKE 'robert'", []any{"rupert"}, "1"},
		{"SELECT ? IS UNKNOWN", []any{nil}, "1"},
		{"SELECT ? MEMBER OF (?)", []any{"a", `["a"]`}, "1"},
		{"SELECT DATE_ADD('2024-01-01', INTERVAL ? DAY_HOUR)", []any{"1 2"}, "2024-01-02 02:00:00"},
		{"SELECT ? < ANY (SELECT 1 UNION SELECT 5)", []any{4}, "1"},
		{"SELECT GROUP_CONCAT(n) FROM (SELECT COUNT(*) n FROM (SELECT ? a) d GROUP BY a WITH ROLLUP) e", []any{4}, "1,1"},
	} {
		st, err := s.root.Prepare(x.query)
		if err != nil {
			t.Errorf("%s: %v", x.query, err)
			continue
		}
		for range 2 {
			var got string
			if err := st.QueryRow(x.args...).Scan(&got); err != nil || got != x.want {
				t.Errorf("%s: %q, %v; want %q", x.query, got, err, x.want)
			}
		}
		_ = st.Close()
	}
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	st, err := s.root.Prepare("UPDATE d.t SET id = 1 WHERE ? IS UNKNOWN")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Exec(nil); err != nil {
		t.Error(err)
	}
}
