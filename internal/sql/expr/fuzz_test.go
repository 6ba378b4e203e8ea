package expr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/document"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// fuzzPacket is max_allowed_packet while expressions are fuzzed, in bytes.
const fuzzPacket = 1 << 16

// fuzzTexts are texts that mean something to some function.
var fuzzTexts = []string{"", " ", "a", "A", "é", "ß", "日本", "😀", "0", "-1", "1.5", "12abc", "1e3", "1e400", "2024-02-29", "2024-02-30", "10:11:12", "838:59:59.5",
	"2024-02-29 10:11:12.123456", "0000-00-00", "%Y-%m-%d %H:%i:%s", "%f%p%j%U", "$.a", "$[0]", "$.*", "$**.b", `{"a": [1, {"b": null}]}`, "[1,2,3]", "null", `"x"`,
	"1.2.3.4", "::1", "+05:30", "Europe/Berlin", "a,b,c", "one", "all", "%a_", "6ccd780c-baba-1026-9564-5b8c656024db", "\x00\xff", "18446744073709551616", "one two"}

// source draws from the bytes of a fuzzed input; behind their end all is 0.
type fuzzSource struct{ b []byte }

func (s *fuzzSource) byte() byte {
	if len(s.b) == 0 {
		return 0
	}
	x := s.b[0]
	s.b = s.b[1:]
	return x
}

func (s *fuzzSource) below(n int) int { return int(s.byte()) % n }

func (s *fuzzSource) word() uint64 {
	var w [8]byte
	for i := range w {
		w[i] = s.byte()
	}
	return binary.LittleEndian.Uint64(w[:])
}

// integers are the numbers at the edges, which one byte chooses; other bytes choose any number.
var fuzzIntegers = []int64{0, 1, -1, 2, 10, 100, 1000000, math.MaxInt64, math.MinInt64, math.MaxInt32, 20240229, 20240229101112, 240229, -8385959, 2155, 65536}

func (s *fuzzSource) integer() int64 {
	if at := int(s.byte()); at < len(fuzzIntegers)*12 {
		return fuzzIntegers[at%len(fuzzIntegers)]
	}
	return int64(s.word())
}

// literal draws a value with its type.
func (s *fuzzSource) literal() Node {
	switch s.below(16) {
	case 0:
		return &Lit{T: TNull}
	case 1:
		return &Lit{V: Uint(uint64(s.integer())), T: TUint}
	case 2:
		n := s.integer()
		scale := int32(s.below(31))
		d := apd.New(n, -scale)
		return &Lit{V: Decimal(d), T: TDecimal(20, int(scale))}
	case 3:
		f := math.Float64frombits(s.word())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			f = 1e300
		}
		return &Lit{V: LiteralFloat(f), T: TFloat}
	case 4, 5, 6:
		t := fuzzTexts[s.below(len(fuzzTexts))]
		collations := []uint16{DefaultCollation, 45, 46, 305, 278, 224}
		return &Lit{V: Text(strings.ToValidUTF8(t, "?")).From(TextSource(s.below(4))), T: TText(len(t), collations[s.below(len(collations))], Coercibility(s.below(7)))}
	case 7:
		t := fuzzTexts[s.below(len(fuzzTexts))]
		return &Lit{V: Bytes(t), T: TBytes(len(t))}
	case 8:
		t := fuzzTexts[s.below(len(fuzzTexts))]
		var n uint64
		for _, c := range []byte(t) {
			n = n<<8 | uint64(c)
		}
		return &Lit{V: Bit(t, n), T: TBytes(len(t))}
	case 9:
		return &Lit{V: packedDate(s.datetime()), T: TDate}
	case 10:
		return &Lit{V: packedDatetime(s.datetime(), 6), T: TDatetime(6)}
	case 11:
		limit := int64(temporal.MaxDuration)
		return &Lit{V: packedTime(temporal.Duration(s.integer()%limit), 6), T: TTime(6)}
	case 12:
		d, err := document.Parse(fuzzTexts[s.below(len(fuzzTexts))])
		if err != nil {
			d = document.NewInt(s.integer())
		}
		return &Lit{V: JSON(d), T: TJSON}
	case 13:
		t := Type{Name: EnumType, Collation: DefaultCollation, Coerc: Implicit, Length: 1, Elements: []string{"a", "b"}}
		return &Lit{V: Enum(2, "b"), T: t}
	case 14:
		return &Lit{V: Year(2024), T: tYear}
	}
	return &Lit{V: Int(s.integer()), T: TInt}
}

func (s *fuzzSource) datetime() temporal.DateTime {
	switch s.below(4) {
	case 0:
		return 0
	case 1:
		return temporal.MaxDateTime
	}
	return temporal.MakeDateTime(s.below(256)*39, 1+s.below(12), 1+s.below(28), s.below(24), s.below(60), s.below(60), int(s.word()%1_000_000))
}

// leaf hides that a literal is constant.
type leaf struct{ Node }

func (leaf) Constant() bool { return false }

// extraOf draws what the syntax of a call says beside its arguments.
func (s *fuzzSource) extraOf(name string) any {
	units := []string{"MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "DAY_MICROSECOND", "YEAR_MONTH", "HOUR_SECOND"}
	types := []Type{TInt, TUint, TDecimal(65, 30), TDecimal(5, 2), TFloat, {Name: FloatType}, TText(-1, DefaultCollation, Implicit), TText(3, DefaultCollation, Implicit), TBytes(4), TDate,
		TDatetime(6), TDatetime(0), TTime(0), TTime(6), {Name: YearType}, TJSON}
	switch name {
	case "cast", "as":
		return types[s.below(len(types))]
	case "collate", "convert using", "char":
		return []uint16{DefaultCollation, 46, 8, BinaryCollation}[s.below(4)]
	case "date_add", "date_sub", "extract", "timestampdiff":
		return units[s.below(len(units))]
	case "trim":
		return []string{"BOTH", "LEADING", "TRAILING"}[s.below(3)]
	case "case":
		return CaseForm{Operand: s.below(2) == 1, Else: s.below(2) == 1}
	}
	return nil
}

// notFuzzed need an Extra of the host's, or give another value each time.
var notFuzzed = map[string]bool{"store as": true, "as text": true, "rand": true, "uuid": true, "uuid_short": true, "sleep": true, "random_bytes": true, "sysdate": true}

// tree draws an expression at most so deep; nil if it cannot be built.
func (s *fuzzSource) tree(names []string, depth int, column bool) Node {
	if depth == 0 || s.below(4) == 0 {
		n := s.literal()
		if hidden := s.below(2) == 1; hidden && column {
			return leaf{n}
		}
		return n
	}
	name := names[(int(s.byte())<<8|int(s.byte()))%len(names)]
	f := Lookup(name)
	count := f.Min
	if f.Max < 0 {
		count += s.below(4)
	} else if f.Max > f.Min {
		count += s.below(f.Max - f.Min + 1)
	}
	args := make([]Node, count)
	for i := range args {
		if args[i] = s.tree(names, depth-1, column); args[i] == nil {
			return nil
		}
	}
	c, err := Build(name, name+"()", s.extraOf(name), args...)
	if err != nil {
		return nil
	}
	return c
}

func fuzzNames() (out []string) {
	for _, n := range Names() {
		if !notFuzzed[n] {
			out = append(out, n)
		}
	}
	return out
}

func fuzzEnv(mode byte) *Env {
	return &Env{Mode: Mode(mode) | Mode(mode)<<4&TimeTruncateFractional, Zone: time.UTC, Now: time.Date(2024, 2, 29, 10, 11, 12, 123456000, time.UTC), MaxPacket: fuzzPacket, DivPrecision: 4,
		GroupConcatMax: 1024, Collation: DefaultCollation, BlockMode: "aes-128-ecb"}
}

// same reports whether two values are the same, however they are held.
func same(t *testing.T, env *Env, a, b Value) bool {
	t.Helper()
	if a.IsNull() || b.IsNull() {
		return a.IsNull() == b.IsNull()
	}
	x, err1 := ToText(env, a)
	y, err2 := ToText(env, b)
	return a.kind == b.kind && (err1 == nil) == (err2 == nil) && x == y
}

var errStop = errors.New("interrupted")

// FuzzCalls evaluates random trees of calls: X1 (arguments stay as they are), X2 (values of the type's kind), X3 (errors are *Error), X4 (bounded by max_allowed_packet, heeds
// Env.Interrupted) and X5 (the same again), and that folding constants changes nothing.
func FuzzCalls(f *testing.F) {
	names := fuzzNames()
	for i := range names {
		f.Add([]byte{1, byte(i >> 8), byte(i), 15, 3, 4, 9, 7, 3}, byte(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, mode byte) {
		if len(b) > 300 {
			return
		}
		build := func(column bool) Node { return (&fuzzSource{b: b}).tree(names, 3, column) }
		n := build(true)
		if n == nil {
			return
		}
		env := fuzzEnv(mode)
		v, err := n.Eval(env)
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%s: an error that is no *Error: %v", describe(n), err)
		}
		if err == nil && !v.IsNull() {
			if v.kind != n.Type().Kind() && v.kind != KindBit { // a hexadecimal literal is one of a binary string's type
				t.Fatalf("%s: a value of kind %d, of type %+v", describe(n), v.kind, n.Type())
			}
			if s, err := ToText(env, v); err == nil && len(s) > 4*fuzzPacket+1024 {
				t.Fatalf("%s: %d bytes", describe(n), len(s))
			}
		}
		again, err2 := n.Eval(env)
		if (err == nil) != (err2 == nil) || err == nil && !same(t, env, v, again) {
			t.Fatalf("%s: first %v (%v), then %v (%v)", describe(n), show(env, v), err, show(env, again), err2)
		}
		env.failed = nil // what strict mode made of warnings belongs to the evaluations above
		if constant, folded := build(false), build(false); constant != nil {
			folded = Fold(env, folded)
			w, err3 := constant.Eval(env)
			x, err4 := folded.Eval(env)
			if (err3 == nil) != (err4 == nil) || err3 == nil && !same(t, env, w, x) {
				t.Fatalf("%s: %v (%v), folded %v (%v)", describe(constant), show(env, w), err3, show(env, x), err4)
			}
		}
		env.Interrupted = func() error { return errStop }
		if _, err := n.Eval(env); err != nil && !errors.Is(err, errStop) && !errors.As(err, &e) {
			t.Fatalf("%s: interrupted: %v", describe(n), err)
		}
	})
}

func show(env *Env, v Value) string {
	if v.IsNull() {
		return "NULL"
	}
	s, err := ToText(env, v)
	return fmt.Sprintf("%d:%.80q %v", v.kind, s, err)
}

// describe writes a tree.
func describe(n Node) string {
	switch n := n.(type) {
	case *Lit:
		return show(&Env{}, n.V)
	case leaf:
		return "column " + describe(n.Node)
	case *Call:
		var args []string
		for _, a := range n.Args {
			args = append(args, describe(a))
		}
		return fmt.Sprintf("%s[%v](%s)", n.Name, n.Extra, strings.Join(args, ", "))
	}
	return fmt.Sprintf("%T", n)
}
