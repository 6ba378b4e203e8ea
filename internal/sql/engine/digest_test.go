package engine

import (
	"strings"
	"testing"
)

func TestDigest(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT 1":                                                  "SELECT ?",
		"SELECT a FROM t WHERE id = 5;":                             "SELECT a FROM t WHERE id = ?",
		"SELECT  a\n FROM\tt WHERE id=5 ":                           "SELECT a FROM t WHERE id=?",
		"SELECT 'it''s', \"a\\\"b\", -1.5e-3":                       "SELECT ?..., -?",
		"SELECT x'1f', 0x1F, b'01', N'a', null":                     "SELECT ?..., null",
		"SELECT `a 1`, t1.c2 FROM t1":                               "SELECT `a 1`, t1.c2 FROM t1",
		"SELECT * FROM t WHERE id IN (1,2, 3)":                      "SELECT * FROM t WHERE id IN (?...)",
		"SELECT * FROM t WHERE id IN (1)":                           "SELECT * FROM t WHERE id IN (?)",
		"INSERT INTO t VALUES (1,'a'),(2, 'b'), (3,'c')":            "INSERT INTO t VALUES (?...) ...",
		"INSERT INTO t (a, b) VALUES (1, 2)":                        "INSERT INTO t (a, b) VALUES (?...)",
		"INSERT INTO t VALUES (1), (2)":                             "INSERT INTO t VALUES (?) ...",
		"INSERT INTO t VALUES (1, NOW()), (2, NOW())":               "INSERT INTO t VALUES (?, NOW()), (?, NOW())",
		"SELECT /* why */ 1 -- to the end\n, 2 # and on\nFROM dual": "SELECT ? , ? FROM dual",
		"SELECT '":       "SELECT ?",
		"SELECT 'a\\":    "SELECT ?",
		"SELECT /* open": "SELECT",
		"SELECT `open":   "SELECT `open",
		"SET @a = 1":     "SET @a = ?",
		"SELECT ?":       "SELECT ?",
		"":               "",
	} {
		if got := digest(query); got != want {
			t.Errorf("%q:\n got %q\nwant %q", query, got, want)
		}
	}
	long := "INSERT INTO t VALUES " + strings.Repeat("(1, 'x'), ", 100_000) + "(1, 'x')"
	if got := digest(long); got != "INSERT INTO t VALUES (?...) ..." {
		t.Errorf("a long list: %.100q", got)
	}
	if got := digest("SELECT " + strings.Repeat("a + ", 10_000)); len(got) > maxDigest+16 {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzDigest(f *testing.F) {
	f.Add("SELECT 'a', 1 FROM `t` WHERE x = 0x1f -- c")
	f.Fuzz(func(t *testing.T, q string) { digest(q) })
}

func BenchmarkDigest(b *testing.B) {
	q := "SELECT p.id, COUNT(*) FROM posts p JOIN likes l ON l.post_id = p.id WHERE p.author = 17 AND p.state IN (1, 2, 3) GROUP BY p.id ORDER BY 2 DESC LIMIT 10"
	b.ReportAllocs()
	for range b.N {
		digest(q)
	}
}
