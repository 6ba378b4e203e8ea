package engine

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// windowFunction is a function that exists only with OVER: ROW_NUMBER and the like. Those of go-mysql-server lack NTH_VALUE and
// CUME_DIST, take NTILE for a DOUBLE, and the type of LAG's value for that of its default.
type windowFunction struct {
	kind windowKind
	args []sql.Expression
	over *sql.WindowDefinition
	id   sql.ColumnId
}

// windowKind says which function, and how many arguments it takes.
type windowKind struct {
	name        string
	least, most int
}

var windowKinds = map[string]windowKind{
	"row_number": {"row_number", 0, 0}, "rank": {"rank", 0, 0}, "dense_rank": {"dense_rank", 0, 0},
	"percent_rank": {"percent_rank", 0, 0}, "cume_dist": {"cume_dist", 0, 0}, "ntile": {"ntile", 1, 1},
	"lag": {"lag", 1, 3}, "lead": {"lead", 1, 3},
	"first_value": {"first_value", 1, 1}, "last_value": {"last_value", 1, 1}, "nth_value": {"nth_value", 2, 2},
}

var (
	_ sql.WindowAggregation  = (*windowFunction)(nil)
	_ sql.FunctionExpression = (*windowFunction)(nil)
	_ sql.CollationCoercible = (*windowFunction)(nil)
)

var errNoWindow = mysql.NewSQLError(3593, "HY000", "You cannot use the window function in this context.")

// addWindowFunctions tells the planner of the functions that it does not know to be window functions. Once per process.
func addWindowFunctions() {
	known := planbuilder.IsWindowFunc
	planbuilder.IsWindowFunc = func(ctx *sql.Context, name string) (bool, error) {
		if _, ok := windowKinds[name]; ok {
			return true, nil
		}
		return known(ctx, name)
	}
}

// windowFunctionOf is the function of a name, if it is one of these.
func windowFunctionOf(name string) (sql.Function, bool) {
	k, ok := windowKinds[name]
	if !ok {
		return nil, false
	}
	return sql.FunctionN{Name: name, Fn: func(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) < k.least || len(args) > k.most {
			return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), k.least, len(args))
		}
		return &windowFunction{kind: k, args: args}, nil
	}}, true
}

// Children implements sql.Expression.
func (w *windowFunction) Children() []sql.Expression {
	return append(w.over.ToExpressions(), w.args...)
}

// WithChildren implements sql.Expression.
func (w *windowFunction) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	n := len(cs) - len(w.args)
	if w.over == nil && n != 0 || w.over != nil && n != w.over.ExpressionsLen() {
		return nil, sql.ErrInvalidChildrenNumber.New(w, len(cs), len(w.args))
	}
	out := *w
	var err error
	if out.over, err = w.over.FromExpressions(ctx, cs[:n]); err != nil {
		return nil, err
	}
	out.args = cs[n:]
	return &out, nil
}

// Resolved implements sql.Expression.
func (w *windowFunction) Resolved() bool { return expression.ExpressionsResolved(w.Children()...) }

// String implements sql.Expression.
func (w *windowFunction) String() string {
	var args []string
	for _, a := range w.args {
		args = append(args, a.String())
	}
	s := fmt.Sprintf("%s(%s)", w.kind.name, strings.Join(args, ","))
	if w.over != nil {
		s += " " + windowText(w.over)
	}
	return s
}

// windowText names a window. go-mysql-server's name of a frame says UNBOUNDED FOLLOWING of each that begins with UNBOUNDED
// PRECEDING, and the planner takes functions of the same name for one.
func windowText(d *sql.WindowDefinition) string {
	s := d.String()
	if f := d.Frame; f != nil {
		text := func(e sql.Expression) string {
			if e == nil {
				return ""
			}
			return e.String()
		}
		s += fmt.Sprintf(" /* %t %t %s %s %s %s */", f.UnboundedFollowing(), f.EndCurrentRow(), text(f.StartNPreceding()), text(f.StartNFollowing()),
			text(f.EndNPreceding()), text(f.EndNFollowing()))
	}
	return s
}

// Type implements sql.Expression.
func (w *windowFunction) Type(ctx *sql.Context) sql.Type {
	switch w.kind.name {
	case "row_number", "rank", "dense_rank", "ntile":
		return types.Uint64
	case "percent_rank", "cume_dist":
		return types.Float64
	}
	t := w.args[0].Type(ctx)
	if len(w.args) > 2 && (w.kind.name == "lag" || w.kind.name == "lead") {
		if d := w.args[2].Type(ctx); !d.Equals(t) && d != types.Null {
			return types.GeneralizeTypes(t, d)
		}
	}
	return t
}

// IsNullable implements sql.Expression.
func (w *windowFunction) IsNullable(*sql.Context) bool {
	switch w.kind.name {
	case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist":
		return false
	}
	return true
}

// CollationCoercibility implements sql.CollationCoercible.
func (w *windowFunction) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	if len(w.args) == 0 || w.kind.name == "ntile" {
		return sql.Collation_binary, 5
	}
	return sql.GetCoercibility(ctx, w.args[0])
}

// Eval implements sql.Expression.
func (w *windowFunction) Eval(*sql.Context, sql.Row) (any, error) { return nil, errNoWindow }

// FunctionName implements sql.FunctionExpression.
func (w *windowFunction) FunctionName() string { return w.kind.name }

// Description implements sql.FunctionExpression.
func (w *windowFunction) Description() string { return "a window function" }

// Id implements sql.IdExpression.
func (w *windowFunction) Id() sql.ColumnId { return w.id }

// WithId implements sql.IdExpression.
func (w *windowFunction) WithId(id sql.ColumnId) sql.IdExpression {
	out := *w
	out.id = id
	return &out
}

// Window implements sql.WindowAdaptableExpression.
func (w *windowFunction) Window() *sql.WindowDefinition { return w.over }

// WithWindow implements sql.WindowAdaptableExpression.
func (w *windowFunction) WithWindow(_ *sql.Context, d *sql.WindowDefinition) sql.WindowAdaptableExpression {
	out := *w
	out.over = d
	return &out
}

// NewWindowFunction implements sql.WindowAdaptableExpression: these run in the operator here alone.
func (w *windowFunction) NewWindowFunction(*sql.Context) (sql.WindowFunction, error) {
	return nil, errNoWindow
}

// framed reports whether the function looks at the row's frame; the others look at the whole partition.
func (w *windowFunction) framed() bool {
	switch w.kind.name {
	case "first_value", "last_value", "nth_value":
		return true
	}
	return false
}

// pick computes FIRST_VALUE, LAST_VALUE and NTH_VALUE.
func (w *windowFunction) pick(ctx *sql.Context, p *windowPartition, f *framer, out []any) error {
	nth := int64(1)
	if w.kind.name == "nth_value" {
		v, err := w.args[1].Eval(ctx, nil)
		if err != nil {
			return err
		}
		n, ok, err := wholeNumberOf(ctx, v)
		if err != nil || !ok || n < 1 {
			return errArguments("nth_value")
		}
		nth = n
	}
	for i := range p.rows {
		from, to, err := f.frame(ctx, i)
		if err != nil {
			return err
		}
		if from >= to {
			continue
		}
		at := from
		switch w.kind.name {
		case "last_value":
			at = to - 1
		case "nth_value":
			if nth > int64(to-from) {
				continue
			}
			at = from + int(nth) - 1
		}
		if out[p.places[i]], err = w.args[0].Eval(ctx, p.rows[at]); err != nil {
			return err
		}
	}
	return nil
}

// rank computes the functions of a row's place in its partition.
func (w *windowFunction) rank(ctx *sql.Context, p *windowPartition, out []any) error {
	n := len(p.rows)
	switch w.kind.name {
	case "lag", "lead":
		return w.neighbour(ctx, p, out)
	case "ntile":
		return w.ntile(ctx, p, out)
	}
	dense := uint64(0)
	for i := range p.rows {
		if p.first[i] == i {
			dense++
		}
		var v any
		switch w.kind.name {
		case "row_number":
			v = uint64(i) + 1
		case "rank":
			v = uint64(p.first[i]) + 1
		case "dense_rank":
			v = dense
		case "percent_rank":
			v = 0.0
			if n > 1 {
				v = float64(p.first[i]) / float64(n-1)
			}
		case "cume_dist":
			v = float64(p.last[i]) / float64(n)
		}
		out[p.places[i]] = v
	}
	return nil
}

// neighbour is LAG and LEAD.
func (w *windowFunction) neighbour(ctx *sql.Context, p *windowPartition, out []any) error {
	off := int64(1)
	if len(w.args) > 1 {
		v, err := w.args[1].Eval(ctx, nil)
		if err != nil {
			return err
		}
		n, ok, err := wholeNumberOf(ctx, v)
		if err != nil || !ok || n < 0 {
			return errArguments(w.kind.name)
		}
		off = n
	}
	step := int(min(off, int64(len(p.rows))))
	if w.kind.name == "lag" {
		step = -step
	}
	typ := w.Type(ctx)
	for i := range p.rows {
		var v any
		var err error
		if at := i + step; at >= 0 && at < len(p.rows) {
			v, err = w.args[0].Eval(ctx, p.rows[at])
		} else if len(w.args) > 2 {
			v, err = w.args[2].Eval(ctx, p.rows[i])
		}
		if err == nil && v != nil && len(w.args) > 2 {
			v, _, err = typ.Convert(ctx, v)
		}
		if err != nil {
			return err
		}
		out[p.places[i]] = v
	}
	return nil
}

// ntile cuts the partition into buckets; the first ones are larger by one if the rows cannot be shared out evenly.
func (w *windowFunction) ntile(ctx *sql.Context, p *windowPartition, out []any) error {
	v, err := w.args[0].Eval(ctx, nil)
	if err != nil {
		return err
	}
	if v == nil {
		return nil
	}
	n, ok, err := wholeNumberOf(ctx, v)
	if err != nil || !ok || n < 1 {
		return errArguments("ntile")
	}
	rows := int64(len(p.rows))
	size, larger := rows/n, rows%n
	for i := range p.rows {
		at, bucket := int64(i), int64(0)
		if at < larger*(size+1) {
			bucket = at / (size + 1)
		} else {
			bucket = larger + (at-larger*(size+1))/max(size, 1)
		}
		out[p.places[i]] = uint64(bucket) + 1
	}
	return nil
}

func errArguments(function string) error {
	return mysql.NewSQLError(1210, "HY000", "Incorrect arguments to %s", function)
}
