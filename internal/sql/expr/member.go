package expr

import (
	"encoding/binary"
	"math"
	"slices"
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
	null  bool      // one of a single column is NULL
}

// NewMembers is a set without rows.
func (m *Membership) NewMembers() *Members { return &Members{keys: map[string]struct{}{}} }

// Add adds a row, of which it keeps no memory; kept: the set takes about as much memory more as the row.
func (m *Membership) Add(env *Env, to *Members, row []Value) (kept bool, err error) {
	to.any = true
	null := false
	for _, v := range row {
		null = null || v.IsNull()
	}
	if len(row) > 1 {
		row = slices.Clone(row)
		to.all = append(to.all, row)
		kept = true
	}
	if !null {
		var few [64]byte
		k, ok, err := m.appendKey(env, few[:0], row)
		if err != nil {
			return kept, err
		}
		if ok {
			if _, there := to.keys[string(k)]; !there {
				to.keys[string(k)] = struct{}{}
				kept = true
			}
			return kept, nil
		}
	}
	if len(row) == 1 {
		if null && to.null {
			return kept, nil // one NULL is as good as many
		}
		to.null = to.null || null
		row = slices.Clone(row)
	}
	to.nulls = append(to.nulls, row)
	return true, nil
}

// Gather prepares rows.
func (m *Membership) Gather(env *Env, rows [][]Value) (*Members, error) {
	out := m.NewMembers()
	for i, row := range rows {
		if i&1023 == 1023 {
			if err := env.Poll(); err != nil {
				return nil, err
			}
		}
		if _, err := m.Add(env, out, row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Compare says whether a row of values of the left side is equal to a row: 1, 0, or NULL.
func (m *Membership) Compare(env *Env, left, row []Value) (Value, error) {
	is, err := m.equal(env, left, row)
	return is.value(), err
}

// Among says whether the left side is among the rows: 1, 0, or NULL if that depends on a NULL.
func (m *Membership) Among(env *Env, rows *Members) (Value, error) {
	if !rows.any {
		return False, nil
	}
	var few [4]Value
	left := append(few[:0], make([]Value, len(m.left))...)
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
		var few [64]byte
		k, ok, err := m.appendKey(env, few[:0], left)
		if err != nil {
			return Null, err
		}
		if !ok {
			k = nil // the rows have no keys either: they are compared one by one
		}
		if _, found := rows.keys[string(k)]; found {
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

// appendKey appends the key of a row without NULLs: it is the same for two rows iff they are equal. !ok: it has none.
func (m *Membership) appendKey(env *Env, dst []byte, row []Value) ([]byte, bool, error) {
	if len(row) == 1 {
		return m.how[0].appendKey(env, dst, row[0])
	}
	for i, v := range row {
		at := len(dst)
		var ok bool
		var err error
		if dst, ok, err = m.how[i].appendKey(env, append(dst, 0, 0, 0, 0), v); err != nil || !ok {
			return dst, false, err
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst, true, nil
}

// appendKey appends the key of a value, not NULL: it is the same for two values iff they are equal in this comparison. !ok: the class
// has no keys. Of a value that is no date, where dates are compared, the key is that of the zero date.
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
		return appendDecimal(dst, d), true, nil
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
		n, _, err := to(env, v)
		return binary.BigEndian.AppendUint64(dst, uint64(n)), true, err
	}
	return dst, false, nil
}
