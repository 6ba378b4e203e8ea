package engine

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// connectors is what client libraries and tools say when they connect, and what they say for the settings that their users
// touch: isolation level, access mode, character set. want is the first row, its columns joined by "|"; "*": any.
var connectors = []struct {
	name  string
	talks []talk
}{
	{"mysql, the command line", []talk{
		{"select @@version_comment limit 1", "Longitude"},
		{"select USER()", "*"},
		{"show databases", "*"},
		{"SELECT DATABASE()", "d"},
		{"show tables", "t"},
		{"\nselect\n$$\n", "error"},
		{"SELECT CONNECTION_ID()", "*"},
	}},
	{"mysql-connector-j 8", []talk{
		{"/* mysql-connector-j-8.4.0 (Revision: 1c3f5c149e0bfe31c7fbeb24e2d260cd890972c4) */SELECT  @@session.auto_increment_increment AS auto_increment_increment, " +
			"@@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, " +
			"@@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, " +
			"@@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, " +
			"@@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, " +
			"@@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout", "*"},
		{"SHOW WARNINGS", "none"},
		{"SET character_set_results = NULL", "ok"},
		{"SET autocommit=1", "ok"},
		{"SET sql_mode='STRICT_TRANS_TABLES'", "ok"},
		{"SELECT @@session.transaction_isolation", "SERIALIZABLE"},
		{"SELECT @@session.tx_isolation", "SERIALIZABLE"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "ok"},
		{"SELECT @@session.transaction_isolation", "SERIALIZABLE"},
		{"set session transaction read only", "ok"},
		{"select @@session.transaction_read_only", "1"},
		{"INSERT INTO t VALUES (9, 9)", "error"},
		{"set session transaction read write", "ok"},
		{"select @@session.tx_read_only", "0"},
		{"SET autocommit=0", "ok"},
		{"SELECT @@session.autocommit", "0"},
		{"rollback", "ok"},
		{"SET SQL_SELECT_LIMIT=10", "ok"},
		{"SET SQL_SELECT_LIMIT=DEFAULT", "ok"},
		{"SHOW ENGINES", "*"},
		{"SHOW COLLATION", "*"},
		{"SHOW CHARACTER SET", "*"},
		{"SHOW FULL TABLES FROM `d` LIKE '%'", "t|BASE TABLE"},
		{"SHOW FULL COLUMNS FROM `t` FROM `d` LIKE '%'", "*"},
		{"SHOW KEYS FROM `t` FROM `d`", "*"},
	}},
	{"mysql-connector-java 5.1", []talk{
		{"/* mysql-connector-java-5.1.49 ( Revision: ad86f36e100e104cd926c6b81c8cab9565750116 ) */SELECT  @@session.auto_increment_increment AS auto_increment_increment, " +
			"@@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, " +
			"@@character_set_server AS character_set_server, @@collation_server AS collation_server, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, " +
			"@@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_buffer_length AS net_buffer_length, " +
			"@@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, " +
			"@@time_zone AS time_zone, @@transaction_isolation AS tx_isolation, @@wait_timeout AS wait_timeout", "*"},
		{"SHOW VARIABLES WHERE Variable_name ='language' OR Variable_name = 'net_write_timeout' OR Variable_name = 'interactive_timeout' OR Variable_name = 'wait_timeout' " +
			"OR Variable_name = 'character_set_client' OR Variable_name = 'tx_isolation' OR Variable_name = 'sql_mode'", "*"},
		{"SET NAMES utf8mb4", "ok"},
		{"SET SESSION tx_isolation = 'READ-COMMITTED'", "ok"},
		{"SET SESSION tx_isolation = 'repeatable-read'", "ok"},
		{"SELECT @@tx_isolation", "SERIALIZABLE"},
		{"SHOW VARIABLES LIKE 'tx_isolation'", "tx_isolation|SERIALIZABLE"},
		{"SHOW VARIABLES LIKE 'transaction_isolation'", "transaction_isolation|SERIALIZABLE"},
		{"SHOW SESSION VARIABLES LIKE 'transaction\\_isolation'", "transaction_isolation|SERIALIZABLE"},
	}},
	{"mariadb-java-client 3", []talk{
		{"set session_track_schema=1", "ok"},
		{"SELECT @@max_allowed_packet, @@wait_timeout", "*"},
		{"set autocommit=1, session_track_schema=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES')", "ok"},
		{"SELECT @@max_allowed_packet, @@system_time_zone, @@time_zone, @@auto_increment_increment", "*"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "ok"},
		{"SET SESSION TRANSACTION READ ONLY", "ok"},
		{"SET SESSION TRANSACTION READ WRITE", "ok"},
	}},
	{"PyMySQL", []talk{
		{"SET NAMES utf8mb4", "ok"},
		{"SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "ok"},
		{"SET AUTOCOMMIT = 0", "ok"},
		{"SET sql_mode='TRADITIONAL'", "ok"},
		{"SHOW WARNINGS", "none"},
		{"COMMIT", "ok"},
		{"SET AUTOCOMMIT = 1", "ok"},
	}},
	{"mysqlclient, Django", []talk{
		{"SET NAMES utf8mb4", "ok"},
		{"SELECT VERSION(),\n       @@sql_mode,\n       @@default_storage_engine,\n       @@sql_auto_is_null,\n       @@lower_case_table_names,\n       CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC') IS NOT NULL", "*"},
		{"SET SQL_AUTO_IS_NULL = 0", "ok"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; SET SQL_AUTO_IS_NULL = 0", "ok"},
		{"SELECT @@SQL_AUTO_IS_NULL", "0"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "ok"},
		{"SELECT engine, support FROM information_schema.engines WHERE support = 'DEFAULT'", "*"},
		{"SELECT table_name, table_type, table_comment FROM information_schema.tables WHERE table_schema = DATABASE()", "t|BASE TABLE|"},
		{"SHOW FULL TABLES", "t|BASE TABLE"},
		{"SET foreign_key_checks = 0", "ok"},
		{"SET foreign_key_checks = 1", "ok"},
		{"SAVEPOINT `s140_x1`", "ok"},
	}},
	{"SQLAlchemy", []talk{
		{"SELECT DATABASE()", "d"},
		{"SELECT @@sql_mode", "*"},
		{"SELECT @@lower_case_table_names", "*"},
		{"SELECT VERSION()", "*"},
		{"SELECT @@transaction_isolation", "SERIALIZABLE"},
		{"SHOW VARIABLES LIKE 'sql_mode'", "*"},
		{"SHOW VARIABLES LIKE 'lower_case_table_names'", "*"},
		{"SELECT CAST('test plain returns' AS CHAR(60)) AS anon_1", "test plain returns"},
		{"SELECT CAST('test collated returns' AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_bin AS anon_1", "test collated returns"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "ok"},
		{"ROLLBACK", "ok"},
		{"DESCRIBE `d`.`t`", "*"},
		{"SHOW CREATE TABLE `d`.`t`", "*"},
		{"XA BEGIN 'x'", "error"},
	}},
	{"mysql2 and mysql for Node.js, Sequelize, TypeORM, Knex", []talk{
		{"SELECT VERSION() as `version`", "*"},
		{"SELECT VERSION() AS `version`, DATABASE() AS `db_name`", "*"},
		{"SELECT 1+1 AS result", "2"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;", "ok"},
		{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED;", "ok"},
		{"START TRANSACTION;", "ok"},
		{"SET autocommit = 1;", "ok"},
		{"COMMIT;", "ok"},
		{"SET time_zone = '+00:00'", "ok"},
		{"SET SESSION sql_mode = 'ANSI_QUOTES'", "ok"},
		{"SELECT * FROM `INFORMATION_SCHEMA`.`COLUMNS` WHERE `TABLE_SCHEMA` = 'd' AND `TABLE_NAME` = 't'", "*"},
		{"SELECT @@session.time_zone", "+00:00"},
	}},
	{"mysql_async and sqlx for Rust, Prisma", []talk{
		{"SELECT @@max_allowed_packet, @@wait_timeout", "*"},
		{"SELECT @@socket", "*"},
		{"SELECT @@max_allowed_packet,@@wait_timeout,@@socket", "*"},
		{"SET sql_mode=(SELECT CONCAT(@@sql_mode, ',PIPES_AS_CONCAT,NO_ENGINE_SUBSTITUTION')),time_zone='+00:00',NAMES utf8mb4 COLLATE utf8mb4_unicode_ci;", "ok"},
		{"SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "ok"},
		{"START TRANSACTION READ ONLY", "ok"},
		{"ROLLBACK", "ok"},
		{"SELECT @@GLOBAL.version", "*"},
		{"SELECT @@version, @@GLOBAL.version", "*"},
	}},
	{"PDO and mysqli for PHP, Laravel, WordPress", []talk{
		{"set names 'utf8mb4' collate 'utf8mb4_unicode_ci'", "ok"},
		{"SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_520_ci'", "ok"},
		{"use `d`;", "ok"},
		{"set session sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'", "ok"},
		{"SELECT @@SESSION.sql_mode", "*"},
		{"SET SESSION sql_mode='NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION'", "ok"},
		{"set time_zone=\"+00:00\"", "ok"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "ok"},
		{"SHOW VARIABLES LIKE 'max_allowed_packet'", "*"},
	}},
	{"Ruby on Rails", []talk{
		{"SELECT VERSION()", "*"},
		{"SET  @@SESSION.sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'),  @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483", "ok"},
		{"SET NAMES utf8mb4,  @@SESSION.sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'),  @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483", "ok"},
		{"SHOW VARIABLES LIKE 'innodb_file_format'", "none"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "ok"},
		{"BEGIN", "ok"},
		{"SAVEPOINT active_record_1", "ok"},
		{"RELEASE SAVEPOINT active_record_1", "ok"},
		{"COMMIT", "ok"},
		{"SELECT @@max_allowed_packet", "*"},
	}},
	{"Connector/NET and MySqlConnector", []talk{
		{"SHOW VARIABLES", "*"},
		{"SELECT TIMEDIFF(NOW(), UTC_TIMESTAMP())", "*"},
		{"SHOW COLLATION", "*"},
		{"SET character_set_results=NULL", "ok"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "ok"},
		{"BEGIN", "ok"},
		{"COMMIT", "ok"},
		{"set session transaction isolation level read committed; start transaction read only", "ok"},
		{"rollback", "ok"},
		{"set session transaction isolation level repeatable read; start transaction with consistent snapshot", "ok"},
		{"rollback", "ok"},
		{"SELECT @@session.sql_mode, @@lower_case_table_names, CONNECTION_ID(), VERSION()", "*"},
	}},
	{"mysqldump", []talk{
		{"/*!40100 SET @@SQL_MODE='' */", "ok"},
		{"/*!40103 SET TIME_ZONE='+00:00' */", "ok"},
		{"/*!80000 SET SESSION information_schema_stats_expiry=0 */", "ok"},
		{"SET SESSION NET_READ_TIMEOUT= 86400, SESSION NET_WRITE_TIMEOUT= 86400", "ok"},
		{"SHOW VARIABLES LIKE 'gtid\\_mode'", "*"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "ok"},
		{"START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */", "ok"},
		{"UNLOCK TABLES", "ok"},
		{"SHOW TABLES LIKE 't'", "t"},
		{"SET SQL_QUOTE_SHOW_CREATE=1", "ok"},
		{"SET SESSION character_set_results = 'binary'", "ok"},
		{"show create table `t`", "*"},
		{"SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`", "1|1"},
		{"ROLLBACK", "ok"},
	}},
}

// talk is a statement and its answer: the first row, "none" if there is none, "ok" of a statement without rows, "error".
type talk struct{ say, want string }

// TestConnectors says to a node what client libraries say to MySQL when they connect.
func TestConnectors(t *testing.T) {
	c := startCluster(t, 1)
	c.nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 1)")
	for _, lib := range connectors {
		t.Run(lib.name, func(t *testing.T) {
			db := c.nodes[0].open(t, "multiStatements=true")
			defer db.Close()
			x, err := db.Conn(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			if _, err := x.ExecContext(context.Background(), "USE d"); err != nil {
				t.Fatal(err)
			}
			for _, k := range lib.talks {
				got := firstRow(x, k.say)
				failed := strings.HasPrefix(got, "error")
				if (failed && k.want != "error") || (k.want != "*" && k.want != got && !(failed && k.want == "error")) {
					t.Errorf("%s\n  got  %s\n  want %s", k.say, got, k.want)
				}
			}
		})
	}
}

// firstRow is what a statement answers, as in talk; of several the first one's, unless a later one fails.
func firstRow(x *sql.Conn, say string) (answer string) {
	rows, err := x.QueryContext(context.Background(), say)
	if err != nil {
		return "error: " + err.Error()
	}
	defer func() {
		for rows.NextResultSet() {
		}
		if err := rows.Err(); err != nil {
			answer = "error: " + err.Error()
		}
		_ = rows.Close()
	}()
	names, err := rows.Columns()
	if err != nil {
		return "error: " + err.Error()
	}
	if len(names) == 0 {
		if err := rows.Err(); err != nil {
			return "error: " + err.Error()
		}
		return "ok"
	}
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return "error: " + err.Error()
		}
		return "none"
	}
	values, at := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range values {
		at[i] = &values[i]
	}
	if err := rows.Scan(at...); err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, v := range values {
		out = append(out, v.String)
	}
	return strings.Join(out, "|")
}

// TestDriverIsolation is what database/sql offers: every level that it can name and MySQL has, and read-only.
func TestDriverIsolation(t *testing.T) {
	c := startCluster(t, 1)
	c.nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
	n := 0
	for _, level := range []sql.IsolationLevel{sql.LevelDefault, sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		for _, readOnly := range []bool{false, true} {
			t.Run(fmt.Sprint(level, " read-only ", readOnly), func(t *testing.T) {
				tx, err := c.nodes[0].root.BeginTx(context.Background(), &sql.TxOptions{Isolation: level, ReadOnly: readOnly})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = tx.Rollback() }()
				var is string
				if err := tx.QueryRow("SELECT @@transaction_isolation").Scan(&is); err != nil || is != "SERIALIZABLE" {
					t.Errorf("the level is %q, %v", is, err)
				}
				n++
				_, err = tx.Exec("INSERT INTO d.t VALUES (?, 0)", n)
				if want := map[bool]int{true: 1792}[readOnly]; code(err) != want {
					t.Errorf("INSERT: %v, want error %d", err, want)
				}
				if err := tx.Commit(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	// The access mode of one transaction is not that of the next.
	if _, err := c.nodes[0].root.Exec("INSERT INTO d.t VALUES (100, 0)"); err != nil {
		t.Error(err)
	}
}
