package expr

// LIKE, COLLATE, CONVERT USING, what tells of collations, WEIGHT_STRING.

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

func init() {
	register(
		&Func{Name: "like", Min: 2, Max: 3, Resolve: resolveLike(false)},
		&Func{Name: "not like", Min: 2, Max: 3, Resolve: resolveLike(true)},
		&Func{Name: "collate", Min: 1, Max: 1, Resolve: resolveCollate},
		&Func{Name: "convert using", Min: 1, Max: 1, Resolve: resolveConvertUsing},
		&Func{Name: "charset", Min: 1, Max: 1, Resolve: tellsOfCollation(func(t Type, c *collation.Collation) Value { return Text(c.Charset.Name) })},
		&Func{Name: "collation", Min: 1, Max: 1, Resolve: tellsOfCollation(func(t Type, c *collation.Collation) Value { return Text(c.Name) })},
		&Func{Name: "coercibility", Min: 1, Max: 1, Resolve: tellsOfCollation(func(t Type, c *collation.Collation) Value { return Int(int64(t.Coerc)) })},
		&Func{Name: "weight_string", Min: 1, Max: 1, Resolve: resolveWeightString},
	)
}

// resolveLike is a LIKE b [ESCAPE c]. A pattern is read again only if it differs from the one of the row before.
func resolveLike(not bool) func(*Call) error {
	return func(c *Call) error {
		id, coerc, err := textCollation(c, 0, 1)
		if err != nil {
			return err
		}
		if coerc == NoneCoerc {
			return illegalMix("like", asTextType(c.ArgType(0)), asTextType(c.ArgType(1)))
		}
		order, err := knownCollation(id)
		if err != nil {
			return err
		}
		for i := range 2 {
			c.Args[i] = inCharacters(id, c.Args[i])
		}
		c.T = TBool
		l := &like{order: order, not: not}
		c.Fn = l.eval
		return nil
	}
}

type like struct {
	order   *collation.Collation
	not     bool
	pattern *collation.Pattern
	text    string // that the pattern was made of
	escape  rune
}

func (l *like) eval(env *Env, c *Call) (Value, error) {
	s, null, err := c.textArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	text, null, err := c.textArg(env, 1)
	if err != nil || null {
		return Null, err
	}
	escape, err := escapeOf(env, c)
	if err != nil {
		return Null, err
	}
	if l.pattern == nil || l.text != text || l.escape != escape {
		l.pattern, l.text, l.escape = l.order.Pattern(text, escape), text, escape
	}
	is, err := l.pattern.MatchPoll(s, env.Poll)
	return Bool(is != l.not), err
}

// escapeOf is the escape character: one at most. NULL is the backslash, as if ESCAPE were not written; the empty text is none.
func escapeOf(env *Env, c *Call) (rune, error) {
	none := env.Mode&NoBackslashEscapes != 0
	if len(c.Args) == 3 {
		s, null, err := c.textArg(env, 2)
		if err != nil {
			return 0, err
		}
		if !null {
			r, n := utf8.DecodeRuneInString(s)
			switch {
			case s == "":
				return collation.NoEscape, nil
			case n != len(s):
				return 0, Errorf(1210, "HY000", "Incorrect arguments to ESCAPE")
			}
			return r, nil
		}
	}
	if none {
		return collation.NoEscape, nil
	}
	return '\\', nil
}

// extraCollation is the collation that the syntax names.
func extraCollation(c *Call) (*collation.Collation, error) {
	id, ok := c.Extra.(uint16)
	if !ok {
		return nil, Errorf(1210, "HY000", "Incorrect arguments to %s", c.Name)
	}
	return knownCollation(id)
}

// resolveCollate is x COLLATE c: the collation must be one of the text's character set (1253).
func resolveCollate(c *Call) error {
	to, err := extraCollation(c)
	if err != nil {
		return err
	}
	t := asTextType(c.ArgType(0))
	if l, ok := c.Args[0].(*Lit); t.Name != NullType || ok && l.V.IsNull() { // NULL, as it is written, is a binary string
		from, err := knownCollation(t.Collation)
		if err != nil {
			return err
		}
		if from.Charset != to.Charset {
			return Errorf(1253, "42000", "COLLATION '%s' is not valid for CHARACTER SET '%s'", to.Name, from.Charset.Name)
		}
	}
	c.T = stringType(displayLength(t), to.ID, Explicit)
	c.Fn = one(func(_ *Env, c *Call, s string) (Value, error) { return c.text(s), nil })
	return nil
}

// resolveConvertUsing is CONVERT(x USING set). Characters that the set does not have become question marks; bytes that are not UTF-8
// give NULL and a warning.
func resolveConvertUsing(c *Call) error {
	to, err := extraCollation(c)
	if err != nil {
		return err
	}
	c.T = stringType(displayLength(asTextType(c.ArgType(0))), to.ID, Implicit)
	c.Fn = one(func(env *Env, c *Call, s string) (Value, error) {
		if to.Charset.Name == "binary" {
			return c.text(s), nil
		}
		if !utf8.ValidString(s) {
			env.Warning(1300, "Invalid %s character string: '%s'", to.Charset.Name, invalidPart(s))
			return Null, nil
		}
		if _, ok := to.Charset.Valid(s); ok {
			return c.text(s), nil
		}
		var b strings.Builder
		for _, r := range s {
			if _, ok := to.Charset.Valid(string(r)); !ok {
				r = '?'
			}
			b.WriteRune(r)
		}
		return c.text(b.String()), nil
	})
	return nil
}

// invalidPart is what an error shows of bytes that are no text: six of them, in hexadecimal.
func invalidPart(s string) string {
	at := 0
	for at < len(s) {
		r, n := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	s = s[at:]
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range min(len(s), 6) {
		if s[i] < 0x80 && s[i] >= ' ' {
			b.WriteByte(s[i])
			continue
		}
		b.WriteString(`\x` + string(digits[s[i]>>4]) + string(digits[s[i]&15]))
	}
	return b.String()
}

// tellsOfCollation is CHARSET, COLLATION and COERCIBILITY, which do not evaluate their argument.
func tellsOfCollation(tell func(Type, *collation.Collation) Value) func(*Call) error {
	return func(c *Call) error {
		t := c.ArgType(0)
		if !t.IsString() && t.Kind() != KindJSON {
			t.Collation = BinaryCollation
		}
		of, err := knownCollation(t.Collation)
		if err != nil {
			return err
		}
		v := tell(t, of)
		c.T = TText(64, 33, Coercible)
		if v.Kind() == KindInt {
			c.T = TInt
		}
		c.Fn = func(*Env, *Call) (Value, error) { return v, nil }
		return nil
	}
}

// weightOf is a whole number, a date or a time as MySQL packs and orders it: without a sign, or with a sign bit that is 1 if it is positive.
func weightOf(v Value) uint64 {
	const sign, micros = 1 << 63, 1 << 20
	switch v.kind {
	case KindUint, KindBit:
		return v.n
	case KindDate:
		d := temporal.DateTime(v.n)
		return sign | uint64(d.Year()*512+d.Month()*32+d.Day())
	case KindDatetime:
		return sign | v.n/micros<<24 | v.n%micros
	case KindTime:
		t := temporal.Duration(v.n)
		n := int64(t.Hour()<<12|t.Minute()<<6|t.Second())<<24 | int64(t.Micro())
		if t < 0 {
			n = -n
		}
		return sign | uint64(n+1<<47)
	}
	return v.n ^ sign
}

// resolveWeightString is WEIGHT_STRING(s): what texts are compared by; whole numbers, dates and times as they are packed, in eight bytes. Other
// numbers have none.
func resolveWeightString(c *Call) error {
	t := c.ArgType(0)
	c.T = TBytes(-1)
	c.T.Name, c.T.Coerc = Varbinary, t.Coerc // REGEXP refuses it, which it does not with a BLOB
	switch {
	case t.IsInteger() && !isBitLiteral(c.Args[0]), t.IsTemporal(), t.Kind() == KindEnum, t.Kind() == KindSet:
		c.Fn = strict1(func(_ *Env, _ *Call, v Value) (Value, error) {
			return Bytes(string(binary.BigEndian.AppendUint64(nil, weightOf(v)))), nil
		})
		return nil
	case t.IsNumber() && !isBitLiteral(c.Args[0]), t.Name == NullType:
		c.Fn = strict1(func(*Env, *Call, Value) (Value, error) { return Null, nil })
		return nil
	}
	order, err := knownCollation(t.Collation)
	if err != nil {
		return err
	}
	c.Fn = one(func(env *Env, c *Call, s string) (Value, error) {
		if !c.fits(env, int64(len(s))) {
			return Null, nil
		}
		return Bytes(string(order.AppendWeights(nil, s))), nil
	})
	return nil
}
