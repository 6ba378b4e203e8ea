package expr

// Texts as numbers and codes: ASCII to CHAR, HEX and its kin, BASE64, SOUNDEX.

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

func init() {
	register(
		&Func{Name: "ascii", Min: 1, Max: 1, Resolve: resolveTyped(TInt, oneOfBytes(evalASCII))},
		&Func{Name: "ord", Min: 1, Max: 1, Resolve: resolveTyped(TInt, oneOfBytes(evalOrd))},
		&Func{Name: "char", Min: 1, Max: -1, Resolve: resolveChar},
		&Func{Name: "hex", Min: 1, Max: 1, Resolve: resolveHex},
		&Func{Name: "unhex", Min: 1, Max: 1, Resolve: resolveUnhex},
		&Func{Name: "bin", Min: 1, Max: 1, Resolve: resolveTyped(ascii(64), inBase(2))},
		&Func{Name: "oct", Min: 1, Max: 1, Resolve: resolveTyped(ascii(64), inBase(8))},
		&Func{Name: "to_base64", Min: 1, Max: 1, Resolve: resolveTyped(ascii(-1), oneOfBytes(evalToBase64))},
		&Func{Name: "from_base64", Min: 1, Max: 1, Resolve: resolveTyped(TBytes(-1), one(evalFromBase64))},
		&Func{Name: "soundex", Min: 1, Max: 1, Resolve: resolveText(one(evalSoundex), unknownLength)},
		&Func{Name: "sounds like", Min: 2, Max: 2, Resolve: resolveTyped(TBool, evalSoundsLike)},
		&Func{Name: "format_bytes", Min: 1, Max: 1, Resolve: resolveTyped(TText(17, utf8mb3GeneralCI, Coercible), evalUnits(byteUnits))},
		&Func{Name: "format_pico_time", Min: 1, Max: 1, Resolve: resolveTyped(TText(17, utf8mb3GeneralCI, Coercible), evalUnits(timeUnits))},
		&Func{Name: "format", Min: 2, Max: 3, Resolve: resolveTyped(ascii(-1), evalFormat)},
	)
}

// utf8mb3GeneralCI is the collation of what FORMAT_BYTES and FORMAT_PICO_TIME give.
const utf8mb3GeneralCI = 33

func evalASCII(_ *Env, _ *Call, s string) (Value, error) {
	if s == "" {
		return Int(0), nil
	}
	return Int(int64(s[0])), nil
}

// evalOrd is the number that the bytes of the first character make.
func evalOrd(_ *Env, c *Call, s string) (Value, error) {
	if s == "" {
		return Int(0), nil
	}
	n := 1
	if order, err := knownCollation(asTextType(c.ArgType(0)).Collation); err == nil && order.Charset.MaxLen > 1 {
		_, n = utf8.DecodeRuneInString(s)
	}
	var out int64
	for i := range n {
		out = out<<8 | int64(s[i])
	}
	return Int(out), nil
}

// resolveChar is CHAR(n, ...): the bytes of the numbers, of one above 255 more than one; a binary string unless USING names a
// character set. NULLs are left out.
func resolveChar(c *Call) error {
	id := uint16(BinaryCollation)
	if x, ok := c.Extra.(uint16); ok {
		id = x
	}
	order, err := knownCollation(id)
	if err != nil {
		return err
	}
	c.T = stringType(4*len(c.Args), id, Coercible)
	c.Fn = func(env *Env, c *Call) (Value, error) {
		var b []byte
		for i := range c.Args {
			v, err := c.Arg(env, i)
			if err != nil {
				return Null, err
			}
			if v.IsNull() {
				continue
			}
			whole, _, err := ToInt(env, v)
			if err != nil {
				return Null, err
			}
			n := uint32(whole)
			for shift := 24; shift >= 0; shift -= 8 {
				if n>>shift != 0 || shift == 0 {
					b = append(b, byte(n>>shift))
				}
			}
		}
		s := string(b)
		if order.Charset.Name == "latin1" {
			s = fromLatin1(b)
		}
		if at, ok := order.Charset.Valid(s); !ok {
			bad := s[at:]
			return Null, env.StrictOrWarn(1300, "HY000", "Invalid %s character string: '%s'", order.Charset.Name, strings.ToUpper(hex.EncodeToString([]byte(bad[:min(len(bad), 6)]))))
		}
		return c.text(s), nil
	}
	return nil
}

// fromLatin1 makes a text of the bytes of Windows-1252.
func fromLatin1(b []byte) string {
	var out []rune
	for _, x := range b {
		if x < 0x80 || x >= 0xa0 {
			out = append(out, rune(x))
		} else {
			out = append(out, windows1252[x-0x80])
		}
	}
	return string(out)
}

var windows1252 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// resolveHex is HEX: of a number its digits, of a text its bytes.
func resolveHex(c *Call) error {
	t := c.ArgType(0)
	c.T = ascii(-1)
	if t.IsNumber() {
		c.T = ascii(16)
		c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
			n, err := bits64(env, v)
			return c.text(strings.ToUpper(strconv.FormatUint(n, 16))), err
		})
		return nil
	}
	if n := displayLength(t); n >= 0 {
		width := utf8.UTFMax
		if t.Kind() == KindBytes || t.Kind() == KindBit {
			width = 1
		}
		c.T = ascii(2 * width * n)
	}
	c.Fn = oneOfBytes(func(env *Env, c *Call, s string) (Value, error) {
		if !c.fits(env, 2*int64(len(s))) {
			return Null, nil
		}
		return c.text(strings.ToUpper(hex.EncodeToString([]byte(s)))), nil
	})
	return nil
}

// bits64 is a number as 64 bits: negative ones in two's complement, what is too great as the greatest.
func bits64(env *Env, v Value) (uint64, error) {
	n, _, err := ToInt(env, v)
	return uint64(n), err
}

func resolveUnhex(c *Call) error {
	n := displayLength(c.ArgType(0))
	if n >= 0 {
		n = (n + 1) / 2
	}
	c.T = TBytes(n)
	c.Fn = one(func(env *Env, c *Call, s string) (Value, error) {
		if len(s)%2 == 1 {
			s = "0" + s
		}
		b, err := hex.DecodeString(s)
		if err != nil {
			return wrongValue(env, c, s)
		}
		return Bytes(string(b)), nil
	})
	return nil
}

// inBase is BIN and OCT: CONV(v, 10, base).
func inBase(base int64) func(*Env, *Call) (Value, error) {
	return strict1(func(env *Env, _ *Call, v Value) (Value, error) { return convert(env, v, 10, base) })
}

// evalToBase64 breaks lines after 76 letters.
func evalToBase64(env *Env, c *Call, s string) (Value, error) {
	n := (int64(len(s)) + 2) / 3 * 4
	if !c.fits(env, n+n/76) {
		return Null, nil
	}
	e := base64.StdEncoding.EncodeToString([]byte(s))
	var b strings.Builder
	for len(e) > 76 {
		b.WriteString(e[:76])
		b.WriteByte('\n')
		e = e[76:]
	}
	b.WriteString(e)
	return c.text(b.String()), nil
}

// evalFromBase64 passes over white space; what is no BASE64 gives NULL.
func evalFromBase64(env *Env, c *Call, s string) (Value, error) {
	if int64(len(s)) > int64(env.maxPacket()) && !c.fits(env, int64(len(s))) {
		return Null, nil
	}
	s = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\n', '\r', '\v', '\f':
			return -1
		}
		return r
	}, s)
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return Null, nil
	}
	return Bytes(string(b)), nil
}

// soundexCodes are the codes of the letters A to Z; vowels, H, W and Y have none.
const soundexCodes = "01230120022455012623010202"

// evalSoundex is the original Soundex of MySQL: vowels are dropped first and duplicates after, and the result is as long as
// it is, of at least four characters. Every character from U+00C0 on is a vowel.
func evalSoundex(_ *Env, c *Call, s string) (Value, error) {
	if c.T.Kind() == KindBytes { // of which only letters of ASCII count
		s = strings.Map(func(r rune) rune {
			if r >= utf8.RuneSelf {
				return -1
			}
			return r
		}, s)
	}
	return c.text(soundex(s)), nil
}

func soundex(s string) string {
	code := func(r rune) byte {
		if low := r | 0x20; 'a' <= low && low <= 'z' {
			return soundexCodes[low-'a']
		}
		return '0'
	}
	var b strings.Builder
	var last byte
	n := 0
	for _, r := range s {
		if low := r | 0x20; (low < 'a' || low > 'z') && r < 0xc0 {
			continue
		}
		if n == 0 {
			if 'a' <= r && r <= 'z' {
				r -= 'a' - 'A'
			}
			b.WriteRune(r)
			last, n = code(r), 1
			continue
		}
		x := code(r)
		if x == '0' || x == last {
			continue
		}
		b.WriteByte(x)
		last = x
		n++
	}
	if n == 0 {
		return ""
	}
	for ; n < 4; n++ {
		b.WriteByte('0')
	}
	return b.String()
}

func evalSoundsLike(env *Env, c *Call) (Value, error) {
	a, null, err := c.textArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	b, null, err := c.textArg(env, 1)
	if err != nil || null {
		return Null, err
	}
	return Bool(soundex(a) == soundex(b)), nil
}
