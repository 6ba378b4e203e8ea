package engine

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

// inPlace is how many GROUP BYs this node has counted in place.
func (s *member) inPlace() (n int) {
	for _, over := range []string{"groups", "join"} {
		var m dto.Metric
		_ = s.e.m.InPlace.WithLabelValues(over).Write(&m)
		n += int(m.GetCounter().GetValue())
	}
	return n
}

// expected says whether a statement is counted in place.
type expected uint8

const (
	no expected = iota
	yes
	either // as the plan is, which depends on the sizes of tables
)

// questions are statements that are counted in place, and some that are close to that and must not be.
var questions = []struct {
	in expected
	q  string
}{
	{yes, "SELECT COUNT(*) FROM c"},
	{yes, "SELECT COUNT(7), COUNT(id), COUNT(p) FROM c"},
	{no, "SELECT COUNT(NULL) FROM c WHERE p = 3"},
	{yes, "SELECT COUNT(*) FROM c WHERE p BETWEEN 2 AND 5 OR p = 9"},
	{yes, "SELECT COUNT(p), COUNT(*) FROM c WHERE p > 4"},
	{yes, "SELECT COUNT(*) FROM c WHERE p IS NULL"},
	{yes, "SELECT COUNT(*) FROM c WHERE p IN (1, 3, 77)"},
	{yes, "SELECT COUNT(*) FROM c WHERE id >= 20 AND id < 60"},
	{yes, "SELECT p, COUNT(*) FROM c GROUP BY p"},
	{yes, "SELECT p, COUNT(p), COUNT(*) FROM c GROUP BY p"},
	{yes, "SELECT COUNT(*), p AS x FROM c AS d WHERE p > 2 GROUP BY x HAVING COUNT(*) > 1 ORDER BY x DESC"},
	{yes, "SELECT k, COUNT(*) FROM c GROUP BY k"},
	{yes, "SELECT k FROM c GROUP BY k"},
	{yes, "SELECT n, COUNT(*) FROM c GROUP BY n"},
	{yes, "SELECT b, f, COUNT(*) FROM c GROUP BY b, f"},
	{yes, "SELECT f, b, COUNT(*) FROM c GROUP BY f, b"},
	{yes, "SELECT b, COUNT(*) FROM c GROUP BY b"},
	{yes, "SELECT u, COUNT(*) FROM c GROUP BY u"},
	{yes, "SELECT id, COUNT(*) FROM c GROUP BY id"},
	{yes, "SELECT MIN(p), MAX(p), COUNT(*) FROM c"},
	{yes, "SELECT MIN(id), MAX(id) FROM c"},
	{yes, "SELECT MIN(n), MAX(n), MIN(k) FROM c"},
	{yes, "SELECT MAX(at), MIN(at) FROM c"},
	{yes, "SELECT COUNT(*) FROM void"},
	{yes, "SELECT MIN(v), MAX(v), COUNT(v) FROM void"},
	{yes, "SELECT v, COUNT(*) FROM void GROUP BY v"},
	{yes, "SELECT p.id, p.title, COUNT(*) FROM p LEFT JOIN c ON p.id = c.p GROUP BY p.id ORDER BY COUNT(*) DESC, p.id"},
	{yes, "SELECT p.id, p.title, COUNT(c.id), COUNT(c.p), COUNT(p.title), COUNT(*) FROM p LEFT JOIN c ON c.p = p.id GROUP BY p.id, p.title"},
	{either, "SELECT p.id, COUNT(*) FROM p JOIN c ON p.id = c.p GROUP BY p.id"},
	{either, "SELECT p.title, MIN(p.id), COUNT(*) FROM p JOIN c ON p.id = c.p GROUP BY p.title"},
	{either, "SELECT COUNT(*) FROM p JOIN c ON p.id = c.p"},
	{yes, "SELECT COUNT(*), COUNT(c.id) FROM p LEFT JOIN c ON p.id = c.p"},
	{yes, "SELECT p.id, COUNT(*) FROM p LEFT JOIN c ON p.id = c.p WHERE p.id BETWEEN 3 AND 7 GROUP BY p.id"},
	{yes, "SELECT p.id, COUNT(*) FROM p LEFT JOIN c ON p.id = c.p WHERE p.id = 4 GROUP BY p.id"},
	{yes, "SELECT p.id, COUNT(c.id) FROM p LEFT JOIN c ON p.ref = c.p GROUP BY p.id"},
	{yes, "SELECT p.id, COUNT(c.id) FROM p LEFT JOIN c ON p.title = c.k GROUP BY p.id"},
	{yes, "SELECT p.id, COUNT(c.id) FROM p LEFT JOIN c ON p.big = c.p GROUP BY p.id"},
	{yes, "SELECT p.id, COUNT(void.id), COUNT(*) FROM p LEFT JOIN void ON p.id = void.v GROUP BY p.id"},
	{either, "SELECT p.id, COUNT(*) FROM p JOIN void ON p.id = void.v GROUP BY p.id"},
	{either, "SELECT x.p, COUNT(*) FROM c x JOIN c y ON x.id = y.p GROUP BY x.p"},
	{either, "SELECT p.id, q.title, COUNT(*) FROM p JOIN p q ON p.ref = q.id LEFT JOIN c ON q.id = c.p GROUP BY p.id, q.title"},
	{yes, "SELECT /*+ LOOKUP_JOIN(p,c) */ p.id, COUNT(*) FROM p LEFT JOIN c ON p.id = c.p GROUP BY p.id"},
	{yes, "SELECT /*+ LOOKUP_JOIN(p,c) */ p.id, COUNT(c.id) FROM p JOIN c ON p.title = c.k GROUP BY p.id"},
	{yes, "SELECT /*+ HASH_JOIN(p,c) */ p.id, COUNT(c.id) FROM p LEFT JOIN c ON p.id = c.p GROUP BY p.id"},
	{yes, "SELECT /*+ MERGE_JOIN(p,c) */ p.id, COUNT(c.id) FROM p JOIN c ON p.id = c.p GROUP BY p.id"},

	{no, "SELECT p.id, COUNT(c.n) FROM p LEFT JOIN c ON p.id = c.p GROUP BY p.id"},
	{no, "SELECT p.id, COUNT(*) FROM p LEFT JOIN c ON p.id = c.p AND c.n > 0 GROUP BY p.id"},
	{no, "SELECT p.id, COUNT(*) FROM p LEFT JOIN c ON p.id = c.p WHERE c.n > 0 GROUP BY p.id"},
	{no, "SELECT p.id, SUM(p.ref), COUNT(*) FROM p JOIN c ON p.id = c.p GROUP BY p.id"},
	{either, "SELECT c.p, COUNT(*) FROM p JOIN c ON p.id = c.p GROUP BY c.p"},
	{no, "SELECT p.id, COUNT(DISTINCT c.id) FROM p JOIN c ON p.id = c.p GROUP BY p.id"},
	{no, "SELECT p.id, COUNT(c.id) FROM p LEFT JOIN c ON p.id > c.p GROUP BY p.id"},
	{no, "SELECT COUNT(DISTINCT p) FROM c"},
	{no, "SELECT p + 1, COUNT(*) FROM c GROUP BY p + 1"},
	{no, "SELECT f, COUNT(*) FROM c GROUP BY f"},
	{no, "SELECT p, COUNT(n) FROM c GROUP BY p"},
	{no, "SELECT p, MIN(id) FROM c GROUP BY p"},
	{no, "SELECT MAX(k) FROM c"},
	{no, "SELECT MIN(e) FROM c"},
	{no, "SELECT l, COUNT(*) FROM c GROUP BY l"},
	{no, "SELECT COUNT(*) FROM c WHERE p = 3 AND n > 0"},
	{no, "SELECT COUNT(*) FROM c WHERE l = 'aaaa'"},
	{no, "SELECT COUNT(*) FROM c WHERE p = 3 FOR UPDATE"},
	{no, "SELECT COUNT(*) FROM (SELECT p FROM c LIMIT 5) d"},
}

const inPlaceTables = `
CREATE TABLE p (id INT PRIMARY KEY, title VARCHAR(20), ref INT, big BIGINT UNSIGNED);
CREATE TABLE c (id INT PRIMARY KEY, p INT, k VARCHAR(20), n DECIMAL(8,2), b VARBINARY(8), f DOUBLE, u BIGINT UNSIGNED UNIQUE, at DATETIME(3),
	l VARCHAR(30), e ENUM('z','a','m'), KEY (p), KEY (k), KEY (n), KEY (b, f), KEY (at), KEY (l(2)), KEY (e));
CREATE TABLE void (id INT PRIMARY KEY, v INT, KEY (v))`

// value draws one for a column, often one that others have, or that only differs in ways that collations ignore.
func value(r *rand.Rand, column string) string {
	if r.Intn(8) == 0 {
		return "NULL"
	}
	pick := func(vs ...string) string { return vs[r.Intn(len(vs))] }
	switch column {
	case "title", "k":
		return "'" + pick("a", "A", "á", "b", "B", "ab", "aB", "a ", "", "ß", "st", "世") + "'"
	case "n":
		return pick("0", "-1.5", "1.50", "2.25", "-0.01", "100000")
	case "b":
		return pick("''", "'a'", "0x6100", "0x00", "0x0001", "'b'")
	case "f":
		return pick("0", "-0.0", "1.5", "-1e30", "2")
	case "u":
		return fmt.Sprint(r.Uint64())
	case "at":
		return pick("'2020-01-01 00:00:00'", "'2020-01-01 00:00:00.5'", "'1969-01-01'")
	case "l":
		return "'" + pick("aaaa", "aabb", "AAAA", "bb") + "'"
	case "e":
		return "'" + pick("z", "a", "m") + "'"
	}
	return fmt.Sprint(r.Intn(14))
}

var columnsOf = map[string][]string{"p": {"title", "ref", "big"}, "c": {"p", "k", "n", "b", "f", "u", "at", "l", "e"}}

// change draws an insert, an update or a delete.
func change(r *rand.Rand) string {
	table := []string{"p", "c", "c", "c"}[r.Intn(4)]
	columns := columnsOf[table]
	id := r.Intn(map[string]int{"p": 14, "c": 120}[table])
	switch r.Intn(5) {
	case 0:
		return fmt.Sprintf("DELETE FROM %s WHERE id = %d", table, id)
	case 1:
		c := columns[r.Intn(len(columns))]
		return fmt.Sprintf("UPDATE %s SET %s = %s WHERE id = %d", table, c, value(r, c), id)
	}
	vs := []string{fmt.Sprint(id)}
	for _, c := range columns {
		vs = append(vs, value(r, c))
	}
	return fmt.Sprintf("INSERT IGNORE INTO %s VALUES (%s)", table, strings.Join(vs, ","))
}

// The same statements with counting in place and without, in transactions that have written and on three nodes, over ranges
// that cut through tables and indexes, in both orderings.
func TestCountedInPlace(t *testing.T) {
	c := startCluster(t, 3)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(2)
	s.exec("CREATE DATABASE d", "USE d")
	ctx := context.Background()
	conn, err := s.root.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(q string) {
		t.Helper()
		if _, err := conn.ExecContext(ctx, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	exec("USE d")
	for _, q := range strings.Split(inPlaceTables, ";") {
		exec(q)
	}
	c.waitReplicated()
	for i, at := range []string{"'p', 'PRIMARY', 5", "'c', 'p', 3", "'c', 'k', 'ab'", "'c', 'PRIMARY', 40", "'c', 'p', 8"} {
		exec(fmt.Sprintf("CALL longitude_split(%s)", at))
		exec(fmt.Sprintf("CALL longitude_move_lease(%s, %d)", at, c.nodes[i%3].id))
	}
	r := rand.New(rand.NewSource(1))
	for round := range 12 {
		exec("SET longitude_ordering = '" + []string{"wait", "uncertainty"}[round%2] + "'")
		for range 60 {
			exec(change(r))
		}
		compareInPlace(t, s, conn, fmt.Sprintf("round %d", round))
		exec("BEGIN")
		for range 1 + r.Intn(12) {
			exec(change(r))
		}
		compareInPlace(t, s, conn, fmt.Sprintf("round %d, own writes", round))
		exec([]string{"COMMIT", "ROLLBACK"}[r.Intn(2)])
	}
}

// folded is what several originals of a text that the collation takes for equal have in common.
var folded = strings.NewReplacer("ß", "ss", "A", "a", "á", "a", "B", "b")

func compareInPlace(t *testing.T, s *member, conn *sql.Conn, when string) {
	t.Helper()
	ask := func(on int, q string) []string {
		t.Helper()
		if _, err := conn.ExecContext(context.Background(), fmt.Sprintf("SET longitude_count_in_place = %d", on)); err != nil {
			t.Fatal(err)
		}
		got, err := rows(conn, q)
		if err != nil {
			t.Fatalf("%s, in place %d: %s: %v", when, on, q, err)
		}
		for i := range got {
			got[i] = folded.Replace(got[i])
		}
		if !strings.Contains(q, "ORDER BY") {
			slices.Sort(got)
		}
		return got
	}
	for _, q := range questions {
		want := ask(0, q.q)
		before := s.inPlace()
		got := ask(1, q.q)
		if in := s.inPlace() > before; q.in != either && in != (q.in == yes) {
			t.Errorf("%s: counted in place %t: %s", when, in, q.q)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %s\n in place %q\notherwise %q", when, q.q, got, want)
		}
	}
}
