package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/longitude-db/longitude/internal/sql/document"
)

// What tells of JSON documents: JSON_EXTRACT, JSON_CONTAINS, JSON_KEYS, JSON_LENGTH, JSON_TYPE, JSON_SEARCH, JSON_VALUE and their like.

func init() {
	register(
		&Func{Name: "json_extract", Min: 2, Max: -1, Resolve: resolveTyped(TJSON, evalExtract)},
		&Func{Name: "json_contains", Min: 2, Max: 3, Resolve: resolveTyped(TBool, evalContains)},
		&Func{Name: "json_contains_path", Min: 3, Max: -1, Resolve: resolveTyped(TBool, evalContainsPath)},
		&Func{Name: "json_overlaps", Min: 2, Max: 2, Resolve: resolveTyped(TBool, evalOverlaps)},
		&Func{Name: "member of", Min: 2, Max: 2, Resolve: resolveTyped(TBool, evalMemberOf)},
		&Func{Name: "json_keys", Min: 1, Max: 2, Resolve: resolveTyped(TJSON, evalKeys)},
		&Func{Name: "json_length", Min: 1, Max: 2, Resolve: resolveTyped(TInt, evalLength)},
		&Func{Name: "json_depth", Min: 1, Max: 1, Resolve: resolveTyped(TInt, oneDocument(func(d *document.Doc) Value { return Int(int64(d.Depth())) }))},
		&Func{Name: "json_type", Min: 1, Max: 1, Resolve: resolveTyped(jsonText(51),
			oneDocument(func(d *document.Doc) Value { return Text(d.TypeName()) }))},
		&Func{Name: "json_pretty", Min: 1, Max: 1, Resolve: resolveTyped(jsonText(-1),
			oneDocument(func(d *document.Doc) Value { return Text(d.Pretty()) }))},
		&Func{Name: "json_valid", Min: 1, Max: 1, Resolve: resolveTyped(TBool, evalValid)},
		&Func{Name: "json_search", Min: 3, Max: -1, Resolve: resolveTyped(TJSON, evalSearch)},
		&Func{Name: "json_value", Min: 2, Max: 2, Resolve: resolveTyped(TText(512, jsonValueCollation, Coercible), evalJSONValue)},
		&Func{Name: "json_unquote", Min: 1, Max: 1, Resolve: resolveUnquote},
		&Func{Name: "json_quote", Min: 1, Max: 1, Resolve: resolveQuote},
	)
}

// Collations of the texts that JSON functions return: utf8mb4_bin, and utf8mb4_0900_bin for JSON_VALUE.
const (
	jsonCollation      = 46
	jsonValueCollation = 309
)

// jsonText is the type of texts that JSON functions give.
func jsonText(length int) Type { return TText(length, jsonCollation, Coercible) }

// documentArg evaluates an argument as a document: a JSON value, or a text that is one. nil: it is NULL. Errors: 3146 (neither), 3144 (a binary
// string), 3141 (no document).
func (c *Call) documentArg(env *Env, i int) (*document.Doc, error) {
	v, ok, err := c.documentText(env, i)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, Errorf(3146, "22032", "Invalid data type for JSON data in argument %d to function %s; a JSON string or JSON type is required.", i+1, c.Name)
	}
	switch v.kind {
	case KindNull:
		return nil, nil
	case KindJSON:
		return v.Document()
	case KindBytes, KindBit:
		return nil, errBinaryJSON()
	}
	d, err := document.Parse(v.s)
	if err != nil {
		return nil, invalidJSON(err, i+1, c.Name)
	}
	return d, nil
}

func errBinaryJSON() error {
	return Errorf(3144, "22032", "Cannot create a JSON value from a string with CHARACTER SET 'binary'.")
}

// documentText evaluates an argument that may be a document; !ok: its type is one that holds none.
func (c *Call) documentText(env *Env, i int) (v Value, ok bool, err error) {
	t := c.ArgType(i)
	switch t.Kind() {
	case KindNull, KindJSON, KindText:
	case KindBytes:
	default:
		return Null, false, nil
	}
	v, err = c.Arg(env, i)
	return v, true, err
}

// oneDocument is a function of one document.
func oneDocument(f func(*document.Doc) Value) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		d, err := c.documentArg(env, 0)
		if err != nil || d == nil {
			return Null, err
		}
		return f(d), nil
	}
}

// pathArg evaluates an argument as a path; null: it is NULL. Errors: 3143 (no path), 3149 (it may lead to several parts; where single is set).
func (c *Call) pathArg(env *Env, i int, single bool) (p document.Path, null bool, err error) {
	s, null, err := c.textArg(env, i)
	if err != nil || null {
		return nil, null, err
	}
	p, at := document.ParsePath(s)
	if at > 0 {
		return nil, false, Errorf(3143, "42000", "Invalid JSON path expression. The error is around character position %d.", at)
	}
	if single && p.Several() {
		return nil, false, Errorf(3149, "42000", "In this situation, path expressions may not contain the * and ** tokens or an array range.")
	}
	return p, false, nil
}

func evalExtract(env *Env, c *Call) (Value, error) {
	d, err := c.documentArg(env, 0)
	if err != nil || d == nil {
		return Null, err
	}
	var found []*document.Doc
	several := len(c.Args) > 2
	for i := 1; i < len(c.Args); i++ {
		p, null, err := c.pathArg(env, i, false)
		if err != nil || null {
			return Null, err
		}
		several = several || p.Several()
		for _, at := range d.Find(p) {
			found = append(found, at.Doc)
		}
	}
	switch {
	case len(found) == 0:
		return Null, nil
	case several:
		return JSON(document.NewArray(found)), nil
	}
	return JSON(found[0]), nil
}

// part is the part of a document to which the path argument leads, if there is such an argument; nil: NULL, or none.
func (c *Call) part(env *Env, d *document.Doc, i int) (*document.Doc, error) {
	if i >= len(c.Args) {
		return d, nil
	}
	p, null, err := c.pathArg(env, i, true)
	if err != nil || null {
		return nil, err
	}
	if at := d.Find(p); len(at) > 0 {
		return at[0].Doc, nil
	}
	return nil, nil
}

func evalContains(env *Env, c *Call) (Value, error) {
	d, err := c.documentArg(env, 0)
	if err != nil || d == nil {
		return Null, err
	}
	candidate, err := c.documentArg(env, 1)
	if err != nil || candidate == nil {
		return Null, err
	}
	part, err := c.part(env, d, 2)
	if err != nil || part == nil {
		return Null, err
	}
	return Bool(part.Contains(candidate)), nil
}

// oneOrAll evaluates the argument 'one' or 'all'.
func (c *Call) oneOrAll(env *Env, i int) (all, null bool, err error) {
	s, null, err := c.textArg(env, i)
	switch {
	case err != nil || null:
		return false, null, err
	case strings.EqualFold(s, "one"):
		return false, false, nil
	case strings.EqualFold(s, "all"):
		return true, false, nil
	}
	return false, false, Errorf(3154, "42000", "The oneOrAll argument to %s may take these values: 'one' or 'all'.", c.Name)
}

func evalContainsPath(env *Env, c *Call) (Value, error) {
	d, err := c.documentArg(env, 0)
	if err != nil || d == nil {
		return Null, err
	}
	all, null, err := c.oneOrAll(env, 1)
	if err != nil || null {
		return Null, err
	}
	for i := 2; i < len(c.Args); i++ {
		p, null, err := c.pathArg(env, i, false)
		if err != nil || null {
			return Null, err
		}
		if found := len(d.Find(p)) > 0; found != all {
			return Bool(found), nil
		}
	}
	return Bool(all), nil
}

func evalOverlaps(env *Env, c *Call) (Value, error) {
	a, err := c.documentArg(env, 0)
	if err != nil || a == nil {
		return Null, err
	}
	b, err := c.documentArg(env, 1)
	if err != nil || b == nil {
		return Null, err
	}
	return Bool(document.Overlaps(a, b)), nil
}

func evalMemberOf(env *Env, c *Call) (Value, error) {
	v, err := c.Arg(env, 0)
	if err != nil || v.IsNull() {
		return Null, err
	}
	d, err := c.documentArg(env, 1)
	if err != nil || d == nil {
		return Null, err
	}
	e, err := atom(env, v, c.ArgType(0))
	if IsTruth(c.Args[0]) {
		e = document.NewBool(v.n != 0)
	}
	return Bool(err == nil && d.HasElement(e)), err
}

func evalKeys(env *Env, c *Call) (Value, error) {
	d, err := c.documentArg(env, 0)
	if err != nil || d == nil {
		return Null, err
	}
	part, err := c.part(env, d, 1)
	if err != nil || part == nil || part.Kind() != document.Object {
		return Null, err
	}
	var names []*document.Doc
	for _, m := range part.Members() {
		names = append(names, document.NewString(m.Name))
	}
	return JSON(document.NewArray(names)), nil
}

func evalLength(env *Env, c *Call) (Value, error) {
	d, err := c.documentArg(env, 0)
	if err != nil || d == nil {
		return Null, err
	}
	part, err := c.part(env, d, 1)
	if err != nil || part == nil {
		return Null, err
	}
	return Int(int64(part.Len())), nil
}

func evalValid(env *Env, c *Call) (Value, error) {
	v, ok, err := c.documentText(env, 0)
	if err != nil || !ok {
		return False, err
	}
	switch v.kind {
	case KindNull:
		return Null, nil
	case KindJSON:
		return True, nil
	case KindText:
		_, err := document.Parse(v.s)
		if e, failed := err.(*document.SyntaxError); failed && e.Deep {
			return Null, invalidJSON(err, 1, c.Name)
		}
		return Bool(err == nil), nil
	}
	return False, nil
}

// evalSearch is JSON_SEARCH: the paths to the texts that are like a pattern.
func evalSearch(env *Env, c *Call) (Value, error) {
	d, err := c.documentArg(env, 0)
	if err != nil || d == nil {
		return Null, err
	}
	all, null, err := c.oneOrAll(env, 1)
	if err != nil || null {
		return Null, err
	}
	pattern, null, err := c.textArg(env, 2)
	if err != nil || null {
		return Null, err
	}
	escape := '\\'
	if len(c.Args) > 3 {
		s, null, err := c.textArg(env, 3)
		if err != nil {
			return Null, err
		}
		if r, n := utf8.DecodeRuneInString(s); !null && s != "" {
			if n != len(s) {
				return Null, Errorf(1210, "HY000", "Incorrect arguments to ESCAPE")
			}
			escape = r
		}
	}
	order, err := knownCollation(jsonCollation)
	if err != nil {
		return Null, err
	}
	like := order.Pattern(pattern, escape)
	var found []*document.Doc
	seen := map[string]bool{}
	search := func(at *document.Place) bool {
		if at.Doc.Kind() != document.String {
			return true
		}
		is, failed := like.MatchPoll(at.Doc.Str(), env.Poll)
		if failed != nil {
			err = failed
			return false
		}
		if path := at.Path(); is && !seen[path] {
			seen[path] = true
			found = append(found, document.NewString(path))
		}
		return all || len(found) == 0
	}
	begin := []*document.Place{{Doc: d}}
	if len(c.Args) > 4 {
		begin = nil
		for i := 4; i < len(c.Args); i++ {
			p, null, err := c.pathArg(env, i, false)
			if err != nil || null {
				return Null, err
			}
			begin = append(begin, d.Find(p)...)
		}
	}
	for _, at := range begin {
		if !at.Below(search) {
			break
		}
	}
	switch {
	case err != nil || len(found) == 0:
		return Null, err
	case len(found) == 1:
		return JSON(found[0]), nil
	}
	return JSON(document.NewArray(found)), nil
}

// evalJSONValue is JSON_VALUE without RETURNING: a text of at most 512 characters; NULL if there is nothing, or if it would be longer.
func evalJSONValue(env *Env, c *Call) (Value, error) {
	d, err := c.documentArg(env, 0)
	if e, ok := err.(*Error); ok && e.Code == 3141 {
		env.Warning(e.Code, "%s", e.Message)
		return Null, nil
	}
	if err != nil || d == nil {
		return Null, err
	}
	part, err := c.part(env, d, 1)
	if err != nil || part == nil || part.Kind() == document.Null {
		return Null, err
	}
	s := part.Unquoted()
	if utf8.RuneCountInString(s) > 512 {
		return Null, nil
	}
	return Text(s), nil
}

// resolveUnquote is JSON_UNQUOTE: the text of a document; of a text in quotation marks what it says, of all others the same.
func resolveUnquote(c *Call) error {
	c.T = jsonText(-1)
	if t := c.ArgType(0); t.Kind() == KindText && t.Length >= 0 {
		c.T = jsonText(t.Length)
	}
	c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
		switch v.kind {
		case KindJSON:
			d, err := v.Document()
			if err != nil {
				return Null, err
			}
			return Text(d.Unquoted()), nil
		case KindBytes, KindBit:
			if c.ArgType(0).Name == BitType {
				return Null, errJSONText(c)
			}
			return Null, errBinaryJSON()
		case KindText, KindEnum, KindSet:
		default:
			return Null, errJSONText(c)
		}
		s := v.s
		if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
			return Text(s), nil
		}
		d, err := document.Parse(s)
		if err != nil {
			return Null, invalidJSON(err, 1, c.Name)
		}
		return Text(d.Unquoted()), nil
	})
	return nil
}

func errJSONText(c *Call) error {
	return Errorf(3064, "HY000", "Incorrect type for argument 1 in function %s.", c.Name)
}

// resolveQuote is JSON_QUOTE: a text as a JSON string.
func resolveQuote(c *Call) error {
	c.T = jsonText(-1)
	if t := c.ArgType(0); t.Kind() == KindText && t.Length >= 0 {
		c.T = jsonText(6*t.Length + 2)
	}
	c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
		switch v.kind {
		case KindText, KindEnum, KindSet:
		case KindBytes, KindBit:
			if c.ArgType(0).Name == BitType {
				return Null, errJSONText(c)
			}
			return Null, errBinaryJSON()
		default:
			return Null, errJSONText(c)
		}
		s := document.Quote(v.s)
		if !c.fits(env, int64(len(s))) {
			return Null, nil
		}
		return Text(s), nil
	})
	return nil
}
