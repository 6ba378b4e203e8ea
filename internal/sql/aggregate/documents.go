package aggregate

import (
	"github.com/longitude-db/longitude/internal/sql/document"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// documents makes the states of JSON_ARRAYAGG and JSON_OBJECTAGG.
func documents(name string, a *rel.Agg, types []expr.Type) func() rel.AggState {
	value := len(a.Args) - 1
	of := func(env *expr.Env, v expr.Value) (*document.Doc, error) {
		if !v.IsNull() && expr.IsTruth(a.Args[value]) {
			return document.NewBool(v.RawInt() != 0), nil
		}
		return expr.Atom(env, v, types[value])
	}
	if name == "json_arrayagg" {
		return func() rel.AggState { return &arrayOf{of: of} }
	}
	return func() rel.AggState { return &objectOf{of: of} }
}

// arrayOf is JSON_ARRAYAGG: the array of all values, NULLs too.
type arrayOf struct {
	of   func(*expr.Env, expr.Value) (*document.Doc, error)
	list []*document.Doc
	size int64
}

// Add implements rel.AggState.
func (a *arrayOf) Add(env *expr.Env, args []expr.Value) error {
	d, err := a.of(env, args[0])
	if err != nil {
		return err
	}
	a.list = append(a.list, d)
	a.size += int64(d.Size())
	return nil
}

// Size is how many bytes it keeps.
func (a *arrayOf) Size() int64 { return a.size }

// Result implements rel.AggState.
func (a *arrayOf) Result(*expr.Env) (expr.Value, error) {
	if len(a.list) == 0 {
		return expr.Null, nil
	}
	return expr.JSON(document.NewArray(a.list[:len(a.list):len(a.list)])), nil
}

// objectOf is JSON_OBJECTAGG: the last value of each name.
type objectOf struct {
	of      func(*expr.Env, expr.Value) (*document.Doc, error)
	members []document.Member
	at      map[string]int
	size    int64
}

// Add implements rel.AggState; error 3158 if the name is NULL.
func (o *objectOf) Add(env *expr.Env, args []expr.Value) error {
	name, err := expr.MemberName(env, args[0])
	if err != nil {
		return err
	}
	d, err := o.of(env, args[1])
	if err != nil {
		return err
	}
	if i, ok := o.at[name]; ok {
		o.members[i].Doc = d
		return nil
	}
	if o.at == nil {
		o.at = map[string]int{}
	}
	o.size += int64(len(name) + d.Size())
	o.at[name] = len(o.members)
	o.members = append(o.members, document.Member{Name: name, Doc: d})
	return nil
}

// Size is how many bytes it keeps.
func (o *objectOf) Size() int64 { return o.size }

// Result implements rel.AggState.
func (o *objectOf) Result(*expr.Env) (expr.Value, error) {
	if len(o.members) == 0 {
		return expr.Null, nil
	}
	return expr.JSON(document.NewObject(append([]document.Member(nil), o.members...))), nil
}
