package explain

import (
	"fmt"
	"math"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/optimize"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Row is a row of EXPLAIN: a table in the order in which they are read. Empty texts, and numbers below zero, are NULL.
type Row struct {
	ID           int // 0: NULL
	SelectType   string
	Table        string
	Type         string
	PossibleKeys []string
	Key          string
	KeyLen       string
	Ref          []string
	Rows         int64
	Filtered     float64
	Extra        []string

	scan *rel.Scan
	on   []expr.Node
	uses *namer
}

// Columns are the names of the table's columns, in order; Cells gives what stands in them.
var Columns = []string{"id", "select_type", "table", "partitions", "type", "possible_keys", "key", "key_len", "ref", "rows", "filtered",
	"Extra"}

// Cells are the row's columns as texts; nil is NULL.
func (r *Row) Cells() []*string {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	id, rows, filtered := "", "", ""
	if r.ID > 0 {
		id = number(r.ID)
	}
	if r.Rows >= 0 {
		rows, filtered = fmt.Sprint(r.Rows), fmt.Sprintf("%.2f", r.Filtered)
	}
	return []*string{text(id), text(r.SelectType), text(r.Table), nil, text(r.Type), text(strings.Join(r.PossibleKeys, ",")), text(r.Key),
		text(r.KeyLen), text(strings.Join(r.Ref, ",")), text(rows), text(filtered), text(strings.Join(r.Extra, "; "))}
}

// Table is EXPLAIN FORMAT=TRADITIONAL of an optimized query.
func Table(q *rel.Query, env *expr.Env) []*Row {
	w := &tableWriter{namer: newNamer(q), q: q, env: env, done: map[any]bool{}}
	kind := "SIMPLE"
	if len(w.numbers) > 0 {
		kind = "PRIMARY"
	}
	w.block(q.Root, 1, kind)
	for len(w.later) > 0 {
		next := w.later[0]
		w.later = w.later[1:]
		next()
	}
	return w.rows
}

type tableWriter struct {
	*namer
	q     *rel.Query
	env   *expr.Env
	rows  []*Row
	later []func()
	done  map[any]bool
}

// block is one SELECT.
type block struct {
	id              int
	kind            string
	sort, temporary bool
	rows            []*Row
}

func (w *tableWriter) block(n rel.Node, id int, kind string) {
	if s := setBelow(n); s != nil {
		w.set(n, s, id, kind)
		return
	}
	b := &block{id: id, kind: kind}
	w.node(n, b, false, nil)
	if len(b.rows) == 0 {
		w.add(b, &Row{Rows: -1, Extra: []string{"No tables used"}})
	}
	first := b.rows[0]
	if b.temporary {
		first.Extra = append(first.Extra, "Using temporary")
	}
	if b.sort {
		first.Extra = append(first.Extra, "Using filesort")
	}
}

// setBelow is the set operation that a block consists of, below its ORDER BY and LIMIT.
func setBelow(n rel.Node) rel.Node {
	for {
		switch m := n.(type) {
		case *rel.SetOp:
			return m
		case *rel.Recursive:
			return m
		case *rel.Sort:
			n = m.Child
		case *rel.Limit:
			n = m.Child
		case *rel.Project:
			n = m.Child
		default:
			return nil
		}
	}
}

// set is UNION and the like: the first SELECT has the number of the whole.
func (w *tableWriter) set(top, n rel.Node, id int, kind string) {
	sort := false
	for m := top; m != n; m = m.Children()[0] {
		if _, is := m.(*rel.Sort); is {
			sort = true
		}
	}
	cs := n.Children()
	w.block(cs[0], id, kind)
	right := w.numbers[rightOf{n}]
	name, all := "UNION", false
	switch m := n.(type) {
	case *rel.SetOp:
		name, all = [...]string{"UNION", "INTERSECT", "EXCEPT"}[m.Kind], m.All && m.Kind == rel.Union
		if strings.HasPrefix(kind, "DEPENDENT") {
			name = "DEPENDENT " + name
		}
	case *rel.Recursive:
		all = true
	}
	w.block(cs[1], right, name)
	if all && !sort {
		return
	}
	sides := fmt.Sprintf("<%s%d,%d>", strings.ToLower(strings.TrimPrefix(name, "DEPENDENT ")), id, right)
	r := &Row{SelectType: name + " RESULT", Table: sides, Type: "ALL", Rows: -1, Extra: []string{"Using temporary"}}
	if sort {
		r.Extra = append(r.Extra, "Using filesort")
	}
	w.rows = append(w.rows, r)
}

func (w *tableWriter) add(b *block, r *Row) *Row {
	r.ID, r.SelectType = b.id, b.kind
	b.rows = append(b.rows, r)
	w.rows = append(w.rows, r)
	return r
}

// node adds the tables of a plan to a block. table: it stands where a table would; on are the conditions of the join that it is the right
// side of.
func (w *tableWriter) node(n rel.Node, b *block, table bool, on []expr.Node) {
	w.subqueries(n)
	if table && isDerived(n) {
		id := w.numbers[n]
		w.add(b, &Row{Table: fmt.Sprintf("<derived%d>", id), Type: "ALL", Rows: w.estimate(n), Filtered: 100})
		kind := "DERIVED"
		w.later = append(w.later, func() { w.block(n, id, kind) })
		return
	}
	switch n := n.(type) {
	case *rel.Scan:
		w.add(b, w.scan(n, on))
		return
	case *rel.Values:
		if len(n.Rows) == 0 {
			w.add(b, &Row{Rows: -1, Extra: []string{"Impossible WHERE"}})
		}
		return
	case *rel.SharedScan:
		id := w.numbers[n.From]
		w.add(b, &Row{Table: fmt.Sprintf("<derived%d>", id), Type: "ALL", Rows: w.estimate(n), Filtered: 100})
		if !w.done[n.From] {
			w.done[n.From] = true
			w.later = append(w.later, func() { w.block(n.From.Plan, id, "DERIVED") })
		}
		return
	case *rel.WorkScan:
		r := w.add(b, &Row{Table: n.From.Name, Type: "ALL", Rows: w.estimate(n), Filtered: 100})
		r.Extra = append(r.Extra, "Recursive")
		return
	case *rel.Sort:
		b.sort = true
	case *rel.Group:
		b.temporary = b.temporary || !n.Scalar && !n.Ordered
	case *rel.Distinct, *rel.Window:
		b.temporary = true
	case *rel.Join:
		w.join(n, b)
		return
	}
	_, groups := n.(*rel.Group)
	for _, c := range n.Children() {
		w.node(c, b, groups || table && passes(n), on)
	}
}

func (w *tableWriter) join(n *rel.Join, b *block) {
	w.node(n.Left, b, true, nil)
	at := len(b.rows)
	w.node(n.Right, b, true, n.On)
	if at == len(b.rows) {
		return
	}
	r := b.rows[at]
	note := func(s string) { r.Extra = append(r.Extra, s) }
	if len((&treeWriter{namer: w.namer}).unlooked(n)) > 0 && !strings.Contains(strings.Join(r.Extra, ";"), "Using where") {
		note("Using where")
	}
	switch n.Kind {
	case rel.Semi:
		note("FirstMatch")
	case rel.Anti:
		note("Not exists")
	}
	switch {
	case n.Hash != nil:
		note("Using join buffer (hash join)")
	case n.Keep:
		note("Using join buffer (Block Nested Loop)")
	}
}

func (w *tableWriter) estimate(n rel.Node) int64 {
	return int64(math.Ceil(optimize.Rows(w.q, w.env, n)))
}

// scan is the row of a table.
func (w *tableWriter) scan(s *rel.Scan, on []expr.Node) *Row {
	out := w.estimate(s)
	r := &Row{Table: s.Alias, Type: accessType(s), Rows: out, Filtered: 100, PossibleKeys: possibleKeys(s, on)}
	r.scan, r.on, r.uses = s, on, w.namer
	switch r.Type {
	case "ALL", "index":
		if whole := int64(math.Ceil(s.Table.Rows())); whole > out {
			r.Rows = whole
			r.Filtered = math.Max(1, math.Round(float64(out)/float64(whole)*10000)/100)
		}
	case "const", "eq_ref":
		r.Rows = 1
	}
	if s.Access != nil {
		r.Key, r.KeyLen = s.Access.Index.Name(), number(keyLength(s))
		if r.Type == "const" || r.Type == "eq_ref" || r.Type == "ref" {
			r.Ref = w.refs(s)
		}
	}
	if checks(s) {
		r.Extra = append(r.Extra, "Using where")
	}
	if s.Access != nil && s.Access.Reverse {
		r.Extra = append(r.Extra, "Backward index scan")
	}
	if covering(s) {
		r.Extra = append(r.Extra, "Using index")
	}
	return r
}

// subqueries adds the blocks of those in an operator's expressions.
func (w *tableWriter) subqueries(n rel.Node) {
	rel.EachExpr(n, func(slot *expr.Node) {
		rel.Walk(*slot, func(e expr.Node) bool {
			if s, ok := e.(*rel.Subquery); ok && !w.done[s] {
				w.done[s] = true
				kind := "SUBQUERY"
				switch {
				case len(s.Outer) > 0:
					kind = "DEPENDENT SUBQUERY"
				case s.Volatile:
					kind = "UNCACHEABLE SUBQUERY"
				}
				w.later = append(w.later, func() { w.block(s.Plan, w.numbers[s], kind) })
			}
			return true
		})
	})
}
