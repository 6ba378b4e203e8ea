package engine

import "testing"

// A parameter can say at what time a statement reads, each time another.
func TestAsOfParameter(t *testing.T) {
	c := startCluster(t, 1)
	db := c.nodes[0].root
	for _, q := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 10)"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	at := make([]string, 3)
	for i := range at {
		if _, err := conn.ExecContext(t.Context(), "UPDATE d.t SET v = ? WHERE id = 1", 20+i); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRowContext(t.Context(), "SELECT @@longitude_commit_timestamp").Scan(&at[i]); err != nil {
			t.Fatal(err)
		}
	}
	st, err := conn.PrepareContext(t.Context(), "SELECT v FROM d.t AS OF ? WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i := range at {
		var v int
		if err := st.QueryRow(at[i], 1).Scan(&v); err != nil || v != 20+i {
			t.Errorf("at %s: %d %v", at[i], v, err)
		}
	}
	var v int
	if err := st.QueryRow(nil, 1).Scan(&v); err == nil {
		t.Error("AS OF NULL is a time")
	}
}
