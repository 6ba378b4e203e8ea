package aggregate

import (
	"fmt"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Remover is a state from which rows can be taken away again, in any order: a window that slides needs no new state for each row then.
type Remover interface {
	rel.AggState
	// Remove takes a row away that Add was given before.
	Remove(env *expr.Env, args []expr.Value) error
}

// Maker makes the states of one aggregate, one for each group.
type Maker struct {
	make func() rel.AggState
}

// New makes the state of a group without rows.
func (m *Maker) New() rel.AggState { return m.make() }

// New is a state of an aggregate; for many groups Prepare it once.
func New(a *rel.Agg, env *expr.Env) (rel.AggState, error) {
	m, err := Prepare(a, env)
	if err != nil {
		return nil, err
	}
	return m.New(), nil
}

// Prepare gets ready to make states of an aggregate whose type a.T has been resolved.
func Prepare(a *rel.Agg, env *expr.Env) (*Maker, error) {
	types := make([]expr.Type, len(a.Args))
	for i, n := range a.Args {
		types[i] = n.Type()
	}
	if a.Name == SumCounts {
		return &Maker{make: func() rel.AggState { return &sumCounts{} }}, nil
	}
	name := names[strings.ToLower(a.Name)]
	if name == "" {
		return nil, fmt.Errorf("aggregate: no aggregate is called %q", a.Name)
	}
	made, err := maker(name, a, types, env)
	if err != nil {
		return nil, err
	}
	if !a.Distinct || name == "group_concat" || name == "min" || name == "max" || name == "any_value" {
		return &Maker{make: made}, nil
	}
	switch name { // values that are brought to numbers are told apart as numbers
	case "sum", "avg":
		types = []expr.Type{expr.TFloat}
		if exact(a.Args[0].Type()) {
			types[0] = expr.TDecimal(65, 30)
		}
	}
	keys, err := expr.NewKeys(types)
	if err != nil {
		return nil, err
	}
	var bring func(*expr.Env, expr.Value) (expr.Value, error)
	if name == "sum" || name == "avg" {
		bring = toNumber(exact(a.Args[0].Type()))
	}
	return &Maker{make: func() rel.AggState {
		return &distinct{AggState: made(), keys: keys, bring: bring, seen: map[string]struct{}{}}
	}}, nil
}

func maker(name string, a *rel.Agg, types []expr.Type, env *expr.Env) (func() rel.AggState, error) {
	switch name {
	case "count":
		return func() rel.AggState { return &count{} }, nil
	case "sum", "avg":
		average := name == "avg"
		if exact(types[0]) {
			t, text, increment := a.T, a.Text, env.DivPrecision
			return func() rel.AggState {
				return &exactSum{average: average, scale: t.Scale, increment: increment, text: text}
			}, nil
		}
		return func() rel.AggState { return &floatSum{average: average, text: a.Text} }, nil
	case "stddev_pop", "stddev_samp", "var_pop", "var_samp":
		return func() rel.AggState {
			return &variance{sample: strings.HasSuffix(name, "samp"), root: strings.HasPrefix(name, "std")}
		}, nil
	case "bit_and", "bit_or", "bit_xor":
		if a.T.Kind() == expr.KindBytes {
			return func() rel.AggState { return &byteOp{op: name, length: a.T.Length} }, nil
		}
		return func() rel.AggState { return newBitOp(name) }, nil
	case "min", "max":
		return extremes(name, types[0])
	case "any_value":
		return func() rel.AggState { return &first{} }, nil
	case "json_arrayagg", "json_objectagg":
		return documents(name, a, types), nil
	}
	return concats(a, types, env)
}

// distinct passes on the first of equal values. Rows with a NULL are passed on: the aggregates leave them out.
type distinct struct {
	rel.AggState
	keys  *expr.Keys
	bring func(*expr.Env, expr.Value) (expr.Value, error) // nil: the values are told apart as they are
	seen  map[string]struct{}
	key   []byte
}

// Add implements rel.AggState.
func (d *distinct) Add(env *expr.Env, args []expr.Value) error {
	d.key = d.key[:0]
	for i, v := range args {
		if v.IsNull() {
			return d.AggState.Add(env, args)
		}
		var err error
		if v = v.Detached(); d.bring != nil {
			if v, err = d.bring(env, v); err != nil {
				return err
			}
		}
		if len(args) == 1 { // SUM and AVG have one
			args = []expr.Value{v}
		}
		if d.key, err = d.keys.Append(d.key, env, i, v); err != nil {
			return err
		}
	}
	if _, ok := d.seen[string(d.key)]; ok {
		return nil
	}
	d.seen[string(d.key)] = struct{}{}
	return d.AggState.Add(env, args)
}

// toNumber brings a value to the number that SUM and AVG add.
func toNumber(exactly bool) func(*expr.Env, expr.Value) (expr.Value, error) {
	return func(env *expr.Env, v expr.Value) (expr.Value, error) {
		if exactly {
			d, err := expr.ToDecimal(env, v)
			if err != nil {
				return expr.Null, err
			}
			return expr.Decimal(d), nil
		}
		f, err := expr.ToFloat(env, v)
		return expr.Float(f), err
	}
}
