package engine

import (
	"context"
	"database/sql"
	"strings"
	"testing"
)

// Drivers print a TIME in binary form with as many digits as its column's description says, take 31 for "as many as there are", and
// scan a YEAR as an unsigned number. Found by go-sql-driver's own tests: TIME(6) lost its fraction over prepared statements.
func TestDecimalsOfColumns(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, t0 TIME, t1 TIME(1), t6 TIME(6), d3 DATETIME(3), m DECIMAL(10,2), f FLOAT, g DOUBLE, y YEAR)",
		"INSERT INTO d.t VALUES (1, '10:11:12', '10:11:12.5', '-838:59:58.999999', '2024-02-29 01:02:03.456', 1.5, 0.5, 0.25, 2024)")
	const none = 1<<63 - 1
	want := map[string]int64{"m": 2, "f": none, "g": none, "t0": 0, "t1": 1, "t6": 6, "d3": 3}
	for _, q := range []string{"SELECT * FROM d.t WHERE id = ?", "SELECT * FROM d.t WHERE id + 0 = ?"} { // by a plan, and the ordinary way
		st, err := s.root.Prepare(q)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			rows, err := st.Query(1)
			if err != nil {
				t.Fatal(err)
			}
			columns, _ := rows.ColumnTypes()
			for _, col := range columns {
				if w, ok := want[col.Name()]; ok {
					if _, got, _ := col.DecimalSize(); got != w {
						t.Errorf("%s: %s has %d decimals, want %d", q, col.Name(), got, w)
					}
				}
				if kind := col.ScanType().String(); col.Name() == "y" && !strings.Contains(kind, "Null") && kind != "uint16" {
					t.Errorf("%s: a YEAR is scanned as %s", q, kind)
				}
			}
			var id, y int
			var t0, t1, t6, d3, m string
			var f, g float64
			for rows.Next() {
				if err := rows.Scan(&id, &t0, &t1, &t6, &d3, &m, &f, &g, &y); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join([]string{t0, t1, t6, d3, m}, " "); got != "10:11:12 10:11:12.5 -838:59:58.999999 2024-02-29 01:02:03.456 1.50" || y != 2024 {
				t.Errorf("%s: %s %d", q, got, y)
			}
		}
		_ = st.Close()
	}
}

// Statements that the parser does not know can be prepared, and DO answers with no rows, whatever it computes.
func TestOwnStatementsPrepared(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	ctx := context.Background()
	for _, q := range []string{"DO 1", "DO 1, 2", "DO SLEEP(0)"} {
		for range 2 {
			st, err := s.root.Prepare(q)
			if err != nil {
				t.Errorf("%s: %v", q, err)
				continue
			}
			var answers []*sql.Rows
			if prepared, err := st.QueryContext(ctx); err != nil {
				t.Errorf("%s: %v", q, err)
			} else {
				answers = append(answers, prepared)
			}
			if text, err := s.root.QueryContext(ctx, q); err != nil {
				t.Errorf("%s: %v", q, err)
			} else {
				answers = append(answers, text)
			}
			for _, rows := range answers {
				if columns, _ := rows.Columns(); rows.Next() || len(columns) > 0 {
					t.Errorf("%s: gave columns %v", q, columns)
				}
				_ = rows.Close()
			}
			_ = st.Close()
		}
	}
	for q, want := range map[string]int{"CHECK TABLE d.t": 1, "FLUSH TABLES": 0, "EXPLAIN FORMAT=JSON SELECT 1": 1, "DESCRIBE d.t id": 1} {
		st, err := s.root.Prepare(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		rows, err := st.Query()
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		n := 0
		for rows.Next() {
			n++
		}
		if n != want || rows.Err() != nil {
			t.Errorf("%s: %d rows, %v", q, n, rows.Err())
		}
		_, _ = rows.Close(), st.Close()
	}
	st, err := s.root.Prepare("DO GET_LOCK(?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Exec("told", 0); err != nil {
		t.Error(err)
	}
	if _, err := s.root.Prepare("DO nothing"); err == nil || !strings.Contains(err.Error(), "1054") {
		t.Errorf("DO of an unknown column: %v", err)
	}
	for _, q := range []string{"DO", "SELECT FROM WHERE ?", "SELEC ?"} {
		if _, err := s.root.Prepare(q); err == nil || !strings.Contains(err.Error(), "1064 (42000)") {
			t.Errorf("%s: %v", q, err)
		}
	}
	// Names that MySQL does not reserve, and comments that it executes.
	for _, q := range []string{"SELECT 1 AS yes WHERE 1 = ?", "/*!40000 SELECT */ 1 FROM (SELECT ? AS language) AS t WHERE t.language = 1"} {
		var one int
		if err := s.root.QueryRow(q, 1).Scan(&one); err != nil || one != 1 {
			t.Errorf("%s: %d, %v", q, one, err)
		}
	}
}

// A statement with more parameters than the protocol can count is refused, and the connection lives.
func TestTooManyParameters(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	var id, after int
	if err := s.root.QueryRow("SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{mostParameters + 1, 65535, 70000} {
		if st, err := s.root.Prepare("SELECT 1 IN (?" + strings.Repeat(",?", n-1) + ")"); err == nil {
			_ = st.Close()
			t.Errorf("%d parameters were taken", n)
		} else if !strings.Contains(err.Error(), "1390") {
			t.Errorf("%d parameters: %v", n, err)
		}
	}
	if err := s.root.QueryRow("SELECT CONNECTION_ID()").Scan(&after); err != nil || after != id {
		t.Errorf("the connection was %d, is %d: %v", id, after, err)
	}
}

// SHOW TABLES LIKE and SHOW DATABASES LIKE name their column after the pattern, as in MySQL 9.7.
func TestNamesOfShow(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t_1 (id INT PRIMARY KEY)")
	for q, want := range map[string]string{
		`SHOW TABLES LIKE 't\\_%'`:                       `Tables_in_d (t\_%)`,
		`SHOW TABLES LIKE 't\_%'`:                        `Tables_in_d (t\_%)`,
		"SHOW FULL TABLES FROM d LIKE 't%'":              "Tables_in_d (t%),Table_type",
		"SHOW TABLES":                                    "Tables_in_d",
		"SHOW TABLES FROM d WHERE Tables_in_d LIKE 't%'": "Tables_in_d",
		"SHOW DATABASES LIKE 'd'":                        "Database (d)",
		"SHOW COLUMNS FROM t_1 LIKE 'i%'":                "Field,Type,Null,Key,Default,Extra",
	} {
		rows, err := s.root.Query(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		columns, _ := rows.Columns()
		if got := strings.Join(columns, ","); got != want || !rows.Next() {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
		_ = rows.Close()
	}
}
