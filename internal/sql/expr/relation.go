package expr

import "slices"

// = <=> <> < <= > >=, BETWEEN, IN, and CASE's equality; also between rows.

func init() {
	register(
		&Func{Name: "=", Min: 2, Max: 2, Resolve: resolveEqual(false)},
		&Func{Name: "<>", Min: 2, Max: 2, Resolve: resolveEqual(true)},
		&Func{Name: "!=", Min: 2, Max: 2, Resolve: resolveEqual(true)},
		&Func{Name: "<=>", Min: 2, Max: 2, Resolve: resolveNullSafe},
		&Func{Name: "<", Min: 2, Max: 2, Resolve: resolveOrder(func(o int) bool { return o < 0 })},
		&Func{Name: "<=", Min: 2, Max: 2, Resolve: resolveOrder(func(o int) bool { return o <= 0 })},
		&Func{Name: ">", Min: 2, Max: 2, Resolve: resolveOrder(func(o int) bool { return o > 0 })},
		&Func{Name: ">=", Min: 2, Max: 2, Resolve: resolveOrder(func(o int) bool { return o >= 0 })},
		&Func{Name: "between", Min: 3, Max: 3, Resolve: resolveBetween(false)},
		&Func{Name: "not between", Min: 3, Max: 3, Resolve: resolveBetween(true)},
		&Func{Name: "in", Min: 2, Max: -1, Resolve: resolveIn(false)},
		&Func{Name: "not in", Min: 2, Max: -1, Resolve: resolveIn(true)},
	)
}

// three is a truth value: yes, no or unknown.
type three int8

const (
	no three = iota
	yes
	unknown
)

func (t three) value() Value {
	switch t {
	case yes:
		return True
	case no:
		return False
	}
	return Null
}

func (t three) not() three {
	switch t {
	case yes:
		return no
	case no:
		return yes
	}
	return unknown
}

// equality compares two expressions, which may be rows, for being equal.
type equality struct {
	left, right []Node
	all         bool // the right side is evaluated also if the left one is NULL
	how         []comparison
	cmp         []compareFn // those of how
}

// newEquality makes the comparison of two expressions or two rows of the same width.
func newEquality(operation string, a, b Node) (*equality, error) {
	left, right, err := widths(a, b)
	if err != nil {
		return nil, err
	}
	e := &equality{}
	for i := range left {
		_, ta := left[i].(*Tuple)
		_, tb := right[i].(*Tuple)
		if ta || tb { // rows in rows: (1, (2, 3)) = (1, (2, 3))
			inner, err := newEquality(operation, left[i], right[i])
			if err != nil {
				return nil, err
			}
			e.left, e.right, e.cmp = append(e.left, inner.left...), append(e.right, inner.right...), append(e.cmp, inner.cmp...)
			e.how = append(e.how, inner.how...)
			continue
		}
		pair := temporalNumbers(left[i], right[i])
		if len(left) == 1 {
			pair = yearConstants(operation, pair...)
		}
		c, err := compareAs(operation, pair...)
		if t := pair[0].Type(); operation == rowsIn && t.IsString() && pair[1].Type().IsString() { // as the left side, whatever the other is
			if c, err = (comparison{class: asText, collation: t.Collation}), nil; t.Collation == BinaryCollation {
				c.class = asBytes
			}
		}
		if err != nil {
			return nil, err
		}
		c = asLeft(operation, c, pair[0].Type(), pair[1].Type(), isLeaf(pair[0]))
		pair = operands(c.class, temporalConstants(operation, c.class, pair...)...)
		if asTexts[operation] && (c.class == asDatetime || c.class == asTime) {
			pair = documentsAsTexts(pair...)
		}
		cmp := c.fn()
		if c.class == asTime && (operation == "case" || operation == listed) {
			cmp = realTimes(c)
		}
		if c.class == asDatetime && operation != "case" && operation != listed && operation != rowsIn && (isBranch(pair[0]) || isBranch(pair[1])) {
			cmp = knownDates(isBranch(pair[0]), isBranch(pair[1]))
		}
		e.left, e.right, e.cmp, e.how = append(e.left, pair[0]), append(e.right, pair[1]), append(e.cmp, cmp), append(e.how, c)
	}
	return e, nil
}

// documentsAsTexts makes JSON documents their texts.
func documentsAsTexts(nodes ...Node) []Node {
	out := slices.Clone(nodes)
	for i, n := range out {
		if n.Type().Kind() == KindJSON {
			out[i] = &Call{Name: "cast", Args: []Node{n}, T: TText(-1, DefaultCollation, Implicit), Fn: strict1(func(env *Env, _ *Call, v Value) (Value, error) {
				s, err := ToText(env, v)
				return Text(s), err
			})}
		}
	}
	return out
}

// asLeft is how a row is compared with several rows, and CASE's operand with a date: as the left side's type says. (1, 'a') IN ((1, 1), (2, 2)) compares
// 'a' with '1'. Integers are compared by their bits, but not those of a column on the left: of that MySQL's answer depends on whether it has an index.
func asLeft(operation string, c comparison, left, right Type, column bool) comparison {
	if operation == "case" && left.Kind() == KindJSON && right.IsTemporal() {
		return comparison{class: asBytes, collation: BinaryCollation}
	}
	if left.Name == NullType || right.Name == NullType || c.class == asJSON {
		return c
	}
	text := left.Kind() == KindText
	bytes := left.Kind() == KindBytes || left.Kind() == KindBit && left.Name != BitType
	switch {
	case operation == "case" && left.IsInteger() && right.IsInteger():
		return comparison{class: asBits}
	case operation == "case" && bytes && right.IsTemporal():
		return comparison{class: asBytes, collation: BinaryCollation}
	case (operation == "case" || operation == listed) && left.Kind() == KindTime && right.IsString():
		return comparison{class: asTime}
	case operation == "case" && text && right.IsTemporal(), operation == rowsIn && text && !right.IsString():
		return comparison{class: asText, collation: left.Collation}
	case operation != rowsIn || left.IsTemporal():
	case left.IsInteger() && !column:
		return comparison{class: asBits}
	case left.IsInteger():
		return comparison{class: asInt}
	case left.Kind() == KindDecimal:
		return comparison{class: asDecimal}
	case left.Kind() == KindFloat:
		return comparison{class: asFloat}
	}
	return c
}

// realTimes compares dates, or times, of which what is none is equal to nothing.
func realTimes(c comparison) compareFn {
	to := ToDatetime
	if c.class == asTime {
		to = ToTime
	}
	return func(env *Env, a, b Value) (int, bool, error) {
		x, ok, err := to(env, a)
		if err != nil || !ok {
			return 1, false, err
		}
		y, ok, err := to(env, b)
		if err != nil || !ok {
			return -1, false, err
		}
		return order(x, y), false, nil
	}
}

// isBranch reports whether an expression is the value of IF or CASE.
func isBranch(n Node) bool {
	c, ok := n.(*Call)
	return ok && (c.Name == "if" || c.Name == "case")
}

// knownDates compares dates; what IF or CASE gives is unknown if it is no date, unlike other texts, which are the zero date then.
func knownDates(left, right bool) compareFn {
	return func(env *Env, a, b Value) (int, bool, error) {
		x, ok, err := ToDatetime(env, a)
		if err != nil || !ok && left {
			return 0, true, err
		}
		y, ok, err := ToDatetime(env, b)
		if err != nil || !ok && right {
			return 0, true, err
		}
		return order(x, y), false, nil
	}
}

// widths gives the parts of two rows, or two single expressions as rows of one; 1241 if they are not equally wide.
func widths(a, b Node) (left, right []Node, err error) {
	left, right = []Node{a}, []Node{b}
	ta, isA := a.(*Tuple)
	tb, isB := b.(*Tuple)
	if isA {
		left = ta.Nodes
	}
	if isB {
		right = tb.Nodes
	}
	if isA != isB && (len(left) != 1 || len(right) != 1) || len(left) != len(right) {
		return nil, nil, Errorf(1241, "21000", "Operand should contain %d column(s)", len(left))
	}
	return left, right, nil
}

// eval says whether the two are equal. A part that differs decides, even if another is NULL.
func (e *equality) eval(env *Env) (three, error) {
	out := yes
	for i, cmp := range e.cmp {
		a, err := e.left[i].Eval(env)
		if err != nil {
			return unknown, err
		}
		if a.IsNull() && !e.all {
			out = unknown
			continue
		}
		b, err := e.right[i].Eval(env)
		if err != nil {
			return unknown, err
		}
		if a.IsNull() || b.IsNull() {
			if err := e.how[i].leftAlone(env, a); err != nil {
				return unknown, err
			}
			if e.all && e.how[i].class == asDatetime && !b.IsNull() {
				if _, _, err := ToDatetime(env, b); err != nil {
					return unknown, err
				}
			}
			out = unknown
			continue
		}
		o, unk, err := cmp(env, a, b)
		if err != nil {
			return unknown, err
		}
		if unk {
			out = unknown
		} else if o != 0 {
			return no, nil
		}
	}
	return out, nil
}

func resolveEqual(negated bool) func(*Call) error {
	return func(c *Call) error {
		c.Args = storedConstants(c.Name, c.Args...) // in the call, so that who looks for an index finds them
		e, err := newEquality(c.Name, c.Args[0], c.Args[1])
		if err != nil {
			return err
		}
		c.T = TBool
		c.Fn = func(env *Env, _ *Call) (Value, error) {
			is, err := e.eval(env)
			if negated {
				is = is.not()
			}
			return is.value(), err
		}
		return nil
	}
}

func resolveNullSafe(c *Call) error {
	c.Args = storedConstants(c.Name, c.Args...) // in the call, so that who looks for an index finds them
	e, err := newEquality(c.Name, c.Args[0], c.Args[1])
	if err != nil {
		return err
	}
	c.T = TBool
	c.Fn = func(env *Env, _ *Call) (Value, error) {
		is, err := e.nullSafe(env)
		if err != nil {
			return Null, err
		}
		return Bool(is), nil
	}
	return nil
}

// leftAlone makes the left operand the number as which it would be compared, for the warning, where the right one is NULL: MySQL looks at the left
// one first.
func (c comparison) leftAlone(env *Env, left Value) error {
	if c.class != asFloat || left.kind != KindText && left.kind != KindBytes {
		return nil
	}
	_, err := ToFloat(env, left)
	return err
}

// nullSafe says whether the two are equal, NULL being equal to NULL.
func (e *equality) nullSafe(env *Env) (bool, error) {
	for i, cmp := range e.cmp {
		a, err := e.left[i].Eval(env)
		if err != nil {
			return false, err
		}
		b, err := e.right[i].Eval(env)
		if err != nil {
			return false, err
		}
		if a.IsNull() || b.IsNull() {
			if err := e.how[i].leftAlone(env, a); err != nil {
				return false, err
			}
			if a.IsNull() != b.IsNull() {
				return false, nil
			}
			continue
		}
		o, unk, err := cmp(env, a, b)
		if err != nil || unk || o != 0 {
			return false, err
		}
	}
	return true, nil
}

// resolveOrder makes <, <=, > and >=. Rows are compared part by part: the first that differs decides, NULL before it makes
// the result unknown.
func resolveOrder(holds func(order int) bool) func(*Call) error {
	return func(c *Call) error {
		c.Args = storedConstants(c.Name, c.Args...) // in the call, so that who looks for an index finds them
		e, err := newEquality(c.Name, c.Args[0], c.Args[1])
		if err != nil {
			return err
		}
		c.T = TBool
		c.Fn = func(env *Env, _ *Call) (Value, error) {
			for i, cmp := range e.cmp {
				a, err := e.left[i].Eval(env)
				if err != nil || a.IsNull() {
					return Null, err
				}
				b, err := e.right[i].Eval(env)
				if err == nil && b.IsNull() {
					err = e.how[i].leftAlone(env, a)
				}
				if err != nil || b.IsNull() {
					return Null, err
				}
				o, unk, err := cmp(env, a, b)
				if err != nil || unk {
					return Null, err
				}
				if o != 0 {
					return Bool(holds(o)), nil
				}
			}
			return Bool(holds(0)), nil
		}
		return nil
	}
}

func resolveBetween(negated bool) func(*Call) error {
	return func(c *Call) error {
		c.Args = temporalNumbers(c.Args...)
		if isLeaf(c.Args[0]) && c.Args[0].Type().Name == YearType { // beside a bound that is a YEAR constants stay what they are
			c.Args = yearConstants(c.Name, c.Args...)
		}
		if err := betweenCollation(c); err != nil {
			return err
		}
		how, err := compareAs(c.Name, c.Args...)
		if err != nil {
			return err
		}
		cmp := how.fn()
		switch {
		case how.class == asText:
			c.Args = operands(asText, c.Args...)
		case how.class == asDatetime, how.class == asTime, isNullLit(c.Args[1]), isNullLit(c.Args[2]):
			c.Args = documentsAsTexts(c.Args...)
		}
		c.T = TBool
		c.Fn = func(env *Env, c *Call) (Value, error) {
			v, err := c.Args[0].Eval(env)
			if err != nil || v.IsNull() {
				return Null, err
			}
			above, err := side(env, c.Args[1], v, cmp, 1)
			if err != nil {
				return Null, err
			}
			below, err := side(env, c.Args[2], v, cmp, -1)
			if err != nil {
				return Null, err
			}
			out := yes
			switch {
			case above == no || below == no:
				out = no
			case above == unknown || below == unknown:
				out = unknown
			}
			if negated {
				out = out.not()
			}
			return out.value(), nil
		}
		return nil
	}
}

func isNullLit(n Node) bool {
	l, ok := n.(*Lit)
	return ok && l.V.IsNull()
}

// side says whether v is on the bound or on the given side of it.
func side(env *Env, bound Node, v Value, cmp compareFn, want int) (three, error) {
	b, err := bound.Eval(env)
	if err != nil || b.IsNull() {
		return unknown, err
	}
	o, unk, err := cmp(env, v, b)
	switch {
	case err != nil || unk:
		return unknown, err
	case o == 0 || o == want:
		return yes, nil
	}
	return no, nil
}
