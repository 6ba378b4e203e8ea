package expr

import "encoding/binary"

// Match is the equality of an expression with another one, or of two rows of expressions, that are calculated apart from each other:
// those of the two sides of a join. Its parts are compared as = compares them.
type Match struct{ e *equality }

// NewMatch makes the equality of two expressions; the errors are those of = (1241, 1267).
func NewMatch(a, b Node) (*Match, error) {
	e, err := newEquality("=", a, b)
	if err != nil {
		return nil, err
	}
	return &Match{e}, nil
}

// Hashable reports whether values are equal iff their keys are. If it is false, only Equal can tell.
func (m *Match) Hashable() bool {
	for _, how := range m.e.how {
		if how.class == asJSON {
			return false
		}
	}
	return true
}

// LeftKey appends the key of the first expression's value in the present row, RightKey that of the second's. null: the value, or a
// part of it, is NULL, which is equal to nothing; with keepNull it gets a key of its own, by which NULL is equal to NULL (<=>).
func (m *Match) LeftKey(env *Env, dst []byte, keepNull bool) (key []byte, null bool, err error) {
	return m.appendKey(env, dst, m.e.left, keepNull)
}

// RightKey is as LeftKey, for the second expression.
func (m *Match) RightKey(env *Env, dst []byte, keepNull bool) (key []byte, null bool, err error) {
	return m.appendKey(env, dst, m.e.right, keepNull)
}

func (m *Match) appendKey(env *Env, dst []byte, nodes []Node, keepNull bool) ([]byte, bool, error) {
	for i, n := range nodes {
		v, err := n.Eval(env)
		if err != nil {
			return dst, false, err
		}
		if v.IsNull() {
			if !keepNull {
				return dst, true, nil
			}
			dst = append(dst, keyNull)
			continue
		}
		dst = append(dst, keyText)
		at := len(dst)
		// What is no date counts as the zero date, as = has it: its key is that of 0.
		if dst, _, err = m.e.how[i].appendKey(env, append(dst, 0, 0, 0, 0), v); err != nil {
			return dst, false, err
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst, false, nil
}

// Equal is left = right for the present row: 1, 0 or NULL.
func (m *Match) Equal(env *Env) (Value, error) {
	is, err := m.e.eval(env)
	return is.value(), err
}

// NullSafeEqual is left <=> right for the present row.
func (m *Match) NullSafeEqual(env *Env) (bool, error) { return m.e.nullSafe(env) }
