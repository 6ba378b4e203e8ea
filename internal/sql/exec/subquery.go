package exec

import (
	"fmt"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// subquery is a subquery in an expression.
type subquery struct {
	x    *Execution
	s    *rel.Subquery
	plan iterator
	once bool // it has the same rows throughout the statement
	busy bool

	done    bool             // once: what follows is there
	value   expr.Value       // of Scalar, Exists
	test    *expr.Membership // In
	members *expr.Members    // In, once
	rows    *rowStore        // AnyOf, AllOf, RowEquals: once
	found   bool             // RowEquals, once: right is a row
	compare *comparer        // AnyOf, AllOf, RowEquals
	left    []expr.Value
	right   []expr.Value
	memory  held
	cache   valueCache
}

// Subquery implements rel.Runner.
func (x *Execution) Subquery(env *expr.Env, s *rel.Subquery) (expr.Value, error) {
	q := x.subs[s]
	if q == nil {
		var err error
		if q, err = newSubquery(x, s); err != nil {
			return expr.Null, err
		}
		x.subs[s] = q
	}
	if q.busy {
		return expr.Null, fmt.Errorf("the subquery %s is evaluated within itself", s.Text)
	}
	q.busy = true
	v, err := q.eval(env)
	q.busy = false
	if err != nil || !s.Negated {
		return v, err
	}
	is, known, err := expr.Truth(env, v)
	if err != nil || !known {
		return expr.Null, err
	}
	return expr.Bool(!is), nil
}

func newSubquery(x *Execution, s *rel.Subquery) (*subquery, error) {
	once := len(s.Outer) == 0 && !s.Volatile
	plan, err := x.buildApart(s.Plan, !once || s.Kind == rel.Exists || s.Kind == rel.Scalar)
	if err != nil {
		return nil, err
	}
	q := &subquery{x: x, s: s, plan: plan, once: once, memory: held{m: &x.mem}, cache: valueCache{mem: &x.mem}}
	q.cache.off = s.Volatile
	switch s.Kind {
	case rel.In:
		left := make([]expr.Node, len(s.Left))
		for i, n := range s.Left {
			left[i] = silent{n}
		}
		q.test, err = expr.NewMembership(tupleOf(left), s.Types)
	case rel.AnyOf, rel.AllOf, rel.RowEquals:
		q.compare, err = newComparer(s.Op, s.Left, s.Types)
	}
	q.left, q.right = make([]expr.Value, len(s.Left)), make([]expr.Value, len(s.Out))
	return q, err
}

// silent is an expression on the left side of a subquery: MySQL keeps its value, and a text that it keeps gives no warning if it is no
// number.
type silent struct{ expr.Node }

// Eval implements expr.Node.
func (s silent) Eval(env *expr.Env) (expr.Value, error) {
	v, err := s.Node.Eval(env)
	return v.From(expr.Silent), err
}

// Constant implements expr.Constant.
func (s silent) Constant() bool { return expr.IsConst(s.Node) }

// tupleOf is a row of expressions, or the only one of them.
func tupleOf(ns []expr.Node) expr.Node {
	if len(ns) == 1 {
		return ns[0]
	}
	return &expr.Tuple{Nodes: ns}
}

func (q *subquery) eval(env *expr.Env) (expr.Value, error) {
	if q.once {
		return q.evalOnce(env)
	}
	for i, n := range q.s.Left {
		v, err := n.Eval(env)
		if err != nil {
			return expr.Null, err
		}
		q.left[i] = v.From(expr.Silent)
	}
	known := q.cache.begin()
	if known {
		for _, c := range q.s.Outer {
			q.cache.key.add(q.x.regs[c])
		}
		for _, v := range q.left {
			q.cache.key.add(v)
		}
		if v, ok := q.cache.find(); ok {
			return v, nil
		}
	}
	v, err := q.run(env)
	if err != nil {
		return expr.Null, err
	}
	if known {
		q.cache.put(v)
	}
	return v, nil
}

// run executes the subquery for the outer columns that the registers hold, and for q.left.
func (q *subquery) run(env *expr.Env) (v expr.Value, err error) {
	if err := q.plan.open(); err != nil {
		return expr.Null, err
	}
	switch q.s.Kind {
	case rel.Scalar:
		var found bool
		if found, err = q.single(); found {
			if v = q.right[0]; v.Kind() == expr.KindEnum || v.Kind() == expr.KindSet {
				v = expr.Text(v.RawText())
			}
			v = v.From(expr.Silent)
		}
	case rel.Exists:
		var ok bool
		ok, err = q.plan.next()
		v = expr.Bool(ok)
	case rel.In:
		v, err = q.among(env)
	case rel.RowEquals:
		var found bool
		if found, err = q.single(); err == nil {
			v, err = q.compareRow(env, found)
		}
	default:
		v, err = q.quantified(env, q.nextRow)
	}
	return v, firstError(err, q.plan.close())
}

// single reads the only row into q.right; false: there is none. Error 1242: there are more.
func (q *subquery) single() (bool, error) {
	ok, err := q.plan.next()
	if err != nil || !ok {
		return false, err
	}
	for i, c := range q.s.Out {
		q.right[i] = q.x.regs[c]
	}
	if ok, err = q.plan.next(); ok {
		err = expr.Errorf(1242, "21000", "Subquery returns more than 1 row")
	}
	return true, err
}

// nextRow reads a row into q.right.
func (q *subquery) nextRow() ([]expr.Value, error) {
	ok, err := q.plan.next()
	if err != nil || !ok {
		return nil, err
	}
	for i, c := range q.s.Out {
		q.right[i] = q.x.regs[c]
	}
	return q.right, q.x.tick()
}

// among is IN for one row: the rows are read until one is equal.
func (q *subquery) among(env *expr.Env) (expr.Value, error) {
	out := expr.False
	for {
		row, err := q.nextRow()
		if err != nil || row == nil {
			return out, err
		}
		v, err := q.test.Compare(env, q.left, row)
		if err != nil {
			return expr.Null, err
		}
		switch {
		case v.IsNull():
			out = v
			if len(row) == 1 && q.left[0].IsNull() {
				return out, nil // no row is equal to NULL
			}
		case v == expr.True:
			return v, nil
		}
	}
}

// quantified is ANY or ALL over the rows that next gives; nil: there are no more.
func (q *subquery) quantified(env *expr.Env, next func() ([]expr.Value, error)) (expr.Value, error) {
	decides := q.s.Kind == rel.AnyOf // the truth of a comparison that needs no others
	out := expr.Bool(!decides)
	for {
		row, err := next()
		if err != nil || row == nil {
			return out, err
		}
		v, err := q.compare.compare(env, q.left, row)
		if err != nil {
			return expr.Null, err
		}
		is, known, err := expr.Truth(env, v)
		switch {
		case err != nil:
			return expr.Null, err
		case !known:
			out = expr.Null
		case is == decides:
			return expr.Bool(is), nil
		}
	}
}

// compareRow compares q.left with the row of the subquery; without one the result is NULL, or false of <=>.
func (q *subquery) compareRow(env *expr.Env, found bool) (expr.Value, error) {
	switch {
	case found:
		return q.compare.compare(env, q.left, q.right)
	case q.s.Op == "<=>":
		return expr.False, nil
	}
	return expr.Null, nil
}

// evalOnce evaluates a subquery whose rows are always the same: they are read the first time.
func (q *subquery) evalOnce(env *expr.Env) (expr.Value, error) {
	if q.s.Kind != rel.In { // Membership evaluates its left side itself
		for i, n := range q.s.Left {
			v, err := n.Eval(env)
			if err != nil {
				return expr.Null, err
			}
			q.left[i] = v.From(expr.Silent)
		}
	}
	if !q.done {
		if err := q.read(env); err != nil {
			return expr.Null, err
		}
		q.done = true
	}
	switch q.s.Kind {
	case rel.In:
		return q.test.Among(env, q.members)
	case rel.AnyOf, rel.AllOf:
		i := 0
		return q.quantified(env, func() ([]expr.Value, error) {
			if i == q.rows.n {
				return nil, nil
			}
			i++
			return q.rows.row(i - 1), q.x.tick()
		})
	case rel.RowEquals:
		return q.compareRow(env, q.found)
	}
	return q.value, nil
}

// read reads what evalOnce needs.
func (q *subquery) read(env *expr.Env) error {
	switch q.s.Kind {
	case rel.Scalar, rel.Exists:
		v, err := q.run(env)
		q.value = v
		return err
	case rel.AnyOf, rel.AllOf:
		q.rows = newRowStore(&q.x.mem, len(q.s.Out))
		if err := q.x.gather(q.plan, q.rows, q.s.Out); err != nil {
			return err
		}
		return q.reduce(env)
	}
	if err := q.plan.open(); err != nil {
		return err
	}
	if q.s.Kind == rel.RowEquals {
		var err error
		q.found, err = q.single()
		return firstError(err, q.plan.close())
	}
	q.members = q.test.NewMembers()
	for {
		row, err := q.nextRow()
		if err != nil {
			return err
		}
		if row == nil {
			return q.plan.close()
		}
		kept, err := q.test.Add(env, q.members, row)
		if err != nil {
			return err
		}
		if kept {
			n := int64(len(row)) * valueBytes
			for i := range row {
				n += q.x.mem.extra(&row[i])
			}
			if err := q.memory.take(n); err != nil {
				return err
			}
		}
	}
}

// reduce keeps only the rows that decide < ANY and its like: the least or the greatest, and one that is NULL.
func (q *subquery) reduce(env *expr.Env) error {
	switch q.s.Op {
	case "<", "<=", ">", ">=":
	default:
		return nil
	}
	if len(q.s.Out) != 1 || q.rows.n < 3 {
		return nil
	}
	right := &slot{t: q.s.Types[0]}
	across, err := expr.ComparisonOf(q.s.Op, q.s.Left[0], right)
	if err != nil {
		return err
	}
	among, err := expr.ComparisonOf(q.s.Op, right, right)
	if err != nil || across != among { // the rows among themselves are in another order than against the left side
		return err
	}
	cmp, err := newComparer(q.s.Op, []expr.Node{right}, q.s.Types)
	if err != nil {
		return err
	}
	var best, null []expr.Value
	for i := range q.rows.n {
		row := q.rows.row(i)
		switch {
		case row[0].IsNull():
			null = row
			continue
		case best == nil:
			best = row
			continue
		}
		a, b := best, row // best > row: what is greater than one of them is greater than row
		if q.s.Kind == rel.AllOf {
			a, b = row, best
		}
		v, err := cmp.compare(env, a, b)
		if err != nil {
			return err
		}
		is, _, err := expr.Truth(env, v)
		if err != nil {
			return err
		}
		if is {
			best = row
		}
		if err := q.x.tick(); err != nil {
			return err
		}
	}
	few := newRowStore(&q.x.mem, 1)
	for _, row := range [][]expr.Value{best, null} {
		if row != nil {
			few.slot()[0] = own(row[0])
		}
	}
	q.rows.reset()
	q.rows = few
	return nil
}

func (q *subquery) close() error {
	q.memory.free()
	if q.rows != nil {
		q.rows.free()
	}
	return q.plan.close()
}

// comparer compares rows of values by an operator, as it compares expressions of their types.
type comparer struct {
	call        *expr.Call
	left, right []*slot
}

// slot is an expression whose value is put there.
type slot struct {
	v expr.Value
	t expr.Type
}

// Type implements expr.Node.
func (h *slot) Type() expr.Type { return h.t }

// Eval implements expr.Node.
func (h *slot) Eval(*expr.Env) (expr.Value, error) { return h.v, nil }

func newComparer(op string, left []expr.Node, right []expr.Type) (*comparer, error) {
	c := &comparer{}
	nodes := [2][]expr.Node{}
	for _, n := range left {
		h := &slot{t: n.Type()}
		c.left = append(c.left, h)
		if _, literal := n.(*expr.Lit); literal { // a literal beside a column is compared in ways of its own
			nodes[0] = append(nodes[0], n)
		} else {
			nodes[0] = append(nodes[0], h)
		}
	}
	for _, t := range right {
		h := &slot{t: t}
		c.right = append(c.right, h)
		nodes[1] = append(nodes[1], h)
	}
	var err error
	c.call, err = expr.Build(op, op, nil, tupleOf(nodes[0]), tupleOf(nodes[1]))
	return c, err
}

func (c *comparer) compare(env *expr.Env, left, right []expr.Value) (expr.Value, error) {
	for i, h := range c.left {
		h.v = left[i]
	}
	for i, h := range c.right {
		h.v = right[i]
	}
	return c.call.Eval(env)
}
