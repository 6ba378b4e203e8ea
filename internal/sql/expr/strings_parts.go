package expr

// Parts of texts: LEFT to SUBSTRING_INDEX, padding and trimming, and what finds a place.

import (
	"strings"
	"unicode/utf8"
)

func init() {
	register(
		&Func{Name: "left", Min: 2, Max: 2, Resolve: resolveText(evalLeft, lengthOf(0), 0)},
		&Func{Name: "right", Min: 2, Max: 2, Resolve: resolveText(evalRight, lengthOf(0), 0)},
		&Func{Name: "substring", Min: 2, Max: 3, Resolve: resolveText(evalSubstring, lengthOf(0), 0)},
		&Func{Name: "substr", Min: 2, Max: 3, Resolve: resolveText(evalSubstring, lengthOf(0), 0)},
		&Func{Name: "mid", Min: 3, Max: 3, Resolve: resolveText(evalSubstring, lengthOf(0), 0)},
		&Func{Name: "substring_index", Min: 3, Max: 3, Resolve: resolveFirst(evalSubstringIndex, lengthOf(0), 1)},
		&Func{Name: "insert", Min: 4, Max: 4, Resolve: resolveFirst(evalInsert, func(c *Call) int {
			return sum(displayLength(c.ArgType(0)), displayLength(c.ArgType(3)))
		}, 3)},
		&Func{Name: "lpad", Min: 3, Max: 3, Resolve: resolveFirst(evalPad, constantLength(1), 2)},
		&Func{Name: "rpad", Min: 3, Max: 3, Resolve: resolveFirst(evalPad, constantLength(1), 2)},
		&Func{Name: "ltrim", Min: 1, Max: 1, Resolve: resolveText(evalTrim, lengthOf(0))},
		&Func{Name: "rtrim", Min: 1, Max: 1, Resolve: resolveText(evalTrim, lengthOf(0))},
		&Func{Name: "trim", Min: 1, Max: 2, Resolve: resolveFirst(evalTrim, lengthOf(0), 1)},
		&Func{Name: "instr", Min: 2, Max: 2, Resolve: resolveLocate(0, 1)},
		&Func{Name: "locate", Min: 2, Max: 3, Resolve: resolveLocate(1, 0)},
		&Func{Name: "position", Min: 2, Max: 2, Resolve: resolveLocate(1, 0)},
	)
}

// constantLength is the value of an argument that is a literal, as a length; -1 if it is none.
func constantLength(i int) func(*Call) int {
	return func(c *Call) int {
		l, ok := c.Args[i].(*Lit)
		if !ok || l.V.IsNull() {
			return -1
		}
		n, _, err := ToInt(&Env{}, l.V)
		if err != nil || n < 0 || n > 1<<32-1 {
			return -1
		}
		return int(n)
	}
}

// textAndCount evaluates a text and a number.
func textAndCount(env *Env, c *Call) (s string, n int64, null bool, err error) {
	if s, null, err = c.textArg(env, 0); err != nil || null && c.Name == "insert" {
		return "", 0, true, err
	}
	n, nothing, err := c.intArg(env, 1)
	return s, n, null || nothing, err
}

func evalLeft(env *Env, c *Call) (Value, error) {
	s, n, null, err := textAndCount(env, c)
	if err != nil || null {
		return Null, err
	}
	return c.text(s[:offset(c.T.Collation, s, n)]), nil
}

func evalRight(env *Env, c *Call) (Value, error) {
	s, n, null, err := textAndCount(env, c)
	if err != nil || null {
		return Null, err
	}
	if n <= 0 {
		return c.text(""), nil
	}
	skip := int64(chars(c.T.Collation, s)) - n
	return c.text(s[offset(c.T.Collation, s, skip):]), nil
}

// evalSubstring is SUBSTRING(s, from [, length]): from counts from 1, or from the end if it is negative.
func evalSubstring(env *Env, c *Call) (Value, error) {
	s, from, null, err := textAndCount(env, c)
	if err != nil {
		return Null, err
	}
	n, nothing := int64(len(s)), false
	if len(c.Args) == 3 {
		if n, nothing, err = c.intArg(env, 2); err != nil {
			return Null, err
		}
	}
	if null || nothing {
		return Null, nil
	}
	if n <= 0 || from == 0 {
		return c.text(""), nil
	}
	if from < 0 {
		if from += int64(chars(c.T.Collation, s)); from < 0 {
			return c.text(""), nil
		}
	} else {
		from--
	}
	s = s[offset(c.T.Collation, s, from):]
	return c.text(s[:offset(c.T.Collation, s, n)]), nil
}

// evalSubstringIndex compares bytes, in every collation.
func evalSubstringIndex(env *Env, c *Call) (Value, error) {
	s, null, err := c.textArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	delimiter, null, err := c.textArg(env, 1)
	if err != nil || null {
		return Null, err
	}
	n, null, err := c.intArg(env, 2)
	if err != nil || null {
		return Null, err
	}
	if n == 0 || delimiter == "" || s == "" {
		return c.text(""), nil
	}
	if n > 0 {
		at := 0
		for {
			i := strings.Index(s[at:], delimiter)
			if i < 0 {
				return c.text(s), nil
			}
			at += i
			if n--; n == 0 {
				return c.text(s[:at]), nil
			}
			at += len(delimiter)
		}
	}
	end := len(s)
	for {
		i := strings.LastIndex(s[:end], delimiter)
		if i < 0 {
			return c.text(s), nil
		}
		if n++; n == 0 {
			return c.text(s[i+len(delimiter):]), nil
		}
		end = i
	}
}

// evalInsert is INSERT(s, from, length, new); the text as it is if from is not within it.
func evalInsert(env *Env, c *Call) (Value, error) {
	s, from, null, err := textAndCount(env, c)
	if err != nil || null {
		return Null, err
	}
	n, null, err := c.intArg(env, 2)
	if err != nil {
		return Null, err
	}
	with, nothing, err := c.textArg(env, 3)
	if err != nil || null || nothing {
		return Null, err
	}
	coll := c.T.Collation
	if from < 1 || from > int64(chars(coll, s)) {
		return c.text(s), nil
	}
	start := offset(coll, s, from-1)
	end := len(s)
	if n >= 0 {
		end = start + offset(coll, s[start:], n)
	}
	if !c.fits(env, int64(start)+int64(len(with))+int64(len(s)-end)) {
		return Null, nil
	}
	return c.text(s[:start] + with + s[end:]), nil
}

func evalPad(env *Env, c *Call) (Value, error) {
	s, n, null, err := textAndCount(env, c)
	if err != nil {
		return Null, err
	}
	pad, nothing, err := c.textArg(env, 2)
	if err != nil || null || nothing || n < 0 {
		return Null, err
	}
	coll := c.T.Collation
	have := int64(chars(coll, s))
	if n <= have {
		return c.text(s[:offset(coll, s, n)]), nil
	}
	width := 1 // MySQL takes the longest character of the set for each that is wanted
	if coll != BinaryCollation {
		width = utf8.UTFMax
	}
	if n > int64(env.maxPacket()) || !c.fits(env, n*int64(width)) {
		if n > int64(env.maxPacket()) {
			c.fits(env, n)
		}
		return Null, nil
	}
	if pad == "" {
		return c.text(s), nil
	}
	missing := n - have
	unit := int64(chars(coll, pad))
	filling := repeated(pad, missing/unit) + pad[:offset(coll, pad, missing%unit)]
	if c.Name == "lpad" {
		return c.text(filling + s), nil
	}
	return c.text(s + filling), nil
}

// evalTrim takes whole occurrences of a text off the ends, comparing bytes.
func evalTrim(env *Env, c *Call) (Value, error) {
	s, null, err := c.textArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	what := " "
	if len(c.Args) == 2 {
		if what, null, err = c.textArg(env, 1); err != nil || null {
			return Null, err
		}
	}
	side, _ := c.Extra.(string)
	switch c.Name {
	case "ltrim":
		side = "LEADING"
	case "rtrim":
		side = "TRAILING"
	}
	if what == "" {
		return c.text(s), nil
	}
	if side != "TRAILING" {
		for strings.HasPrefix(s, what) {
			s = s[len(what):]
		}
	}
	if side != "LEADING" {
		for strings.HasSuffix(s, what) {
			if at := len(s) - len(what); c.binary() || utf8.RuneStart(s[at]) {
				s = s[:at]
				continue
			}
			break
		}
	}
	return c.text(s), nil
}

// resolveLocate is for functions that find a text (the argument at the place what) in another.
func resolveLocate(where, what int) func(*Call) error {
	return func(c *Call) error {
		id, err := comparesIn(c, where, what)
		if err != nil {
			return err
		}
		coll, err := knownCollation(id)
		if err != nil {
			return err
		}
		c.T = TInt
		c.Fn = func(env *Env, c *Call) (Value, error) {
			s, null, err := c.textArg(env, where)
			if err != nil || null {
				return Null, err
			}
			sub, null, err := c.textArg(env, what)
			if err != nil || null {
				return Null, err
			}
			from := int64(1)
			if len(c.Args) == 3 {
				if from, null, err = c.intArg(env, 2); err != nil || null {
					return Null, err
				}
			}
			if from < 1 || from > int64(coll.Length(s))+1 {
				return Int(0), nil
			}
			start := offset(id, s, from-1)
			at, err := coll.IndexPoll(s[start:], sub, env.Poll)
			if err != nil || at < 0 {
				return Int(0), err
			}
			return Int(from + int64(coll.Length(s[start:start+at]))), nil
		}
		return nil
	}
}
