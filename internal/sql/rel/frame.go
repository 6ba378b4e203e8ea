package rel

import "github.com/longitude-db/longitude/internal/sql/expr"

// Frame is what the leaves of a statement's expressions find in Env.Host while it is executed.
type Frame struct {
	// Regs holds the values of the statement's columns, by ColID.
	Regs []expr.Value
	// Run executes subqueries. Package exec sets it.
	Run Runner
	// Session is what the host's own leaves need (variables, functions of the host).
	Session any
}

// Runner executes the subqueries in expressions.
type Runner interface {
	// Subquery is the value of a subquery for the row that the registers hold.
	Subquery(env *expr.Env, s *Subquery) (expr.Value, error)
}

// SubqueryKind says what a subquery's value is made of.
type SubqueryKind uint8

// Kinds of subqueries.
const (
	Scalar    SubqueryKind = iota // (SELECT one column): its only row, NULL if there is none; error 1242 if there are more
	Exists                        // EXISTS (SELECT ...)
	In                            // (left) IN (SELECT ...), NOT IN: Negated
	AnyOf                         // left Op ANY (SELECT ...)
	AllOf                         // left Op ALL (SELECT ...)
	RowEquals                     // (a, b) Op (SELECT x, y): a row of one query, compared as a tuple; Op is =, <=>, <>, <, ...
)

// Subquery is a query in an expression.
type Subquery struct {
	Kind SubqueryKind
	Plan Node
	Out  []ColID     // the columns of its rows, in order
	Left []expr.Node // In, AnyOf, AllOf, RowEquals
	Op   string      // AnyOf, AllOf, RowEquals: =, <>, <, <=, >, >=, <=>
	// Negated is for NOT EXISTS and NOT IN.
	Negated bool
	// Outer are the columns of the queries around it that it reads, in Plan and below. None: it has the same rows throughout the
	// statement, and is executed once.
	Outer []ColID
	// Types are those of Out.
	Types []expr.Type
	T     expr.Type // of the value
	// Volatile: it calls a function that gives another value each time, so that it may not be executed once for all rows.
	Volatile bool
	// Alone: it is one row of expressions and reads no table; MySQL puts the expression in its place, so that its value is not put aside.
	Alone bool
	Text  string
}

// Type implements expr.Node.
func (s *Subquery) Type() expr.Type { return s.T }

// IsSubquery implements expr.Subquery.
func (s *Subquery) IsSubquery() {}

// Eval implements expr.Node.
func (s *Subquery) Eval(env *expr.Env) (expr.Value, error) {
	v, err := env.Host.(*Frame).Run.Subquery(env, s)
	if !s.Alone {
		v = v.Detached()
	}
	return v, err
}
