package optimize_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/optimize"
)

func optimized(t *testing.T, h *host, text string) []string {
	q, err := bound(h, text)
	if err != nil {
		t.Fatal(err)
	}
	if err := optimize.Optimize(q, h.env, optimize.Options{}); err != nil {
		t.Fatal(err)
	}
	rows, _, err := answer(q)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(rows)
	return rows
}

// TestManyTables: more tables are joined than a word has bits, and each condition is checked where all that it reads is there.
func TestManyTables(t *testing.T) {
	h := newHost()
	h.declare(t, "t(id int,x int,primary PRIMARY id) 3")
	for i := range 3 {
		h.insert(t, fmt.Sprintf("t %d %d", i, (i+1)%3))
	}
	var q strings.Builder
	q.WriteString("SELECT t0.id, t69.id FROM t t0")
	for i := 1; i < 70; i++ {
		fmt.Fprintf(&q, " JOIN t t%d ON t%d.id = t%d.x", i, i, i-1)
	}
	got, want := optimized(t, h, q.String()), []string{"0 0", "1 1", "2 2"}
	for i := range got {
		got[i] = strings.Join(strings.FieldsFunc(got[i], func(r rune) bool { return r < '0' || r > '9' }), " ")
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q of 70 tables, want %q", got, want)
	}
}

// TestNamesOfNames: names of WITH, each of which reads the one before it twice, are looked at once each. (Else this takes 2^60 steps.)
func TestNamesOfNames(t *testing.T) {
	var q strings.Builder
	q.WriteString("WITH c0 AS (SELECT 1 n)")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&q, ", c%d AS (SELECT a.n FROM c%d a JOIN c%d b ON a.n = b.n)", i, i-1, i-1)
	}
	if got := optimized(t, newHost(), q.String()+" SELECT * FROM c59"); len(got) != 1 {
		t.Errorf("rows %q, want one", got)
	}
}
