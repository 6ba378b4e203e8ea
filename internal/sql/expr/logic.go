package expr

// Logic in three values, and what tests for NULL and truth.

func init() {
	register(
		&Func{Name: "and", Min: 1, Max: -1, Resolve: resolveBool(evalAnd)},
		&Func{Name: "or", Min: 1, Max: -1, Resolve: resolveBool(evalOr)},
		&Func{Name: "xor", Min: 2, Max: 2, Resolve: resolveBool(evalXor)},
		&Func{Name: "not", Min: 1, Max: 1, Resolve: resolveBool(evalNot)},
		&Func{Name: "is null", Min: 1, Max: 1, Resolve: resolveBool(evalIsNull)},
		&Func{Name: "isnull", Min: 1, Max: 1, Resolve: resolveBool(evalIsNull)},
		&Func{Name: "is not null", Min: 1, Max: 1, Resolve: resolveBool(func(env *Env, c *Call) (Value, error) {
			v, err := c.Args[0].Eval(env)
			return Bool(!v.IsNull()), err
		})},
		&Func{Name: "is true", Min: 1, Max: 1, Resolve: resolveBool(isTruth(true, true, false))},
		&Func{Name: "is false", Min: 1, Max: 1, Resolve: resolveBool(isTruth(false, true, false))},
		&Func{Name: "is not true", Min: 1, Max: 1, Resolve: resolveBool(isTruth(true, false, true))},
		&Func{Name: "is not false", Min: 1, Max: 1, Resolve: resolveBool(isTruth(false, false, true))},
	)
}

func resolveBool(fn func(*Env, *Call) (Value, error)) func(*Call) error {
	return func(c *Call) error {
		c.T, c.Fn = TBool, fn
		return nil
	}
}

func truthOf(env *Env, n Node) (is, known bool, err error) {
	v, err := n.Eval(env)
	if err != nil {
		return false, false, err
	}
	return Truth(env, v)
}

func evalAnd(env *Env, c *Call) (Value, error) {
	out := True
	for _, a := range c.Args {
		is, known, err := truthOf(env, a)
		if err != nil {
			return Null, err
		}
		if known && !is {
			return False, nil
		}
		if !known {
			out = Null
		}
	}
	return out, nil
}

func evalOr(env *Env, c *Call) (Value, error) {
	out := False
	for _, a := range c.Args {
		is, known, err := truthOf(env, a)
		if err != nil {
			return Null, err
		}
		if is {
			return True, nil
		}
		if !known {
			out = Null
		}
	}
	return out, nil
}

func evalXor(env *Env, c *Call) (Value, error) {
	a, knownA, err := truthOf(env, c.Args[0])
	if err != nil || !knownA {
		return Null, err
	}
	b, knownB, err := truthOf(env, c.Args[1])
	if err != nil || !knownB {
		return Null, err
	}
	return Bool(a != b), nil
}

func evalNot(env *Env, c *Call) (Value, error) {
	is, known, err := truthOf(env, c.Args[0])
	if err != nil || !known {
		return Null, err
	}
	return Bool(!is), nil
}

func evalIsNull(env *Env, c *Call) (Value, error) {
	v, err := c.Args[0].Eval(env)
	return Bool(v.IsNull()), err
}

// isTruth tests for a truth value: when says what a match gives, null what NULL gives.
func isTruth(want, when, null bool) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		is, known, err := truthOf(env, c.Args[0])
		if err != nil {
			return Null, err
		}
		if !known {
			return Bool(null), nil
		}
		return Bool((is == want) == when), nil
	}
}
