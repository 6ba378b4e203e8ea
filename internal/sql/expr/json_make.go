package expr

import (
	"github.com/longitude-db/longitude/internal/sql/document"
)

// What makes and changes JSON documents: JSON_ARRAY, JSON_OBJECT, JSON_SET, JSON_REMOVE, JSON_MERGE_PATCH and their like.

func init() {
	register(
		&Func{Name: "json_array", Min: 0, Max: -1, Resolve: resolveTyped(TJSON, evalJSONArray)},
		&Func{Name: "json_object", Min: 0, Max: -1, Resolve: resolveJSONObject},
		&Func{Name: "json_set", Min: 3, Max: -1, Resolve: resolveChange((*document.Doc).Put, (*document.Doc).Replace)},
		&Func{Name: "json_insert", Min: 3, Max: -1, Resolve: resolveChange((*document.Doc).Put)},
		&Func{Name: "json_replace", Min: 3, Max: -1, Resolve: resolveChange((*document.Doc).Replace)},
		&Func{Name: "json_array_append", Min: 3, Max: -1, Resolve: resolveChange((*document.Doc).AppendTo)},
		&Func{Name: "json_array_insert", Min: 3, Max: -1, Resolve: resolveChange((*document.Doc).InsertInto)},
		&Func{Name: "json_remove", Min: 2, Max: -1, Resolve: resolveTyped(TJSON, evalRemove)},
		&Func{Name: "json_merge_preserve", Min: 2, Max: -1, Resolve: resolveTyped(TJSON, evalMerge)},
		&Func{Name: "json_merge", Min: 2, Max: -1, Resolve: resolveTyped(TJSON, evalMerge)},
		&Func{Name: "json_merge_patch", Min: 2, Max: -1, Resolve: resolveTyped(TJSON, evalPatch)},
	)
}

func evalJSONArray(env *Env, c *Call) (Value, error) {
	list := make([]*document.Doc, len(c.Args))
	for i, n := range c.Args {
		var err error
		if list[i], err = documentOf(env, n); err != nil {
			return Null, err
		}
	}
	return JSON(document.NewArray(list)), nil
}

func resolveJSONObject(c *Call) error {
	if len(c.Args)%2 != 0 {
		return Errorf(1582, "42000", "Incorrect parameter count in the call to native function '%s'", c.Name)
	}
	c.T = TJSON
	c.Fn = func(env *Env, c *Call) (Value, error) {
		ms := make([]document.Member, 0, len(c.Args)/2)
		for i := 0; i < len(c.Args); i += 2 {
			k, err := c.Arg(env, i)
			if err != nil {
				return Null, err
			}
			name, err := MemberName(env, k)
			if err != nil {
				return Null, err
			}
			d, err := documentOf(env, c.Args[i+1])
			if err != nil {
				return Null, err
			}
			ms = append(ms, document.Member{Name: name, Doc: d})
		}
		return JSON(document.NewObject(ms)), nil
	}
	return nil
}

// MemberName is a value as the name of an object's member. Errors: 3158 (NULL), 3144 (a binary string).
func MemberName(env *Env, v Value) (string, error) {
	switch v.kind {
	case KindNull:
		return "", Errorf(3158, "22032", "JSON documents may not contain NULL member names.")
	case KindBytes, KindBit:
		return "", errBinaryJSON()
	}
	return ToText(env, v)
}

// resolveChange makes the functions of a document and pairs of a path and a value, for each of which the changes are made.
func resolveChange(changes ...func(d *document.Doc, p document.Path, part *document.Doc) *document.Doc) func(*Call) error {
	return func(c *Call) error {
		if len(c.Args)%2 != 1 {
			return Errorf(1582, "42000", "Incorrect parameter count in the call to native function '%s'", c.Name)
		}
		c.T = TJSON
		c.Fn = func(env *Env, c *Call) (Value, error) {
			d, err := c.documentArg(env, 0)
			if err != nil || d == nil {
				return Null, err
			}
			for i := 1; i < len(c.Args); i += 2 {
				p, null, err := c.pathArg(env, i, true)
				if err != nil || null {
					return Null, err
				}
				if c.Name == "json_array_insert" && !p.EndsInCell() {
					return Null, Errorf(3165, "42000", "A path expression is not a path to a cell in an array.")
				}
				part, err := documentOf(env, c.Args[i+1])
				if err != nil {
					return Null, err
				}
				was := d
				for _, change := range changes {
					if d = change(d, p, part); d != was { // JSON_SET does not replace what it has just put in
						break
					}
				}
			}
			return JSON(d), nil
		}
		return nil
	}
}

func evalRemove(env *Env, c *Call) (Value, error) {
	d, err := c.documentArg(env, 0)
	if err != nil || d == nil {
		return Null, err
	}
	var paths []document.Path
	for i := 1; i < len(c.Args); i++ {
		p, null, err := c.pathArg(env, i, true)
		if err != nil || null {
			return Null, err
		}
		if len(p) == 0 {
			return Null, Errorf(3153, "42000", "The path expression '$' is not allowed in this context.")
		}
		paths = append(paths, p)
	}
	for _, p := range paths {
		d = d.Remove(p)
	}
	return JSON(d), nil
}

// evalMerge is JSON_MERGE_PRESERVE.
func evalMerge(env *Env, c *Call) (Value, error) {
	var out *document.Doc
	for i := range c.Args {
		d, err := c.documentArg(env, i)
		if err != nil || d == nil {
			return Null, err
		}
		if out == nil {
			out = d
			continue
		}
		out = document.Merge(out, d)
	}
	return JSON(out), nil
}

// evalPatch is JSON_MERGE_PATCH: NULL as long as no document behind it is other than an object.
func evalPatch(env *Env, c *Call) (Value, error) {
	var out *document.Doc
	for i := range c.Args {
		d, err := c.documentArg(env, i)
		switch {
		case err != nil:
			return Null, err
		case d == nil:
			out = nil
		case i == 0 || d.Kind() != document.Object:
			out = d
		case out != nil:
			out = document.Patch(out, d)
		}
	}
	if out == nil {
		return Null, nil
	}
	return JSON(out), nil
}
