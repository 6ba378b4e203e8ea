package expr

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// Constants that are compared with dates, times and years.

// temporalConstant is a constant text that is compared with a date: it is read as one, and it is an error if it is none (1525; 1292 in
// a change in strict mode).
type temporalConstant struct {
	Node
	name string // the type of the other side, as the error names it
}

// Type implements Node.
func (c *temporalConstant) Type() Type { return TDatetime(6) }

// Constant implements Constant.
func (c *temporalConstant) Constant() bool { return true }

// Eval implements Node.
func (c *temporalConstant) Eval(env *Env) (Value, error) {
	v, err := c.Node.Eval(env)
	if err != nil || v.IsNull() || v.kind != KindText && v.kind != KindBytes && v.kind != KindBit {
		return v, err
	}
	r := temporal.ParseDateTime(v.s, env.storeMode()).ToZone(env.zone())
	if !r.OK() {
		env.Warning(1292, "Truncated incorrect %s value: '%s'", strings.ToLower(c.name), clip(v.s)) // what a strict change fails with
		if err := env.Failed(); err != nil {
			return Null, err
		}
		return Null, Errorf(1525, "HY000", "Incorrect %s value: '%s'", c.name, clip(v.s))
	}
	if r.Faults != 0 {
		if err := warnDate(env, v.s, r, "datetime"); err != nil {
			return Null, err
		}
	}
	return packedDatetime(r.DateTime, 6), nil
}

// temporalConstants replaces, in a comparison of dates, the constant texts; those that are no date are an error (1525). BETWEEN, IN
// and CASE take them for zero dates.
func temporalConstants(operation string, class class, nodes ...Node) []Node {
	switch operation {
	case "=", "<=>", "<>", "!=", "<", "<=", ">", ">=":
	default:
		return nodes
	}
	name := ""
	for _, n := range nodes {
		switch t := n.Type(); {
		case class != asDatetime || !t.HasDate():
		case t.Name == TimestampType:
			name = "TIMESTAMP"
		case t.Name == DateType:
			name = "DATE"
		default:
			name = "DATETIME"
		}
	}
	if name == "" {
		return nodes
	}
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		out[i] = n
		if IsConst(n) && n.Type().IsString() {
			out[i] = &temporalConstant{Node: n, name: name}
		}
	}
	return out
}

// ConstantDates is error 1525 of a comparison of a date with a constant text that is no date, for a host that resolves names: MySQL finds it
// before it reads a row. name and args are those of a call; nil: it is no such comparison, or there is no error.
func ConstantDates(env *Env, name string, args ...Node) error {
	switch name {
	case "=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "nullif", "in", "not in", "strcmp":
	default:
		return nil
	}
	if len(args) != 2 { // of IN with several values each is converted when it is compared
		return nil
	}
	if a, ok := args[0].(*Tuple); ok {
		b, ok := args[1].(*Tuple)
		for i := 0; ok && i < min(len(a.Nodes), len(b.Nodes)); i++ {
			if err := ConstantDates(env, "=", a.Nodes[i], b.Nodes[i]); err != nil {
				return err
			}
		}
		return nil
	}
	for _, n := range temporalConstants("=", asDatetime, args...) {
		if c, ok := n.(*temporalConstant); ok {
			quiet := *env
			quiet.Warn, quiet.failed = nil, nil
			_, err := c.Eval(&quiet)
			if e, is := err.(*Error); is && (e.Code == 1525 || e.Code == 1292 && env.Strict()) {
				return err
			}
			if v, err := c.Node.Eval(&quiet); err == nil && (v.kind == KindText || v.kind == KindBytes) {
				if r := temporal.ParseDateTime(v.s, env.storeMode()); r.OK() && r.Faults == 0 {
					warnDelimiter(env, v, r)
				}
			}
		}
	}
	return nil
}

// Subquery is implemented by expressions of the host that are queries: constants beside them are not taken for values of a column.
type Subquery interface {
	Node
	IsSubquery()
}

// isLeaf reports whether an expression is a column, or something like it that the host evaluates.
func isLeaf(n Node) bool {
	switch n.(type) {
	case *Lit, *Call, *Tuple, *temporalConstant, Subquery:
		return false
	}
	return true
}

// timesBesideColumn reports whether texts are compared with times as times: if they are constants that are times, and beside a
// column. Others are compared as texts, so that TIME'10:11:12' < '9:00' (MySQL converts constants for columns only).
func timesBesideColumn(nodes []Node) bool {
	column := false
	for _, n := range nodes {
		t := n.Type()
		switch {
		case t.Kind() == KindTime:
			column = column || isLeaf(n)
		case t.IsString():
			l, ok := n.(*Lit)
			if !ok {
				return false
			}
			if r := temporal.ParseTime(l.V.s, 0); r.Kind != temporal.KindTime || r.Faults != 0 {
				return false
			}
		}
	}
	return column
}

// temporalNumbers replaces, beside a DATETIME or TIMESTAMP column, literal numbers that are dates: created = 20240229 is a comparison
// of datetimes (manual, Type Conversion in Expression Evaluation). Numbers that are none, and all beside other expressions, are
// compared as numbers.
func temporalNumbers(nodes ...Node) []Node {
	column := false
	for _, n := range nodes {
		column = column || isLeaf(n) && n.Type().Kind() == KindDatetime
	}
	if !column {
		return nodes
	}
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		out[i] = n
		l, ok := n.(*Lit)
		if !ok || !l.T.IsNumber() || isBitLiteral(l) || l.V.IsNull() {
			continue
		}
		whole, nanos, fits := secondsOf(&Env{}, l.V)
		if r := temporal.FromNumber(whole, nanos, temporal.ZeroParts); fits && r.OK() && r.DateTime.IsReal() {
			out[i] = &Lit{V: packedDatetime(r.DateTime, r.FSP), T: TDatetime(r.FSP)}
		}
	}
	return out
}

// storedConstants are constants beside a column as MySQL compares them: as what the column would store. It concerns columns of type YEAR (see yearConstants)
// and TIME: of a date beside a TIME column only the time of day counts, so that at < DATE'2024-02-29' means at < '00:00:00'.
func storedConstants(operation string, nodes ...Node) []Node {
	nodes = yearConstants(operation, nodes...)
	if len(nodes) != 2 || !comparing[operation] {
		return nodes
	}
	for i, n := range nodes {
		other := nodes[1-i]
		if isLeaf(n) && n.Type().Kind() == KindTime && other.Type().HasDate() && IsConst(other) {
			out := slices.Clone(nodes)
			out[1-i] = &Call{Name: "time of day", Args: []Node{other}, T: TTime(other.Type().Scale), Fn: timeOfDay}
			return out
		}
	}
	return nodes
}

// comparing are the operations of two operands that compare them.
var comparing = map[string]bool{"=": true, "<=>": true, "<>": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true}

// timeOfDay is the time of a date or datetime.
func timeOfDay(env *Env, c *Call) (Value, error) {
	v, err := c.Args[0].Eval(env)
	if err != nil || v.IsNull() {
		return Null, err
	}
	n, ok, err := ToTime(env, v)
	if err != nil || !ok {
		return Null, err
	}
	return Packed(KindTime, n, c.T.Scale), nil
}

// yearConstants replaces, beside a YEAR column, constants of one or two digits by the year that such a number is when it is stored: y < 5 means
// y < 2005, and y = '0' means y = 2000 (the number 0 is the year 0000); and dates by their years. A list of several values and CASE compare them as they are.
func yearConstants(operation string, nodes ...Node) []Node {
	switch operation {
	case "=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "between", "not between":
	default:
		return nodes
	}
	column := false
	for _, n := range nodes {
		column = column || isLeaf(n) && n.Type().Name == YearType
	}
	if !column {
		return nodes
	}
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		out[i] = n
		l, ok := n.(*Lit)
		if !ok {
			continue
		}
		year := int64(-1)
		switch l.V.kind {
		case KindDate, KindDatetime: // as a YEAR stores it
			if y := temporal.DateTime(l.V.n).Year(); y >= 1901 && y <= 2155 {
				out[i] = yearLit(int64(y))
			}
			continue
		case KindInt, KindUint:
			if year = int64(l.V.n); year == 0 {
				continue
			}
		case KindDecimal:
			if y, err := number.Round(l.V.RawDecimal(), 0).Int64(); err == nil && y != 0 {
				year = y
			}
		case KindFloat:
			if y := math.RoundToEven(l.V.RawFloat()); y >= 1 && y <= 99 {
				year = int64(y)
			}
		case KindText:
			if y, err := strconv.ParseUint(l.V.s, 10, 8); err == nil && len(l.V.s) <= 2 {
				year = int64(y)
			}
		}
		switch {
		case year < 0 || year > 99:
			continue
		case year < 70:
			year += 2000
		default:
			year += 1900
		}
		out[i] = yearLit(year)
	}
	return out
}

func yearLit(year int64) *Lit {
	return &Lit{V: Uint(uint64(year)), T: Type{Name: YearType, Unsigned: true, Length: 4, Collation: BinaryCollation, Coerc: Numeric}}
}
