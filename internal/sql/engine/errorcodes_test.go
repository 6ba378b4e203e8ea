package engine

import "testing"

// MySQL 8's codes, which applications branch on, where go-mysql-server has none (1105) or another one.
func TestErrorCodes(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE p (id INT PRIMARY KEY, k INT, KEY k (k))",
		"CREATE TABLE t (id INT PRIMARY KEY, m DECIMAL(5,2), e ENUM('a'), st SET('a'), d DATE, y YEAR, j JSON, b BIT(3), n INT NOT NULL DEFAULT 0, p INT, g INT AS (n + 1), CONSTRAINT f FOREIGN KEY (p) REFERENCES p (id))",
		"CREATE PROCEDURE one(IN a INT) SELECT a")
	for _, test := range []struct {
		code int
		q    string
	}{
		{1264, "INSERT INTO t (id, m) VALUES (1, 12345)"},
		{1265, "INSERT INTO t (id, e) VALUES (1, 'x')"},
		{1265, "INSERT INTO t (id, st) VALUES (1, 'x')"},
		{1264, "INSERT INTO t (id, y) VALUES (1, 3000)"},
		{3140, "INSERT INTO t (id, j) VALUES (1, '{')"},
		{1406, "INSERT INTO t (id, b) VALUES (1, 9)"},
		{1048, "INSERT INTO t (id, n) VALUES (1, NULL)"},
		{3105, "INSERT INTO t (id, g) VALUES (1, 5)"},
		{1452, "INSERT INTO t (id, p) VALUES (1, 5)"},
		{1136, "INSERT INTO t (id, n) VALUES (1)"},
		{1054, "INSERT INTO t (nothing) VALUES (1)"},
		{1110, "INSERT INTO t (id, id) VALUES (1, 2)"},
		{1051, "DROP TABLE nothing"},
		{1051, "DROP TABLE IF EXISTS p2; DROP TABLE p2"},
		{1091, "ALTER TABLE t DROP COLUMN nothing"},
		{1091, "ALTER TABLE t DROP INDEX nothing"},
		{1091, "DROP INDEX nothing ON t"},
		{1054, "ALTER TABLE t MODIFY COLUMN nothing INT"},
		{1060, "ALTER TABLE t ADD COLUMN n INT"},
		{1061, "ALTER TABLE p ADD INDEX k (k)"},
		{1072, "ALTER TABLE t ADD INDEX x (nothing)"},
		{1068, "ALTER TABLE t ADD PRIMARY KEY (n)"},
		{1553, "ALTER TABLE t DROP INDEX f"},
		{1826, "ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES p (id)"},
		{3730, "DROP TABLE p"},
		{1008, "DROP DATABASE nothing"},
		{1007, "CREATE DATABASE d"},
		{1049, "USE nothing"},
		{1050, "CREATE TABLE t (id INT)"},
		{1067, "CREATE TABLE x (id INT DEFAULT 'x')"},
		{1075, "CREATE TABLE x (id INT AUTO_INCREMENT)"},
		{1171, "CREATE TABLE x (id INT NULL PRIMARY KEY)"},
		{1305, "CALL nothing()"},
		{1318, "CALL one()"},
		{1304, "CREATE PROCEDURE one() SELECT 1"},
		{1360, "DROP TRIGGER nothing"},
		{1243, "EXECUTE nothing"},
		{1193, "SET nothing = 1"},
		{1229, "SET SESSION max_connections = 5"},
		{1238, "SET GLOBAL version = 'x'"},
		{1231, "SET sql_mode = 'x'"},
		{1298, "SET time_zone = 'Nowhere/Else'"},
		{1222, "SELECT 1 UNION SELECT 1, 2"},
		{1241, "SELECT (SELECT 1, 2)"},
		{1242, "SELECT (SELECT 1 UNION SELECT 2)"},
		{1066, "SELECT * FROM t, t"},
		{1052, "SELECT id FROM t, p"},
		{1146, "SELECT * FROM nothing"},
		{1054, "SELECT nothing FROM t"},
		{1054, "SELECT * FROM t ORDER BY 99"},
		{1305, "SELECT nothing(1)"},
		{1055, "SELECT n, COUNT(*) FROM t GROUP BY e"},
		{1140, "SELECT n, COUNT(*) FROM t"},
		{1273, "SELECT 'a' COLLATE nothing"},
	} {
		_, err := rows(s.root, test.q)
		if err == nil {
			_, err = s.root.Exec(test.q)
		}
		if code(err) != test.code {
			t.Errorf("%s: %v, want code %d", test.q, err, test.code)
		}
	}
}
