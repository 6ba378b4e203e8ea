package aggregate

import (
	"strings"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// first is ANY_VALUE: that of the group's first row, which may be NULL.
type first struct {
	v    expr.Value
	some bool
}

// Add implements rel.AggState.
func (f *first) Add(_ *expr.Env, args []expr.Value) error {
	if !f.some {
		f.v, f.some = args[0].From(expr.Silent), true
	}
	return nil
}

// Result implements rel.AggState.
func (f *first) Result(*expr.Env) (expr.Value, error) { return f.v, nil }

// extreme is MIN and MAX. Of equal values it is the first.
type extreme struct {
	sign    int // -1: the least, 1: the largest
	compare func(env *expr.Env, a, b expr.Value) (int, error)
	bring   func(v expr.Value) expr.Value
	best    expr.Value
}

// Add implements rel.AggState.
func (e *extreme) Add(env *expr.Env, args []expr.Value) error {
	v := args[0]
	if v.IsNull() {
		return nil
	}
	if e.bring != nil {
		v = e.bring(v)
	}
	if e.best.IsNull() {
		e.best = v
		return nil
	}
	o, err := e.compare(env, v, e.best)
	if err == nil && o*e.sign > 0 {
		e.best = v
	}
	return err
}

// Result implements rel.AggState.
func (e *extreme) Result(*expr.Env) (expr.Value, error) { return e.best.From(expr.Silent), nil }

// extremes makes the states of MIN and MAX of values of a type.
func extremes(name string, t expr.Type) (func() rel.AggState, error) {
	sign := -1
	if name == "max" {
		sign = 1
	}
	out := extreme{sign: sign, compare: expr.OrderOf(t).Compare}
	switch t.Kind() {
	case expr.KindText, expr.KindEnum, expr.KindSet:
		c, err := collation.ByID(t.Collation)
		if err != nil {
			return nil, expr.Errorf(1273, "HY000", "%s", err)
		}
		out.compare = func(_ *expr.Env, a, b expr.Value) (int, error) { return c.Compare(a.RawText(), b.RawText()), nil }
		if t.Kind() != expr.KindText {
			out.bring = func(v expr.Value) expr.Value { return expr.Text(v.RawText()) }
		}
	case expr.KindBytes:
		out.bring = func(v expr.Value) expr.Value { // a hexadecimal literal
			if v.Kind() == expr.KindBit {
				return expr.Bytes(v.RawText())
			}
			return v
		}
		out.compare = func(_ *expr.Env, a, b expr.Value) (int, error) { return strings.Compare(a.RawText(), b.RawText()), nil }
	case expr.KindOther:
		return nil, expr.Errorf(1235, "42000", "This version of Longitude doesn't yet sort values of this type")
	}
	return func() rel.AggState {
		e := out
		return &e
	}, nil
}
