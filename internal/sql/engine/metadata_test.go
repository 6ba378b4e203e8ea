package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// SHOW CREATE TABLE is what dumps are restored from: what it says makes the same table again. The text is MySQL 8's.
func TestShowCreateTableRestores(t *testing.T) {
	const create = "CREATE TABLE `t` (\n" +
		"  `id` bigint unsigned NOT NULL AUTO_INCREMENT,\n" +
		"  `e` enum('x','it''s','a\\\\b') NOT NULL DEFAULT 'it''s',\n" +
		"  `digits` enum('1','2','3') DEFAULT '3',\n" +
		"  `none` enum('1','2') DEFAULT NULL,\n" +
		"  `f` set('x','y','z') DEFAULT 'x,z',\n" +
		"  `ts` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,\n" +
		"  `dt` datetime(6) DEFAULT CURRENT_TIMESTAMP(6),\n" +
		"  `l` varchar(10) CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT 'y''\\\\',\n" +
		"  `i` int NOT NULL DEFAULT '-5',\n" +
		"  `m` decimal(10,3) DEFAULT '1.500',\n" +
		"  `d` double DEFAULT '0.25',\n" +
		"  `yes` tinyint(1) NOT NULL DEFAULT '1',\n" +
		"  `b` bit(6) DEFAULT b'101',\n" +
		"  `day` date DEFAULT '2024-02-29',\n" +
		"  `y` year DEFAULT '1999',\n" +
		"  `j` json DEFAULT NULL,\n" +
		"  `x` text,\n" +
		"  `g` int GENERATED ALWAYS AS ((`i` * 2)) STORED,\n" +
		"  `v` int GENERATED ALWAYS AS ((`i` + 1)) VIRTUAL,\n" +
		"  `u` varchar(36) DEFAULT (uuid()) COMMENT 'it''s',\n" +
		"  PRIMARY KEY (`id`),\n" +
		"  UNIQUE KEY `u` (`u`),\n" +
		"  KEY `pre` (`l`(5),`e`)\n" +
		") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='c'"
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", create)
	for range 2 {
		got := s.query("SHOW CREATE TABLE t")[0]
		if got != "t\t"+create {
			t.Fatalf("got\n%s\nwant\n%s", got, create)
		}
		s.exec("DROP TABLE t", strings.TrimPrefix(got, "t\t"))
	}
	s.exec("INSERT INTO t (id) VALUES (1)")
	if got := s.query("SELECT e, digits, f, l, m, b + 0, y, g, v FROM t"); got[0] != "it's\t3\tx,z\ty'\\\t1.500\t5\t1999\t-10\t-4" {
		t.Error(got)
	}
}

// DESCRIBE, SHOW COLUMNS, SHOW INDEX and information_schema say what MySQL 8 says. Tools compare it with what they would declare.
func TestDescribe(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE p (a INT, b INT, PRIMARY KEY (a, b))",
		`CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(20) NOT NULL DEFAULT 'y', l VARCHAR(10) COLLATE utf8mb4_bin, e ENUM('a','b') DEFAULT 'b', n INT DEFAULT 7, n2 INT,
		ts TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, g INT AS (n + 1), st INT AS (LENGTH(s)) STORED, u CHAR(36) DEFAULT (UUID()), x TEXT, b BOOLEAN DEFAULT TRUE, dt DATETIME(3) DEFAULT '2024-01-02 03:04:05',
		UNIQUE KEY s (s), UNIQUE KEY two (n, n2) COMMENT 'both', KEY pre (x(10)), CONSTRAINT fk FOREIGN KEY (n, n2) REFERENCES p (a, b) ON DELETE CASCADE)`,
		"CREATE TABLE nopk (a INT NOT NULL, b INT, UNIQUE KEY a (a))", "CREATE VIEW w AS SELECT id, s FROM t", "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.n2 = 1",
		"CREATE PROCEDURE pr(IN a INT, OUT b VARCHAR(10)) SELECT 1")
	check := func(q string, want ...string) {
		t.Helper()
		got, err := rows(s.root, q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
		} else if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", q, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	columns := []string{
		"id\tint\tNO\tPRI\tNULL\tauto_increment", "s\tvarchar(20)\tNO\tUNI\ty\t", "l\tvarchar(10)\tYES\t\tNULL\t", "e\tenum('a','b')\tYES\t\tb\t", "n\tint\tYES\tMUL\t7\t", "n2\tint\tYES\t\tNULL\t",
		"ts\ttimestamp\tYES\t\tCURRENT_TIMESTAMP\tDEFAULT_GENERATED on update CURRENT_TIMESTAMP", "g\tint\tYES\t\tNULL\tVIRTUAL GENERATED", "st\tint\tYES\t\tNULL\tSTORED GENERATED",
		"u\tchar(36)\tYES\t\tuuid()\tDEFAULT_GENERATED", "x\ttext\tYES\tMUL\tNULL\t", "b\ttinyint(1)\tYES\t\t1\t", "dt\tdatetime(3)\tYES\t\t2024-01-02 03:04:05.000\t"}
	check("DESCRIBE t", columns...)
	check("SHOW COLUMNS FROM t", columns...)
	check("DESC t e", columns[3])
	check("DESCRIBE d.t 's%'", columns[1], columns[8])
	check("EXPLAIN t `id`", columns[0])
	check("SHOW FULL COLUMNS FROM t LIKE 'l'", "l\tvarchar(10)\tutf8mb4_bin\tYES\t\tNULL\t\tselect,insert,update,references\t")
	check("DESCRIBE nopk", "a\tint\tNO\tPRI\tNULL\t", "b\tint\tYES\t\tNULL\t")
	check("SHOW INDEX FROM t", "t\t0\tPRIMARY\t1\tid\tA\tNULL\tNULL\tNULL\t\tBTREE\t\t\tYES\tNULL", "t\t0\ts\t1\ts\tA\tNULL\tNULL\tNULL\t\tBTREE\t\t\tYES\tNULL",
		"t\t0\ttwo\t1\tn\tA\tNULL\tNULL\tNULL\tYES\tBTREE\t\tboth\tYES\tNULL", "t\t0\ttwo\t2\tn2\tA\tNULL\tNULL\tNULL\tYES\tBTREE\t\tboth\tYES\tNULL",
		"t\t1\tpre\t1\tx\tA\tNULL\t10\tNULL\tYES\tBTREE\t\t\tYES\tNULL")
	var want []string
	for _, c := range columns {
		f := strings.Split(c, "\t")
		want = append(want, strings.Join([]string{f[0], f[4], f[2], f[1], f[3], f[5]}, "\t"))
	}
	check("SELECT COLUMN_NAME, COLUMN_DEFAULT, IS_NULLABLE, COLUMN_TYPE, COLUMN_KEY, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = 't' ORDER BY ORDINAL_POSITION", want...)
	check("SELECT COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH, COLLATION_NAME, GENERATION_EXPRESSION FROM information_schema.COLUMNS WHERE TABLE_NAME = 't' AND COLUMN_NAME IN ('s', 'x', 'l', 'st')",
		"s\tvarchar\t20\t80\tutf8mb4_0900_ai_ci\t", "l\tvarchar\t10\t40\tutf8mb4_bin\t", "st\tint\tNULL\tNULL\tNULL\tlength(`s`)", "x\ttext\t65535\t65535\tutf8mb4_0900_ai_ci\t")
	check("SELECT INDEX_NAME, NON_UNIQUE, SEQ_IN_INDEX, COLUMN_NAME, SUB_PART, NULLABLE, INDEX_COMMENT FROM information_schema.STATISTICS WHERE TABLE_NAME = 't'",
		"PRIMARY\t0\t1\tid\tNULL\t\t", "s\t0\t1\ts\tNULL\t\t", "two\t0\t1\tn\tNULL\tYES\tboth", "two\t0\t2\tn2\tNULL\tYES\tboth", "pre\t1\t1\tx\t10\tYES\t")
	check("SELECT CONSTRAINT_NAME, COLUMN_NAME, ORDINAL_POSITION, POSITION_IN_UNIQUE_CONSTRAINT, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_NAME = 't' AND CONSTRAINT_NAME = 'fk'",
		"fk\tn\t1\t1\td\tp\ta", "fk\tn2\t2\t2\td\tp\tb")
	check("SELECT CONSTRAINT_NAME, UNIQUE_CONSTRAINT_NAME, UPDATE_RULE, DELETE_RULE, TABLE_NAME, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'd'", "fk\tPRIMARY\tNO ACTION\tCASCADE\tt\tp")
	check("SELECT TRIGGER_NAME, EVENT_MANIPULATION, EVENT_OBJECT_TABLE, ACTION_TIMING, ACTION_STATEMENT FROM information_schema.TRIGGERS", "tr\tINSERT\tt\tBEFORE\tSET NEW.n2 = 1")
	check("SELECT ROUTINE_NAME, ROUTINE_TYPE FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'd'", "pr\tPROCEDURE")
	check("SELECT PARAMETER_NAME, PARAMETER_MODE, DTD_IDENTIFIER FROM information_schema.PARAMETERS WHERE SPECIFIC_SCHEMA = 'd'", "a\tIN\tint", "b\tOUT\tvarchar(10)")
	check("SELECT COUNT(*) FROM information_schema.EVENTS", "0")
	for _, q := range []string{"SHOW EVENTS", "SHOW PROCEDURE STATUS", "SHOW FUNCTION STATUS", "SHOW TRIGGERS", "SHOW TRIGGERS FROM longitude", "SHOW EVENTS FROM d", "SHOW OPEN TABLES", "SHOW ENGINE INNODB STATUS"} {
		if _, err := rows(s.root, q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	if _, err := s.root.Exec("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1"); code(err) != 1235 {
		t.Errorf("CREATE EVENT: %v", err)
	}
}

// EXPLAIN answers in MySQL's twelve columns, whose whole numbers are numbers or NULL; drivers failed at the text 'NULL' there.
func TestExplain(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE a (id INT PRIMARY KEY, n INT, s VARCHAR(20), KEY n (n))", "CREATE TABLE b (id INT PRIMARY KEY, a INT, KEY a (a))",
		"INSERT INTO a VALUES (1, 1, 'x'), (2, 2, 'y')", "INSERT INTO b VALUES (1, 1), (2, 1)")
	for _, test := range []struct{ q, want string }{
		{"SELECT * FROM a", "1 SIMPLE a ALL NULL NULL"},
		{"SELECT * FROM a WHERE id = 1", "1 SIMPLE a const PRIMARY const"},
		{"SELECT * FROM a WHERE n = 1", "1 SIMPLE a ref n const"},
		{"SELECT * FROM a x WHERE n > 1 AND n < 9", "1 SIMPLE x range n NULL Using where"},
		{"SELECT s FROM a ORDER BY s", "1 SIMPLE a ALL NULL NULL Using filesort"},
		{"SELECT * FROM a WHERE s = 'x'", "1 SIMPLE a ALL NULL NULL Using where"},
		{"SELECT * FROM a WHERE s IN (SELECT 'x') UNION SELECT * FROM a WHERE id = 1", "*"},
		{"SELECT 1", "1 SIMPLE NULL NULL NULL NULL No tables used"},
		{"SELECT * FROM (SELECT COUNT(*) FROM b GROUP BY a) x", "1 SIMPLE b ALL NULL NULL Using temporary"},
		{"DELETE FROM a WHERE id = 1", "1 DELETE a const PRIMARY const"},
		{"UPDATE a SET n = 5 WHERE id = 1", "1 UPDATE a const PRIMARY const"},
		{"INSERT INTO a VALUES (5, 5, 'z')", "1 INSERT a ALL NULL NULL"},
	} {
		for _, verb := range []string{"EXPLAIN ", "DESCRIBE ", "EXPLAIN FORMAT=TRADITIONAL ", "explain format = traditional "} {
			got, err := rows(s.root, verb+test.q)
			if err != nil {
				t.Errorf("%s: %v", test.q, err)
				continue
			}
			var short []string
			for _, r := range got {
				f := strings.Split(r, "\t")
				if len(f) != 12 {
					t.Fatalf("%d columns", len(f))
				}
				line := strings.Join([]string{f[0], f[1], f[2], f[4], f[6], f[8]}, " ")
				if f[11] != "NULL" {
					line += " " + f[11]
				}
				short = append(short, line)
			}
			if s := strings.Join(short, "; "); test.want != "*" && s != test.want {
				t.Errorf("%s%s:\n%s\nwant\n%s", verb, test.q, s, test.want)
			}
		}
		text, err := rows(s.root, "EXPLAIN FORMAT=JSON "+test.q)
		var doc map[string]any
		if err != nil || len(text) != 1 || json.Unmarshal([]byte(text[0]), &doc) != nil || doc["query_block"] == nil {
			t.Errorf("FORMAT=JSON %s: %q %v", test.q, text, err)
		}
	}
	join := s.query("EXPLAIN SELECT * FROM b LEFT JOIN a ON b.a = a.id WHERE b.id = 2")
	if len(join) != 2 || !strings.Contains(join[0], "const\tPRIMARY") || !strings.Contains(join[1], "eq_ref\tPRIMARY\tPRIMARY") {
		t.Error(join)
	}
	analyzed := s.query("EXPLAIN ANALYZE SELECT n FROM a WHERE id = 1")
	if len(analyzed) != 2 || !strings.Contains(analyzed[0], "rows=1 loops=1") || analyzed[1] != "Retries: none" {
		t.Error(analyzed)
	}
	tree := s.query("EXPLAIN FORMAT=TREE SELECT n FROM a WHERE id = 1")
	if len(tree) != 1 || !strings.Contains(tree[0], "on a using PRIMARY") || strings.Contains(tree[0], "actual") {
		t.Error(tree)
	}
	r, err := s.root.Query("EXPLAIN SELECT * FROM a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	types, err := r.ColumnTypes()
	if err != nil || types[0].DatabaseTypeName() != "UNSIGNED BIGINT" || types[9].DatabaseTypeName() != "UNSIGNED BIGINT" || types[10].DatabaseTypeName() != "DOUBLE" {
		t.Errorf("types %v, %v", types, err)
	}
}

// Statements of administration that init scripts, dumps and tools send.
func TestAdministration(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE a (id INT PRIMARY KEY, n INT, KEY n (n))", "INSERT INTO a VALUES (1, 1), (2, NULL)", "CREATE TABLE b LIKE a", "INSERT INTO b VALUES (2, NULL), (1, 1)",
		"FLUSH PRIVILEGES", "FLUSH TABLES", "FLUSH LOCAL TABLES a, b", "FLUSH NO_WRITE_TO_BINLOG LOGS", "FLUSH STATUS", "DO 1", "DO SLEEP(0), 2", "SET @x = 5", "/* c */ do 1;", "LOCK TABLES a READ, longitude.nodes READ", "UNLOCK TABLES")
	check := func(q, want string) {
		t.Helper()
		got, err := rows(s.root, q)
		if err != nil || strings.Join(got, "; ") != want {
			t.Errorf("%s: %s, %v; want %s", q, strings.Join(got, "; "), err, want)
		}
	}
	check("CHECK TABLE a, d.b", "d.a\tcheck\tstatus\tOK; d.b\tcheck\tstatus\tOK")
	check("CHECK TABLE `a` EXTENDED", "d.a\tcheck\tstatus\tOK")
	check("check table nothing", "d.nothing\tcheck\tError\tTable 'd.nothing' doesn't exist; d.nothing\tcheck\tstatus\tOperation failed")
	check("REPAIR TABLE a", "d.a\trepair\tnote\tThe storage engine for the table doesn't support repair")
	if got := s.query("OPTIMIZE TABLE a"); len(got) != 2 || got[1] != "d.a\toptimize\tstatus\tOK" {
		t.Error(got)
	}
	sums := s.query("CHECKSUM TABLE a, b, nothing")
	if len(sums) != 3 || strings.TrimPrefix(sums[0], "d.a\t") != strings.TrimPrefix(sums[1], "d.b\t") || sums[2] != "d.nothing\tNULL" {
		t.Error(sums)
	}
	s.exec("UPDATE b SET n = 5 WHERE id = 2")
	if again := s.query("CHECKSUM TABLE b"); again[0] == sums[1] {
		t.Error("the checksum of other rows is the same")
	}
	for q, want := range map[string]int{"FLUSH TABLES WITH READ LOCK": 1235, "CHECK TABLE": 1064, "DO": 1064, "DO nothing()": 1305} {
		if _, err := s.root.Exec(q); code(err) != want {
			t.Errorf("%s: %v", q, err)
		}
	}
	check("SELECT 1; CHECK TABLE a; DO 1; SELECT 2", "1")
	check("SELECT @x", "5")
}

// An index without a name that a column's UNIQUE makes gets the next free name, as Sequelize's sync({alter: true}) counts on.
func TestAlterUnique(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, email VARCHAR(50) UNIQUE)", "INSERT INTO t VALUES (1, 'a')",
		"ALTER TABLE t CHANGE email email VARCHAR(60) NOT NULL UNIQUE", "ALTER TABLE t MODIFY email VARCHAR(70) NOT NULL UNIQUE COMMENT 'c'", "ALTER TABLE t ADD COLUMN n INT UNIQUE")
	if got := s.query("SELECT GROUP_CONCAT(DISTINCT INDEX_NAME ORDER BY INDEX_NAME) FROM information_schema.STATISTICS WHERE TABLE_NAME = 't'"); got[0] != "email,email_2,email_3,n,PRIMARY" {
		t.Error(got)
	}
	if _, err := s.root.Exec("ALTER TABLE t ADD UNIQUE INDEX email (email)"); code(err) != 1061 {
		t.Errorf("an index with a name that is taken: %v", err)
	}
}

// sql_mode takes MySQL 8's values and gives them back in MySQL's order.
func TestSQLMode(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	if got := s.query("SELECT @@sql_mode"); got[0] != "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION" {
		t.Error(got)
	}
	for set, want := range map[string]string{"''": "", "'NO_ENGINE_SUBSTITUTION, strict_all_tables'": "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
		"'NO_KEY_OPTIONS,NO_TABLE_OPTIONS,NO_FIELD_OPTIONS'": "", "'ANSI'": "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI",
		"'TRADITIONAL'": "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,TRADITIONAL,NO_ENGINE_SUBSTITUTION",
		"CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')": "NO_AUTO_VALUE_ON_ZERO"} {
		s.exec("SET sql_mode = ''", "SET sql_mode = "+set)
		if got := s.query("SELECT @@sql_mode"); got[0] != want {
			t.Errorf("%s: %s", set, got)
		}
	}
	s.exec("SET sql_mode = ''", "SET @old = @@sql_mode, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "SET sql_mode = @old", "SET sql_mode = DEFAULT")
	for _, q := range []string{"SET sql_mode = 'NOTHING'", "SET sql_mode = NULL"} {
		if _, err := s.root.Exec(q); code(err) != 1231 {
			t.Errorf("%s: %v", q, err)
		}
	}
	if got := s.query("SELECT @@have_ssl, @@innodb_version, @@innodb_file_per_table"); got[0] != "DISABLED\t"+MySQLVersion+"\t1" {
		t.Error(got)
	}
}

func readerOf(text string) func() io.Reader {
	return func() io.Reader { return strings.NewReader(text) }
}

// LOAD DATA LOCAL, as the manual says. Doubled quotes were kept as two, so that imported CSV was other than the file.
func TestLoadData(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("SET GLOBAL local_infile = 1", "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(100), n INT NULL DEFAULT 9)")
	const csv = `FIELDS TERMINATED BY ',' ENCLOSED BY '"' LINES TERMINATED BY '\n'`
	for i, test := range []struct{ file, options, want string }{
		{"1,\"x \"\"y\"\"\",5\n2,\"a,b\nc\",\\N\n3,NULL,7\n4,\"NULL\",8\n", csv, "1|x \"y\"|5 2|a,b\nc|NULL 3|NULL|7 4|NULL text|8"},
		{"1,\"un\"quoted\",5\n2,mid\"dle,6\n3,\"\",7\n4,\"open", csv, "1|un\"quoted|5 2|mid\"dle|6 3||7 4|\"open|9"},
		{"1\ta\\tb\t1\n2\t\\N\t\\N\n3\tNULL\t3\n4\tline\\\nbreak\t4\n", "", "1|a\tb|1 2|NULL|NULL 3|NULL text|3 4|line\nbreak|4"},
		{"id,s\n1,x\r\n2,y", "FIELDS TERMINATED BY ',' LINES TERMINATED BY '\\r\\n' IGNORE 0 LINES", "0|s\n1|0 2|y|9"},
		{"h\nxxx1;;2;;3yyy\nskipped\nxxx4;;5;;6", "FIELDS TERMINATED BY ';;' LINES STARTING BY 'xxx' TERMINATED BY '\\n' IGNORE 1 LINES (n, id, @s) SET s = CONCAT(@s, '!')", "2|3yyy!|1 5|6!|4"},
		{"1,\\,x,2\n", "FIELDS TERMINATED BY ',' ESCAPED BY ''", "1|\\|0"},
		{"1,\xe4,2\n", "CHARACTER SET latin1 FIELDS TERMINATED BY ','", "1|ä|2"},
	} {
		name := fmt.Sprint("file", i)
		mysql.RegisterReaderHandler(name, readerOf(test.file))
		s.exec("DELETE FROM t")
		charset, options := "", test.options
		if strings.HasPrefix(options, "CHARACTER SET") {
			charset, options = "CHARACTER SET latin1 ", strings.TrimPrefix(options, "CHARACTER SET latin1 ")
		}
		if _, err := s.root.Exec("LOAD DATA LOCAL INFILE 'Reader::" + name + "' INTO TABLE t " + charset + options); err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		got := strings.Join(s.query("SELECT CONCAT_WS('|', id, IF(s = 'NULL', 'NULL text', IFNULL(s, 'NULL')), IFNULL(n, 'NULL')) FROM t ORDER BY id"), " ")
		if got != test.want {
			t.Errorf("%d: %q, want %q", i, got, test.want)
		}
	}
	s.exec("SET GLOBAL local_infile = 0")
	if _, err := s.root.Exec("LOAD DATA LOCAL INFILE 'Reader::file0' INTO TABLE t"); code(err) != 3948 {
		t.Error(err)
	}
}
