package optimize_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/optimize"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

var update = flag.Bool("update", false, "write what is answered into the scripts")

// TestScripts optimizes the statements of testdata/*.txt. A line "table ..." declares a table with its size, "> ..." is a statement, and
// the lines "| ..." below it are its plan.
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
	q, err := bound(h, text)
	if err != nil {
		return err.Error() + "\n"
	}
	if err := optimize.Optimize(q, h.env, optimize.Options{}); err != nil {
		return err.Error() + "\n"
	}
	return rel.Format(q.Root)
}
