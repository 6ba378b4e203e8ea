package expr

// What the functions on texts have in common: the arguments as texts, the collation and length of the result, and the limit of
// max_allowed_packet.

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// asText is what a type is where texts are wanted: numbers and times are ASCII texts of the connection's collation.
func asTextType(t Type) Type {
	switch {
	case t.Name == NullType:
		return Type{Name: NullType, Collation: BinaryCollation, Coerc: Ignorable}
	case t.Kind() == KindBit:
		t.Collation, t.Coerc = BinaryCollation, Implicit
		return t
	case t.IsString(), t.Kind() == KindJSON:
		return t
	}
	return Type{Name: Varchar, Collation: DefaultCollation, Coerc: Numeric, Length: displayLength(t)}
}

// displayLength is how many characters a value of a type has as text; -1: not known.
func displayLength(t Type) int {
	switch t.Name {
	case NullType:
		return 0
	case TinyInt:
		return 4
	case SmallInt:
		return 6
	case MediumInt:
		return 9
	case IntType:
		return 11
	case BigInt:
		if t.Length > 0 && t.Length < 20 {
			return t.Length
		}
		return 20
	case YearType:
		return 4
	case DecimalType:
		n := t.Length + 1 // the sign
		if t.Scale > 0 {
			n++
		}
		return n
	case FloatType:
		return 12
	case DoubleType:
		return 23
	case DateType:
		return 10
	case DatetimeType, TimestampType, TimeType:
		n := 19
		if t.Name == TimeType {
			n = 10
		}
		if t.Scale > 0 {
			n += 1 + t.Scale
		}
		return n
	case BitType:
		return (max(t.Length, 1) + 7) / 8
	case EnumType:
		n := 0
		for _, e := range t.Elements {
			n = max(n, utf8.RuneCountInString(e))
		}
		return n
	case SetType:
		n := max(len(t.Elements)-1, 0)
		for _, e := range t.Elements {
			n += utf8.RuneCountInString(e)
		}
		return n
	}
	return t.Length
}

func init() {
	register(
		&Func{Name: "as text", Min: 1, Max: 1, Resolve: resolveAsText},
		&Func{Name: "bytes as characters", Min: 1, Max: 1, Resolve: resolveBytesAsCharacters},
		&Func{Name: "characters as bytes", Min: 1, Max: 1, Resolve: resolveCharactersAsBytes},
	)
}

// textResult finds the collation of a function's result from those of its arguments at the places given (all, if none is), and
// whether it is a binary string; length is the result's, -1 if it is not known.
func textResult(c *Call, length int, places ...int) error {
	coll, coerc, err := textCollation(c, places...)
	if err != nil {
		return err
	}
	c.T = stringType(length, coll, coerc)
	if onlyNulls(c, places...) {
		c.T = TBytes(0)
		c.T.Coerc = Ignorable
	}
	for i := range c.Args {
		if len(places) == 0 || slices.Contains(places, i) {
			c.Args[i] = inCharacters(coll, c.Args[i])
		}
	}
	return nil
}

// onlyNulls reports whether all texts of a call are the literal NULL.
func onlyNulls(c *Call, places ...int) bool {
	for i := range c.Args {
		if (len(places) == 0 || slices.Contains(places, i)) && c.ArgType(i).Name != NullType {
			return false
		}
	}
	return true
}

// inCharacters makes a text of a binary string that is put together with texts of a collation, or compared with them: error 3854 if its bytes
// are none. All others stay as they are.
func inCharacters(coll uint16, n Node) Node {
	if t := n.Type(); coll == BinaryCollation || t.Kind() != KindBytes && t.Kind() != KindBit {
		return n
	}
	c := &Call{Name: "as text", Args: []Node{n}, Extra: coll}
	_ = resolveAsText(c)
	return c
}

func resolveAsText(c *Call) error {
	t := asTextType(c.ArgType(0))
	c.T = TText(displayLength(t), c.Extra.(uint16), t.Coerc)
	c.Fn = one(func(_ *Env, _ *Call, s string) (Value, error) { return Text(s), validText(s) })
	return nil
}

// resolveBytesAsCharacters makes a text of a binary string in which each byte is the character of that number, as regular expressions see it.
func resolveBytesAsCharacters(c *Call) error {
	c.T = TText(displayLength(c.ArgType(0)), DefaultCollation, c.ArgType(0).Coerc)
	c.Fn = one(func(_ *Env, _ *Call, s string) (Value, error) {
		out := make([]rune, len(s))
		for i := range len(s) {
			out[i] = rune(s[i])
		}
		return Text(string(out)), nil
	})
	return nil
}

// resolveCharactersAsBytes undoes "bytes as characters".
func resolveCharactersAsBytes(c *Call) error {
	c.T = TBytes(displayLength(c.ArgType(0)))
	c.Fn = one(func(_ *Env, _ *Call, s string) (Value, error) {
		out := make([]byte, 0, len(s))
		for _, r := range s {
			out = append(out, byte(r))
		}
		return Bytes(string(out)), nil
	})
	return nil
}

// validText is error 3854 of bytes that are no text.
func validText(s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	var b strings.Builder
	for i := range min(len(s), 6) {
		if s[i] > ' ' && s[i] < 0x7f {
			b.WriteByte(s[i])
			continue
		}
		b.WriteString(`\x` + strings.ToUpper(hex.EncodeToString([]byte{s[i]})))
	}
	if len(s) > 6 {
		b.WriteString(" ...")
	}
	return Errorf(3854, "HY000", "Cannot convert string '%s' from binary to utf8mb4", b.String())
}

func stringType(length int, coll uint16, coerc Coercibility) Type {
	if coll == BinaryCollation {
		t := TBytes(length)
		t.Coerc = coerc
		return t
	}
	return TText(length, coll, coerc)
}

// textCollation is the collation that arguments have together as texts.
func textCollation(c *Call, places ...int) (uint16, Coercibility, error) {
	if len(places) == 0 {
		for i := range c.Args {
			places = append(places, i)
		}
	}
	var types []Type
	for _, i := range places {
		if i < len(c.Args) {
			types = append(types, asTextType(c.ArgType(i)))
		}
	}
	coll, coerc, err := aggregate(c.Name, types...)
	if err == nil && (coerc == Numeric || coerc == Ignorable) {
		if coerc == Numeric {
			coll = DefaultCollation
		}
		coerc = Coercible
	}
	return coll, coerc, err
}

// text makes a value of the call's type.
func (c *Call) text(s string) Value {
	if c.T.Kind() == KindBytes {
		return Bytes(s)
	}
	return Text(s)
}

// binary says whether the result of a call is a binary string: its characters are bytes.
func (c *Call) binary() bool { return c.T.Collation == BinaryCollation }

// textArg evaluates an argument as text; null says that it is NULL.
func (c *Call) textArg(env *Env, i int) (s string, null bool, err error) {
	v, err := c.Args[i].Eval(env)
	if err != nil || v.IsNull() {
		return "", true, err
	}
	s, err = ToText(env, v)
	return s, false, err
}

// bytesArg evaluates an argument as the bytes that its text has in its character set: texts are UTF-8 in memory, and those of latin1
// take one byte for each character where bytes count (LENGTH, HEX, MD5).
func (c *Call) bytesArg(env *Env, i int) (s string, null bool, err error) {
	s, null, err = c.textArg(env, i)
	if err != nil || null {
		return "", true, err
	}
	if t := c.ArgType(i); t.Kind() == KindText {
		s = encoded(t.Collation, s)
	}
	return s, false, nil
}

// encoded is a text in the character set of a collation; characters that it does not have become question marks.
func encoded(id uint16, s string) string {
	order, err := knownCollation(id)
	if err != nil || order.Charset.Name != "latin1" {
		return s
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		switch at := slices.Index(windows1252, r); {
		case at >= 0:
			b = append(b, byte(0x80+at))
		case r <= 0xff:
			b = append(b, byte(r))
		default:
			b = append(b, '?')
		}
	}
	return string(b)
}

// intArg evaluates an argument as a whole number; what an unsigned one has beyond BIGINT is the greatest BIGINT, since every use is a
// count or place that no text reaches.
func (c *Call) intArg(env *Env, i int) (n int64, null bool, err error) {
	v, err := c.Args[i].Eval(env)
	if err != nil || v.IsNull() {
		return 0, true, err
	}
	n, unsigned, err := ToInt(env, v)
	if unsigned && n < 0 {
		n = 1<<63 - 1
	}
	return n, false, err
}

// maxPacket is max_allowed_packet, or MySQL's default if the host does not say.
func (e *Env) maxPacket() int {
	if e.MaxPacket > 0 {
		return e.MaxPacket
	}
	return 64 << 20
}

// fits says whether a result of so many bytes is allowed; if not it warns, and the result is NULL (manual, max_allowed_packet).
func (c *Call) fits(env *Env, bytes int64) bool {
	if bytes >= 0 && bytes <= int64(env.maxPacket()) {
		return true
	}
	env.Warning(1301, "Result of %s() was larger than max_allowed_packet (%d) - truncated", c.Name, env.maxPacket())
	return false
}

// repeated is n times s; the caller knows that the result fits.
func repeated(s string, n int64) string { return strings.Repeat(s, int(n)) }

// chars is how many characters a text has under a collation.
func chars(coll uint16, s string) int {
	if coll == BinaryCollation {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// offset is where the character n of a text begins, or its end if it has not so many.
func offset(coll uint16, s string, n int64) int {
	if n <= 0 {
		return 0
	}
	if n >= int64(len(s)) {
		return len(s) // a character has at least a byte
	}
	if coll == BinaryCollation {
		return int(n)
	}
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// sum adds lengths; -1: not known.
func sum(lengths ...int) (n int) {
	for _, l := range lengths {
		if l < 0 {
			return -1
		}
		n += l
	}
	return n
}

// lengths are the lengths of arguments as texts, from the first place on.
func lengths(c *Call, from int) (out []int) {
	for i := from; i < len(c.Args); i++ {
		out = append(out, displayLength(c.ArgType(i)))
	}
	return out
}

// resolveText is Resolve for a function whose result has the collation of some arguments.
func resolveText(fn func(*Env, *Call) (Value, error), length func(*Call) int, places ...int) func(*Call) error {
	return func(c *Call) error {
		c.Fn = fn
		return textResult(c, length(c), places...)
	}
}

// resolveFirst is Resolve for a function whose result has the collation of the first argument, to which other texts are brought.
func resolveFirst(fn func(*Env, *Call) (Value, error), length func(*Call) int, others ...int) func(*Call) error {
	return func(c *Call) error {
		c.Fn = fn
		if err := textResult(c, length(c), 0); err != nil {
			return err
		}
		for _, i := range others {
			if i < len(c.Args) {
				c.Args[i] = inCharacters(c.T.Collation, c.Args[i])
			}
		}
		return nil
	}
}

// resolveTyped is Resolve for a function whose result has always the same type.
func resolveTyped(t Type, fn func(*Env, *Call) (Value, error)) func(*Call) error {
	return func(c *Call) error {
		c.T, c.Fn = t, fn
		return nil
	}
}

// ascii is the type of results that are ASCII texts: of the connection's collation.
func ascii(length int) Type { return TText(length, DefaultCollation, Coercible) }

func lengthOf(i int) func(*Call) int { return func(c *Call) int { return displayLength(c.ArgType(i)) } }

func unknownLength(*Call) int { return -1 }

// one evaluates a function of one text.
func one(fn func(env *Env, c *Call, s string) (Value, error)) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		s, null, err := c.textArg(env, 0)
		if err != nil || null {
			return Null, err
		}
		return fn(env, c, s)
	}
}

// oneOfBytes evaluates a function of the bytes of one text.
func oneOfBytes(fn func(env *Env, c *Call, s string) (Value, error)) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		s, null, err := c.bytesArg(env, 0)
		if err != nil || null {
			return Null, err
		}
		return fn(env, c, s)
	}
}
