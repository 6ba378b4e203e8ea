package exec

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// typedValues are values of a type, at the edges where conversions to it lose something.
type typedValues struct {
	t  expr.Type
	vs []expr.Value
}

func column(n expr.Name, length, scale int) expr.Type {
	return expr.Type{Name: n, Length: length, Scale: scale, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
}

func dec(s string) expr.Value {
	d, _, err := apd.NewFromString(s)
	if err != nil {
		panic(err)
	}
	return expr.Decimal(d)
}

func date(s string, k expr.Kind, fsp int) expr.Value {
	if k == expr.KindTime {
		return expr.Packed(k, int64(temporal.ParseTime(s, 0).Duration), fsp)
	}
	return expr.Packed(k, int64(temporal.ParseDateTime(s, 0).DateTime), fsp)
}

func edgeValues() []typedValues {
	uint := column(expr.BigInt, 20, 0)
	uint.Unsigned = true
	enum := expr.Type{Name: expr.EnumType, Length: 1, Elements: []string{"z", "a", "1"}, Collation: expr.DefaultCollation,
		Coerc: expr.Implicit}
	var texts []expr.Value
	for _, s := range []string{"a", "A", "b", "1", "1.0", " 1", "1x", "-1", "0.1", "9007199254740993", "2024-02-29", "2024-02-29 10:00:00",
		"10:00:00", "", "z"} {
		texts = append(texts, expr.Text(s))
	}
	return []typedValues{
		{tBig,
			[]expr.Value{expr.Int(0), expr.Int(1), expr.Int(-1), expr.Int(math.MaxInt64), expr.Int(math.MinInt64), expr.Int(1 << 53),
				expr.Int(1<<53 + 1), expr.Int(20240229), expr.Int(2)}},
		{uint,
			[]expr.Value{expr.Uint(0), expr.Uint(1), expr.Uint(math.MaxUint64), expr.Uint(math.MaxInt64),
				expr.Uint(math.MaxInt64 + 1), expr.Uint(1<<53 + 1), expr.Uint(20240229100000)}},
		{column(expr.DecimalType, 10, 2),
			[]expr.Value{dec("0.00"), dec("1.00"), dec("-1.00"), dec("0.10"), dec("1.01"), dec("0.99"), dec("99999999.99"),
				dec("-99999999.99")}},
		{column(expr.DecimalType, 40, 20),
			[]expr.Value{dec("0"), dec("1"), dec("0.1"), dec("0.10000000000000000001"), dec("9007199254740993"), dec("-1.5"),
				dec("18446744073709551616"), dec("-9223372036854775809")}},
		{column(expr.DoubleType, 22, expr.NotFixed),
			[]expr.Value{expr.Float(0), expr.Float(1), expr.Float(-1), expr.Float(0.1), expr.Float(1.005), expr.Float(1e300),
				expr.Float(-1e300), expr.Float(1 << 53), expr.Float(float64(float32(0.1))), expr.Float(1.5)}},
		{column(expr.FloatType, 12, expr.NotFixed),
			[]expr.Value{expr.Single(0), expr.Single(1), expr.Single(0.1), expr.Single(-0.1), expr.Single(16777216),
				expr.Single(1.5)}},
		{tText, texts},
		{expr.TText(20, 46, expr.Implicit), texts},
		{column(expr.Varbinary, 20, 0),
			[]expr.Value{expr.Bytes("a"), expr.Bytes("A"), expr.Bytes("1"), expr.Bytes("b"), expr.Bytes("\xff")}},
		{column(expr.DateType, 10, 0),
			[]expr.Value{date("2024-02-29", expr.KindDate, 0), date("2024-03-01", expr.KindDate, 0), date("1000-01-01",
				expr.KindDate, 0)}},
		{column(expr.DatetimeType, 19, 6),
			[]expr.Value{date("2024-02-29", expr.KindDatetime, 6), date("2024-02-29 10:00:00", expr.KindDatetime, 6),
				date("2024-02-29 10:00:00.5", expr.KindDatetime, 6), date("2024-03-01", expr.KindDatetime, 6)}},
		{column(expr.TimeType, 10, 3),
			[]expr.Value{date("10:00:00", expr.KindTime, 3), date("-01:00:00", expr.KindTime, 3), date("10:00:00.5",
				expr.KindTime, 3), date("00:00:01", expr.KindTime, 3)}},
		{column(expr.YearType, 4, 0), []expr.Value{expr.Uint(0), expr.Uint(1999), expr.Uint(2024)}},
		{column(expr.BitType, 8, 0), []expr.Value{expr.Bit("\x00", 0), expr.Bit("\x01", 1), expr.Bit("\xff", 255)}},
		{enum, []expr.Value{expr.Enum(1, "z"), expr.Enum(2, "a"), expr.Enum(3, "1"), expr.Enum(0, "")}},
	}
}

// TestSpansLoseNoRows: whatever a column is compared with, the span of the comparison holds all rows for which it is true.
func TestSpansLoseNoRows(t *testing.T) {
	narrow, wide := 0, 0
	for _, of := range edgeValues() {
		b := newTree(t)
		table := b.typed(of.t, append(slices.Clone(of.vs), expr.Null)...)
		index := &memIndex{parts: []rel.IndexPart{{Place: 0}}}
		for _, with := range edgeValues() {
			for _, v := range append(slices.Clone(with.vs), expr.Null) {
				for _, literal := range []bool{true, false} {
					typ := with.t
					if literal {
						typ.Coerc = expr.Coercible
					}
					var value expr.Node = &expr.Lit{V: v, T: typ}
					if !literal {
						value = &slot{v: v, t: typ}
					}
					for _, op := range []string{"=", "<=>", "<", "<=", ">", ">="} {
						s := b.scan(table)
						cond, err := expr.Build(op, op, nil, b.ref(s.Cols[0]), value)
						if err != nil {
							continue
						}
						s.Filter = []expr.Node{cond}
						want, err := b.run(s, s.Cols...)
						if err != nil {
							continue // 1525: no date
						}
						value := cond.Args[1] // the years of two digits are years there
						var span rel.Span
						bound := &rel.Bound{Value: value, Open: op == "<" || op == ">"}
						switch op {
						case "=", "<=>":
							span.Equal, span.NullSafe = []expr.Node{value}, []bool{op == "<=>"}
						case "<", "<=":
							span.High = bound
						default:
							span.Low = bound
						}
						s.Access = &rel.Access{Index: index, Spans: []rel.Span{span}}
						b.src.rows = 0
						got, err := b.run(s, s.Cols...)
						if err != nil {
							t.Fatal(err)
						}
						slices.Sort(got)
						slices.Sort(want)
						if !slices.Equal(got, want) {
							t.Errorf("column of type %d %s %s (type %d, literal %v): got %q, want %q", of.t.Name, op, textOf(b.env, []expr.Value{v}),
								with.t.Name, literal, got, want)
						}
						if of.t.Name == with.t.Name {
							if b.src.rows <= len(want)+1 {
								narrow++
							} else {
								wide++
							}
						}
					}
				}
			}
		}
	}
	if wide > narrow/10 {
		t.Errorf("%d spans hold just the rows that are wanted, %d more", narrow, wide)
	}
}

// TestSpansOfCommonComparisons: what applications compare columns with finds the rows by the index, and no others.
func TestSpansOfCommonComparisons(t *testing.T) {
	values := edgeValues()
	for _, c := range []struct {
		column typedValues
		v      expr.Value
		t      expr.Type
		rows   int
	}{
		{values[0], expr.Text("1"), expr.TText(1, expr.DefaultCollation, expr.Coercible), 1},    // PHP sends numbers as texts
		{values[0], expr.Float(1), expr.TFloat, 1},                                              // JavaScript as floats
		{values[0], dec("1.5"), expr.TDecimal(2, 1), 0},                                         // nothing is equal to it
		{values[1], expr.Int(-1), expr.TInt, 0},                                                 //
		{values[2], expr.Text("1.01"), expr.TText(4, expr.DefaultCollation, expr.Coercible), 1}, //
		{values[2], expr.Float(1.01), expr.TFloat, 1},                                           //
		{values[2], expr.Float(1.015), expr.TFloat, 0},                                          //
		{values[9], expr.Text("2024-02-29"), expr.TText(10, expr.DefaultCollation, expr.Coercible), 1},
		{values[9], expr.Text("2024-02-29 10:00:00"), expr.TText(19, expr.DefaultCollation, expr.Coercible), 0},
		{values[10], expr.Text("2024-02-29"), expr.TText(10, expr.DefaultCollation, expr.Coercible), 1},
		{values[11], expr.Text("10:00:00"), expr.TText(8, expr.DefaultCollation, expr.Coercible), 1},
		{values[14], expr.Text("A"), expr.TText(1, expr.DefaultCollation, expr.Coercible), 1},
		{values[6], expr.Text("a"), expr.TText(1, 46, expr.Coercible), 2},
	} {
		b := newTree(t)
		s := b.scan(b.typed(c.column.t, c.column.vs...))
		value := &expr.Lit{V: c.v, T: c.t}
		s.Access = &rel.Access{Index: &memIndex{parts: []rel.IndexPart{{Place: 0}}}, Spans: []rel.Span{{Equal: []expr.Node{value}}}}
		if _, err := b.run(s); err != nil {
			t.Fatal(err)
		}
		if b.src.rows != c.rows {
			t.Errorf("column of type %d = %s: %d rows were read, want %d", c.column.t.Name, textOf(b.env, []expr.Value{c.v}), b.src.rows, c.rows)
		}
	}
}

// TestSpansOfSeveralColumns: NULLs, spans that are the same, spans in which nothing is, and the order of the index.
func TestSpansOfSeveralColumns(t *testing.T) {
	b := newTree(t)
	table := b.table(2, "2 1", "1 2", "1 1", "NULL 1", "1 NULL", "3 3", "NULL NULL")
	index := &memIndex{parts: []rel.IndexPart{{Place: 0}, {Place: 1}}}
	null := &expr.Lit{T: expr.TNull}
	equal := func(ns ...expr.Node) rel.Span { return rel.Span{Equal: ns} }
	for _, c := range []struct {
		name  string
		spans []rel.Span
		want  []string
		given int // spans that the source is given
		reads int
	}{
		{"all", nil, []string{"NULL NULL", "NULL 1", "1 NULL", "1 1", "1 2", "2 1", "3 3"}, 0, 1},
		{"one column", []rel.Span{equal(num(1))}, []string{"1 NULL", "1 1", "1 2"}, 1, 1},
		{"two", []rel.Span{equal(num(1), num(2)), equal(num(3), num(3)), equal(num(1), num(2))}, []string{"1 2", "3 3"}, 2, 1},
		{"null", []rel.Span{equal(null)}, nil, 0, 0},
		{"null-safe", []rel.Span{{Equal: []expr.Node{null}, NullSafe: []bool{true}}}, []string{"NULL NULL", "NULL 1"}, 1, 1},
		{"below", []rel.Span{{Equal: []expr.Node{num(1)}, High: &rel.Bound{Value: num(2), Open: true}}}, []string{"1 1"}, 1, 1},
		{"null bound", []rel.Span{{Low: &rel.Bound{Value: null}}, equal(num(2))}, []string{"2 1"}, 1, 1},
		{"between", []rel.Span{{Low: &rel.Bound{Value: num(1), Open: true}, High: &rel.Bound{Value: num(3)}}}, []string{"2 1", "3 3"}, 1, 1},
	} {
		s := b.scan(table)
		s.Access = &rel.Access{Index: index, Spans: c.spans}
		b.src.reads, b.src.last = 0, nil
		got, err := b.run(s, s.Cols...)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) || b.src.reads != c.reads || b.src.last != nil && len(b.src.last.Spans) != c.given {
			t.Errorf("%s: got %q, want %q; %d reads, %+v", c.name, got, c.want, b.src.reads, b.src.last)
		}
		s.Access.Reverse = true
		slices.Reverse(c.want)
		b.expect(s, s.Cols, c.want...)
	}
}

// TestLookupJoin: the right side is found by an index, by values of the left one.
func TestLookupJoin(t *testing.T) {
	property(t, 300, func(t *testing.T, d drawer) {
		b := newTree(t)
		l, r := b.scan(d.draw([]expr.Type{d.typ()}, 6)), b.scan(d.draw([]expr.Type{d.typ(), tBig}, 6))
		cond, err := expr.Build("=", "=", nil, b.ref(l.Cols[0]), b.ref(r.Cols[0]))
		if err != nil {
			return
		}
		kind := rel.JoinKind(d.IntN(4))
		want := joinRows(b, kind, false, l, r, []expr.Node{cond})
		r.Filter = []expr.Node{cond}
		r.Access = &rel.Access{Index: &memIndex{parts: []rel.IndexPart{{Place: 0}}}, Spans: []rel.Span{{Equal: []expr.Node{b.ref(l.Cols[0])}}}}
		out := l.Cols
		if kind == rel.Inner || kind == rel.Left {
			out = append(slices.Clone(out), r.Cols...)
		}
		got, err := b.run(&rel.Join{Kind: kind, Left: l, Right: r, Lateral: true}, out...)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s\n%v\n%v\ngot  %q\nwant %q", fmt.Sprint(kind), l.Table.(*memTable).rows, r.Table.(*memTable).rows, got, want)
		}
	})
}
