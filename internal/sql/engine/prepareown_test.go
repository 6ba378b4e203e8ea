package engine

import (
	"strings"
	"testing"
)

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
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, b INT)", "INSERT INTO d.t VALUES (1, 1)")
	for _, query := range []string{ // 7 is the argument of each
		"UPDATE d.t SET b = ? + (1 SOUNDS LIKE 1)", "INSERT INTO d.t (id, b) VALUES (?, '1' MEMBER OF('[1]'))",
		"UPDATE d.t AS x RIGHT JOIN d.t AS y ON x.id = y.id SET x.b = ?", "DELETE FROM d.t WHERE id = ? AND 'a' SOUNDS LIKE 'a'",
	} {
		st, err := s.root.Prepare(query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if _, err := st.Exec(7); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		_ = st.Close()
	}
	var got string
	if err := s.root.QueryRow("SELECT GROUP_CONCAT(id, ':', b ORDER BY id) FROM d.t").Scan(&got); err != nil || got != "1:7" {
		t.Errorf("%s, %v after prepared changes", got, err)
	}
	for query, code := range map[string]string{"UPDATE d.t SET nowhere = ?": "1054", "INSERT INTO d.missing VALUES (?)": "1146"} {
		if _, err := s.root.Prepare(query); err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v, not %s", query, err, code)
		}
	}
	st, err := s.root.Prepare("UPDATE d.t SET id = 1 WHERE ? IS UNKNOWN")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Exec(nil); err != nil {
		t.Error(err)
	}
}
