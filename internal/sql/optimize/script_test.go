package optimize_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/explain"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/optimize"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

var update = flag.Bool("update", false, "write what is answered into the scripts")

// TestScripts optimizes the statements of testdata/*.txt. A line "table ..." declares a table with its size, "> ..." is a statement, and
// the lines "| ..." below it are its plan. A statement behind "explain", "tree", "json" or "analyze" is shown by package explain.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) { runScript(t, f) })
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h := newHost()
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.HasPrefix(line, "| ") {
			t.Fatalf("%s:%d: an answer without a statement", file, i+1)
		}
		fmt.Fprintln(&out, line)
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "table":
			h.declare(t, rest)
		case "row":
			h.insert(t, rest)
		case ">":
			var want strings.Builder
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "| ") {
				i++
				fmt.Fprintln(&want, lines[i][2:])
			}
			got := planText(h, rest)
			if got != want.String() && !*update {
				t.Errorf("%s: %s\ngot\n%s\nwant\n%s", file, rest, got, want.String())
			}
			for _, l := range strings.Split(strings.TrimRight(got, "\n"), "\n") {
				fmt.Fprintln(&out, "| "+l)
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// bound is a statement as package bind makes it.
func bound(h *host, text string) (*rel.Query, error) {
	stmt, err := sqlparser.Parse(text)
	if err != nil {
		return nil, err
	}
	sel, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		return nil, errors.New("no query")
	}
	return bind.Bind(h, sel)
}

func planText(h *host, text string) string {
	form, rest, _ := strings.Cut(text, " ")
	switch form {
	case "explain", "tree", "json", "analyze":
		text = rest
	}
	q, err := bound(h, text)
	if err != nil {
		return err.Error() + "\n"
	}
	if err := optimize.Optimize(q, h.env, optimize.Options{}); err != nil {
		return err.Error() + "\n"
	}
	switch form {
	case "explain":
		return tableText(explain.Table(q, h.env))
	case "tree":
		return explain.Tree(q, h.env, nil)
	case "json":
		s, err := explain.JSON(q, h.env)
		if err != nil {
			return err.Error() + "\n"
		}
		return s + "\n"
	case "analyze":
		var now time.Duration
		m := exec.NewMeasure(func() time.Duration { now += time.Millisecond; return now })
		x := exec.New(q, h.env, &memSource{env: h.env}, exec.Options{MaxRecursion: 10, Measure: m})
		err := x.Open()
		for ok := err == nil; ok; {
			ok, err = x.Next(make([]expr.Value, len(q.Out)))
		}
		if err != nil {
			return err.Error() + "\n"
		}
		x.Close()
		return explain.Tree(q, h.env, m)
	}
	return rel.Format(q.Root)
}

func tableText(rows []*explain.Row) string {
	var b strings.Builder
	for _, r := range rows {
		var cells []string
		for _, c := range r.Cells() {
			if c == nil {
				cells = append(cells, "-")
			} else {
				cells = append(cells, *c)
			}
		}
		fmt.Fprintln(&b, strings.Join(cells, " | "))
	}
	return b.String()
}
