package exec

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// valueSet is a set of values of a column: ranges that do not overlap, in order, and NULL or not.
type valueSet struct {
	order  expr.Order
	null   bool
	ranges []valueRange
}

// valueRange is the values between two bounds; point: it is one value.
type valueRange struct {
	low, high edge
	point     bool
}

// edge is a bound of a range.
type edge struct {
	none  bool // there is no bound
	open  bool // the value itself is not within
	value expr.Value
	key   expr.Value // the value as order compares it
}

// points reports whether the set has single values alone.
func (s *valueSet) points() bool {
	return !slices.ContainsFunc(s.ranges, func(r valueRange) bool { return !r.point })
}

// within are the spans in which the columns before are equal to values, and the next one is in the set.
func (s *valueSet) within(equal []expr.Value) (out []KeySpan) {
	if s.null {
		out = append(out, KeySpan{Equal: append(slices.Clip(equal), expr.Null)})
	}
	for i := range s.ranges {
		r := &s.ranges[i]
		if r.point {
			out = append(out, KeySpan{Equal: append(slices.Clip(equal), r.low.value)})
			continue
		}
		k := KeySpan{Equal: equal}
		if !r.low.none {
			k.Low, k.LowOpen = &r.low.value, r.low.open
		}
		if !r.high.none {
			k.High, k.HighOpen = &r.high.value, r.high.open
		}
		if k.Low == nil && k.High == nil { // all but NULL
			null := expr.Null
			k.Low, k.LowOpen = &null, true
		}
		out = append(out, k)
	}
	return out
}

// and is the values that are in both sets.
func (s *valueSet) and(env *expr.Env, o *valueSet) (*valueSet, error) {
	out := &valueSet{order: s.order, null: s.null && o.null}
	for _, a := range s.ranges {
		for _, b := range o.ranges {
			low, err := s.inner(env, a.low, b.low, 1)
			if err != nil {
				return nil, err
			}
			high, err := s.inner(env, a.high, b.high, -1)
			if err != nil {
				return nil, err
			}
			r, some, err := s.between(env, low, high)
			if err != nil {
				return nil, err
			}
			if some {
				out.ranges = append(out.ranges, r)
			}
		}
	}
	return out, nil
}

// inner is the bound that lets in less: of lower ones (side 1) the higher, of upper ones (side -1) the lower.
func (s *valueSet) inner(env *expr.Env, a, b edge, side int) (edge, error) {
	if a.none || b.none {
		if a.none {
			return b, nil
		}
		return a, nil
	}
	n, err := s.order.Compare(env, a.key, b.key)
	if n*side > 0 || n == 0 && a.open {
		return a, err
	}
	return b, err
}

// between is the range between two bounds; false: there is nothing in it.
func (s *valueSet) between(env *expr.Env, low, high edge) (valueRange, bool, error) {
	r := valueRange{low: low, high: high}
	if low.none || high.none {
		return r, true, nil
	}
	n, err := s.order.Compare(env, low.key, high.key)
	r.point = n == 0
	return r, n < 0 || n == 0 && !low.open && !high.open, err
}

// or is the values that are in one of the sets.
func (s *valueSet) or(env *expr.Env, o *valueSet) (*valueSet, error) {
	out := &valueSet{order: s.order, null: s.null || o.null}
	all := slices.Concat(s.ranges, o.ranges)
	var failed error
	compare := func(a, b expr.Value) int {
		n, err := s.order.Compare(env, a, b)
		if err != nil {
			failed = err
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b valueRange) int {
		switch {
		case a.low.none || b.low.none:
			return boolInt(b.low.none) - boolInt(a.low.none)
		}
		if n := compare(a.low.key, b.low.key); n != 0 {
			return n
		}
		return boolInt(a.low.open) - boolInt(b.low.open)
	})
	for _, r := range all {
		n := len(out.ranges)
		if n == 0 {
			out.ranges = append(out.ranges, r)
			continue
		}
		last := &out.ranges[n-1]
		apart := false
		if !last.high.none && !r.low.none {
			c := compare(last.high.key, r.low.key)
			apart = c < 0 || c == 0 && last.high.open && r.low.open
		}
		if apart {
			out.ranges = append(out.ranges, r)
			continue
		}
		if !last.high.none && (r.high.none || compare(r.high.key, last.high.key) > 0 ||
			compare(r.high.key, last.high.key) == 0 && !r.high.open) {
			if r.high.none || compare(r.high.key, last.high.key) != 0 || last.high.open {
				last.point = false
			}
			last.high = r.high
		}
	}
	return out, failed
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// restriction makes sets of values of conditions about one column of a scan: comparisons with values of the column's own kind,
// compared as the column is ordered, so that the set is exactly the values for which the condition is true.
type restriction struct {
	x *Execution
	s *rel.Scan
}

// column is an expression as a column of the scan; -1: it is none.
func (r *restriction) column(n expr.Node) (place int, t expr.Type) {
	c, ok := n.(*rel.Col)
	if !ok {
		return -1, expr.TNull
	}
	i := slices.Index(r.s.Cols, c.ID)
	if i < 0 {
		return -1, expr.TNull
	}
	return r.s.Places[i], c.T
}

// ordered reports whether a comparison of a column with an expression compares as the column's index orders.
func ordered(op string, t expr.Type, nodes ...expr.Node) bool {
	how, err := expr.ComparisonOf(op, nodes...)
	if err != nil {
		return false
	}
	switch t.Kind() {
	case expr.KindInt, expr.KindUint:
		return how.Class == expr.ClassInt
	case expr.KindText:
		return how.Class == expr.ClassText && how.Collation == t.Collation
	case expr.KindDate, expr.KindDatetime:
		return how.Class == expr.ClassDatetime
	}
	return false
}

// value reports whether an expression may be evaluated before the scan: it reads none of its columns.
func (r *restriction) value(n expr.Node) bool {
	reads := rel.Cols{}
	rel.CollectCols(reads, n)
	for _, c := range r.s.Cols {
		if reads[c] {
			return false
		}
	}
	_, lit := n.(*expr.Lit)
	_, col := n.(*rel.Col)
	return lit || col
}

// known reports whether a condition is of a kind that a set can be made of. Whether the values fit is seen when they are known.
func (r *restriction) known(f expr.Node) bool {
	c, ok := f.(*expr.Call)
	if !ok {
		return false
	}
	at, t := -1, expr.TNull
	if len(c.Args) > 0 {
		at, t = r.column(c.Args[0])
	}
	switch c.Name {
	case "or":
		if len(c.Args) != 2 {
			return false
		}
		a, b := r.about(c.Args[0]), r.about(c.Args[1])
		return a >= 0 && a == b && r.known(c.Args[0]) && r.known(c.Args[1])
	case "is null":
		return at >= 0
	case "=", "<", "<=", ">", ">=":
		if at < 0 {
			at, t = r.column(c.Args[1])
			return at >= 0 && r.value(c.Args[0]) && ordered(c.Name, t, c.Args...)
		}
		return r.value(c.Args[1]) && ordered(c.Name, t, c.Args...)
	case "between", "in":
		if at < 0 {
			return false
		}
		for _, a := range c.Args[1:] {
			if !r.value(a) || !ordered("=", t, c.Args[0], a) {
				return false
			}
		}
		return true
	}
	return false
}

// about is the column that a condition is about.
func (r *restriction) about(f expr.Node) int {
	c, ok := f.(*expr.Call)
	if !ok {
		return -1
	}
	if c.Name == "or" && len(c.Args) == 2 {
		if a := r.about(c.Args[0]); a == r.about(c.Args[1]) {
			return a
		}
		return -1
	}
	for _, a := range c.Args {
		if at, _ := r.column(a); at >= 0 {
			return at
		}
	}
	return -1
}

// edge is the value of an expression as a bound. null: it is NULL. fits is false if the column cannot hold it.
func (r *restriction) edge(order expr.Order, t expr.Type, n expr.Node) (e edge, null, fits bool, err error) {
	v, err := n.Eval(r.x.env)
	if err != nil || v.IsNull() {
		return e, true, true, err
	}
	switch k := v.Kind(); {
	case k == t.Kind():
	case k == expr.KindInt && t.Kind() == expr.KindUint && v.RawInt() >= 0:
		v = expr.Uint(v.RawUint())
	case k == expr.KindUint && t.Kind() == expr.KindInt && v.RawUint() < 1<<63:
		v = expr.Int(v.RawInt())
	default:
		return e, false, false, nil
	}
	e.value = v
	e.key, err = order.Prepare(r.x.env, v)
	return e, false, true, err
}

// of is the set of a condition that is known; false: a value does not fit.
func (r *restriction) of(f expr.Node) (at int, set *valueSet, ok bool, err error) {
	c := f.(*expr.Call)
	if c.Name == "or" {
		at, a, ok, err := r.of(c.Args[0])
		if err != nil || !ok {
			return at, nil, ok, err
		}
		_, b, ok, err := r.of(c.Args[1])
		if err != nil || !ok {
			return at, nil, ok, err
		}
		set, err = a.or(r.x.env, b)
		return at, set, true, err
	}
	op, args := c.Name, c.Args
	at, t := r.column(args[0])
	if at < 0 {
		at, t = r.column(args[1])
		op, args = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[op], []expr.Node{args[1], args[0]}
	}
	order := expr.OrderOf(t)
	set = &valueSet{order: order}
	if op == "is null" {
		set.null = true
		return at, set, true, nil
	}
	edges := make([]edge, 0, len(args)-1)
	for _, a := range args[1:] {
		e, null, fits, err := r.edge(order, t, a)
		if err != nil || !fits {
			return at, nil, false, err
		}
		if null && op != "in" {
			return at, set, true, nil // it is true of no value
		}
		if !null {
			edges = append(edges, e)
		}
	}
	none := edge{none: true}
	switch op {
	case "=":
		set.ranges = []valueRange{{low: edges[0], high: edges[0], point: true}}
	case "<", "<=":
		edges[0].open = op == "<"
		set.ranges = []valueRange{{low: none, high: edges[0]}}
	case ">", ">=":
		edges[0].open = op == ">"
		set.ranges = []valueRange{{low: edges[0], high: none}}
	case "between":
		one, some, err := set.between(r.x.env, edges[0], edges[1])
		if err != nil {
			return at, nil, false, err
		}
		if some {
			set.ranges = []valueRange{one}
		}
	case "in":
		all := &valueSet{order: order}
		for _, e := range edges {
			all.ranges = append(all.ranges, valueRange{low: e, high: e, point: true})
		}
		if set, err = set.or(r.x.env, all); err != nil { // which puts them in order, once
			return at, nil, false, err
		}
	}
	return at, set, true, nil
}
