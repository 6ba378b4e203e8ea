package expr

import (
	"strings"
	"unsafe"
)

// Order is how values of a type are sorted: texts under their collation, ENUM and SET by their numbers, everything else as it is
// compared.
type Order struct {
	t   Type
	cmp compareFn
}

// OrderOf is the order of values of a type.
func OrderOf(t Type) Order {
	c, err := compareAs("order", typed{t})
	if err != nil || t.Kind() == KindOther {
		c = comparison{class: asBytes}
	}
	return Order{t: t, cmp: c.fn()}
}

// Prepare makes a value ready to be compared often: a text becomes its sort key.
func (o Order) Prepare(env *Env, v Value) (Value, error) {
	switch v.kind {
	case KindText:
		if _, err := knownCollation(o.t.Collation); err != nil {
			return Null, err
		}
		return Bytes(sortKey(o.t.Collation, v.s)), nil
	case KindEnum, KindSet:
		return Uint(v.n), nil
	case KindOther:
		return Null, Errorf(1235, "42000", "This version of Longitude doesn't yet sort values of this type")
	}
	return v, nil
}

// Arena is memory for the sort keys of many values. The zero Arena is empty.
type Arena struct{ chunk []byte }

// arenaChunk is how many bytes of keys stand in one piece of memory.
const arenaChunk = 64 << 10

// Rewind makes the memory of the latest keys free again: those that were prepared since Mark gave mark are not used any more.
func (a *Arena) Rewind(mark int) {
	if mark <= len(a.chunk) {
		a.chunk = a.chunk[:mark]
	}
}

// Mark is for Rewind.
func (a *Arena) Mark() int { return len(a.chunk) }

// PrepareIn is Prepare with the memory of an arena.
func (o Order) PrepareIn(env *Env, v Value, a *Arena) (Value, error) {
	if v.kind != KindText {
		return o.Prepare(env, v)
	}
	c, err := knownCollation(o.t.Collation)
	if err != nil {
		return Null, err
	}
	if c.Bytewise() {
		return Bytes(v.s), nil
	}
	if cap(a.chunk)-len(a.chunk) < 4*len(v.s)+16 { // most keys fit then; append moves the others
		a.chunk = make([]byte, 0, max(arenaChunk, 4*len(v.s)+16))
	}
	from := len(a.chunk)
	grown := c.AppendKey(a.chunk, v.s)
	if cap(grown) != cap(a.chunk) {
		return Bytes(string(grown[from:])), nil
	}
	a.chunk = grown
	key := grown[from:]
	return Bytes(unsafe.String(unsafe.SliceData(key), len(key))), nil // nothing writes there again before Rewind
}

// Compare orders two values that Prepare gave; NULL comes first.
func (o Order) Compare(env *Env, a, b Value) (int, error) {
	switch {
	case a.kind == KindNull || b.kind == KindNull:
		return order(boolInt(a.kind != KindNull), boolInt(b.kind != KindNull)), nil
	case a.kind == KindBytes && b.kind == KindBytes:
		return strings.Compare(a.s, b.s), nil
	case a.kind == KindUint && b.kind == KindUint:
		return order(a.n, b.n), nil
	}
	n, _, err := o.cmp(env, a, b)
	return n, err
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
