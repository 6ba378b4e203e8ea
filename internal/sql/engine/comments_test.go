package engine

import "testing"

// A stored program of a dump is kept without the marks of executable comments; other statements stay as they are.
func TestExecutedProgram(t *testing.T) {
	for written, want := range map[string]string{
		"/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER `a*/` BEFORE INSERT ON t FOR EACH ROW SET NEW.a = '*/ /*!' */": "CREATE            DEFINER=`root`@`localhost`            TRIGGER `a*/` BEFORE INSERT ON t FOR EACH ROW SET NEW.a = '*/ /*!'",
		"/*!50003 DROP PROCEDURE IF EXISTS `p` */":                          "DROP PROCEDURE IF EXISTS `p`",
		"CREATE PROCEDURE p() BEGIN /* plain */ SELECT 1; END":              "CREATE PROCEDURE p() BEGIN /* plain */ SELECT 1; END",
		"CREATE TABLE t (a INT, CHECK (a > 1) /*!80016 NOT ENFORCED */)":    "CREATE TABLE t (a INT, CHECK (a > 1) /*!80016 NOT ENFORCED */)",
		"/*!40000 DROP DATABASE IF EXISTS `function`*/":                     "/*!40000 DROP DATABASE IF EXISTS `function`*/",
		"/*!50001 CREATE VIEW `v` AS SELECT 1 AS `x` */":                    "/*!50001 CREATE VIEW `v` AS SELECT 1 AS `x` */",
		"SELECT /*!50000 1 */ AS `create procedure`":                        "SELECT /*!50000 1 */ AS `create procedure`",
		"/*!50003 CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1*/": "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1",
	} {
		if got := executedProgram(written); got != want {
			t.Errorf("%s\n   is %q\n   want %q", written, got, want)
		}
	}
}
