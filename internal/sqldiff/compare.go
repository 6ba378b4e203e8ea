package sqldiff

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Harm is what kind of difference there is between two answers, the most harmful first.
type Harm int

const (
	None        Harm = iota
	Died             // the server ended, or closed the connection
	Hung             // no answer within the limit
	State            // tables differ after the statement
	Rows             // other rows
	Accepted         // we answer where the reference refuses
	Refused          // we refuse what the reference answers
	AffectedNum      // another number of affected rows
	Form             // the same values written otherwise, or in another order where the order is total
	ErrorCode        // both refuse, with other codes
	ColumnType       // the same rows with other types of columns
	WarningSet       // other warnings
)

var harmNames = [...]string{"none", "died", "no answer", "state", "rows", "accepted", "refused", "affected", "form", "error code",
	"column type", "warnings"}

func (h Harm) String() string { return harmNames[h] }

// Diff is a difference between the reference's answer and ours.
type Diff struct {
	Harm Harm
	// Kind tells differences of the same harm apart that have different causes, as far as the answers show: the error codes.
	Kind      string
	Want, Got string
}

// same reports whether two differences may have the same cause.
func (d *Diff) same(o *Diff) bool {
	return o != nil && d.Harm == o.Harm && (d.Kind == o.Kind || d.Harm == Rows)
}

// Answer is a result with its warnings.
type Answer struct {
	*Result
	Codes []string // "level code" of each warning, once
}

// how says what is compared, and what counts as alike.
type how struct {
	ordered, folded, warnings, types bool
	// nearly: numbers within texts and decimals may differ in their last digits, which are those of a mathematical function.
	nearly bool
}

// compare finds the most harmful difference; nil if there is none.
func compare(want, got *Answer, h how) *Diff {
	d := &Diff{Want: show(want), Got: show(got)}
	switch {
	case got.Lost != nil && strings.Contains(got.Lost.Error(), "timeout"):
		d.Harm = Hung
		if want.Lost != nil && strings.Contains(want.Lost.Error(), "timeout") {
			return nil
		}
	case got.Lost != nil:
		d.Harm = Died
	case want.Lost != nil:
		return nil // nothing to compare with
	case want.Err != nil && got.Err != nil:
		if want.Err.Code == got.Err.Code {
			return nil
		}
		d.Harm, d.Kind = ErrorCode, fmt.Sprintf("%d not %d", got.Err.Code, want.Err.Code)
	case want.Err != nil:
		d.Harm, d.Kind = Accepted, strconv.Itoa(want.Err.Code)
	case got.Err != nil:
		d.Harm, d.Kind = Refused, strconv.Itoa(got.Err.Code)
		if got.Err.Code == 1105 {
			d.Kind += " " + gist(got.Err.Text)
		}
	default:
		if d.Harm, d.Kind = compareResults(want, got, h); d.Harm == None {
			return nil
		}
	}
	return d
}

func compareResults(want, got *Answer, h how) (Harm, string) {
	if len(want.Cols) != len(got.Cols) || len(want.Rows) != len(got.Rows) {
		return Rows, "number"
	}
	exact, close := true, true
	w, g := want.Rows, got.Rows
	if !h.ordered {
		w, g = sorted(want, h.folded), sorted(got, h.folded)
	}
	for i := range w {
		for j := range w[i] {
			like := likeness(w[i][j], g[i][j], want.Cols[j], got.Cols[j], h.folded)
			if like == 0 && h.nearly && nearlyAlike(w[i][j], g[i][j]) {
				like = 2
			}
			switch like {
			case 0:
				close = false
			case 1:
				exact = false
			}
		}
	}
	switch {
	case !close && h.ordered:
		inOther := h
		inOther.ordered = false
		if harm, _ := compareResults(want, got, inOther); harm != Rows {
			return Rows, "order"
		}
		return Rows, ""
	case !close:
		return Rows, ""
	case want.Affected != got.Affected && len(want.Cols) == 0:
		return AffectedNum, ""
	case !exact:
		return Form, ""
	}
	if h.types {
		for j := range want.Cols {
			if a, b := typeOf(want.Cols[j]), typeOf(got.Cols[j]); a != b {
				return ColumnType, b + " not " + a
			}
		}
	}
	if h.warnings && !slices.Equal(want.Codes, got.Codes) {
		return WarningSet, strings.Join(got.Codes, ",") + " not " + strings.Join(want.Codes, ",")
	}
	return None, ""
}

func typeOf(c Col) string {
	name := typeNames[c.Type]
	switch c.Type {
	case typeTiny, typeShort, typeLong, typeInt24, typeLongLong:
		// The width of an expression's integer is no contract: MySQL itself says BIGINT or INT by its history.
		name = "integer"
		if c.Flags&flagUnsigned != 0 {
			name += " unsigned"
		}
	case typeFloat, typeDouble:
		name = "floating point"
	case 249, 250, 251, 252, 253, 254, 15, 247, 248:
		name = "text"
		if c.Charset == 63 {
			name = "bytes"
		}
	}
	return name
}

// likeness is 2 if two values are equal, 1 if they are the same number or text in another form, and 0 otherwise.
func likeness(a, b Value, ca, cb Col, folded bool) int {
	if a.Null || b.Null {
		if a.Null == b.Null {
			return 2
		}
		return 0
	}
	if a.Text == b.Text {
		return 2
	}
	if folded && fold(a.Text) == fold(b.Text) {
		return 2
	}
	floating := func(c Col) bool { return c.Type == typeDouble || c.Type == typeFloat }
	if floating(ca) || floating(cb) {
		x, err1 := strconv.ParseFloat(a.Text, 64)
		y, err2 := strconv.ParseFloat(b.Text, 64)
		if err1 == nil && err2 == nil {
			tolerance := 1e-12
			if ca.Type == typeFloat || cb.Type == typeFloat {
				tolerance = 1e-5
			}
			if x == y || math.Abs(x-y) <= tolerance*math.Max(math.Abs(x), math.Abs(y)) {
				return 2
			}
			return 0
		}
	}
	if temporal(ca) || temporal(cb) {
		if withoutFraction(a.Text) == withoutFraction(b.Text) {
			return 1
		}
		return 0
	}
	x, ok1 := new(big.Rat).SetString(a.Text)
	y, ok2 := new(big.Rat).SetString(b.Text)
	if ok1 && ok2 && len(a.Text) < 100 && len(b.Text) < 100 && x.Cmp(y) == 0 {
		return 1
	}
	return 0
}

// mathematical are the functions of doubles whose last digit is the C library's in MySQL and Go's here.
var mathematical = map[string]bool{"SIN": true, "COS": true, "TAN": true, "COT": true, "ATAN": true, "ATAN2": true, "ASIN": true,
	"ACOS": true, "EXP": true, "POW": true, "POWER": true, "LN": true, "LOG": true, "LOG2": true, "LOG10": true, "DEGREES": true,
	"RADIANS": true}

var numberIn = regexp.MustCompile(`-?\d+(?:\.\d+)?(?:e[-+]?\d+)?`)

// nearlyAlike reports whether two texts are the same but for numbers, which differ by less than one in 10^13.
func nearlyAlike(a, b Value) bool {
	if a.Null || b.Null || numberIn.ReplaceAllString(a.Text, "#") != numberIn.ReplaceAllString(b.Text, "#") {
		return false
	}
	x, y := numberIn.FindAllString(a.Text, -1), numberIn.FindAllString(b.Text, -1)
	for i := range x {
		f, err1 := strconv.ParseFloat(x[i], 64)
		g, err2 := strconv.ParseFloat(y[i], 64)
		if err1 != nil || err2 != nil || math.Abs(f-g) > 1e-13*math.Max(math.Abs(f), math.Abs(g)) {
			return false
		}
	}
	return true
}

func temporal(c Col) bool {
	return c.Type == typeTime || c.Type == typeDateTime || c.Type == typeTimestamp
}

// withoutFraction drops zeros behind the point.
func withoutFraction(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func sorted(a *Answer, folded bool) [][]Value {
	key := func(r []Value) string {
		var b strings.Builder
		for j, v := range r {
			t := v.Text
			switch {
			case v.Null:
				t = "\x00"
			case a.Cols[j].Type == typeDouble || a.Cols[j].Type == typeFloat:
				if f, err := strconv.ParseFloat(t, 64); err == nil {
					t = strconv.FormatFloat(f, 'e', 5, 64)
				}
			case folded:
				t = fold(t)
			}
			b.WriteString(t + "\x01")
		}
		return b.String()
	}
	out := slices.Clone(a.Rows)
	slices.SortStableFunc(out, func(x, y []Value) int { return strings.Compare(key(x), key(y)) })
	return out
}

// gist is an error's text without what varies.
func gist(text string) string {
	var b strings.Builder
	quote := rune(0)
	for _, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
				b.WriteRune('…')
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c >= '0' && c <= '9':
		case c == '\n':
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
		if b.Len() > 60 {
			break
		}
	}
	return strings.TrimSpace(b.String())
}

// show is an answer in a few words.
func show(a *Answer) string {
	switch {
	case a.Lost != nil:
		return "no answer: " + a.Lost.Error()
	case a.Err != nil:
		t := strings.ToValidUTF8(strings.ReplaceAll(a.Err.Text, "\n", " "), "?")
		if len(t) > 150 {
			t = t[:150] + "…"
		}
		return fmt.Sprintf("error %d (%s) %s", a.Err.Code, a.Err.State, t)
	case len(a.Cols) == 0:
		return fmt.Sprintf("ok, %d affected%s", a.Affected, codesOf(a))
	}
	var rows []string
	for i, r := range a.Rows {
		if i == 12 {
			rows = append(rows, "…")
			break
		}
		var vs []string
		for _, v := range r {
			if v.Null {
				vs = append(vs, "NULL")
			} else if len(v.Text) > 80 {
				vs = append(vs, strconv.Quote(v.Text[:80]+"…"))
			} else {
				vs = append(vs, strings.Trim(strconv.Quote(v.Text), `"`))
			}
		}
		rows = append(rows, "("+strings.Join(vs, ", ")+")")
	}
	var types []string
	for _, c := range a.Cols {
		types = append(types, typeOf(c))
	}
	return fmt.Sprintf("%d rows %s [%s]%s", len(a.Rows), strings.Join(rows, " "), strings.Join(types, ", "), codesOf(a))
}

func codesOf(a *Answer) string {
	if len(a.Codes) == 0 {
		return ""
	}
	return " warnings " + strings.Join(a.Codes, ", ")
}
