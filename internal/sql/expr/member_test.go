package expr

import "testing"

// TestMembership: NULLs in x IN (SELECT …), also in rows, as the SQL standard and MySQL have them.
func TestMembership(t *testing.T) {
	one, two, null := Int(1), Int(2), Null
	lit := func(v Value) Node { return &Lit{V: v, T: TInt} }
	for _, c := range []struct {
		name string
		left []Value
		rows [][]Value
		want Value
	}{
		{"found", []Value{one}, [][]Value{{two}, {one}}, True},
		{"not found", []Value{one}, [][]Value{{two}}, False},
		{"not found among a NULL", []Value{one}, [][]Value{{two}, {null}}, Null},
		{"found beside a NULL", []Value{one}, [][]Value{{null}, {one}}, True},
		{"NULL among rows", []Value{null}, [][]Value{{one}}, Null},
		{"NULL among none", []Value{null}, nil, False},
		{"row found", []Value{one, two}, [][]Value{{one, two}}, True},
		{"row differs beside its NULL", []Value{one, two}, [][]Value{{two, null}}, False},
		{"row may be equal", []Value{one, two}, [][]Value{{one, null}}, Null},
		{"NULL in the row on the left, the rest differs", []Value{null, two}, [][]Value{{one, one}}, False},
		{"NULL in the row on the left, the rest agrees", []Value{null, two}, [][]Value{{one, one}, {one, two}}, Null},
	} {
		var left Node
		types := make([]Type, len(c.left))
		var nodes []Node
		for i, v := range c.left {
			nodes = append(nodes, lit(v))
			types[i] = TInt
		}
		left = nodes[0]
		if len(nodes) > 1 {
			left = &Tuple{Nodes: nodes}
		}
		m, err := NewMembership(left, types)
		if err != nil {
			t.Fatal(err)
		}
		env := &Env{}
		rows, err := m.Gather(env, c.rows)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Among(env, rows); err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}
