package jepsen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/longitude-db/longitude/internal/check"
)

func TestReadsTransactions(t *testing.T) {
	wanted := []check.Txn{
		{Op: check.Op{Client: "0", Invoke: 1, Return: 4, Outcome: check.OK},
			Mops: []check.Mop{check.Append("3", 5), check.ReadList("3", 5), check.ReadList("4")}},
		{Op: check.Op{Client: "1", Invoke: 2, Return: 3, Outcome: check.Failed},
			Mops: []check.Mop{check.WriteTo("x", -7), {Kind: check.MopRead, Key: "x"}}},
		{Op: check.Op{Client: "2", Invoke: 6}, Mops: []check.Mop{check.Append("4", 1), {Kind: check.MopReadList, Key: "4"}}},
		{Op: check.Op{Client: "0", Invoke: 8, Return: 9, Outcome: check.OK}, Mops: []check.Mop{check.ReadNil("x"), check.ReadOf("y", 0)}},
		{Op: check.Op{Client: "5", Invoke: 10}, Mops: []check.Mop{check.Append("4", 2)}},
	}
	lines := `{"index":0,"time":1.5,"type":"invoke","process":0,"f":"txn","value":[["append",3,5],["r",3,null],["r",4,null]]}
{"type":"invoke","process":1,"f":"txn","value":[["w","x",-7],["r","x",null]]}
{"type":"fail","process":1,"f":"txn","value":[["w","x",-7],["r","x",null]],"error":["conflict",{"code":1213}]}
{"type":"ok","process":0,"f":"txn","value":[["append",3,5],["r",3,[5]],["r",4,null]]}
{"type":"info","process":"nemesis","f":"start","value":null}
{"type":"invoke","process":2,"f":"txn","value":[["append",4,1],["r",4,null]]}
{"type":"info","process":2,"f":"txn","value":null}
{"type":"invoke","process":0,"f":"txn","value":[["r","x",null],["r","y",null]]}
{"type":"ok","process":0,"f":"txn","value":[["r","x",null],["r","y",0]]}
{"type":"invoke","process":5,"value":[["append",4,2]]}
`
	edn := `; the same as Jepsen keeps it
{:index 0, :time 1.5, :type :invoke, :process 0, :f :txn, :value [[:append 3 5] [:r 3 nil] [:r 4 nil]]}
#jepsen.history.Op{:type :invoke, :process 1, :f :txn, :value [[:w "x" -7] [:r "x" nil]]}
{:type :fail, :process 1, :f :txn, :value [[:w :x -7] [:r :x nil]], :error [:conflict #{1213 2}]}
{:type :ok, :process 0, :f :txn, :value [[:append 3 5] [:r 3 [5]] [:r 4 nil]]}
{:type :info, :process :nemesis, :f :start, :value nil}
{:type :invoke, :process 2, :f :txn, :value [[:append 4 1] [:r 4 nil]]}
{:type :info, :process 2, :f :txn, :value nil}
{:type :invoke, :process 0, :f :txn, :value ((:r :x nil) (:r :y nil))}
{:type :ok, :process 0, :f :txn, :value [[:r :x nil] [:r :y 0]]}
{:type :invoke, :process 5, :f :txn, :value [[:append 4 2]]}`
	array := "[" + strings.ReplaceAll(strings.TrimSpace(lines), "\n", ",\n") + "]"
	for name, in := range map[string]string{"lines": lines, "array": array, "EDN": edn, "EDN vector": "[" + edn + "\n]"} {
		h, err := Read(strings.NewReader(in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(h.Txns, wanted) {
			t.Errorf("%s: got\n%v\nwant\n%v", name, h.Txns, wanted)
		}
		if h.Ignored != 1 {
			t.Errorf("%s: %d ignored, want the nemesis alone", name, h.Ignored)
		}
	}
}

func TestReadsRegisters(t *testing.T) {
	h, err := Read(strings.NewReader(`
{"type":"invoke","process":0,"f":"write","value":0}
{"type":"ok","process":0,"f":"write","value":0}
{"type":"invoke","process":0,"f":"read","value":["k",null]}
{"type":"ok","process":0,"f":"read","value":["k",3]}
{"type":"invoke","process":0,"f":"cas","value":["k",[3,4]]}
{"type":"fail","process":0,"f":"cas","value":["k",[3,4]]}
{"type":"invoke","process":0,"f":"cas","value":[null,4]}
{"type":"invoke","process":1,"f":"read","value":null}
{"type":"ok","process":1,"f":"read","value":null}
`))
	if err != nil {
		t.Fatal(err)
	}
	ok := func(i, r int64) check.Op { return check.Op{Client: "0", Invoke: i, Return: r, Outcome: check.OK} }
	want := []check.RegisterOp{
		{Op: ok(1, 2), Kind: check.Write, New: Zero},
		{Op: ok(3, 4), Key: "k", Kind: check.Read, Old: 3},
		{Op: check.Op{Client: "0", Invoke: 5, Return: 6, Outcome: check.Failed}, Key: "k", Kind: check.Change, Old: 3, New: 4},
		{Op: check.Op{Client: "0", Invoke: 7}, Kind: check.Change, New: 4},
		{Op: check.Op{Client: "1", Invoke: 8, Return: 9, Outcome: check.OK}, Kind: check.Read},
	}
	if !reflect.DeepEqual(h.Registers, want) {
		t.Errorf("got\n%+v\nwant\n%+v", h.Registers, want)
	}
}

// TestErrors: each says where, what is wrong, and what was expected.
func TestErrors(t *testing.T) {
	const begin = `{"type":"invoke","process":0,"f":"txn","value":[["append",1,2]]}` + "\n"
	for _, c := range []struct {
		in   string
		line int
		want []string
	}{
		{"", 1, []string{"no operation", "wanted: maps"}},
		{"\n\n7", 3, []string{"an integer where an operation should be", "wanted: a map"}},
		{"[\n{}]", 2, []string{`no "process"`}},
		{begin + `{"type":"ok","process":1,"f":"txn"}`, 2, []string{"process 1 ends an operation (ok) that it has not begun"}},
		{begin + begin, 2, []string{"process 0 begins an operation, although that of line 1 has not ended"}},
		{begin + `{"type":"ok","process":0,"f":"read"}`, 2, []string{`ends "read"`, `line 1 is "txn"`}},
		{begin + `{"type":"okay","process":0,"f":"txn"}`, 2, []string{`no "type":"okay"`, `"info"`}},
		{begin + `{"type":"ok","process":0,"f":"txn"}`, 1, []string{"ended with ok, but without micro-operations"}},
		{`{"type":"invoke","process":0,"f":"txn","value":5}`, 1, []string{"value of a transaction is an integer"}},
		{`{"type":"invoke","process":0,"f":"enqueue","value":5}`, 1, []string{`no way to judge "f":"enqueue"`}},
		{`{"type":"invoke","process":0,"f":"txn",` + "\n" + `"value":[["append",1]]}`, 2, []string{"not a micro-operation", `["append",key,integer]`}},
		{`{"type":"invoke","process":0,"f":"txn","value":[["inc",1,1]]}`, 1, []string{`no micro-operation "inc"`}},
		{`{"type":"invoke","process":0,"f":"txn","value":[["append",1,"x"]]}`, 1, []string{`"append" of a text to key 1`, "wanted: an integer"}},
		{`{"type":"invoke","process":0,"f":"txn","value":[["append",1,1],["r",1,5]]}`, 1, []string{"a read of key 1 saw an integer"}},
		{`{"type":"invoke","process":0,"f":"txn","value":[["r",1,[1,"x"]]]}`, 1, []string{"a list holds a text"}},
		{`{"type":"invoke","process":0,"f":"write","value":"x"}`, 1, []string{"a write has a text"}},
		{`{"type":"invoke","process":0,"f":"cas","value":7}`, 1, []string{`value of "cas" is an integer`, "[old, new]"}},
		{"{\"type\":\n\n\"invoke\"", 1, []string{`'{' is never closed`}},
		{"\n{\"type", 2, []string{"a text is never closed"}},
		{`{"type"}`, 1, []string{"a name without a value: type"}},
		{`{"a\x":1}`, 1, []string{"an escape that does not exist"}},
		{"]", 1, []string{"']' is not the beginning of a value"}},
		{strings.Repeat("[", 1000), 1, []string{"more than 64 levels deep"}},
		{"#a", 1, []string{"nothing follows the tag #a"}},
		{"{ :", 1, []string{"a colon without a name"}},
	} {
		_, err := Read(strings.NewReader(c.in))
		e, ok := err.(*Error)
		if !ok {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if e.Line != c.line {
			t.Errorf("%q: line %d, want %d: %v", c.in, e.Line, c.line, err)
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %v\ndoes not say %q", c.in, err, w)
			}
		}
	}
}

// anything makes a history of any kind, right or wrong.
func anything(rng *rand.Rand) *History {
	h := &History{}
	rank := int64(0)
	var open []*check.Op
	busy := map[string]bool{}
	for i := range 30 {
		c := fmt.Sprint("c", rng.IntN(6))
		if busy[c] {
			continue
		}
		busy[c] = true
		rank++
		o := check.Op{Client: c, Invoke: rank}
		if rng.IntN(3) == 0 {
			r := check.RegisterOp{Op: o, Key: fmt.Sprint("r", rng.IntN(2)), Kind: check.RegisterKind(rng.IntN(3))}
			if r.Kind != check.Write {
				r.Old = int64(rng.IntN(3))
			}
			if r.Kind != check.Read {
				r.New = int64(i + 1)
			}
			h.Registers = append(h.Registers, r)
		} else {
			x := check.Txn{Op: o}
			for j := range rng.IntN(4) {
				key, v := fmt.Sprint(rng.IntN(3)), int64(10*i+j)
				x.Mops = append(x.Mops, []check.Mop{check.Append(key, v), check.ReadList(key, 1, v), check.WriteTo("ü"+key, v), check.ReadOf("ü"+key, v),
					check.ReadNil("ü" + key), check.ReadList(key)}[rng.IntN(6)])
			}
			h.Txns = append(h.Txns, x)
		}
		for rng.IntN(3) == 0 && i > 3 {
			open = open[:0]
			for i := range h.Txns {
				open = append(open, &h.Txns[i].Op)
			}
			for i := range h.Registers {
				open = append(open, &h.Registers[i].Op)
			}
			o := open[rng.IntN(len(open))]
			if !busy[o.Client] || o.Return != 0 {
				continue
			}
			rank++
			o.Return, o.Outcome = rank, check.Outcome(rng.IntN(3))
			busy[o.Client] = false
		}
	}
	for i := range h.Registers {
		// What a failed or unknown read saw is not written down.
		if r := &h.Registers[i]; r.Kind == check.Read && r.Outcome != check.OK {
			r.Old = 0
		}
	}
	return h
}

// TestWhatIsWrittenIsReadBack (J2).
func TestWhatIsWrittenIsReadBack(t *testing.T) {
	for seed := range uint64(300) {
		h := anything(rand.New(rand.NewPCG(seed, 1)))
		var b bytes.Buffer
		if err := Write(&b, h, nil); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("seed %d: %q is not JSON", seed, line)
			}
		}
		if len(h.Txns)+len(h.Registers) == 0 {
			continue
		}
		got, err := Read(&b)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		before, after := judged(h), judged(got)
		if !slices.Equal(before, after) {
			t.Fatalf("seed %d: before: %v\nafter: %v", seed, before, after)
		}
		for i := range h.Txns {
			a, b := &h.Txns[i], &got.Txns[i]
			if a.Outcome != b.Outcome || a.Outcome == check.OK && fmt.Sprint(a.Mops) != fmt.Sprint(b.Mops) {
				t.Fatalf("seed %d: %v became %v", seed, a, b)
			}
		}
		for i := range h.Registers {
			a, b := h.Registers[i], got.Registers[i]
			a.Op, b.Op = check.Op{Outcome: a.Outcome}, check.Op{Outcome: b.Outcome}
			if a != b {
				t.Fatalf("seed %d: %+v became %+v", seed, a, b)
			}
		}
	}
}

// judged is what the checkers find, without ranks and names.
func judged(h *History) (kinds []check.Kind) {
	for _, a := range check.Transactions(h.Txns, check.TxnOptions{Model: check.StrictSerializable}) {
		kinds = append(kinds, a.Kind)
	}
	as, _ := check.Registers(slices.Clone(h.Registers), 0)
	for _, a := range as {
		kinds = append(kinds, a.Kind)
	}
	slices.Sort(kinds)
	return kinds
}

// FuzzRead: no input ends in a panic (J3), what is read can be written and read again, and JSON is understood as others
// understand it.
func FuzzRead(f *testing.F) {
	f.Add(`{"type":"invoke","process":0,"f":"txn","value":[["append",3,5],["r",3,null]]}{"type":"ok","process":0,"f":"txn","value":[["append",3,5],["r",3,[5]]]}`)
	f.Add(`[{:type :invoke, :process 1 :f :cas :value [:k [nil 2]]} ; x` + "\n" + `#a.b{:type :info :process 1 :f :cas :value nil}]`)
	f.Add(`{"a":[1,2.5,-3e7,true,null,"\u00fc\ud83d\ude00\n"],"b":{}}`)
	f.Fuzz(func(t *testing.T, in string) {
		var want any
		d := json.NewDecoder(strings.NewReader(in))
		d.UseNumber()
		if utf8.ValidString(in) && json.Valid([]byte(in)) && d.Decode(&want) == nil {
			p := &parser{b: bytes.ToValidUTF8([]byte(in), []byte("\uFFFD")), line: 1}
			v, _, err := p.next(0)
			if err == nil && !same(&v, want) || err != nil && !strings.Contains(err.Error(), "levels deep") {
				t.Fatalf("%q is %v, not %v (%v)", in, v, want, err)
			}
		}
		h, err := Read(strings.NewReader(in))
		if err != nil {
			return
		}
		still := func(int64) int64 { return 0 }
		var once, twice bytes.Buffer
		if err := Write(&once, h, still); err != nil {
			t.Fatal(err)
		}
		if once.Len() == 0 {
			return // only a nemesis
		}
		again, err := Read(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, &once)
		}
		if err := Write(&twice, again, still); err != nil || once.String() != twice.String() {
			t.Fatalf("%s\nbecame\n%s(%v)", &once, &twice, err)
		}
	})
}

// same reports whether a value is what encoding/json makes of it.
func same(v *value, want any) bool {
	switch w := want.(type) {
	case nil:
		return v.kind == kindNil
	case bool:
		return v.kind == kindBool && v.s == fmt.Sprint(w)
	case json.Number:
		return v.kind == kindInt && v.n == must(w.Int64()) || v.kind == kindNumber && v.s == w.String() || v.kind == kindText && strings.ContainsAny(w.String(), "eE.")
	case string:
		return v.kind == kindText && v.s == w
	case []any:
		if v.kind != kindList || len(v.list) != len(w) {
			return false
		}
		for i := range w {
			if !same(&v.list[i], w[i]) {
				return false
			}
		}
		return true
	case map[string]any: // of names that come more than once the last counts there
		for i := 0; i+1 < len(v.list); i += 2 {
			last := !slices.ContainsFunc(v.list[i+2:], func(o value) bool { return o.s == v.list[i].s })
			if x, ok := w[v.list[i].s]; !ok || last && !same(&v.list[i+1], x) {
				return false
			}
		}
		return v.kind == kindMap
	}
	return false
}

func must(n int64, err error) int64 {
	if err != nil {
		return -1
	}
	return n
}
