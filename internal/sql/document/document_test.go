package document

import (
	"testing"
)

func parsed(t *testing.T, s string) *Doc {
	t.Helper()
	d, err := Parse(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return d
}

func path(t *testing.T, s string) Path {
	t.Helper()
	p, at := ParsePath(s)
	if at > 0 {
		t.Fatalf("%s is no path: character %d", s, at)
	}
	return p
}

// DOC1: what changes a document leaves the old one as it was.
func TestImmutable(t *testing.T) {
	const text = `{"a": [1, {"b": 2}], "cc": "x"}`
	d := parsed(t, text)
	cell, member := path(t, "$.a[1].b"), path(t, "$.d")
	for _, changed := range []*Doc{d.Replace(cell, NewNull()), d.Put(member, NewInt(1)), d.AppendTo(path(t, "$.a"), NewInt(3)),
		d.InsertInto(path(t, "$.a[0]"), NewInt(3)), d.Remove(cell), Merge(d, d), Patch(d, parsed(t, `{"a":null}`))} {
		if got := d.Text(); got != text {
			t.Fatalf("a change to %s made %s of the document", changed.Text(), got)
		}
		if changed.Text() == text {
			t.Error("a change changed nothing")
		}
	}
}

// DOC2: members are ordered by the length of their names, then by their bytes; the last of equal names stays.
func TestMembers(t *testing.T) {
	if got := parsed(t, `{"bb":1,"b":2,"a":3,"bb":4,"":5}`).Text(); got != `{"": 5, "a": 3, "b": 2, "bb": 4}` {
		t.Error(got)
	}
}

// FuzzParse is DOC3: what can be read can be written and read again, as an equal document, whose key is the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.0,1e300,"\u00e9\ud83d\ude00\n",true,null,18446744073709551615]}`, `[[],{}]`, `"x`, `1.`, `{"a":}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse(s)
		if err != nil {
			if e := err.(*SyntaxError); e.At < 0 || e.At > len(s) {
				t.Fatalf("%q is wrong at byte %d", s, e.At)
			}
			return
		}
		again := parsed(t, d.Text())
		if Compare(d, again) != 0 || d.Key() != again.Key() || d.Text() != again.Text() {
			t.Fatalf("%q became %s, then %s", s, d.Text(), again.Text())
		}
		if d.Depth() > MaxDepth {
			t.Fatalf("%q is %d deep", s, d.Depth())
		}
	})
}

// FuzzPath: a path that JSON_SEARCH writes leads to where it was written.
func FuzzPath(f *testing.F) {
	f.Add(`{"a b":[1,{"c":2}],"":3}`, "$**.c")
	f.Add(`[1,[2]]`, "$[last-1 to last]")
	f.Fuzz(func(t *testing.T, text, steps string) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		p, at := ParsePath(steps)
		if at > 0 {
			return
		}
		for _, place := range d.Find(p) {
			found := d.Find(path(t, place.Path()))
			if len(found) != 1 || found[0].Doc != place.Doc {
				t.Fatalf("%s in %s: %s leads elsewhere", steps, text, place.Path())
			}
		}
	})
}

func TestCompare(t *testing.T) {
	// in their order: null, numbers, texts, objects, arrays, truth values
	ascending := []string{"null", "-1", "0.5", "1", "18446744073709551615", "1e300", `""`, `"a"`, `"b"`, "{}", `{"a": 1}`, `{"a": 2}`, `{"b": 1}`, "[]", "[1]",
		"[1, 2]", "[2]", "false", "true"}
	for i, a := range ascending {
		for j, b := range ascending {
			x, y := parsed(t, a), parsed(t, b)
			if got := Compare(x, y); order(int64(got), 0) != order(int64(i), int64(j)) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
			if (x.Key() == y.Key()) != (i == j) {
				t.Errorf("keys of %s and %s", a, b)
			}
		}
	}
	if Compare(parsed(t, "1"), parsed(t, "1.0")) != 0 || parsed(t, "1").Key() != parsed(t, "1.0").Key() || parsed(t, "0").Key() != parsed(t, "-0.0").Key() {
		t.Error("equal numbers differ")
	}
}
