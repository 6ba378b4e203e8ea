package bind

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
)

// once is an expression of constants: its value is calculated when it is first needed, once in a statement, as MySQL does, so that a
// conversion of a constant warns once and not for each row.
type once struct {
	node expr.Node
	env  *expr.Env // for which v was calculated
	v    expr.Value
}

// Type implements expr.Node.
func (o *once) Type() expr.Type { return o.node.Type() }

// Constant implements expr.Constant.
func (o *once) Constant() bool { return true }

// Eval implements expr.Node.
func (o *once) Eval(env *expr.Env) (expr.Value, error) {
	if o.env == env {
		return o.v, nil
	}
	v, err := o.node.Eval(env)
	if err == nil {
		o.env, o.v = env, v
	}
	return v, err
}

// Args implements rel.Parent.
func (o *once) Args() []expr.Node { return []expr.Node{o.node} }

// SetArg implements rel.Parent.
func (o *once) SetArg(_ int, n expr.Node) { o.node, o.env = n, nil }

// Unwrap implements rel.Wrapper.
func (o *once) Unwrap() expr.Node { return o.node }

// withoutOnce is the expression itself.
func withoutOnce(n expr.Node) expr.Node {
	if o, ok := n.(*once); ok {
		return o.node
	}
	return n
}

// keep makes a call of constants one that is calculated once.
func keep(n expr.Node) expr.Node {
	if c, ok := n.(*expr.Call); ok && c.Constant() {
		return &once{node: n}
	}
	return n
}
