package engine

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// What normalize makes of a text, with its constants put back in, means what the text did.
func TestNormalize(t *testing.T) {
	for _, c := range []struct{ in, text, literals string }{
		{"SELECT a FROM t WHERE id = 17", "SELECT a FROM t WHERE id = ?", "17"},
		{"select 'it''s', `a 1` from t1 where x1 = 1.50 and y='\\n\\'' ;  ", "select ?, `a 1` from t1 where x1 = ? and y=? ", "'it's' 1.50 '\n''"},
		{"INSERT INTO t VALUES (1,-2,NULL,'ä')", "INSERT INTO t VALUES (?,-?,NULL,?)", "1 2 'ä'"},
		{"SELECT 1; SELECT 2", "", ""}, {"SELECT /* x */ 1", "", ""}, {"SELECT 1 -- x", "", ""}, {"SELECT 1 # x", "", ""}, {"SELECT \"a\"", "", ""}, {"SELECT ?", "", ""},
		{"SELECT 0x1f", "", ""}, {"SELECT x'1f'", "", ""}, {"SELECT 1e3", "", ""}, {"SELECT 1.", "", ""}, {"SELECT .5", "", ""}, {"SELECT N'a'", "", ""}, {"SELECT @a", "", ""},
		{"SELECT 'a", "", ""}, {"SELECT 'a\\", "", ""}, {"SELECT `a", "", ""}, {"SELECT 1a", "", ""}, {"SELECT :v1", "", ""}, {"SELECT t.1", "", ""},
	} {
		var s scratch
		if !s.normalize(c.in) {
			if c.text != "" {
				t.Errorf("%s: not normalized", c.in)
			}
			continue
		}
		if got := literalsText(&s); string(s.text) != c.text || got != c.literals {
			t.Errorf("%s: %q with %q, want %q with %q", c.in, s.text, got, c.text, c.literals)
		}
	}
	r := rand.New(rand.NewSource(1))
	pieces := []string{"SELECT a FROM t WHERE ", "b = ", "5", "-5", "1.25", "'x'", "''", "'a''b'", `'\\'`, `'\%'`, "'ä'", " AND ", " OR ", "(", ")", " IN (1, 2, 'c')", " LIMIT 3", "`c d`", "c1 + 2", "t.b", " - ", " -", "--", "/", "*",
		" = ", "x'41'", "_utf8mb4'x'", "DATE '2020-01-01'", ";", " ", "\n", "1 ", " 'y' 'z' ", "NULL", "b > 1e5", "#", "?", "@v"}
	same := 0
	for range 200_000 {
		var b strings.Builder
		b.WriteString(pieces[0])
		for range 1 + r.Intn(7) {
			b.WriteString(pieces[r.Intn(len(pieces))])
		}
		in := b.String()
		var s scratch
		if !s.normalize(in) {
			continue
		}
		was, err := sqlparser.Parse(keepLikeEscapes(strings.TrimRight(in, "; \n")))
		if err != nil {
			continue // the ordinary path says so, and nothing is learned
		}
		now, err := sqlparser.Parse(string(s.text))
		if err != nil {
			continue // there will be no plan
		}
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			if v, ok := n.(*sqlparser.SQLVal); ok && v.Type == sqlparser.ValArg {
				var at int
				if _, err := fmt.Sscanf(string(v.Val), ":v%d", &at); err != nil || at > len(s.literals) {
					t.Fatalf("%s: %s", in, v.Val)
				}
				l := s.literals[at-1]
				v.Val = l.text
				v.Type = map[literalKind]sqlparser.ValType{intLiteral: sqlparser.IntVal, decimalLiteral: sqlparser.FloatVal, textLiteral: sqlparser.StrVal}[l.kind]
			}
			return true, nil
		}, now)
		a, b2 := sqlparser.String(was), sqlparser.String(now)
		plain := strings.NewReplacer("- -", "", "--", "", " ", "").Replace // the parser joins signs and numbers
		if plain(a) != plain(b2) {
			t.Fatalf("%q means\n%s\nand normalized\n%s", in, a, b2)
		}
		same++
	}
	if same < 1000 {
		t.Errorf("only %d texts were compared", same)
	}
}

func literalsText(s *scratch) string {
	var out []string
	for _, l := range s.literals {
		text := string(l.text)
		if l.kind == textLiteral {
			text = "'" + text + "'"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// P3: a plan is not used beyond the version of the catalog that it was made for, whichever node changes the catalog.
func TestPlansFollowTheCatalog(t *testing.T) {
	c := startCluster(t, 2)
	a, b := c.nodes[0], c.nodes[1]
	a.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL)", "CREATE TABLE d.p (id INT PRIMARY KEY)")
	for i := range 6 {
		for range 3 {
			a.exec(fmt.Sprintf("REPLACE INTO d.t (id, n) VALUES (%d, 1)", i), fmt.Sprintf("INSERT INTO d.t (id, n) VALUES (%d, 1)", 100+a.next()))
			if got := a.query("SELECT * FROM d.t WHERE id = ?", i); strings.Count(got[0], "\t") != 1+i {
				t.Fatalf("with %d columns: %q", 2+i, got)
			}
		}
		b.exec(fmt.Sprintf("ALTER TABLE d.t ADD COLUMN c%d INT DEFAULT %d", i, i))
	}
	insert := func(id int) error {
		_, err := a.root.Exec("INSERT INTO d.t (id, n) VALUES (?, ?)", id, id)
		return err
	}
	for i := range 3 {
		if err := insert(1000 + i); err != nil {
			t.Fatal(err)
		}
	}
	b.exec("INSERT INTO d.p SELECT DISTINCT n FROM d.t", "ALTER TABLE d.t ADD CONSTRAINT f FOREIGN KEY (n) REFERENCES d.p (id)", "ALTER TABLE d.t ADD CHECK (id < 5000)")
	b.exec("INSERT INTO d.p VALUES (6000)")
	if err := insert(2000); code(err) != 1452 {
		t.Errorf("without its parent: %v", err)
	}
	if err := insert(6000); code(err) != 3819 {
		t.Errorf("against the check: %v", err)
	}
	b.exec("DROP TABLE d.t")
	if err := insert(3000); code(err) != 1146 {
		t.Errorf("into a dropped table: %v", err)
	}
}

// next gives numbers that were not given before.
func (s *member) next() int {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.given++
	return s.c.given
}

// A statement that is executed by a plan is in the list of processes, and KILL ends it.
func TestPlansAreSeenAndKilled(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "INSERT INTO d.t VALUES (1, 0)")
	ctx := context.Background()
	holder, err := s.root.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	waiter, err := s.root.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer waiter.Close()
	const update = "UPDATE d.t SET n = n + 1 WHERE id = 1"
	for range 2 {
		if _, err := waiter.ExecContext(ctx, update); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []string{"BEGIN", "SELECT n FROM d.t WHERE id = 1 FOR UPDATE"} {
		if _, err := holder.ExecContext(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	go func() {
		_, err := waiter.ExecContext(ctx, update)
		done <- err
	}()
	var id string
	for id == "" {
		for _, row := range s.query("SHOW PROCESSLIST") {
			if strings.Contains(row, update) {
				id, _, _ = strings.Cut(row, "\t")
			}
		}
	}
	s.exec("KILL QUERY " + id)
	if err := <-done; err == nil {
		t.Error("the statement was not ended")
	}
	if _, err := holder.ExecContext(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if _, err := waiter.ExecContext(ctx, update); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if got := s.query("SELECT n FROM d.t"); got[0] != "3" {
		t.Errorf("n is %s", got[0])
	}
	if got := s.query("SELECT compiled FROM longitude.statements WHERE digest_text LIKE 'UPDATE%'"); got[0] != "3" {
		t.Errorf("%s of the updates were executed by a plan", got[0])
	}
}
