package expr

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// sqlReader reads the little SQL that tests are written in: literals, calls, CAST, EXTRACT, INTERVAL, LIKE, comparisons. The same
// texts can be sent to a server.
type sqlReader struct {
	t    *testing.T
	text string
	at   int
}

// readSQL makes a tree of an expression. An error of Build is returned; texts that the reader does not know fail the test.
func readSQL(t *testing.T, text string) (n Node, err error) {
	t.Helper()
	defer func() {
		if e, ok := recover().(*Error); ok {
			err = e
		}
	}()
	r := &sqlReader{t: t, text: text}
	n = r.comparison()
	if r.space(); r.at != len(text) {
		t.Fatalf("%q: what is %q?", text, text[r.at:])
	}
	return n, nil
}

func (r *sqlReader) space() {
	for r.at < len(r.text) && r.text[r.at] == ' ' {
		r.at++
	}
}

// take passes over a word or sign, if it is next.
func (r *sqlReader) take(want string) bool {
	r.space()
	if len(r.text)-r.at < len(want) || !strings.EqualFold(r.text[r.at:r.at+len(want)], want) {
		return false
	}
	r.at += len(want)
	return true
}

func (r *sqlReader) need(want string) {
	r.t.Helper()
	if !r.take(want) {
		r.t.Fatalf("%q: no %q at %q", r.text, want, r.text[r.at:])
	}
}

func (r *sqlReader) word() string {
	r.space()
	from := r.at
	for r.at < len(r.text) && (r.text[r.at] == '_' || r.text[r.at]|0x20 >= 'a' && r.text[r.at]|0x20 <= 'z' ||
		r.at > from && r.text[r.at] >= '0' && r.text[r.at] <= '9') {
		r.at++
	}
	return r.text[from:r.at]
}

func (r *sqlReader) build(name string, extra any, args ...Node) Node {
	c, err := Build(strings.ToLower(name), r.text, extra, args...)
	if err != nil {
		panic(err)
	}
	return c
}

func (r *sqlReader) comparison() Node {
	left := r.sum()
	for _, op := range []string{"<=>", "<=", ">=", "<>", "=", "<", ">"} {
		if r.take(op) {
			return r.build(op, nil, left, r.sum())
		}
	}
	for _, op := range []string{"NOT LIKE", "LIKE", "SOUNDS LIKE"} {
		if r.take(op + " ") {
			args := []Node{left, r.sum()}
			if r.take("ESCAPE ") {
				args = append(args, r.sum())
			}
			return r.build(op, nil, args...)
		}
	}
	if r.take("BETWEEN ") {
		low := r.sum()
		r.need("AND ")
		return r.build("between", nil, left, low, r.sum())
	}
	if r.take("IN (") {
		return r.build("in", nil, append([]Node{left}, r.list()...)...)
	}
	return left
}

func (r *sqlReader) sum() Node {
	n := r.primary()
	for {
		name := ""
		switch {
		case r.take("+ INTERVAL "):
			name = "date_add"
		case r.take("- INTERVAL "):
			name = "date_sub"
		case r.take("COLLATE "):
			n = r.build("collate", testCollation(r.t, r.word()), n)
			continue
		default:
			return n
		}
		by := r.primary()
		n = r.build(name, strings.ToUpper(r.word()), n, by)
	}
}

// list reads arguments up to the closing parenthesis.
func (r *sqlReader) list() (args []Node) {
	for !r.take(")") {
		if len(args) > 0 {
			r.need(",")
		}
		args = append(args, r.comparison())
	}
	return args
}

func (r *sqlReader) primary() Node {
	r.space()
	switch c := r.text[r.at]; {
	case c == '\'':
		s := r.quoted()
		return &Lit{V: Text(s), T: TText(len([]rune(s)), DefaultCollation, Coercible)}
	case c >= '0' && c <= '9' || c == '-':
		return r.number()
	}
	name := r.word()
	switch strings.ToUpper(name) {
	case "X":
		b, err := hex.DecodeString(r.quoted())
		if err != nil {
			r.t.Fatal(err)
		}
		n := new(big.Int).SetBytes(b[max(0, len(b)-8):]).Uint64()
		return &Lit{V: Bit(string(b), n), T: Type{Name: BitType, Length: 8 * len(b), Collation: BinaryCollation, Coerc: Coercible}}
	case "CONVERT", "CHAR":
		r.need("(")
		args := []Node{r.comparison()}
		for r.take(",") {
			args = append(args, r.comparison())
		}
		var extra any
		if r.take("USING ") {
			set, err := collation.CharsetByName(r.word())
			if err != nil {
				r.t.Fatal(err)
			}
			extra = set.DefaultCollation().ID
		}
		r.need(")")
		if strings.EqualFold(name, "CONVERT") {
			name = "convert using"
		}
		return r.build(name, extra, args...)
	case "TRIM":
		r.need("(")
		side := "BOTH"
		for _, x := range []string{"LEADING", "TRAILING", "BOTH"} {
			if r.take(x + " ") {
				side = x
			}
		}
		n := r.comparison()
		if r.take("FROM ") {
			what := n
			n = r.comparison()
			r.need(")")
			return r.build(name, side, n, what)
		}
		r.need(")")
		return r.build(name, side, n)
	case "NULL":
		return &Lit{T: TNull}
	case "DATE", "TIME", "TIMESTAMP":
		if r.at < len(r.text) && r.text[r.at] == '\'' {
			return r.literal(name)
		}
	case "CAST":
		r.need("(")
		n := r.comparison()
		r.need("AS ")
		to := r.castType()
		r.need(")")
		return r.build("cast", to, n)
	case "EXTRACT":
		r.need("(")
		unit := strings.ToUpper(r.word())
		r.need("FROM ")
		n := r.comparison()
		r.need(")")
		return r.build(name, unit, n)
	case "TIMESTAMPDIFF", "TIMESTAMPADD", "GET_FORMAT":
		r.need("(")
		unit := strings.ToUpper(r.word())
		r.need(",")
		args := r.list()
		switch strings.ToUpper(name) {
		case "TIMESTAMPADD":
			return r.build("date_add", unit, args[1], args[0])
		case "GET_FORMAT":
			return r.build(name, nil, &Lit{V: Text(unit), T: TText(4, DefaultCollation, Coercible)}, args[0])
		}
		return r.build(name, unit, args...)
	case "DATE_ADD", "DATE_SUB", "ADDDATE", "SUBDATE":
		r.need("(")
		n := r.comparison()
		r.need(",")
		var extra any
		r.take("INTERVAL ")
		by := r.comparison()
		if u := r.word(); u != "" {
			extra = strings.ToUpper(u)
		}
		r.need(")")
		return r.build(name, extra, n, by)
	}
	r.need("(")
	return r.build(name, nil, r.list()...)
}

func (r *sqlReader) quoted() string {
	end := strings.IndexByte(r.text[r.at+1:], '\'')
	s := r.text[r.at+1 : r.at+1+end]
	r.at += end + 2
	if r.at < len(r.text) && r.text[r.at] == '\'' { // a quotation mark twice is one
		s += "'" + r.quoted()
	}
	return s
}

func (r *sqlReader) literal(kind string) Node {
	s := r.quoted()
	if strings.EqualFold(kind, "TIME") {
		v := temporal.ParseTime(s, 0)
		return &Lit{V: packedTime(v.Duration, v.FSP), T: TTime(v.FSP)}
	}
	v := temporal.ParseDateTime(s, temporal.ZeroParts)
	if !v.OK() {
		r.t.Fatalf("%s'%s' is no literal", kind, s)
	}
	if strings.EqualFold(kind, "DATE") {
		return &Lit{V: packedDate(v.DateTime), T: TDate}
	}
	return &Lit{V: packedDatetime(v.DateTime, v.FSP), T: TDatetime(v.FSP)}
}

func testCollation(t *testing.T, name string) uint16 {
	c, err := collation.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func (r *sqlReader) number() Node {
	from := r.at
	for r.at < len(r.text) && strings.IndexByte("0123456789.e-", r.text[r.at]) >= 0 {
		r.at++
	}
	s := r.text[from:r.at]
	if strings.Contains(s, "e") {
		f, _ := strconv.ParseFloat(s, 64)
		return &Lit{V: Float(f), T: TFloat}
	}
	if _, digits, ok := strings.Cut(s, "."); ok {
		d, _, _ := apd.NewFromString(s)
		return &Lit{V: Decimal(d), T: TDecimal(len(s), len(digits))}
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return &Lit{V: Int(n), T: TInt}
	}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return &Lit{V: Uint(n), T: TUint}
	}
	d, _, err := apd.NewFromString(s)
	if err != nil {
		r.t.Fatal(err)
	}
	return &Lit{V: Decimal(d), T: TDecimal(len(s), 0)}
}

func (r *sqlReader) castType() Type {
	name, fsp := strings.ToUpper(r.word()), 0
	if r.take("(") {
		fsp = int(r.text[r.at] - '0')
		r.at++
		r.need(")")
	}
	switch name {
	case "DATE":
		return TDate
	case "TIME":
		return TTime(fsp)
	case "YEAR":
		return Type{Name: YearType, Unsigned: true}
	}
	return TDatetime(fsp)
}

// testNow is the time of all statements in tests.
var testNow = time.Date(2024, 2, 29, 10, 11, 12, 345678900, time.UTC)

const defaultMode = StrictTables | NoZeroDate | NoZeroInDate | ErrorForDivisionByZero

// answer evaluates a text: the value as text, its type if asked for, then the warnings after bars.
func answer(t *testing.T, text string, mode Mode, zone *time.Location) string {
	t.Helper()
	var out []string
	env := &Env{Mode: mode, Zone: zone, Now: testNow, Clock: func() time.Time { return testNow }, MaxPacket: 1 << 20,
		Warn: func(code uint16, m string) { out = append(out, fmt.Sprintf("%d %s", code, m)) }}
	n, err := readSQL(t, text)
	var v Value
	if err == nil {
		v, err = n.Eval(env)
	}
	if e, ok := err.(*Error); ok {
		return strings.Join(append([]string{fmt.Sprintf("ERROR %d %s", e.Code, e.Message)}, out...), " | ")
	} else if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	s := "NULL"
	if !v.IsNull() {
		if v.Kind() != n.Type().Kind() {
			t.Errorf("%s: a value of kind %d, but the type says %d", text, v.Kind(), n.Type().Kind())
		}
		if n.Type().IsTemporal() && n.Type().Scale != v.Fsp() {
			t.Errorf("%s: %d digits, but the type says %d", text, v.Fsp(), n.Type().Scale)
		}
		if s, err = ToText(env, v); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(append([]string{s}, out...), " | ")
}
