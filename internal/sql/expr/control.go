package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/longitude-db/longitude/internal/sql/collation"
)

// IF, IFNULL, NULLIF, COALESCE and CASE, and the type that several expressions have together.

func init() {
	register(
		&Func{Name: "if", Min: 3, Max: 3, Resolve: resolveIf},
		&Func{Name: "ifnull", Min: 2, Max: 2, Resolve: resolveCoalesce},
		&Func{Name: "coalesce", Min: 1, Max: -1, Resolve: resolveCoalesce},
		&Func{Name: "nullif", Min: 2, Max: 2, Resolve: resolveNullif},
		&Func{Name: "as", Min: 1, Max: 1, Resolve: resolveAs},
		&Func{Name: "silent", Min: 1, Max: 1, Resolve: resolveSilent},
		&Func{Name: "store as", Min: 1, Max: 1, Resolve: resolveAssign},
		&Func{Name: "case", Min: 2, Max: -1, Resolve: resolveCase},
	)
}

// Union is the type that expressions have together: that of a column of UNION, of CASE, COALESCE and IF.
func Union(operation string, ts ...Type) (Type, error) {
	var known []Type
	for _, t := range ts {
		if t.Name != NullType {
			t.Truth = false
			known = append(known, t)
		}
	}
	if len(known) == 0 {
		return TNull, nil
	}
	same := true
	for _, t := range known[1:] {
		same = same && t.Name == known[0].Name && t.Unsigned == known[0].Unsigned
	}
	var date, clock, number, float, decimal, json, text, other, signed, unsigned bool
	length, whole, scale, fsp := 0, 0, 0, 0
	for _, t := range known {
		if t.Length < 0 || length < 0 {
			length = -1
		} else {
			length = max(length, t.Length)
		}
		switch {
		case t.HasDate():
			date = true
			fsp = max(fsp, t.Scale)
		case t.Kind() == KindTime:
			clock = true
			fsp = max(fsp, t.Scale)
		case t.Kind() == KindJSON:
			json = true
		case t.Kind() == KindOther:
			other = true
		case t.IsString():
			text = true
		case t.IsNumber():
			number = true
			float = float || t.Kind() == KindFloat
			decimal = decimal || t.Kind() == KindDecimal
			p, s := t.Digits()
			whole, scale = max(whole, p-s), max(scale, s)
			signed = signed || t.Kind() == KindInt
			unsigned = unsigned || t.Kind() == KindUint || t.Kind() == KindBit
		}
	}
	switch {
	case same && (other || json):
		return known[0], nil
	case same && (date || clock):
		t := known[0]
		t.Scale, t.Coerc = fsp, Numeric
		return t, nil
	case date && !clock && !number && !text && !json && !other:
		return TDatetime(fsp), nil
	case date && clock && !number && !text && !json && !other:
		return TDatetime(fsp), nil
	case number && !date && !clock && !text && !json && !other:
		switch {
		case float:
			if same && (known[0].Name == FloatType || sameScale(known)) {
				t := known[0]
				t.Coerc = Numeric
				return t, nil
			}
			return TFloat, nil
		case decimal:
			return TDecimal(whole+scale, scale), nil
		}
		return unionOfIntegers(known, signed && unsigned, length), nil
	case same && len(known) == 1 && known[0].IsString():
		return known[0], nil
	}
	long := false
	texts := make([]Type, len(known))
	for i, t := range known {
		long = long || t.Name == Blob
		texts[i] = asTextType(t)
	}
	coll, coerc, err := aggregate(operation, texts...)
	if err != nil {
		return Type{}, mixOfAll(operation, ts, err)
	}
	if coerc == Numeric || coerc == Ignorable {
		coll, coerc = DefaultCollation, Coercible
	}
	t := stringType(textLength(known), coll, coerc)
	if long && t.Name == Varbinary {
		t.Name = Blob
	}
	return t, nil
}

// mixOfAll makes err, that the texts among expressions have no collation together, name all of the expressions.
func mixOfAll(operation string, ts []Type, err error) error {
	mixed := &collation.IllegalMixError{Operation: operation}
	for _, t := range ts {
		t = asTextType(t)
		order, unknown := collation.ByID(t.Collation)
		if unknown != nil {
			return err
		}
		mixed.Parts = append(mixed.Parts, collation.Typed{Collation: order, Coercibility: collation.Coercibility(t.Coerc)})
	}
	return mixError(mixed)
}

func sameScale(ts []Type) bool {
	for _, t := range ts {
		if t.Scale != ts[0].Scale {
			return false
		}
	}
	return true
}

// unionOfIntegers is the type that integers have together: the widest; the next wider one if signs are mixed and the widest is unsigned
// (MySQL: Item::aggregate_type); after BIGINT comes DECIMAL. length is the greatest of their lengths.
func unionOfIntegers(ts []Type, mixed bool, length int) Type {
	if len(ts) == 1 || ts[0].Name == YearType && allNamed(ts, YearType) || ts[0].Name == BitType && allNamed(ts, BitType) {
		t := ts[0]
		t.Coerc, t.Length = Numeric, length
		return t
	}
	name := widest(ts)
	if mixed {
		for _, t := range ts {
			if !(t.Unsigned && t.Name == name) && t.Name != BitType {
				continue
			}
			if name == BigInt {
				digits := 0
				for _, t := range ts {
					p, _ := t.Digits()
					digits = max(digits, p)
				}
				return TDecimal(digits, 0)
			}
			name++
			break
		}
	}
	t := TInt
	t.Name, t.Unsigned, t.Length = name, !mixed && (ts[0].Kind() == KindUint || ts[0].Kind() == KindBit), length
	return t
}

func allNamed(ts []Type, name Name) bool {
	for _, t := range ts {
		if t.Name != name {
			return false
		}
	}
	return true
}

// widest is the name of the integer type that holds all of them.
func widest(ts []Type) Name {
	out := TinyInt
	for _, t := range ts {
		n := t.Name
		if n == BitType {
			n = BigInt
		}
		if n == YearType {
			n = SmallInt
		}
		out = max(out, n)
	}
	return out
}

// textLength is how many characters values of the types take as text; -1: not known.
func textLength(ts []Type) int {
	n := 0
	for _, t := range ts {
		if t.Length < 0 {
			return -1
		}
		l := t.Length
		if t.IsNumber() {
			p, s := t.Digits()
			l = p
			if !t.Unsigned {
				l++ // the sign
			}
			if s > 0 {
				l++
			}
			if t.Kind() == KindFloat {
				l = 23
			}
		} else if t.IsTemporal() && t.Scale > 0 {
			l += t.Scale + 1
		}
		n = max(n, l)
	}
	return n
}

// convertTo makes values of any type those of the type that several have together.
func convertTo(t Type) func(*Env, Value) (Value, error) {
	k := t.Kind()
	return func(env *Env, v Value) (Value, error) {
		if v.kind == KindDecimal && k == KindDecimal && v.scale == 0 && int(v.RawDecimal().Exponent) != -t.Scale {
			return Decimal(rescale(v.RawDecimal(), t.Scale)), nil
		}
		if v.IsNull() || v.kind == k && k != KindDatetime && k != KindTime {
			return v.Detached(), nil
		}
		switch k {
		case KindInt:
			n, _, err := ToInt(env, v)
			return Int(n), err
		case KindUint:
			n, _, err := ToInt(env, v)
			return Uint(uint64(n)), err
		case KindFloat:
			f, err := ToFloat(env, v)
			return Float(f), err
		case KindDecimal:
			d, err := ToDecimal(env, v)
			if err != nil {
				return Null, err
			}
			return Decimal(rescale(d, t.Scale)), nil
		case KindText:
			s, err := ToText(env, v)
			if err == nil && (v.kind == KindBytes || v.kind == KindBit) {
				err = validText(s)
			}
			return Text(s), err
		case KindBytes:
			s, err := ToText(env, v)
			return Bytes(s), err
		case KindDatetime:
			n, ok, err := ToDatetime(env, v)
			if err != nil || !ok {
				return Null, err
			}
			return Packed(KindDatetime, n, t.Scale), nil
		case KindTime:
			n, ok, err := ToTime(env, v)
			if err != nil || !ok {
				return Null, err
			}
			return Packed(KindTime, n, t.Scale), nil
		}
		return v, nil
	}
}

// convertBranch is convertTo for IF and CASE, which keep the digits that a decimal has: IF(1, 1, 1.5) is 1, where COALESCE(1, 1.5) is 1.0. A text keeps
// the value that it was made of: IF(1, DATE'2024-02-29', 1) + 1 is 20240230.
func convertBranch(t Type) func(*Env, Value) (Value, error) {
	conv := convertTo(t)
	if t.Kind() == KindText || t.Kind() == KindBytes {
		return func(env *Env, v Value) (Value, error) {
			w, err := conv(env, v)
			return w.madeOf(v.origin()), err
		}
	}
	if t.Kind() == KindFloat {
		return func(env *Env, v Value) (Value, error) {
			w, err := conv(env, v)
			if err == nil && v.kind == KindDecimal {
				w = ofBranch(w, decimalToText(v))
			}
			return w, err
		}
	}
	if t.Kind() != KindDecimal {
		return conv
	}
	return func(env *Env, v Value) (Value, error) {
		if v.IsNull() || v.kind == KindDecimal {
			return v, nil
		}
		d, err := ToDecimal(env, v)
		return Decimal(d), err
	}
}

// branchTruth is the condition of IF and CASE WHEN: of a JSON document its number decides, false and null being 0; elsewhere a document is
// compared with the document 0.
func branchTruth(env *Env, n Node) (is, known bool, err error) {
	v, err := n.Eval(env)
	if err != nil || v.kind != KindJSON {
		if err != nil {
			return false, false, err
		}
		return Truth(env, v)
	}
	f, err := jsonToFloat(env, v)
	return f != 0, true, err
}

func resolveIf(c *Call) (err error) {
	if c.T, err = Union("if", c.ArgType(1), c.ArgType(2)); err != nil {
		return err
	}
	conv := convertBranch(c.T)
	c.Fn = func(env *Env, c *Call) (Value, error) {
		is, _, err := branchTruth(env, c.Args[0])
		if err != nil {
			return Null, err
		}
		at := 2
		if is {
			at = 1
		}
		v, err := c.Args[at].Eval(env)
		if err != nil {
			return Null, err
		}
		return conv(env, v)
	}
	return nil
}

func argTypes(args []Node) []Type {
	ts := make([]Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	return ts
}

func resolveCoalesce(c *Call) (err error) {
	if c.T, err = Union(c.Name, argTypes(c.Args)...); err != nil {
		return err
	}
	if k := c.T.Kind(); k == KindEnum || k == KindSet {
		c.T = TText(c.T.Length, c.T.Collation, c.T.Coerc)
	}
	conv := convertTo(c.T)
	c.Fn = func(env *Env, c *Call) (Value, error) {
		for _, a := range c.Args {
			v, err := a.Eval(env)
			if err != nil {
				return Null, err
			}
			if !v.IsNull() {
				v, err = conv(env, plainYear(v))
				return v.From(Silent), err
			}
		}
		return Null, nil
	}
	return nil
}

// resolveNullif: NULLIF's type is that of its first argument.
func resolveNullif(c *Call) error {
	pair := yearConstants("=", c.Args[0], c.Args[1])
	e, err := newEquality("nullif", pair[0], pair[1])
	if err != nil {
		return err
	}
	c.T = c.ArgType(0)
	c.T.Truth = false
	c.Fn = func(env *Env, c *Call) (Value, error) {
		is, err := e.eval(env)
		if err != nil || is == yes {
			return Null, err
		}
		return c.Args[0].Eval(env)
	}
	return nil
}

// CaseForm is the Extra of a "case" call: whether its first argument is the value that the WHENs are compared with, and
// whether its last is that of ELSE. Between them are the WHENs and THENs in turn.
type CaseForm struct{ Operand, Else bool }

func resolveCase(c *Call) error {
	form, _ := c.Extra.(CaseForm)
	args := c.Args
	var operand, other Node
	if form.Operand {
		operand, args = args[0], args[1:]
	}
	if form.Else {
		other, args = args[len(args)-1], args[:len(args)-1]
	}
	if len(args) == 0 || len(args)%2 != 0 {
		return Errorf(1064, "42000", "CASE without a pair of WHEN and THEN")
	}
	var results []Type
	tests := make([]func(*Env) (three, error), len(args)/2)
	for i := range tests {
		when := args[2*i]
		results = append(results, args[2*i+1].Type())
		if operand == nil {
			tests[i] = func(env *Env) (three, error) {
				is, _, err := branchTruth(env, when)
				if is {
					return yes, err
				}
				return no, err
			}
			continue
		}
		e, err := newEquality("case", operand, when)
		if err != nil {
			return err
		}
		tests[i] = e.eval
	}
	if other != nil {
		results = append(results, other.Type())
	}
	var err error
	if c.T, err = Union("case", results...); err != nil {
		return err
	}
	conv := convertBranch(c.T)
	c.Fn = func(env *Env, _ *Call) (Value, error) {
		then := other
		for i, test := range tests {
			is, err := test(env)
			if err != nil {
				return Null, err
			}
			if is == yes {
				then = args[2*i+1]
				break
			}
		}
		if then == nil {
			return Null, nil
		}
		v, err := then.Eval(env)
		if err != nil {
			return Null, err
		}
		return conv(env, v)
	}
	return nil
}

// resolveAs makes a value one of the type that Extra names, without CAST's rules: what a column of UNION does with its parts. Unlike the
// result of IF and CASE it has the digits of the type after the point, no more and no fewer.
func resolveAs(c *Call) error {
	c.T = c.Extra.(Type)
	conv := convertTo(c.T)
	bit := c.ArgType(0).Kind() == KindBit && c.T.IsString() && c.T.Name != Blob && c.T.Length >= 0
	c.Fn = func(env *Env, c *Call) (Value, error) {
		v, err := c.Args[0].Eval(env)
		if bit && v.kind == KindBit { // UNION makes a text of the number; beside a BLOB or a document it stays bytes
			v = Uint(v.n)
		}
		if err == nil {
			v, err = conv(env, v)
		}
		switch {
		case err != nil:
			return Null, err
		case v.kind == KindText, v.kind == KindBytes && c.T.Name != Binary:
			v.x = nil // a stored text is no longer a number in another form
		case v.kind == KindDecimal:
			if d := v.RawDecimal(); v.scale > 0 || int(d.Exponent) != -c.T.Scale {
				return Decimal(rescale(d, c.T.Scale)), nil
			}
		case v.IsSingle() && c.T.Name == DoubleType:
			return Float(v.RawFloat()), nil
		case v.kind == KindBytes && c.T.Name == Binary && len(v.s) < c.T.Length:
			return Bytes(v.s + strings.Repeat("\x00", c.T.Length-len(v.s))), nil
		}
		return v, nil
	}
	return nil
}

// resolveSilent makes a text give no warning if it is made a number: that of another table by which MySQL looks up a key.
func resolveSilent(c *Call) error {
	c.T = c.ArgType(0)
	c.Fn = func(env *Env, c *Call) (Value, error) {
		v, err := c.Args[0].Eval(env)
		return v.From(Silent), err
	}
	return nil
}

// CopyTarget is a column that gets the value of another one.
type CopyTarget struct{ Target }

// resolveAssign makes a value what a column that Extra names (a Target) would hold if the value was stored in it in the session's mode: a
// recursive query does so with the rows of its steps (error 1406, 1264, 1366 in strict mode). Where Extra is a CopyTarget the value is that of
// another column, as it is: MySQL calls a text that is too long truncated (1265) then.
func resolveAssign(c *Call) error {
	target, ok := c.Extra.(Target)
	if !ok {
		target = c.Extra.(CopyTarget).Target
	}
	copied := !ok
	c.T = target.Type
	c.Fn = func(env *Env, c *Call) (Value, error) {
		v, err := c.Args[0].Eval(env)
		if err != nil || v.IsNull() {
			return Null, err
		}
		if copied && v.kind == KindText && target.Type.Kind() == KindText && target.Type.Length >= 0 &&
			utf8.RuneCountInString(v.s) > target.Type.Length { // spaces at the end too
			return Null, Errorf(1265, "01000", "Data truncated for column '%s' at row %d", target.Name, target.Row)
		}
		storing := *env
		storing.Change, storing.Ignore, storing.failed = true, false, nil
		if v, err = Assign(&storing, v, &target); err == nil {
			err = storing.Failed()
		}
		return v, err
	}
	return nil
}
