package optimize

import (
	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// What conditions say about one column of a table, as parts of an index on it: points, ranges, beginnings of texts. Each part list is a
// superset of the values for which its condition is true. Conditions read as such are column <op> value, BETWEEN, IN, IS NULL, LIKE with a
// beginning, and OR of these about one column. A value may read columns of other tables or of a query around this one.

// part is some values of a column: one value, a range, or the texts that begin alike.
type part struct {
	equal     expr.Node
	nullSafe  bool
	low, high *rel.Bound
	prefix    expr.Node
}

// restriction is what a condition says about a column. No parts: no value satisfies it.
type restriction struct {
	place  int
	parts  []part
	values int       // of how many literals IN is made
	sel    float64   // the part of the rows, if no index tells more
	cond   expr.Node // that it was made of
}

func (r *restriction) points() bool {
	for _, p := range r.parts {
		if p.equal == nil {
			return false
		}
	}
	return true
}

// restrict reads a condition about a column of a scan; nil: it says nothing that an index can use.
func (z *optimizer) restrict(s *rel.Scan, c expr.Node) *restriction {
	call, ok := c.(*expr.Call)
	if !ok {
		return nil
	}
	r := &restriction{cond: c, sel: selectivity(c)}
	switch call.Name {
	case "or":
		return z.restrictOr(s, call, r)
	case "is null", "isnull":
		col := z.columnOf(s, call.Args[0])
		if col == nil {
			return nil
		}
		r.place = placeOf(s, col)
		r.parts = []part{{equal: &expr.Lit{V: expr.Null, T: expr.TNull}, nullSafe: true}}
		return r
	case "=", "<=>", "<", "<=", ">", ">=":
		for i := range 2 {
			col := z.columnOf(s, call.Args[i])
			if col == nil || meets(reads(call.Args[1-i]), given(s)) {
				continue
			}
			r.place = placeOf(s, col)
			p, never, ok := z.compared(call.Name, i == 1, col, call.Args[1-i])
			if ok {
				if !never {
					r.parts = []part{p}
				}
				return r
			}
		}
	case "between":
		col := z.columnOf(s, call.Args[0])
		if col == nil || meets(reads(call.Args[1:]...), given(s)) {
			return nil
		}
		how, err := expr.ComparisonOf("between", call.Args...)
		if err != nil {
			return nil
		}
		r.place = placeOf(s, col)
		var p part
		low, never1, ok1 := z.bounded(how, ">=", col, call.Args[1])
		high, never2, ok2 := z.bounded(how, "<=", col, call.Args[2])
		if ok1 {
			p.low = low.low
		}
		if ok2 {
			p.high = high.high
		}
		if !ok1 && !ok2 {
			return nil
		}
		if !never1 && !never2 {
			r.parts = []part{p}
		}
		return r
	case "in":
		return z.restrictIn(s, call, r)
	case "like":
		return z.restrictLike(s, call, r)
	}
	return nil
}

// columnOf is an expression as a column of a scan; nil: it is none.
func (z *optimizer) columnOf(s *rel.Scan, e expr.Node) *rel.Col {
	col, ok := e.(*rel.Col)
	if !ok || placeOf(s, col) < 0 {
		return nil
	}
	return col
}

func placeOf(s *rel.Scan, col *rel.Col) int {
	for i, id := range s.Cols {
		if id == col.ID {
			return s.Places[i]
		}
	}
	return -1
}

// compared is column <op> value; turned: value <op> column. never: no value satisfies it.
func (z *optimizer) compared(op string, turned bool, col *rel.Col, value expr.Node) (p part, never, ok bool) {
	if turned {
		op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op] + map[string]string{"=": "=", "<=>": "<=>"}[op]
	}
	nodes := []expr.Node{col, value}
	if turned {
		nodes = []expr.Node{value, col}
	}
	how, err := expr.ComparisonOf(op, nodes...)
	if err != nil {
		return p, false, false
	}
	return z.bounded(how, op, col, value)
}

// bounded is column <op> value, compared as how says.
func (z *optimizer) bounded(how expr.Comparison, op string, col *rel.Col, value expr.Node) (p part, never, ok bool) {
	lit, isLit := value.(*expr.Lit)
	if !isLit {
		v, ok := z.dynamic(how, col.T, value, op == "=" || op == "<=>")
		if !ok || col.T.Kind() == expr.KindEnum {
			return p, false, false
		}
		return partOf(op, v, false), false, true
	}
	if lit.V.IsNull() {
		if op != "<=>" {
			return p, true, true
		}
		return part{equal: &expr.Lit{V: expr.Null, T: expr.TNull}, nullSafe: true}, false, true
	}
	c, ok := z.toColumn(how, col.T, lit)
	if !ok || col.T.Kind() == expr.KindEnum && op != "=" && op != "<=>" {
		return p, false, false
	}
	v := &expr.Lit{V: c.v, T: col.T}
	if col.T.Kind() == expr.KindEnum { // package exec finds the element's number
		v = &expr.Lit{V: lit.V, T: lit.T}
	}
	switch {
	case op == "=" || op == "<=>":
		return partOf(op, v, false), c.cmp != 0, true
	case c.cmp < 0: // below all values that the column can hold
		if op == "<" || op == "<=" {
			return p, true, true
		}
		return partOf(">=", v, false), false, true
	}
	return partOf(op, v, c.cmp != 0), false, true
}

// partOf makes a part of the index. between: the value stands for one between it and the next.
func partOf(op string, v expr.Node, between bool) part {
	switch op {
	case "=":
		return part{equal: v}
	case "<=>":
		return part{equal: v, nullSafe: true}
	case "<", "<=":
		return part{high: &rel.Bound{Value: v, Open: op == "<" && !between}}
	}
	return part{low: &rel.Bound{Value: v, Open: op == ">" || between}}
}

func (z *optimizer) restrictIn(s *rel.Scan, call *expr.Call, r *restriction) *restriction {
	col := z.columnOf(s, call.Args[0])
	if col == nil || meets(reads(call.Args[1:]...), given(s)) {
		return nil
	}
	r.place, r.values = placeOf(s, col), len(call.Args)-1
	texts := col.T.IsString()
	for _, a := range call.Args[1:] {
		texts = texts && (a.Type().IsString() || a.Type().Name == expr.NullType)
	}
	all, err := expr.ComparisonOf("in", call.Args...)
	if texts && err != nil {
		return nil
	}
	for _, a := range call.Args[1:] {
		how := all
		if !texts {
			if how, err = expr.ComparisonOf("in", col, a); err != nil {
				return nil
			}
		}
		p, never, ok := z.bounded(how, "=", col, a)
		if !ok {
			return nil
		}
		if !never {
			r.parts = append(r.parts, p)
		}
	}
	return r
}

// restrictOr is OR of conditions about one column.
func (z *optimizer) restrictOr(s *rel.Scan, call *expr.Call, r *restriction) *restriction {
	for i, a := range call.Args {
		conds := []expr.Node{a}
		if and, ok := a.(*expr.Call); ok && and.Name == "and" {
			conds = and.Args
		}
		var found *restriction
		for _, c := range conds {
			f := z.restrict(s, c)
			switch {
			case f == nil || i > 0 && f.place != r.place:
			case found == nil:
				found = f
			case found.place == f.place:
				found = both(found, f)
			}
		}
		if found == nil {
			return nil
		}
		r.place, r.values = found.place, r.values+max(1, found.values)
		r.parts = append(r.parts, found.parts...)
	}
	return r
}

// both is what two conditions say together, or a superset: the points of one of them, or one range with the bounds of both.
func both(a, b *restriction) *restriction {
	switch {
	case a.points():
		return a
	case b.points():
		return b
	case len(a.parts) == 1 && len(b.parts) == 1 && a.parts[0].prefix == nil && b.parts[0].prefix == nil:
		out, p := *a, a.parts[0]
		if p.low == nil {
			p.low = b.parts[0].low
		}
		if p.high == nil {
			p.high = b.parts[0].high
		}
		out.parts, out.sel = []part{p}, a.sel*b.sel
		return &out
	}
	return a
}

// restrictLike is LIKE with a pattern that begins with what is no wildcard. A collation that compares two characters as one tells texts
// apart by what follows, so there the beginning of the text is not that of its key.
func (z *optimizer) restrictLike(s *rel.Scan, call *expr.Call, r *restriction) *restriction {
	col := z.columnOf(s, call.Args[0])
	lit, ok := call.Args[1].(*expr.Lit)
	if col == nil || !ok || col.T.Kind() != expr.KindText || lit.V.Kind() != expr.KindText {
		return nil
	}
	escape := '\\'
	if z.env.Mode&expr.NoBackslashEscapes != 0 {
		escape = collation.NoEscape
	}
	if len(call.Args) > 2 {
		e, ok := call.Args[2].(*expr.Lit)
		if !ok || e.V.Kind() != expr.KindText || len([]rune(e.V.RawText())) > 1 {
			return nil
		}
		escape = collation.NoEscape
		for _, c := range e.V.RawText() {
			escape = c
		}
	}
	how, err := expr.ComparisonOf("like", col, lit)
	if err != nil || how.Class != expr.ClassText && how.Class != expr.ClassBytes || how.Collation != col.T.Collation {
		return nil
	}
	order, err := collation.ByID(how.Collation)
	if err != nil || order.Contracts() {
		return nil
	}
	prefix, exact := order.Pattern(lit.V.RawText(), escape).Prefix()
	if prefix == "" {
		return nil
	}
	r.place = placeOf(s, col)
	v := &expr.Lit{V: expr.Text(prefix), T: col.T}
	if exact {
		r.parts = []part{{equal: v}}
	} else {
		r.parts = []part{{prefix: v}}
	}
	return r
}
