package expr

import (
	"encoding/binary"
	"math"
)

// Membership says whether an expression, or a row of expressions, is among the rows of a subquery: x IN (SELECT …). Rows are
// found by a key that is the same for values that are equal as MySQL compares them.
type Membership struct {
	left []Node
	how  []comparison
}

// typed is an expression of which only the type is known.
type typed struct{ t Type }

// Type implements Node.
func (n typed) Type() Type { return n.t }

// Eval implements Node; nothing asks for the value.
func (n typed) Eval(*Env) (Value, error) { return Null, nil }

// NewMembership makes the test of left against rows whose columns have the types of right; 1241 if they are not equally many.
func NewMembership(left Node, right []Type) (*Membership, error) {
	m := &Membership{left: []Node{left}}
	if t, ok := left.(*Tuple); ok {
		m.left = t.Nodes
	}
	if len(m.left) != len(right) {
		return nil, Errorf(1241, "21000", "Operand should contain %d column(s)", len(m.left))
	}
	for i, t := range right {
		c, err := compareAs("in", m.left[i], typed{t})
		if err != nil {
			return nil, err
		}
		m.how = append(m.how, c)
	}
	return m, nil
}

// Members are the rows of a subquery, prepared for Membership.Among.
type Members struct {
	keys  map[string]struct{}
	nulls [][]Value // rows with a NULL, or of which no key can be made
	all   [][]Value // all rows of several columns, for a left side with a NULL
	any   bool      // there are rows
}

// Gather prepares rows.
func (m *Membership) Gather(env *Env, rows [][]Value) (*Members, error) {
	out := &Members{keys: make(map[string]struct{}, len(rows)), any: len(rows) > 0}
	for i, row := range rows {
		if i&1023 == 1023 {
			if err := env.Poll(); err != nil {
				return nil, err
			}
		}
		null := false
		for _, v := range row {
			null = null || v.IsNull()
		}
		if len(row) > 1 {
			out.all = append(out.all, row)
		}
		if null {
			out.nulls = append(out.nulls, row)
			continue
		}
		k, ok, err := m.key(env, row)
		if err != nil {
			return nil, err
		}
		if !ok {
			out.nulls = append(out.nulls, row)
			continue
		}
		out.keys[k] = struct{}{}
	}
	return out, nil
}

// Among says whether the left side is among the rows: 1, 0, or NULL if that depends on a NULL.
func (m *Membership) Among(env *Env, rows *Members) (Value, error) {
	if !rows.any {
		return False, nil
	}
	left := make([]Value, len(m.left))
	null := false
	for i, n := range m.left {
		v, err := n.Eval(env)
		if err != nil {
			return Null, err
		}
		left[i] = v
		null = null || v.IsNull()
	}
	if null && len(left) == 1 {
		return Null, nil
	}
	out := no
	if !null {
		k, ok, err := m.key(env, left)
		if err != nil {
			return Null, err
		}
		if !ok && len(rows.keys) > 0 {
			return Null, nil // it cannot be brought to what the rows are
		}
		if _, found := rows.keys[k]; found {
			return True, nil
		}
	}
	some := rows.nulls
	if null {
		some = rows.all
	}
	for _, row := range some {
		is, err := m.equal(env, left, row)
		if err != nil || is == yes {
			return is.value(), err
		}
		if is == unknown {
			out = unknown
		}
	}
	return out.value(), nil
}

func (m *Membership) equal(env *Env, a, b []Value) (three, error) {
	out := yes
	for i := range a {
		if a[i].IsNull() || b[i].IsNull() {
			out = unknown
			continue
		}
		o, unk, err := m.how[i].fn()(env, a[i], b[i])
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

func (m *Membership) key(env *Env, row []Value) (string, bool, error) {
	if len(row) == 1 {
		return m.how[0].key(env, row[0])
	}
	var out []byte
	for i, v := range row {
		k, ok, err := m.how[i].key(env, v)
		if err != nil || !ok {
			return "", false, err
		}
		out = append(binary.AppendUvarint(out, uint64(len(k))), k...)
	}
	return string(out), true, nil
}

// key is the same for two values iff they are equal in this comparison; !ok: the class has no keys, or the value is none of it.
func (c comparison) key(env *Env, v Value) (string, bool, error) {
	k, ok, err := c.appendKey(env, nil, v)
	return string(k), ok, err
}

// appendKey appends the key of a value, not NULL. Of a value that is no date, where dates are compared, it is that of the zero date,
// and !ok.
func (c comparison) appendKey(env *Env, dst []byte, v Value) ([]byte, bool, error) {
	switch c.class {
	case asText:
		s, err := ToText(env, v)
		if err != nil {
			return dst, false, err
		}
		return orderBy(c.collation).AppendKey(dst, s), true, nil
	case asBytes:
		s, err := ToText(env, v)
		return append(dst, s...), true, err
	case asInt:
		n, unsigned, err := ToInt(env, v)
		big := byte(0)
		if unsigned && n < 0 {
			big = 1
		}
		return binary.BigEndian.AppendUint64(append(dst, big), uint64(n)), true, err
	case asDecimal:
		d, err := ToDecimal(env, v)
		if err != nil {
			return dst, false, err
		}
		return appendDecimalKey(dst, d), true, nil
	case asFloat:
		f, err := ToFloat(env, v)
		if f == 0 {
			f = 0 // the two zeros are one number
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(f)), true, err
	case asDatetime, asTime:
		to := ToDatetime
		if c.class == asTime {
			to = ToTime
		}
		n, ok, err := to(env, v)
		return binary.BigEndian.AppendUint64(dst, uint64(n)), ok, err
	}
	return dst, false, nil
}
