package optimize_test

import (
	"errors"
	"flag"
	"fmt"
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
	"github.com/longitude-db/longitude/internal/sql/scripttest"
)

var update = flag.Bool("update", false, "write what is answered into the scripts")

// TestScripts optimizes the statements of testdata/*.txt. A line "table ..." declares a table with its size, "> ..." is a statement, and
// the lines "| ..." below it are its plan. A statement behind "explain", "tree", "json" or "analyze" is shown by package explain.
func TestScripts(t *testing.T) {
	scripttest.Run(t, *update, func() scripttest.Do {
		h := newHost()
		return func(t *testing.T, word, rest string) (string, bool) {
			switch word {
			case "table":
				h.declare(t, rest)
			case "row":
				h.insert(t, rest)
			case ">":
				return planText(h, rest), true
			}
			return "", false
		}
	})
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
