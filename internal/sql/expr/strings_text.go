package expr

// Whole texts: CONCAT to REVERSE, lengths, letter case, lists of texts.

import (
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"
)

func init() {
	register(
		&Func{Name: "concat", Min: 1, Max: -1, Resolve: resolveText(evalConcat, func(c *Call) int { return sum(lengths(c, 0)...) })},
		&Func{Name: "concat_ws", Min: 2, Max: -1, Resolve: resolveText(evalConcatWS, func(c *Call) int {
			n, between := sum(lengths(c, 1)...), displayLength(c.ArgType(0))
			if n < 0 || between < 0 {
				return -1
			}
			return n + between*(len(c.Args)-2)
		})},
		&Func{Name: "elt", Min: 2, Max: -1, Resolve: resolveElt},
		&Func{Name: "field", Min: 2, Max: -1, Resolve: resolveField},
		&Func{Name: "find_in_set", Min: 2, Max: 2, Resolve: resolveFindInSet},
		&Func{Name: "strcmp", Min: 2, Max: 2, Resolve: resolveStrcmp},
		&Func{Name: "lower", Min: 1, Max: 1, Resolve: resolveLetterCase},
		&Func{Name: "lcase", Min: 1, Max: 1, Resolve: resolveLetterCase},
		&Func{Name: "upper", Min: 1, Max: 1, Resolve: resolveLetterCase},
		&Func{Name: "ucase", Min: 1, Max: 1, Resolve: resolveLetterCase},
		&Func{Name: "length", Min: 1, Max: 1, Resolve: resolveLength(true, func(_ uint16, s string) int { return len(s) })},
		&Func{Name: "octet_length", Min: 1, Max: 1, Resolve: resolveLength(true, func(_ uint16, s string) int { return len(s) })},
		&Func{Name: "bit_length", Min: 1, Max: 1, Resolve: resolveLength(true, func(_ uint16, s string) int { return 8 * len(s) })},
		&Func{Name: "char_length", Min: 1, Max: 1, Resolve: resolveLength(false, chars)},
		&Func{Name: "character_length", Min: 1, Max: 1, Resolve: resolveLength(false, chars)},
		&Func{Name: "repeat", Min: 2, Max: 2, Resolve: resolveText(evalRepeat, repeatLength, 0)},
		&Func{Name: "space", Min: 1, Max: 1, Resolve: resolveSpace},
		&Func{Name: "replace", Min: 3, Max: 3, Resolve: resolveFirst(evalReplace, replaceLength, 1, 2)},
		&Func{Name: "reverse", Min: 1, Max: 1, Resolve: resolveText(one(evalReverse), lengthOf(0))},
		&Func{Name: "quote", Min: 1, Max: 1, Resolve: resolveQuoted},
		&Func{Name: "make_set", Min: 2, Max: -1, Resolve: resolveMakeSet},
		&Func{Name: "export_set", Min: 3, Max: 5, Resolve: resolveText(evalExportSet, exportLength, 1, 2, 3)},
	)
}

// replaceLength is how long a text becomes if all that can be replaced is.
func replaceLength(c *Call) int {
	n, what, with := displayLength(c.ArgType(0)), displayLength(c.ArgType(1)), displayLength(c.ArgType(2))
	if n < 0 || what < 0 || with < 0 {
		return -1
	}
	if with > what && what > 0 {
		n += n / what * (with - what)
	}
	return n
}

func repeatLength(c *Call) int {
	n, times := displayLength(c.ArgType(0)), constantLength(1)(c)
	if n < 0 || times < 0 || times > 0 && n > 1<<31/times {
		return -1
	}
	return n * times
}

func exportLength(c *Call) int {
	on, off, between := displayLength(c.ArgType(1)), displayLength(c.ArgType(2)), 1
	if len(c.Args) > 3 {
		between = displayLength(c.ArgType(3))
	}
	if on < 0 || off < 0 || between < 0 {
		return -1
	}
	return 64*max(on, off) + 63*between
}

func resolveSpace(c *Call) error {
	c.T, c.Fn = ascii(constantLength(0)(c)), evalSpace
	return nil
}

func evalConcat(env *Env, c *Call) (Value, error) {
	var b strings.Builder
	for i := range c.Args {
		s, null, err := c.textArg(env, i)
		if err != nil || null {
			return Null, err
		}
		if !c.fits(env, int64(b.Len())+int64(len(s))) {
			return Null, nil
		}
		b.WriteString(s)
	}
	return c.text(b.String()), nil
}

// evalConcatWS leaves arguments out that are NULL; a separator that is NULL gives NULL.
func evalConcatWS(env *Env, c *Call) (Value, error) {
	between, null, err := c.textArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	var b strings.Builder
	first := true
	for i := 1; i < len(c.Args); i++ {
		s, null, err := c.textArg(env, i)
		if err != nil {
			return Null, err
		}
		if null {
			continue
		}
		if !c.fits(env, int64(b.Len())+int64(len(between))+int64(len(s))) {
			return Null, nil
		}
		if !first {
			b.WriteString(between)
		}
		first = false
		b.WriteString(s)
	}
	return c.text(b.String()), nil
}

func resolveElt(c *Call) error {
	var places []int
	n := 0
	for i := 1; i < len(c.Args); i++ {
		places = append(places, i)
		if l := displayLength(c.ArgType(i)); l < 0 || n < 0 {
			n = -1
		} else {
			n = max(n, l)
		}
	}
	c.Fn = func(env *Env, c *Call) (Value, error) {
		n, null, err := c.intArg(env, 0)
		if err != nil || null || n < 1 || n >= int64(len(c.Args)) {
			return Null, err
		}
		v, err := c.Args[n].Eval(env)
		if err != nil || v.IsNull() {
			return Null, err
		}
		s, err := ToText(env, v)
		return c.text(s).madeOf(v), err
	}
	return textResult(c, n, places...)
}

// resolveField compares as texts if all arguments are texts, as whole numbers or decimals if all are, else as floating-point numbers
// (manual, FIELD).
// resolveQuoted makes QUOTE, which gives a text, not bytes, also for NULL.
func resolveQuoted(c *Call) error {
	length := -1
	if n := displayLength(c.ArgType(0)); n >= 0 {
		length = 2*n + 2
	}
	c.Fn = evalQuote
	if err := textResult(c, length); err != nil || c.T.Kind() == KindText {
		return err
	}
	c.T = ascii(length)
	c.Args[0] = inCharacters(DefaultCollation, c.Args[0])
	return nil
}

func resolveField(c *Call) error {
	c.T = TInt
	text, whole, exact := true, true, true
	for _, a := range c.Args {
		t := a.Type()
		text = text && (t.IsString() || t.IsTemporal() || t.Kind() == KindJSON || t.Name == NullType)
		whole = whole && t.IsInteger()
		exact = exact && (t.IsInteger() || t.Name == DecimalType)
	}
	var cmp compareFn
	float := false
	switch {
	case text:
		var others []int
		for i := 1; i < len(c.Args); i++ {
			others = append(others, i)
		}
		id, err := comparesIn(c, 0, others...)
		if err != nil {
			return err
		}
		cmp = comparison{class: asText, collation: id}.fn()
	case whole:
		cmp = comparison{class: asBits}.fn()
	case exact:
		cmp = comparison{class: asDecimal}.fn()
	default:
		cmp, float = comparison{class: asFloat}.fn(), true
	}
	c.Fn = func(env *Env, c *Call) (Value, error) {
		v, err := c.Arg(env, 0)
		if err != nil || v.IsNull() {
			return False, err
		}
		if float {
			f, err := ToFloat(env, v)
			if err != nil {
				return Null, err
			}
			v = Float(f)
		}
		for i := 1; i < len(c.Args); i++ {
			x, err := c.Arg(env, i)
			if err != nil {
				return Null, err
			}
			if x.IsNull() {
				continue
			}
			o, unknown, err := cmp(env, v, x)
			if err != nil {
				return Null, err
			}
			if o == 0 && !unknown {
				return Int(int64(i)), nil
			}
		}
		return False, nil
	}
	return nil
}

// comparesIn is the collation of one argument, in which others are compared with it, whatever collations they have.
func comparesIn(c *Call, first int, others ...int) (uint16, error) {
	id, _, err := textCollation(c, first)
	if err != nil {
		return 0, err
	}
	for _, i := range others {
		c.Args[i] = inCharacters(id, c.Args[i])
	}
	return id, nil
}

// comparesTexts is the collation in which a function compares its arguments.
func comparesTexts(c *Call) (uint16, error) {
	id, coerc, err := textCollation(c)
	if err != nil {
		return 0, err
	}
	if coerc == NoneCoerc {
		var types []Type
		for i := range c.Args {
			types = append(types, asTextType(c.ArgType(i)))
		}
		return 0, illegalMix(c.Name, types...)
	}
	return id, nil
}

func resolveFindInSet(c *Call) error {
	id, err := comparesTexts(c)
	if err != nil {
		return err
	}
	order := orderBy(id)
	c.T = TInt
	c.Fn = func(env *Env, c *Call) (Value, error) {
		s, null, err := c.textArg(env, 0)
		if err != nil || null {
			return Null, err
		}
		list, null, err := c.textArg(env, 1)
		if err != nil || null {
			return Null, err
		}
		if list == "" {
			return Int(0), nil
		}
		if strings.Contains(s, ",") {
			return Int(0), nil
		}
		for i := int64(1); ; i++ {
			element, rest, more := strings.Cut(list, ",")
			if order.Same(element, s) {
				return Int(i), nil
			}
			if !more {
				return Int(0), nil
			}
			list = rest
		}
	}
	return nil
}

func resolveStrcmp(c *Call) error {
	id, err := comparesTexts(c)
	if err != nil {
		return err
	}
	for i, a := range c.Args {
		if c.Args[i] = inCharacters(id, a); a.Type().IsNumber() { // MySQL compares the digits of a number with the bytes of a text
			id = BinaryCollation
		}
	}
	order := orderBy(id)
	c.T = Type{Name: BigInt, Length: 2, Collation: BinaryCollation, Coerc: Numeric, Truth: true} // -1 is true as JSON
	c.Fn = func(env *Env, c *Call) (Value, error) {
		a, null, err := c.textArg(env, 0)
		if err != nil || null {
			return Null, err
		}
		b, null, err := c.textArg(env, 1)
		if err != nil || null {
			return Null, err
		}
		return Int(int64(order.Compare(a, b))), nil
	}
	return nil
}

func resolveLetterCase(c *Call) error {
	if err := textResult(c, displayLength(c.ArgType(0))); err != nil {
		return err
	}
	order := orderBy(c.T.Collation)
	change := order.Upper
	if c.Name == "lower" || c.Name == "lcase" {
		change = order.Lower
	}
	c.Fn = one(func(_ *Env, c *Call, s string) (Value, error) { return c.text(change(s)), nil })
	return nil
}

func resolveLength(bytes bool, count func(collation uint16, s string) int) func(*Call) error {
	return func(c *Call) error {
		id := asTextType(c.ArgType(0)).Collation
		c.T = TInt
		c.Fn = one(func(_ *Env, c *Call, s string) (Value, error) {
			if bytes && c.ArgType(0).Kind() == KindText {
				s = encoded(id, s)
			}
			return Int(int64(count(id, s))), nil
		})
		return nil
	}
}

func evalRepeat(env *Env, c *Call) (Value, error) {
	s, n, null, err := textAndCount(env, c)
	if err != nil || null {
		return Null, err
	}
	if n <= 0 || s == "" {
		return c.text(""), nil
	}
	n = min(n, math.MaxInt32) // a result of so many bytes is too long in any case
	if !c.fits(env, n*int64(len(s))) {
		return Null, nil
	}
	return c.text(repeated(s, n)), nil
}

func evalSpace(env *Env, c *Call) (Value, error) {
	n, null, err := c.intArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	if n = max(n, 0); !c.fits(env, n) {
		return Null, nil
	}
	return c.text(repeated(" ", n)), nil
}

// evalReplace compares bytes, in every collation.
func evalReplace(env *Env, c *Call) (Value, error) {
	var a [3]string
	for i := range a {
		s, null, err := c.textArg(env, i)
		if err != nil || null {
			return Null, err
		}
		a[i] = s
	}
	if a[1] == "" {
		return c.text(a[0]), nil
	}
	n := int64(strings.Count(a[0], a[1]))
	if !c.fits(env, int64(len(a[0]))+n*int64(len(a[2])-len(a[1]))) {
		return Null, nil
	}
	return c.text(strings.ReplaceAll(a[0], a[1], a[2])), nil
}

func evalReverse(_ *Env, c *Call, s string) (Value, error) {
	out := make([]byte, len(s))
	at := len(s)
	for s != "" {
		n := 1
		if !c.binary() {
			_, n = utf8.DecodeRuneInString(s)
		}
		at -= n
		copy(out[at:], s[:n])
		s = s[n:]
	}
	return c.text(string(out)), nil
}

// evalQuote writes a literal; NULL becomes the word.
func evalQuote(env *Env, c *Call) (Value, error) {
	s, null, err := c.textArg(env, 0)
	if err != nil {
		return Null, err
	}
	if null {
		return c.text("NULL"), nil
	}
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(s) {
		switch s[i] {
		case 0:
			b.WriteString(`\0`)
		case 26:
			b.WriteString(`\Z`)
		case '\'', '\\':
			b.WriteByte('\\')
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	b.WriteByte('\'')
	if !c.fits(env, int64(b.Len())) {
		return Null, nil
	}
	return c.text(b.String()), nil
}

func resolveMakeSet(c *Call) error {
	var places []int
	for i := 1; i < len(c.Args); i++ {
		places = append(places, i)
	}
	c.Fn = func(env *Env, c *Call) (Value, error) {
		v, err := c.Arg(env, 0)
		if err != nil || v.IsNull() {
			return Null, err
		}
		set, _, err := ToInt(env, v)
		if err != nil {
			return Null, err
		}
		var parts []string
		for i := 1; i < len(c.Args) && i <= 64; i++ {
			if set&(1<<(i-1)) == 0 {
				continue
			}
			s, null, err := c.textArg(env, i)
			if err != nil {
				return Null, err
			}
			if !null {
				parts = append(parts, s)
			}
		}
		return c.text(strings.Join(parts, ",")), nil
	}
	n := sum(lengths(c, 1)...)
	if n >= 0 {
		n += len(c.Args) - 2
	}
	return textResult(c, n, places...)
}

// evalExportSet is EXPORT_SET(bits, on, off [, separator [, number of bits]]).
func evalExportSet(env *Env, c *Call) (Value, error) {
	v, err := c.Arg(env, 0)
	if err != nil || v.IsNull() {
		return Null, err
	}
	n, unsigned, err := ToInt(env, v)
	if err != nil {
		return Null, err
	}
	_ = unsigned // the bits are the same
	words := [3]string{2: ","}
	for i := range words {
		if i+1 >= len(c.Args) {
			break
		}
		s, null, err := c.textArg(env, i+1)
		if err != nil || null {
			return Null, err
		}
		words[i] = s
	}
	count := int64(64)
	if len(c.Args) == 5 {
		var null bool
		if count, null, err = c.intArg(env, 4); err != nil || null {
			return Null, err
		}
		if count < 0 || count > 64 {
			count = 64
		}
	}
	on := int64(bits.OnesCount64(uint64(n) & (1<<count - 1)))
	if count == 64 {
		on = int64(bits.OnesCount64(uint64(n)))
	}
	if !c.fits(env, on*int64(len(words[0]))+(count-on)*int64(len(words[1]))+max(count-1, 0)*int64(len(words[2]))) {
		return Null, nil
	}
	var b strings.Builder
	for i := range count {
		if i > 0 {
			b.WriteString(words[2])
		}
		if n&(1<<i) != 0 {
			b.WriteString(words[0])
		} else {
			b.WriteString(words[1])
		}
	}
	return c.text(b.String()), nil
}
