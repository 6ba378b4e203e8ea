package rowcodec

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"slices"
	"strings"
	"testing"

	keyspace "github.com/longitude-db/longitude/internal/keys"
)

// fold is a collation for the tests: upper and lower case are one, other characters sort by code point.
func fold(dst, text []byte) []byte {
	for _, b := range []byte(strings.ToLower(string(text))) {
		dst = append(dst, b+1)
	}
	return dst
}

// sample draws a value of a kind, often close to others that were drawn.
func sample(r *rand.Rand, k Kind) Datum {
	if r.Intn(12) == 0 {
		return Datum{}
	}
	small := int64(r.Intn(600) - 300)
	switch k {
	case Int:
		return Datum{Kind: Int, I: []int64{small, r.Int63() - r.Int63(), math.MinInt64, math.MaxInt64, small << 20, -1 << r.Intn(63)}[r.Intn(6)]}
	case Uint:
		return Datum{Kind: Uint, U: []uint64{uint64(small + 300), r.Uint64(), math.MaxUint64, 1 << r.Intn(64)}[r.Intn(4)]}
	case Float:
		return Datum{Kind: Float, F: []float64{float64(small), r.NormFloat64(), math.Inf(1), math.Inf(-1), 0, math.SmallestNonzeroFloat64, -1e300}[r.Intn(7)]}
	case Decimal:
		s := fmt.Sprintf("%d.%0*d", small, 1+r.Intn(4), r.Intn(10))
		if r.Intn(3) == 0 {
			s = fmt.Sprintf("-0.%03d", r.Intn(1000))
		}
		return Datum{Kind: Decimal, B: []byte(s)}
	}
	alphabet := []string{"a", "A", "b", "\x00", "\x01", "\xff"}
	if k == Text {
		alphabet = []string{"a", "A", "b", "é", "世", "\U0001f600", "\x01", "ÿ"}
	}
	var b []byte
	for range r.Intn(5) {
		b = append(b, alphabet[r.Intn(len(alphabet))]...)
	}
	return Datum{Kind: k, B: append([]byte{}, b...)}
}

// naive compares values in the plainest way.
func naive(a, b Datum, folded bool) int {
	if a.Kind == Null || b.Kind == Null {
		return cmp.Compare(min(a.Kind, 1), min(b.Kind, 1))
	}
	switch a.Kind {
	case Int:
		return cmp.Compare(a.I, b.I)
	case Uint:
		return cmp.Compare(a.U, b.U)
	case Float:
		return cmp.Compare(a.F, b.F)
	case Decimal:
		x, _ := new(big.Rat).SetString(string(a.B))
		y, _ := new(big.Rat).SetString(string(b.B))
		return x.Cmp(y)
	case Text:
		if folded {
			return slices.Compare([]rune(strings.ToLower(string(a.B))), []rune(strings.ToLower(string(b.B))))
		}
	}
	return bytes.Compare(a.B, b.B)
}

func columns() []Column {
	return []Column{{ID: 1, Kind: Int}, {ID: 2, Kind: Uint}, {ID: 3, Kind: Float}, {ID: 4, Kind: Decimal, Scale: 3},
		{ID: 5, Kind: Bytes}, {ID: 6, Kind: Text}, {ID: 7, Kind: Text, SortKey: fold}}
}

// C1 and C3: composite keys order as their values do, and give them back.
func TestKeys(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for i := range 200_000 {
		cs := columns()
		cols := []Column{cs[r.Intn(len(cs))], cs[r.Intn(len(cs))]}
		var rows [2][]Datum
		var keys [2][]byte
		for side := range rows {
			for c := range cols {
				d := sample(r, cols[c].Kind)
				if side == 1 && r.Intn(2) == 0 {
					d = rows[0][c]
				}
				rows[side] = append(rows[side], d)
				var err error
				if keys[side], err = AppendKey(keys[side], &cols[c], d); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := 0
		for c := range cols {
			if want == 0 {
				want = naive(rows[0][c], rows[1][c], cols[c].SortKey != nil)
			}
		}
		if got := bytes.Compare(keys[0], keys[1]); got != want {
			t.Fatalf("%d: %v and %v compare as %d, their keys %x and %x as %d", i, rows[0], rows[1], want, keys[0], keys[1], got)
		}
		rest := keys[0]
		for c := range cols {
			var d Datum
			var err error
			whole := rest
			if d, rest, err = DecodeKey(rest, &cols[c]); err != nil {
				t.Fatalf("%v: %v", rows[0], err)
			}
			if n, err := keyspace.ColumnEnd(whole, cols[c].Shape()); err != nil || n != len(whole)-len(rest) {
				t.Fatalf("%v: its column ends at %d of %x (%v), decoding ended at %d", rows[0][c], n, whole, err, len(whole)-len(rest))
			}
			if cols[c].Lossy() {
				if d.IsNull() != rows[0][c].IsNull() {
					t.Fatalf("%v came back as %v", rows[0][c], d)
				}
			} else if naive(d, rows[0][c], false) != 0 {
				t.Fatalf("%v came back as %v", rows[0][c], d)
			}
		}
		if len(rest) > 0 {
			t.Fatalf("%x is left of key %x", rest, keys[0])
		}
	}
}

func TestPrefixKeys(t *testing.T) {
	c := Column{Kind: Text, SortKey: fold, Prefix: 2}
	a, _ := AppendKey(nil, &c, Datum{Kind: Text, B: []byte("Äbc")})
	b, _ := AppendKey(nil, &c, Datum{Kind: Text, B: []byte("äBd")})
	if !bytes.Equal(a, b) {
		t.Errorf("keys of two characters differ: %x, %x", a, b)
	}
}

func TestDecimalText(t *testing.T) {
	c := Column{Kind: Decimal, Scale: 2}
	for in, want := range map[string]string{"0": "0.00", "-0.00": "0.00", "12.5": "12.50", "-0.07": "-0.07", "100": "100.00",
		"007.10": "7.10", "1234567890123456789012345678901234567890.1": "1234567890123456789012345678901234567890.10"} {
		key, err := AppendKey(nil, &c, Datum{Kind: Decimal, B: []byte(in)})
		if err != nil {
			t.Fatal(err)
		}
		d, _, err := DecodeKey(key, &c)
		if err != nil || string(d.B) != want {
			t.Errorf("%s came back as %s (%v), want %s", in, d.B, err, want)
		}
	}
	for _, bad := range []string{"", "-", ".", "1e5", "1.2.3", "NaN"} {
		if _, err := AppendKey(nil, &c, Datum{Kind: Decimal, B: []byte(bad)}); err == nil {
			t.Errorf("%q was taken for a decimal", bad)
		}
	}
}

// C4: what a reader does not know it skips, and a NULL is told from a gap where it matters.
func TestValues(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for range 20_000 {
		cols := columns()
		cols[0].Fill = Datum{Kind: Int, I: 7}
		v := BeginValue(nil)
		want := map[uint32]Datum{}
		for i := range cols {
			d := sample(r, cols[i].Kind)
			want[cols[i].ID] = d
			v = AppendValue(v, &cols[i], d)
		}
		got := map[uint32]Datum{}
		rd, err := ReadValue(v)
		for err == nil {
			id, d, ok, e := rd.Next()
			if !ok {
				err = e
				break
			}
			if got[id], err = d.As(&cols[id-1]); err != nil {
				break
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := got[1]; !ok {
			t.Fatal("a NULL was left out where the gap means 7")
		}
		for id, d := range want {
			if !Equal(got[id], d) {
				t.Fatalf("column %d: %v came back as %v", id, d, got[id])
			}
		}
	}
}

// C6.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{valueFormat, 1<<3 | wireBytes, 200, 1}, uint8(3))
	f.Add([]byte{markNegative, 0, 0, 3}, uint8(3))
	f.Add([]byte{0x88, 1, 2}, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, which uint8) {
		cols := columns()
		c := &cols[int(which)%len(cols)]
		n, _ := keyspace.ColumnEnd(b, c.Shape())
		if d, rest, err := DecodeKey(b, c); err == nil && n != len(b)-len(rest) {
			t.Fatalf("column ends at %d of %x, decoding ended at %d", n, b, len(b)-len(rest))
		} else if err == nil && !c.Lossy() && c.Kind != Decimal {
			if _, err := AppendKey(nil, c, d); err != nil {
				t.Fatalf("%v was decoded and cannot be encoded: %v", d, err)
			}
		}
		rd, err := ReadValue(b)
		for err == nil {
			var ok bool
			if _, _, ok, err = rd.Next(); !ok {
				break
			}
		}
	})
}
