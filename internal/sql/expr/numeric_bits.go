package expr

import "math/bits"

// & | ^ ~ << >> and BIT_COUNT. Operands are BIGINT UNSIGNED, or, if both are binary strings and one of them is more than a hexadecimal
// or bit literal, bytes (manual, Bit Functions and Operators: the MySQL 8 form).

func init() {
	register(
		&Func{Name: "&", Min: 2, Max: 2, Resolve: resolveBits(func(a, b uint64) uint64 { return a & b })},
		&Func{Name: "|", Min: 2, Max: 2, Resolve: resolveBits(func(a, b uint64) uint64 { return a | b })},
		&Func{Name: "^", Min: 2, Max: 2, Resolve: resolveBits(func(a, b uint64) uint64 { return a ^ b })},
		&Func{Name: "~", Min: 1, Max: 1, Resolve: resolveInvert},
		&Func{Name: "<<", Min: 2, Max: 2, Resolve: resolveShift(true)},
		&Func{Name: ">>", Min: 2, Max: 2, Resolve: resolveShift(false)},
		&Func{Name: "bit_count", Min: 1, Max: 1, Resolve: resolveBitCount},
	)
}

// ofBits evaluates a function of two numbers of 64 bits. The first is made a number, and warns, before the second is evaluated.
func ofBits(op func(a, b uint64) uint64) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		var n [2]uint64
		for i := range n {
			v, err := c.Arg(env, i)
			if err != nil || v.IsNull() {
				return Null, err
			}
			if n[i], err = bitsOf(env, v); err != nil {
				return Null, err
			}
		}
		return Uint(op(n[0], n[1])), nil
	}
}

// isBitLiteral reports whether an expression is x'41' or b'01' as it was written.
func isBitLiteral(n Node) bool {
	l, ok := n.(*Lit)
	return ok && l.V.Kind() == KindBit
}

// onBytes reports whether a bit operation of these expressions works on bytes.
func onBytes(nodes ...Node) bool {
	some := false
	for _, n := range nodes {
		switch t := n.Type(); {
		case isBitLiteral(n), t.Kind() == KindNull:
		case t.Kind() == KindBytes:
			some = true
		default:
			return false
		}
	}
	return some
}

// bitsOf is a value, not NULL, as 64 bits.
func bitsOf(env *Env, v Value) (uint64, error) {
	n, _, err := ToInt(env, v)
	return uint64(n), err
}

func resolveBits(op func(a, b uint64) uint64) func(*Call) error {
	return func(c *Call) error {
		if !onBytes(c.Args...) {
			c.T = TUint
			c.Fn = ofBits(op)
			return nil
		}
		c.T = TBytes(max(c.ArgType(0).Length, c.ArgType(1).Length))
		c.Fn = strict2(func(_ *Env, _ *Call, x, y Value) (Value, error) {
			a, b := x.RawText(), y.RawText()
			if len(a) != len(b) {
				return Null, Errorf(3513, "HY000", "Binary operands of bitwise operators must be of equal length")
			}
			out := make([]byte, len(a))
			for i := range out {
				out[i] = byte(op(uint64(a[i]), uint64(b[i])))
			}
			return Bytes(string(out)), nil
		})
		return nil
	}
}

func resolveInvert(c *Call) error {
	if onBytes(c.Args...) {
		c.T = TBytes(c.ArgType(0).Length)
		c.Fn = strict1(func(_ *Env, _ *Call, v Value) (Value, error) {
			out := []byte(v.RawText())
			for i := range out {
				out[i] = ^out[i]
			}
			return Bytes(string(out)), nil
		})
		return nil
	}
	c.T = TUint
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		n, err := bitsOf(env, v)
		return Uint(^n), err
	})
	return nil
}

func resolveShift(left bool) func(*Call) error {
	return func(c *Call) error {
		if onBytes(c.Args[0]) {
			c.T = TBytes(c.ArgType(0).Length)
			c.Fn = strict2(func(env *Env, _ *Call, x, y Value) (Value, error) {
				by, err := bitsOf(env, y)
				return Bytes(shiftBytes(x.RawText(), by, left)), err
			})
			return nil
		}
		c.T = TUint
		c.Fn = ofBits(func(n, by uint64) uint64 {
			if left {
				return n << min(by, 64)
			}
			return n >> min(by, 64)
		})
		return nil
	}
}

// shiftBytes shifts a binary string, most significant byte first, and keeps its length.
func shiftBytes(s string, by uint64, left bool) string {
	out := make([]byte, len(s))
	if by >= uint64(len(s))*8 {
		return string(out)
	}
	whole, part := int(by/8), by%8
	for i := range out {
		from := i - whole
		if left {
			from = i + whole
		}
		var near, far byte // the byte that lands here, and the one whose bits come over its edge
		if from >= 0 && from < len(s) {
			near = s[from]
		}
		if left {
			if from+1 < len(s) {
				far = s[from+1]
			}
			out[i] = near<<part | byte(uint16(far)>>(8-part))
		} else {
			if from-1 >= 0 {
				far = s[from-1]
			}
			out[i] = near>>part | byte(uint16(far)<<(8-part))
		}
	}
	return string(out)
}

func resolveBitCount(c *Call) error {
	c.T = TInt
	if onBytes(c.Args...) {
		c.Fn = strict1(func(_ *Env, _ *Call, v Value) (Value, error) {
			n := 0
			for _, b := range []byte(v.RawText()) {
				n += bits.OnesCount8(b)
			}
			return Int(int64(n)), nil
		})
		return nil
	}
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		n, err := bitsOf(env, v)
		return Int(int64(bits.OnesCount64(n))), err
	})
	return nil
}
