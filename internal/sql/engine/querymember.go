package engine

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// memberOf is value MEMBER OF (document): whether the value is an element of the array, or equal to a document that is none.
type memberOf struct{ args []expr.Node }

var (
	_ rel.Named     = (*memberOf)(nil)
	_ expr.Constant = (*memberOf)(nil)
)

// FunctionName implements rel.Named.
func (m *memberOf) FunctionName() string { return "member of" }

// Type implements expr.Node.
func (m *memberOf) Type() expr.Type { return expr.TBool }

// Eval implements expr.Node.
func (m *memberOf) Eval(env *expr.Env) (expr.Value, error) {
	v, err := m.args[0].Eval(env)
	if err != nil || v.IsNull() {
		return expr.Null, err
	}
	d, err := m.args[1].Eval(env)
	if err != nil || d.IsNull() {
		return expr.Null, err
	}
	ctx := context.Background()
	switch d.Kind() {
	case expr.KindJSON:
	case expr.KindText, expr.KindEnum, expr.KindSet:
		doc, _, err := types.JSON.Convert(ctx, d.RawText())
		if err != nil {
			return expr.Null, expr.Errorf(3141, "22032", "Invalid JSON text in argument 2 to function member of: %s",
				strings.TrimPrefix(err.Error(), "Invalid JSON text: "))
		}
		d = expr.JSON(doc)
	default:
		return expr.Null, expr.Errorf(3146, "22032",
			"Invalid data type for JSON data in argument 2 to function member of; a JSON string or JSON type is required.")
	}
	doc, err := document(env, d)
	if err != nil {
		return expr.Null, err
	}
	value, err := document(env, v)
	if err != nil {
		return expr.Null, err
	}
	in, err := doc.ToInterface(ctx)
	if err != nil {
		return expr.Null, err
	}
	elements, isArray := in.([]any)
	if !isArray {
		elements = []any{in}
	}
	for _, e := range elements {
		w, ok := e.(sql.JSONWrapper)
		if !ok {
			w = types.JSONDocument{Val: e}
		}
		if o, err := types.CompareJSON(ctx, w, value); err != nil || o == 0 {
			return expr.Bool(err == nil), err
		}
	}
	return expr.False, nil
}

// Constant implements expr.Constant.
func (m *memberOf) Constant() bool { return expr.IsConst(m.args[0]) && expr.IsConst(m.args[1]) }

// Args implements rel.Parent.
func (m *memberOf) Args() []expr.Node { return m.args }

// SetArg implements rel.Parent.
func (m *memberOf) SetArg(i int, n expr.Node) { m.args[i] = n }
