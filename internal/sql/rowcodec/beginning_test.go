package rowcodec

import (
	"bytes"
	"testing"
)

// The keys of all values that begin with some bytes begin with what AppendKeyBeginning gives, and those of no others.
func TestAppendKeyBeginning(t *testing.T) {
	values := []string{"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "a", "a\x00", "a\x00b", "ab", "abc", "b", "\xff"}
	for _, c := range []Column{{Kind: Bytes}, {Kind: Text}} {
		for _, begin := range values {
			span := AppendKeyBeginning([]byte("x"), &c, []byte(begin))
			for _, v := range values {
				key, err := AppendKey([]byte("x"), &c, Datum{Kind: c.Kind, B: []byte(v)})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := bytes.HasPrefix(key, span), bytes.HasPrefix([]byte(v), []byte(begin)); got != want {
					t.Errorf("%s: %q begins with %q: %v by its key, want %v", c.Kind, v, begin, got, want)
				}
			}
		}
	}
}
