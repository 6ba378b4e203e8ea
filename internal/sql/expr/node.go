package expr

import (
	"fmt"
	"sort"
	"strings"
)

// Node is an expression that can be evaluated. Hosts implement it for columns, variables and subqueries.
type Node interface {
	Type() Type
	// Eval gives the value for the row that env.Host holds: NULL or of the type's kind (X2).
	Eval(env *Env) (Value, error)
}

// Constant is implemented by Nodes whose value may be the same in each evaluation within a statement.
type Constant interface{ Constant() bool }

// IsConst reports whether a Node has the same value for each row of a statement.
func IsConst(n Node) bool {
	c, ok := n.(Constant)
	return ok && c.Constant()
}

// Lit is a literal.
type Lit struct {
	V Value
	T Type
}

// Type implements Node.
func (l *Lit) Type() Type { return l.T }

// Eval implements Node.
func (l *Lit) Eval(*Env) (Value, error) { return l.V, nil }

// Constant implements Constant.
func (l *Lit) Constant() bool { return true }

// Tuple is a row of expressions: (a, b). Only comparisons and IN take it.
type Tuple struct{ Nodes []Node }

// Type implements Node; a tuple has none.
func (t *Tuple) Type() Type { return TNull }

// Eval implements Node: a tuple has no single value.
func (t *Tuple) Eval(*Env) (Value, error) {
	return Null, Errorf(1241, "21000", "Operand should contain 1 column(s)")
}

// Constant implements Constant.
func (t *Tuple) Constant() bool {
	for _, n := range t.Nodes {
		if !IsConst(n) {
			return false
		}
	}
	return true
}

// Call is an operator or function with its arguments. The function's resolve fills T and Fn.
type Call struct {
	Name string
	Args []Node
	// Text is the expression as MySQL names it in errors.
	Text string
	// Extra is what a function was given beside its arguments: the type of a CAST (Type), the unit of an interval
	// (string), the collation of a COLLATE.
	Extra any
	T     Type
	// Fn evaluates. Arguments are evaluated by it, so that IF and COALESCE need not evaluate all.
	Fn func(env *Env, c *Call) (Value, error)
	// Volatile is true for functions that give another value with each evaluation (RAND, UUID, SLEEP).
	Volatile bool
	// constant is what Build found out, so that no question walks the whole tree. What replaces an argument later is as constant as that was.
	constant constness
}

type constness uint8

const (
	notAsked constness = iota
	isConstant
	isVariable
)

// Type implements Node.
func (c *Call) Type() Type { return c.T }

// Eval implements Node.
func (c *Call) Eval(env *Env) (Value, error) { return c.Fn(env, c) }

// Constant implements Constant.
func (c *Call) Constant() bool {
	if c.Volatile {
		return false
	}
	if c.constant != notAsked {
		return c.constant == isConstant
	}
	for _, a := range c.Args {
		if !IsConst(a) {
			return false
		}
	}
	return true
}

// Arg evaluates the ith argument.
func (c *Call) Arg(env *Env, i int) (Value, error) { return c.Args[i].Eval(env) }

// ArgType is the type of the ith argument.
func (c *Call) ArgType(i int) Type { return c.Args[i].Type() }

// Fold evaluates what is constant in a tree once, so that it warns once; what fails is left as it is and fails when, and only
// if, it is evaluated.
func Fold(env *Env, n Node) Node {
	c, ok := n.(*Call)
	if !ok {
		return n
	}
	if c.Constant() {
		if v, err := c.Eval(env); err == nil {
			return &Lit{V: v, T: c.T}
		}
		return n
	}
	for i, a := range c.Args {
		c.Args[i] = Fold(env, a)
	}
	return n
}

// Func describes an operator or function.
type Func struct {
	Name     string
	Min, Max int // how many arguments; Max -1: any number
	// Resolve finds the type of the call and how it is evaluated, from the types of its arguments: it sets c.T and c.Fn.
	// It may replace arguments (to convert a constant once, say).
	Resolve func(c *Call) error
}

// funcs holds all functions by lower-case name. Only init functions of this package write it.
var funcs = map[string]*Func{}

// register adds functions.
func register(fs ...*Func) {
	for _, f := range fs {
		if funcs[f.Name] != nil {
			panic("expr: function registered twice: " + f.Name)
		}
		funcs[f.Name] = f
	}
}

// Lookup finds a function or operator by its lower-case name; nil: this package does not know it.
func Lookup(name string) *Func { return funcs[strings.ToLower(name)] }

// Names lists all functions and operators.
func Names() []string {
	var out []string
	for n := range funcs {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// Build makes a call. text is the expression as errors name it.
func Build(name, text string, extra any, args ...Node) (*Call, error) {
	f := Lookup(name)
	if f == nil {
		return nil, Errorf(1305, "42000", "FUNCTION %s does not exist", name)
	}
	if len(args) < f.Min || f.Max >= 0 && len(args) > f.Max {
		return nil, Errorf(1582, "42000", "Incorrect parameter count in the call to native function '%s'", name)
	}
	c := &Call{Name: f.Name, Args: args, Text: text, Extra: extra}
	if err := f.Resolve(c); err != nil {
		return nil, err
	}
	if c.Fn == nil {
		panic(fmt.Sprintf("expr: %s resolved without a way to evaluate it", f.Name))
	}
	if c.constant = isVariable; (&Call{Args: c.Args, Volatile: c.Volatile}).Constant() {
		c.constant = isConstant
	}
	return c, nil
}

// strict makes a way to evaluate out of one for arguments that are not NULL: any NULL argument gives NULL, and the arguments
// after it are not evaluated.
func strict(fn func(env *Env, c *Call, args []Value) (Value, error)) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		var few [4]Value
		args := few[:0]
		for _, a := range c.Args {
			v, err := a.Eval(env)
			if err != nil || v.IsNull() {
				return Null, err
			}
			args = append(args, v)
		}
		return fn(env, c, args)
	}
}

// strict1 is strict for one argument.
func strict1(fn func(env *Env, c *Call, v Value) (Value, error)) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		v, err := c.Args[0].Eval(env)
		if err != nil || v.IsNull() {
			return Null, err
		}
		return fn(env, c, v)
	}
}

// strict2 is strict for two arguments.
func strict2(fn func(env *Env, c *Call, a, b Value) (Value, error)) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		a, err := c.Args[0].Eval(env)
		if err != nil || a.IsNull() {
			return Null, err
		}
		b, err := c.Args[1].Eval(env)
		if err != nil || b.IsNull() {
			return Null, err
		}
		return fn(env, c, a, b)
	}
}
