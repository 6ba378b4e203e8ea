package routine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// Programs and what Parse makes of them: their header, or MySQL's error.
func TestParse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"CREATE PROCEDURE p() SELECT 1", "0 p [] SELECT 1"},
		{"create definer=`a`@`b` procedure if not exists `we``ird`.q (in a int, out `b` varchar(10) charset latin1, inout c decimal(10,2)) comment 'it''s' " +
			"not deterministic reads sql data sql security invoker begin end",
			"0 q [{a 0 int} {b 1 varchar(10) charset latin1} {c 2 decimal(10,2)}] READS SQL DATA invoker it's begin end"},
		{"CREATE FUNCTION f(a INT) RETURNS VARCHAR(30) CHARSET utf8mb4 COLLATE utf8mb4_bin DETERMINISTIC RETURN CASE WHEN a THEN 'x;' END",
			"1 f [{a 0 INT}] returns VARCHAR(30) CHARSET utf8mb4 COLLATE utf8mb4_bin RETURN CASE WHEN a THEN 'x;' END"},
		{"CREATE FUNCTION f() RETURNS INT UNSIGNED RETURN 1", "1 f [] returns INT UNSIGNED RETURN 1"},
		{"CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW FOLLOWS b SET NEW.x = 1", "2 t [] BEFORE INSERT a FOLLOWS b SET NEW.x = 1"},
		{"CREATE PROCEDURE p() BEGIN IF a THEN SELECT 1; ELSEIF b THEN BEGIN END; ELSE SELECT 2; END IF; END", "0 p [] BEGIN IF a THEN SELECT 1; ELSEIF b THEN BEGIN END; ELSE SELECT 2; END IF; END"},
		{"CREATE PROCEDURE p() a: BEGIN b: LOOP LEAVE a; ITERATE b; END LOOP b; END a", "0 p [] a: BEGIN b: LOOP LEAVE a; ITERATE b; END LOOP b; END a"},
		{"CREATE PROCEDURE p() SELECT 1; SELECT 2", "1064"},
		{"CREATE PROCEDURE p() BEGIN SELECT 1 END", "1064"},
		{"CREATE PROCEDURE p(a INT, A INT) BEGIN END", "1330"},
		{"CREATE PROCEDURE p() BEGIN DECLARE a, a INT; END", "1331"},
		{"CREATE PROCEDURE p() BEGIN DECLARE c CONDITION FOR 1; DECLARE c CONDITION FOR 2; END", "1332"},
		{"CREATE PROCEDURE p() BEGIN DECLARE c CURSOR FOR SELECT 1; DECLARE c CURSOR FOR SELECT 1; END", "1333"},
		{"CREATE PROCEDURE p() BEGIN DECLARE c CURSOR FOR SELECT 1; DECLARE a INT; END", "1337"},
		{"CREATE PROCEDURE p() BEGIN DECLARE EXIT HANDLER FOR NOT FOUND BEGIN END; DECLARE c CURSOR FOR SELECT 1; END", "1338"},
		{"CREATE PROCEDURE p() LEAVE a", "1308"},
		{"CREATE PROCEDURE p() a: BEGIN ITERATE a; END", "1308"},
		{"CREATE PROCEDURE p() a: BEGIN a: BEGIN END; END", "1309"},
		{"CREATE PROCEDURE p() a: BEGIN END b", "1310"},
		{"CREATE PROCEDURE p() a: LOOP BEGIN DECLARE EXIT HANDLER FOR NOT FOUND LEAVE a; END; END LOOP", "1308"},
		{"CREATE PROCEDURE p() RETURN 1", "1313"},
		{"CREATE PROCEDURE p() USE d", "1314"},
		{"CREATE PROCEDURE p() SIGNAL c", "1319"},
		{"CREATE FUNCTION f() RETURNS INT BEGIN END", "1320"},
		{"CREATE PROCEDURE p() OPEN c", "1324"},
		{"CREATE PROCEDURE p() BEGIN DECLARE c CURSOR FOR SELECT 1; FETCH c INTO x; END", "1327"},
		{"CREATE TRIGGER t AFTER UPDATE ON a FOR EACH ROW SET OLD.x = 1", "1362"},
		{"CREATE PROCEDURE p() BEGIN DECLARE EXIT HANDLER FOR SQLSTATE '00000' BEGIN END; END", "1407"},
		{"CREATE FUNCTION f() RETURNS INT BEGIN SELECT 1; RETURN 1; END", "1415"},
		{"CREATE TRIGGER t AFTER UPDATE ON a FOR EACH ROW COMMIT", "1422"},
	} {
		if got := describe(Parse(test.text, false)); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

// describe is a program, or the code of the error.
func describe(p *Program, err error) string {
	var e *expr.Error
	if errors.As(err, &e) {
		return fmt.Sprint(e.Code)
	}
	if err != nil {
		return err.Error()
	}
	out := []string{fmt.Sprint(int(p.Kind)), p.Name, fmt.Sprint(p.Params)}
	if p.Returns != "" {
		out = append(out, "returns", p.Returns)
	}
	for _, s := range []string{p.Time, p.Event, p.Table, p.Order, p.Other, p.Access} {
		if s != "" {
			out = append(out, s)
		}
	}
	if p.Invoker {
		out = append(out, "invoker")
	}
	if p.Comment != "" {
		out = append(out, p.Comment)
	}
	return strings.Join(append(out, p.BodyText), " ")
}

// The first statement of a text ends behind the program, whatever semicolons there are in it.
func TestEnd(t *testing.T) {
	text := "CREATE PROCEDURE p() BEGIN SELECT ';'; END; CALL p()"
	if got := text[End(text):]; got != "; CALL p()" {
		t.Errorf("behind the program: %q", got)
	}
	if text = "CREATE PROCEDURE p() BEGIN SELECT 1 END; CALL p()"; End(text) != len(text) {
		t.Error("what cannot be parsed is not all of the text")
	}
}

// Parse ends with a tree or an error whatever it is given.
func FuzzParse(f *testing.F) {
	f.Add("CREATE PROCEDURE p(a INT) BEGIN DECLARE c CURSOR FOR SELECT 1; IF a THEN SET a = (1); END IF; END")
	f.Add("CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET NEW.x = 1")
	f.Fuzz(func(_ *testing.T, text string) {
		if p, err := Parse(text, false); err == nil {
			_ = p.RowRefs()
		}
	})
}
