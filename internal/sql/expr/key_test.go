package expr

import (
	"math"
	"testing"

	"github.com/cockroachdb/apd/v3"
)

// TestKeys: rows that GROUP BY takes for equal have one key, all others have different ones.
func TestKeys(t *testing.T) {
	word := TText(10, DefaultCollation, Implicit)
	exact := TText(10, 309, Implicit) // utf8mb4_0900_bin
	for _, group := range []struct {
		types []Type
		rows  [][]Value // each a class of its own
		equal [][2][]Value
	}{
		{types: []Type{word, word},
			rows:  [][]Value{{Text("a"), Text("bc")}, {Text("ab"), Text("c")}, {Null, Text("a")}, {Text("a"), Null}, {Null, Null}, {Text(""), Null}},
			equal: [][2][]Value{{{Text("Ab"), Text("É")}, {Text("aB"), Text("e")}}}},
		{types: []Type{exact}, rows: [][]Value{{Text("a")}, {Text("A")}, {Text("á")}}},
		{types: []Type{TDecimal(10, 2)}, rows: [][]Value{{Decimal(apd.New(1, 0))}, {Decimal(apd.New(-1, 0))}, {Decimal(apd.New(10, 0))}, {Decimal(apd.New(1, -1))}},
			equal: [][2][]Value{{{Decimal(apd.New(100, -2))}, {Decimal(apd.New(1, 0))}}, {{Decimal(apd.New(0, -2))}, {Decimal(&apd.Decimal{Negative: true})}}}},
		{types: []Type{TInt}, rows: [][]Value{{Int(1)}, {Int(-1)}, {Uint(math.MaxUint64)}}, equal: [][2][]Value{{{Int(7)}, {Uint(7)}}}},
		{types: []Type{TFloat}, rows: [][]Value{{Float(1)}, {Float(-1)}, {Null}}, equal: [][2][]Value{{{Float(0)}, {Float(math.Copysign(0, -1))}}}},
	} {
		k, err := NewKeys(group.types)
		if err != nil {
			t.Fatal(err)
		}
		key := func(row []Value) string {
			b, err := k.AppendRow(nil, &Env{}, row)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		seen := map[string]int{}
		for i, row := range group.rows {
			if j, ok := seen[key(row)]; ok {
				t.Errorf("%v and %v have one key", group.rows[j], row)
			}
			seen[key(row)] = i
		}
		for _, pair := range group.equal {
			if key(pair[0]) != key(pair[1]) {
				t.Errorf("%v and %v have two keys", pair[0], pair[1])
			}
		}
	}
}
