package engine

import (
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/explain"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// explainForm is what EXPLAIN is to show.
type explainForm uint8

const (
	noExplain explainForm = iota
	explainRows
	explainTree
	explainDocument
	explainAnalyze
)

// explainedQuery takes EXPLAIN with its options off a query; noExplain: the statement is none, or explains something else.
func explainedQuery(q string) (form explainForm, query string) {
	first := firstWord(q)
	switch strings.ToLower(first.text(q)) {
	case "explain", "describe", "desc":
	default:
		return noExplain, q
	}
	form, rest := explainRows, q[first.to:]
	for {
		w := firstWord(rest)
		switch strings.ToLower(w.text(rest)) {
		case "analyze":
			form, rest = explainAnalyze, rest[w.to:]
			continue
		case "format":
			value, ok := strings.CutPrefix(strings.TrimSpace(rest[w.to:]), "=")
			v := firstWord(value)
			switch f := strings.ToLower(v.text(value)); {
			case !ok:
				return noExplain, q
			case f == "tree":
				form = max(form, explainTree)
			case f == "json" && form == explainRows:
				form = explainDocument
			case f == "traditional" && form == explainRows:
			default:
				return noExplain, q
			}
			rest = value[v.to:]
			continue
		}
		if !beginsQuery(rest) && (!beginsChange(rest) || form == explainAnalyze) {
			return noExplain, q
		}
		return form, rest
	}
}

// explain answers with the plan of a query; of a statement that changes rows, if c is not nil, whose query it is.
func (x *execution) explain(sc *sql.Context, q *rel.Query, c *rel.Change) error {
	env := environment(sc)
	one := func(text string) error {
		return x.rowsOf(sc, sql.Schema{{Name: "EXPLAIN", Type: textType, Nullable: true}}, []sql.Row{{text}})
	}
	switch x.explains {
	case explainTree:
		if c != nil {
			return one(explain.ChangeTree(c, env))
		}
		return one(explain.Tree(q, env, nil))
	case explainDocument:
		text, err := explain.JSON(q, env)
		if err != nil {
			return err
		}
		return one(text)
	case explainAnalyze:
		began := time.Now()
		m := exec.NewMeasure(func() time.Duration { return time.Since(began) })
		if err := x.executeQuery(sc, q, m, nil); err != nil {
			return err
		}
		return one(explain.Tree(q, env, m))
	}
	var plain []*explain.Row
	if c != nil {
		plain = explain.ChangeTable(c, env)
	} else {
		plain = explain.Table(q, env)
	}
	var rows []sql.Row
	for _, r := range plain {
		row := make(sql.Row, len(explain.Columns))
		for i, cell := range r.Cells() {
			if cell == nil {
				continue
			}
			switch explain.Columns[i] {
			case "id", "rows":
				n, err := strconv.ParseUint(*cell, 10, 64)
				if err != nil {
					return err
				}
				row[i] = n
			case "filtered":
				f, err := strconv.ParseFloat(*cell, 64)
				if err != nil {
					return err
				}
				row[i] = f
			default:
				row[i] = *cell
			}
		}
		rows = append(rows, row)
	}
	return x.rowsOf(sc, plan.DescribeSchema, rows)
}
