package aggregate

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// environment is a session's with MySQL's defaults; warnings are appended to the list.
func environment(warnings *[]string) *expr.Env {
	return &expr.Env{DivPrecision: 4, GroupConcatMax: 1024, MaxPacket: 64 << 20, Collation: expr.DefaultCollation,
		Host: &rel.Frame{Regs: make([]expr.Value, 4)},
		Warn: func(code uint16, message string) {
			if warnings != nil {
				*warnings = append(*warnings, fmt.Sprintf("%d %s", code, message))
			}
		}}
}

var (
	smallInt = expr.Type{Name: expr.IntType, Length: 11, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
	bigInt   = expr.Type{Name: expr.BigInt, Length: 20, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
	bigUint  = expr.Type{Name: expr.BigInt, Length: 20, Unsigned: true, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
	words    = expr.Type{Name: expr.Varchar, Length: 20, Collation: expr.DefaultCollation, Coerc: expr.Implicit}
	binary   = expr.Type{Name: expr.Varbinary, Length: 2, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
	letters  = expr.Type{Name: expr.EnumType, Length: 1, Collation: expr.DefaultCollation, Coerc: expr.Implicit, Elements: []string{"z", "a"}}
	money    = expr.TDecimal(10, 2)
)

func decimal(s string) expr.Value {
	d, _, err := apd.NewFromString(s)
	if err != nil {
		panic(err)
	}
	return expr.Decimal(d)
}

func ints(ns ...int64) (out [][]expr.Value) {
	for _, n := range ns {
		out = append(out, []expr.Value{expr.Int(n)})
	}
	return out
}

func texts(ss ...string) (out [][]expr.Value) {
	for _, s := range ss {
		out = append(out, []expr.Value{expr.Text(s)})
	}
	return out
}

func rows(vs ...expr.Value) (out [][]expr.Value) {
	for _, v := range vs {
		out = append(out, []expr.Value{v})
	}
	return out
}

func show(t *testing.T, env *expr.Env, v expr.Value) string {
	t.Helper()
	if v.IsNull() {
		return "NULL"
	}
	s, err := expr.ToText(env, v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// prepare makes an aggregate of columns with these types.
func prepare(t *testing.T, env *expr.Env, a rel.Agg, types ...expr.Type) (*rel.Agg, *Maker) {
	t.Helper()
	for i, typ := range types {
		a.Args = append(a.Args, &rel.Col{ID: rel.ColID(i), T: typ})
	}
	var known bool
	var err error
	if a.T, known, err = Resolve(a.Name, types, a.Distinct, env); err != nil || !known {
		t.Fatalf("%s: known %t, %v", a.Name, known, err)
	}
	m, err := Prepare(&a, env)
	if err != nil {
		t.Fatal(err)
	}
	return &a, m
}

// TestAnswers compares with what MySQL 8 answers.
func TestAnswers(t *testing.T) {
	null := expr.Null
	for _, c := range []struct {
		agg   rel.Agg
		types []expr.Type
		rows  [][]expr.Value
		want  string
	}{
		{rel.Agg{Name: "count", Star: true}, nil, [][]expr.Value{{}, {}}, "2"},
		{rel.Agg{Name: "count"}, []expr.Type{smallInt}, rows(expr.Int(1), null), "1"},
		{rel.Agg{Name: "count"}, []expr.Type{smallInt}, nil, "0"},
		{rel.Agg{Name: "count", Distinct: true}, []expr.Type{words, smallInt},
			[][]expr.Value{{expr.Text("a"), expr.Int(1)}, {expr.Text("A"), expr.Int(1)}, {null, expr.Int(1)}, {expr.Text("a"), expr.Int(2)}}, "2"},
		{rel.Agg{Name: "count", Distinct: true}, []expr.Type{money}, rows(decimal("1.0"), decimal("1.00"), decimal("0"), decimal("-0.0")), "2"},
		{rel.Agg{Name: "count", Distinct: true}, []expr.Type{expr.TFloat}, rows(expr.Float(0), expr.Float(math.Copysign(0, -1))), "1"},
		{rel.Agg{Name: "sum"}, []expr.Type{smallInt}, ints(1, 2, 3), "6"},
		{rel.Agg{Name: "sum"}, []expr.Type{smallInt}, nil, "NULL"},
		{rel.Agg{Name: "sum"}, []expr.Type{bigInt}, ints(math.MaxInt64, math.MaxInt64, math.MinInt64, -5), "9223372036854775801"},
		{rel.Agg{Name: "sum"}, []expr.Type{bigUint}, rows(expr.Uint(math.MaxUint64), expr.Uint(1)), "18446744073709551616"},
		{rel.Agg{Name: "sum"}, []expr.Type{money}, rows(decimal("1.50"), null, decimal("2.25")), "3.75"},
		{rel.Agg{Name: "sum", Distinct: true}, []expr.Type{smallInt}, ints(1, 1, 2), "3"},
		{rel.Agg{Name: "sum"}, []expr.Type{words}, texts("12abc", "1.5"), "13.5"},
		{rel.Agg{Name: "sum", Distinct: true}, []expr.Type{words}, texts("1", "1.0", "2"), "3"},
		{rel.Agg{Name: "avg"}, []expr.Type{smallInt}, ints(1, 2, 2), "1.6667"},
		{rel.Agg{Name: "avg"}, []expr.Type{money}, rows(decimal("1.00"), decimal("2.00"), null), "1.500000"},
		{rel.Agg{Name: "avg", Distinct: true}, []expr.Type{smallInt}, ints(1, 1, 2), "1.5000"},
		{rel.Agg{Name: "avg"}, []expr.Type{expr.TFloat}, rows(expr.Float(1), expr.Float(2)), "1.5"},
		{rel.Agg{Name: "min"}, []expr.Type{words}, texts("b", "A", "a"), "A"},
		{rel.Agg{Name: "max"}, []expr.Type{letters}, rows(expr.Enum(1, "z"), expr.Enum(2, "a")), "z"},
		{rel.Agg{Name: "min"}, []expr.Type{letters}, rows(expr.Enum(1, "z"), expr.Enum(2, "a")), "a"},
		{rel.Agg{Name: "max"}, []expr.Type{smallInt}, rows(null, null), "NULL"},
		{rel.Agg{Name: "max"}, []expr.Type{binary}, rows(expr.Bytes("a"), expr.Bytes("b"), expr.Bytes("B")), "b"},
		{rel.Agg{Name: "std"}, []expr.Type{smallInt}, ints(1, 2, 3, 4), "1.118033988749895"},
		{rel.Agg{Name: "stddev_samp"}, []expr.Type{smallInt}, ints(1, 2, 3, 4), "1.2909944487358056"},
		{rel.Agg{Name: "var_pop"}, []expr.Type{smallInt}, ints(1, 2, 3, 4), "1.25"},
		{rel.Agg{Name: "var_samp"}, []expr.Type{smallInt}, ints(1), "NULL"},
		{rel.Agg{Name: "bit_and"}, []expr.Type{smallInt}, nil, "18446744073709551615"},
		{rel.Agg{Name: "bit_and"}, []expr.Type{smallInt}, ints(7, 14), "6"},
		{rel.Agg{Name: "bit_or"}, []expr.Type{smallInt}, ints(1, 4, -1), "18446744073709551615"},
		{rel.Agg{Name: "bit_xor"}, []expr.Type{smallInt}, rows(expr.Int(5), null, expr.Int(1)), "4"},
		{rel.Agg{Name: "bit_and"}, []expr.Type{binary}, nil, "\xff\xff"},
		{rel.Agg{Name: "bit_xor"}, []expr.Type{binary}, rows(expr.Bytes("\x01\x02"), expr.Bytes("\x03\x03")), "\x02\x01"},
		{rel.Agg{Name: "any_value"}, []expr.Type{smallInt}, rows(null, expr.Int(2)), "NULL"},
		{rel.Agg{Name: "group_concat", Separator: ","}, []expr.Type{words}, texts("b", "a"), "b,a"},
		{rel.Agg{Name: "group_concat", Separator: ","}, []expr.Type{words}, rows(null), "NULL"},
		{rel.Agg{Name: "group_concat", Separator: "-", Distinct: true}, []expr.Type{words}, texts("b", "B", "a"), "b-a"},
		{rel.Agg{Name: "group_concat", Separator: ""}, []expr.Type{words, smallInt},
			[][]expr.Value{{expr.Text("x"), expr.Int(1)}, {null, expr.Int(2)}, {expr.Text("y"), expr.Int(3)}}, "x1y3"},
	} {
		var warnings []string
		env := environment(&warnings)
		a, m := prepare(t, env, c.agg, c.types...)
		s := m.New()
		for _, r := range c.rows {
			if err := s.Add(env, r); err != nil {
				t.Fatal(err)
			}
		}
		v, err := s.Result(env)
		if err != nil {
			t.Fatal(err)
		}
		if !v.IsNull() && v.Kind() != a.T.Kind() { // A4
			t.Errorf("%s gives kind %d, its type is of kind %d", a.Name, v.Kind(), a.T.Kind())
		}
		if got := show(t, env, v); got != c.want {
			t.Errorf("%s(distinct %t) of %v: %s, want %s", a.Name, a.Distinct, c.rows, got, c.want)
		}
	}
}

// TestGroupConcatOrder: ORDER BY reads the registers.
func TestGroupConcatOrder(t *testing.T) {
	env := environment(nil)
	key := &rel.Col{ID: 1, T: words}
	_, m := prepare(t, env, rel.Agg{Name: "group_concat", Separator: ",", Order: []rel.SortKey{{Expr: key, Desc: true}}}, smallInt)
	s := m.New()
	for i, by := range []string{"b", "a", "C", "A"} {
		env.Host.(*rel.Frame).Regs[1] = expr.Text(by)
		if err := s.Add(env, []expr.Value{expr.Int(int64(i))}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := s.Result(env)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(t, env, v); got != "2,0,1,3" {
		t.Errorf("got %s", got)
	}
}

// TestGroupConcatCut: no character is cut in two, and the warning counts the rows of all groups.
func TestGroupConcatCut(t *testing.T) {
	var warnings []string
	env := environment(&warnings)
	env.GroupConcatMax = 6
	_, m := prepare(t, env, rel.Agg{Name: "group_concat", Separator: ","}, words)
	for _, want := range []string{"éé,", "x"} {
		s := m.New()
		in := texts("éé", "éé", "z")
		if want == "x" {
			in = texts("x")
		}
		for _, r := range in {
			if err := s.Add(env, r); err != nil {
				t.Fatal(err)
			}
		}
		v, err := s.Result(env)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(t, env, v); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := strings.Join(warnings, "; "); got != "1260 Row 2 was cut by GROUP_CONCAT()" {
		t.Errorf("warnings: %s", got)
	}
}

// TestTypes: what MySQL 8 says of CREATE TABLE ... SELECT.
func TestTypes(t *testing.T) {
	env := environment(nil)
	for _, c := range []struct {
		name string
		arg  expr.Type
		want string
	}{
		{"count", words, "5 21,0"}, {"sum", smallInt, "6 32,0"}, {"sum", bigInt, "6 41,0"}, {"sum", bigUint, "6 42,0"}, {"sum", money, "6 32,2"},
		{"sum", expr.TDatetime(0), "6 36,0"}, {"sum", words, "8 23,31"}, {"avg", smallInt, "6 14,4"}, {"avg", money, "6 14,6"}, {"avg", bigInt, "6 23,4"},
		{"avg", expr.TDecimal(65, 30), "6 65,30"}, {"max", words, "16 20,0"}, {"max", letters, "15 1,0"}, {"group_concat", words, "17 1024,0"},
		{"bit_or", words, "5 21,0"}, {"bit_or", binary, "19 2,0"}, {"stddev", money, "8 23,31"},
	} {
		got, _, err := Resolve(c.name, []expr.Type{c.arg}, false, env)
		if err != nil {
			t.Fatal(err)
		}
		if s := fmt.Sprintf("%d %d,%d", got.Name, got.Length, got.Scale); s != c.want {
			t.Errorf("%s of %d: %s, want %s", c.name, c.arg.Name, s, c.want)
		}
	}
	if _, _, err := Resolve("bit_or", []expr.Type{expr.TBytes(512)}, false, env); err == nil || err.(*expr.Error).Code != 3514 {
		t.Errorf("bit_or of 512 bytes: %v", err)
	}
}

// TestExactSum adds and removes at random and compares with sums of decimals.
func TestExactSum(t *testing.T) {
	env := environment(nil)
	_, m := prepare(t, env, rel.Agg{Name: "sum"}, expr.TDecimal(40, 3))
	r := rand.New(rand.NewSource(1))
	for range 200 {
		s := m.New().(Remover)
		var kept []expr.Value
		for range 40 {
			if len(kept) > 0 && r.Intn(3) == 0 {
				i := r.Intn(len(kept))
				if err := s.Remove(env, []expr.Value{kept[i]}); err != nil {
					t.Fatal(err)
				}
				kept = append(kept[:i], kept[i+1:]...)
			} else {
				v := expr.Decimal(apd.New(r.Int63()>>r.Intn(60)*int64(1-2*r.Intn(2)), -int32(r.Intn(4))))
				kept = append(kept, v)
				if err := s.Add(env, []expr.Value{v}); err != nil {
					t.Fatal(err)
				}
			}
			want := new(apd.Decimal)
			for _, v := range kept {
				if _, err := apd.BaseContext.WithPrecision(60).Add(want, want, v.RawDecimal()); err != nil {
					t.Fatal(err)
				}
			}
			v, err := s.Result(env)
			switch {
			case err != nil:
				t.Fatal(err)
			case v.IsNull() != (len(kept) == 0):
				t.Fatalf("%d values: %v", len(kept), v)
			case !v.IsNull() && v.RawDecimal().Cmp(want) != 0:
				t.Fatalf("%s, want %s", v.RawDecimal(), want)
			}
		}
	}
}
