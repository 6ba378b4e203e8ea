package expr

import "slices"

// IN (list): as what each element is compared with the left side, and what MySQL's sorted lists of constants warn of.

// resolveIn makes IN (list). Each element is compared with the left side as their two types say; texts under the collation of
// all of them.
func resolveIn(negated bool) func(*Call) error {
	return func(c *Call) error {
		left := c.Args[0]
		var pairs []*equality
		allText := left.Type().IsString()
		for _, a := range c.Args[1:] {
			allText = allText && (a.Type().IsString() || a.Type().Name == NullType)
		}
		_, row := left.(*Tuple)
		document := slices.ContainsFunc(c.Args, func(n Node) bool { return n.Type().Kind() == KindJSON })
		if err := inCollation(c.Args); err != nil && !row && !document {
			return err
		}
		if allText && !row {
			how, err := compareAs(" IN ", c.Args...)
			if err != nil {
				return err
			}
			c.Args = operands(how.class, c.Args...)
			return resolveTextIn(c, how, negated)
		}
		operation := listed
		switch {
		case len(c.Args) == 2:
			operation = "="
			c.Args = storedConstants(operation, c.Args...)
			left = c.Args[0]
		case row:
			operation = rowsIn
		}
		whole, bits := !row && !document && wholeList(c.Args), !row && !isLeaf(left) && !oneClass(c.Args)
		for _, a := range c.Args[1:] {
			e, err := newEquality(operation, left, a)
			if err == nil && document && !row { // beside a document all are documents
				e.how[0] = comparison{class: asJSON}
				pair := operands(asJSON, left, a)
				e.left[0], e.right[0], e.cmp[0] = pair[0], pair[1], e.how[0].fn()
			}
			if err == nil && len(c.Args) > 2 {
				e.all = true
				switch {
				case whole:
					e.how[0] = comparison{class: asInt}
					e.left[0], e.right[0], e.cmp[0] = left, a, e.how[0].fn()
				case bits && e.how[0].class == asInt:
					e.how[0] = comparison{class: asBits}
					e.cmp[0] = e.how[0].fn()
				}
			}
			if class, ok := listClass(c.Args); ok && err == nil && (class != asText || a.Type().IsTemporal()) {
				e.how[0] = comparison{class: class, collation: left.Type().Collation}
				e.left[0], e.right[0], e.cmp[0] = left, a, e.how[0].fn()
				if class != asText && !slices.ContainsFunc(c.Args, func(n Node) bool { return n.Type().Kind() == KindDatetime }) {
					e.cmp[0] = realTimes(e.how[0])
				}
			}
			if err != nil {
				return err
			}
			pairs = append(pairs, e)
		}
		if cmp := momentsListed(c.Args); cmp != nil && !row && !document {
			for i, a := range c.Args[1:] {
				pairs[i].left[0], pairs[i].right[0], pairs[i].cmp[0] = left, a, cmp
			}
		}
		class, sorted := listClass(c.Args)
		if sorted = sorted && class != asText; !sorted && !left.Type().IsTemporal() && oneClass(c.Args) && len(c.Args) > 2 && !row && !document {
			class, sorted = pairs[0].how[0].class, true
		}
		sortedRows := row && len(pairs) > 1 && !slices.ContainsFunc(c.Args, func(n Node) bool { return !IsConst(n) })
		sorted = sorted && !row && !slices.ContainsFunc(c.Args[1:], func(n Node) bool { return !IsConst(n) }) && !isLeaf(left)
		c.T = TBool
		c.Fn = func(env *Env, c *Call) (Value, error) {
			out := no
			if sorted {
				if err := warnOfTexts(env, c, class); err != nil {
					return Null, err
				}
				quiet := *env
				quiet.Warn, env = nil, &quiet
			}
			if sortedRows {
				if err := warnOfRows(env, pairs); err != nil {
					return Null, err
				}
			}
			for i, p := range pairs {
				if i&255 == 255 {
					if err := env.Poll(); err != nil {
						return Null, err
					}
				}
				is, err := p.eval(env)
				if err != nil {
					return Null, err
				}
				if is == yes {
					out = yes
					break
				}
				if is == unknown {
					out = unknown
				}
			}
			if negated {
				out = out.not()
			}
			return out.value(), nil
		}
		return nil
	}
}

// momentsListed is how a date or time is compared with a list of constants: as what it is itself, also with numbers; what is none is equal to nothing.
// nil: it is no such list.
func momentsListed(args []Node) compareFn {
	t := args[0].Type()
	if len(args) < 3 || !t.IsTemporal() {
		return nil
	}
	for _, n := range args[1:] {
		if k := n.Type().Kind(); !IsConst(n) || k == KindJSON || k == KindOther || t.Kind() == KindTime && n.Type().HasDate() {
			return nil
		}
	}
	read := func(env *Env, v Value) (int64, bool, error) {
		if v.kind == KindDate || v.kind == KindDatetime {
			return int64(v.n), true, nil
		}
		if d, ok := smallDate(env, v); ok {
			return int64(d), true, nil
		}
		r, err := dayOf(env, v, anyDate)
		return int64(r.DateTime), r.OK(), err
	}
	switch t.Kind() {
	case KindTime:
		read = ToTime
	case KindDatetime:
		read = ToDatetime
	}
	return func(env *Env, a, b Value) (int, bool, error) {
		x, ok, err := read(env, a)
		if err != nil || !ok {
			return 1, false, err
		}
		y, ok, err := read(env, b)
		if err != nil || !ok {
			return -1, false, err
		}
		return order(x, y), false, nil
	}
}

// warnOfTexts warns of the texts of a list of numbers, dates or times, then of the text that is looked for, that are none: MySQL sorts the list first.
func warnOfTexts(env *Env, c *Call, class class) error {
	for i := range c.Args {
		at := (i + 1) % len(c.Args)
		n := c.Args[at]
		v, err := n.Eval(env)
		if err == nil && !v.IsNull() && n.Type().IsString() {
			switch class {
			case asDatetime:
				_, _, err = ToDatetime(env, v)
			case asTime:
				_, _, err = ToTime(env, v)
			case asInt:
				_, _, err = ToInt(env, v)
			case asFloat:
				_, err = ToFloat(env, v)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// warnOfRows warns of the texts of rows of constants that are no numbers where the row that is looked for has numbers.
func warnOfRows(env *Env, pairs []*equality) error {
	for _, p := range pairs {
		for i, how := range p.how {
			v, err := p.right[i].Eval(env)
			if err == nil && v.kind == KindText {
				switch how.class {
				case asBits, asInt:
					_, _, err = ToInt(env, v)
				case asFloat:
					_, err = ToFloat(env, v)
				case asDecimal:
					_, err = ToDecimal(env, v)
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// wholeList reports whether a list of constants is compared with an integer that is no column as integers, although none of it is an integer or a
// decimal: MySQL makes it a sorted list of the left side's type.
func wholeList(args []Node) bool {
	if len(args) < 3 || !args[0].Type().IsInteger() || isLeaf(args[0]) {
		return false
	}
	for _, n := range args[1:] {
		switch t := n.Type(); {
		case !IsConst(n), t.IsInteger() && !isBitLiteral(n), t.Kind() == KindDecimal:
			return false
		}
	}
	return true
}

// oneClass reports whether all elements of a list are constants that are compared with the left side alike: MySQL sorts such a list. Of others it
// compares the integers by their bits.
func oneClass(args []Node) bool {
	left := args[0].Type()
	class := func(t Type) Kind {
		switch {
		case left.Kind() == KindFloat, t.Kind() == KindFloat:
			return KindFloat
		case !left.IsNumber() && !t.IsNumber():
			return KindText
		case !left.IsNumber() || !t.IsNumber():
			return KindFloat
		case left.Kind() == KindDecimal || t.Kind() == KindDecimal:
			return KindDecimal
		}
		return KindInt
	}
	var first Kind
	for _, n := range args[1:] {
		if n.Type().Name == NullType {
			continue
		}
		k := class(n.Type())
		if !IsConst(n) || first != KindNull && k != first {
			return false
		}
		first = k
	}
	return true
}

// listed names the comparison with one of several values.
const listed = "in"

// rowsIn names the comparison of a row with several rows: where their texts have different collations the characters decide.
const rowsIn = "row in"

// resolveTextIn is IN among texts. A list of constants becomes a set of sort keys.
func resolveTextIn(c *Call, how comparison, negated bool) error {
	var set map[string]struct{}
	withNull := false
	for _, a := range c.Args[1:] {
		l, ok := a.(*Lit)
		if !ok {
			set = nil
			break
		}
		if set == nil {
			set = make(map[string]struct{}, len(c.Args))
		}
		if l.V.IsNull() {
			withNull = true
			continue
		}
		set[sortKey(how.collation, l.V.s)] = struct{}{}
	}
	cmp := how.fn()
	c.T = TBool
	c.Fn = func(env *Env, c *Call) (Value, error) {
		v, err := c.Args[0].Eval(env)
		if err != nil || v.IsNull() {
			return Null, err
		}
		out := no
		if set != nil {
			s, err := ToText(env, v)
			if err != nil {
				return Null, err
			}
			if _, ok := set[sortKey(how.collation, s)]; ok {
				out = yes
			} else if withNull {
				out = unknown
			}
		} else {
			for _, a := range c.Args[1:] {
				w, err := a.Eval(env)
				if err != nil {
					return Null, err
				}
				if w.IsNull() {
					out = unknown
					continue
				}
				o, _, err := cmp(env, v, w)
				if err != nil {
					return Null, err
				}
				if o == 0 {
					out = yes
					break
				}
			}
		}
		if negated {
			out = out.not()
		}
		return out.value(), nil
	}
	return nil
}

// listClass is how a text is compared with a list in which there are dates or times: with all of it as those, if there are no numbers; otherwise
// with the dates as texts.
func listClass(args []Node) (class, bool) {
	if k := args[0].Type().Kind(); k != KindText && k != KindBytes && k != KindNull || len(args) < 3 {
		return 0, false
	}
	date, clock, number, datetime := false, false, false, false
	for _, a := range args[1:] {
		t := a.Type()
		date, clock, number, datetime = date || t.HasDate(), clock || t.Kind() == KindTime, number || t.IsNumber(), datetime || t.Kind() == KindDatetime
	}
	switch {
	case datetime && !number:
		return asDatetime, true
	case slices.ContainsFunc(args, func(n Node) bool { return !IsConst(n) }):
		return 0, false
	case number && (date || clock):
		return asText, true
	case date:
		return asDatetime, true
	case clock:
		return asTime, true
	}
	return 0, false
}
