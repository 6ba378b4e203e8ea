package engine

import (
	"strings"
	"testing"
)

// Words that the parser takes for keywords, and MySQL does not, name things without quotes.
func TestWordsThatAreNotReserved(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, yes TINYINT, no TINYINT, name VARCHAR(20), status INT, type INT)",
		"ALTER TABLE t ADD COLUMN age INT NULL AFTER name", "INSERT INTO t (id, yes, no) VALUES (1, 5, 6); UPDATE t SET yes = yes + 1 WHERE no = 6",
		"set @@character_set_database=binary", "/*!40101 set @@character_set_database=binary */", "SET time_zone = SYSTEM")
	if got := s.query("SELECT t.yes, no AS name FROM t WHERE yes > 0 ORDER BY yes"); strings.Join(got, " ") != "6\t6" {
		t.Error(got)
	}
	for _, q := range []string{"SELEC 1", "SELECT 1 FROM", "SELECT FROM t", "UPDATE t SET select = 1", "ALTER TABLE t ADD COLUMN b INT FRIST"} {
		if _, err := s.root.Exec(q); code(err) != 1064 {
			t.Errorf("%s: %v", q, err)
		}
	}
	if _, err := s.root.Exec("SELEC 1"); !strings.Contains(err.Error(), "near 'SELEC'") {
		t.Errorf("the error is about the text as it came: %v", err)
	}
}
