package optimize_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/optimize"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

func newEnv() *expr.Env {
	return &expr.Env{Zone: time.UTC, Now: time.Date(2024, 1, 3, 0, 0, 0, 0, time.UTC), MaxPacket: 1 << 20, DivPrecision: 4,
		GroupConcatMax: 1024, Collation: expr.DefaultCollation, Interrupted: func() error { return nil }}
}

// randomQuery is a query over random tables, the keys that it is ordered by, and what must be the same; the same seed gives the same.
func randomQuery(seed uint64) (*rel.Query, []rel.SortKey, judged) {
	r := rand.New(rand.NewPCG(seed, 1))
	g := &generator{r: r, meta: &rel.Metadata{}, tables: randomTables(r)}
	q := &rel.Query{Meta: g.meta}
	if seed%2 == 1 {
		n, cols, how := g.focused()
		q.Root = n
		for _, id := range cols {
			q.Out = append(q.Out, rel.Output{Col: id, Nullable: true})
		}
		if l, ok := n.(*rel.Limit); ok {
			n = l.Child
		}
		if s, ok := n.(*rel.Sort); ok {
			return q, s.Keys, how
		}
		return q, nil, how
	}
	p := g.tree(1+r.IntN(4), nil)
	q.Root = p.n
	var keys []rel.SortKey
	if r.IntN(2) == 0 {
		s := &rel.Sort{Child: p.n}
		for range 1 + r.IntN(3) {
			s.Keys = append(s.Keys, rel.SortKey{Expr: g.meta.Ref(p.cols[r.IntN(len(p.cols))]), Desc: r.IntN(3) == 0})
		}
		keys = s.Keys
		q.Root = s
		q.Out = outputs(p.cols)
		return q, keys, rowsSame
	}
	q.Out = outputs(g.some(p.cols))
	return q, keys, rowsSame
}

func outputs(cols []rel.ColID) (out []rel.Output) {
	for _, id := range cols {
		out = append(out, rel.Output{Col: id, Nullable: true})
	}
	return out
}

// answer is the rows of a query as texts: what a collation takes for equal is the same.
func answer(q *rel.Query) (rows []string, reads int, err error) {
	env := newEnv()
	src := &memSource{env: env}
	x := exec.New(q, env, src, exec.Options{MaxRecursion: 100})
	if err := x.Open(); err != nil {
		return nil, 0, err
	}
	defer x.Close()
	out := make([]expr.Value, len(q.Out))
	for {
		ok, err := x.Next(out)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			return rows, src.reads, nil
		}
		rows = append(rows, rowText(q, out))
		if len(rows) > 20000 {
			return nil, 0, errTooMany
		}
	}
}

var errTooMany = errors.New("too many rows")

func rowText(q *rel.Query, row []expr.Value) string {
	var parts []string
	for i, v := range row {
		parts = append(parts, valueText(q.Meta.Columns[q.Out[i].Col].Type, v))
	}
	return strings.Join(parts, "|")
}

func valueText(t expr.Type, v expr.Value) string {
	if v.IsNull() {
		return "NULL"
	}
	if v.Kind() != t.Kind() {
		return fmt.Sprintf("kind %d in a column of kind %d", v.Kind(), t.Kind())
	}
	if v.Kind() == expr.KindText {
		return strings.ToLower(strings.TrimRight(v.RawText(), " ")) + strconv.Itoa(int(t.Collation))
	}
	s, err := expr.ToText(newEnv(), v)
	if err != nil {
		panic(err)
	}
	return s
}

// TestOptimizedPlansGiveTheSameRows: O1. LONGITUDE_SEED=n looks at one, LONGITUDE_SEEDS=n at so many.
func TestOptimizedPlansGiveTheSameRows(t *testing.T) {
	from, n := uint64(0), uint64(2000)
	if s := os.Getenv("LONGITUDE_SEED"); s != "" {
		from, _ = strconv.ParseUint(s, 10, 64)
		n = 1
	}
	if s := os.Getenv("LONGITUDE_SEEDS"); s != "" {
		n, _ = strconv.ParseUint(s, 10, 64)
	}
	failed, before, after, skipped, filled := 0, 0, 0, 0, 0
	seen := map[string]int{}
	for seed := from; seed < from+n; seed++ {
		want, plain, err := answerOf(seed, nil)
		if err != nil {
			skipped++
			continue
		}
		got, reads, err := answerOf(seed, &optimize.Options{})
		if msg := compareAnswers(seed, want, got, err); msg != "" {
			failed++
			t.Errorf("seed %d: %s\n%s", seed, msg, diagnose(seed, want))
			if failed > 3 {
				t.FailNow()
			}
			continue
		}
		before, after = before+plain, after+reads
		if len(want) > 0 {
			filled++
		}
		count(seed, seen)
	}
	t.Logf("%d rows read without rules, %d with; %d of %d statements not compared", before, after, skipped, n)
	t.Logf("%d with rows; plans with: %v", filled, seen)
	for _, what := range []string{"index", "reverse", "begins", "hash", "semi", "anti", "keep", "ordered", "limit"} {
		if n > 1000 && seen[what] < 3 {
			t.Errorf("only %d plans with %s", seen[what], what)
		}
	}
	if skipped > int(n)/10 && n > 100 {
		t.Errorf("%d of %d statements were not compared", skipped, n)
	}
}

// count counts what plans have.
func count(seed uint64, seen map[string]int) {
	q, _, _ := randomQuery(seed)
	if err := optimize.Optimize(q, newEnv(), optimize.Options{}); err != nil {
		return
	}
	s := rel.Format(q.Root)
	kinds := []string{"index", "reverse", "begins", "hash", "Join semi", "Join anti", " keep", "ordered", "limit", "subquery", "<=>"}
	for _, what := range kinds {
		if strings.Contains(s, what) {
			seen[strings.TrimPrefix(strings.TrimSpace(what), "Join ")]++
		}
	}
}

func answerOf(seed uint64, o *optimize.Options) (rows []string, reads int, err error) {
	defer func() {
		if p := recover(); p != nil && o != nil {
			err = fmt.Errorf("panic: %v", p)
			if os.Getenv("LONGITUDE_SEED") != "" {
				panic(p)
			}
		}
	}()
	q, _, _ := randomQuery(seed)
	if o != nil {
		if err := optimize.Optimize(q, newEnv(), *o); err != nil {
			return nil, 0, err
		}
	}
	return answer(q)
}

func compareAnswers(seed uint64, want, got []string, err error) string {
	if err != nil {
		return err.Error()
	}
	q, keys, how := randomQuery(seed)
	if a, b := keyColumns(q, keys, want), keyColumns(q, keys, got); !slices.Equal(a, b) {
		return fmt.Sprintf("the order differs:\nwant %q\n got %q", a, b)
	}
	if len(want) != len(got) {
		return fmt.Sprintf("there are %d rows instead of %d:\nwant %q\n got %q", len(got), len(want), want, got)
	}
	if how != rowsSame {
		return ""
	}
	a, b := slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	if !slices.Equal(a, b) {
		return fmt.Sprintf("the rows differ:\nwant %q\n got %q", a, b)
	}
	return ""
}

// keyColumns are the parts of rows that they are ordered by.
func keyColumns(q *rel.Query, keys []rel.SortKey, rows []string) (out []string) {
	for _, r := range rows {
		parts := strings.Split(r, "|")
		s := ""
		for _, k := range keys {
			for i, o := range q.Out {
				if o.Col == k.Expr.(*rel.Col).ID {
					s += parts[i] + "|"
				}
			}
		}
		out = append(out, s)
	}
	return out
}

// diagnose finds the rules without which the answer is right, and shows the plans.
func diagnose(seed uint64, want []string) string {
	var b strings.Builder
	typ := reflect.TypeOf(optimize.Options{})
	for i := range typ.NumField() {
		var o optimize.Options
		reflect.ValueOf(&o).Elem().Field(i).SetBool(true)
		got, _, err := answerOf(seed, &o)
		if compareAnswers(seed, want, got, err) == "" {
			fmt.Fprintf(&b, "right with %s\n", typ.Field(i).Name)
		}
	}
	q, _, _ := randomQuery(seed)
	b.WriteString(rel.Format(q.Root))
	if err := optimize.Optimize(q, newEnv(), optimize.Options{}); err == nil {
		b.WriteString("becomes\n" + rel.Format(q.Root))
	}
	return b.String()
}
