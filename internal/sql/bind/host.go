package bind

import (
	"errors"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Host is what a statement is bound against: the catalog as the statement sees it, and the session.
type Host interface {
	// Relation finds a table or a view; database "" is the current one. The error is MySQL's (1146, 1049, 1046).
	Relation(database, name string) (Relation, error)
	// Database is the current one.
	Database() string
	// Settings are what the session decides about names and types.
	Settings() Settings
	// Function makes a call of a function that package expr does not know; nil, nil: there is none of this name. What the syntax says
	// beside the arguments has been made literals.
	Function(name, text string, args []expr.Node) (expr.Node, error)
	// UserVariable is @name. SystemVariable is @@name; scope is "", "session", "global".
	UserVariable(name string) (expr.Node, error)
	SystemVariable(scope, name string) (expr.Node, error)
	// SetUserVariable is @name := value.
	SetUserVariable(name string, value expr.Node) (expr.Node, error)
	// Parameter is the value of a parameter, :v1; nil: it is not known yet, the statement is being prepared.
	Parameter(name string) (expr.Node, error)
	// Collation is the id of a collation, or of a character set's default one, by its name; error 1273 or 1115.
	Collation(name string) (uint16, error)
	CharacterSet(name string) (uint16, error)
}

// ChangeHost is a Host of statements that change rows.
type ChangeHost interface {
	Host
	// Rules is what a table says of its rows. They are given one time after the other as the same, and are not changed.
	Rules(t rel.Table) (*TableRules, error)
}

// Relation is what a name in FROM stands for: one of the two.
type Relation struct {
	Table rel.Table
	// Generated are the expressions of indexed columns of the table, by the columns' places. nil: there are none.
	Generated map[int]sqlparser.Expr
	View      *View
}

// View is a view: its query, bound in the database that it belongs to.
type View struct {
	Database, Name string
	Columns        []string // renamed columns; nil: those of the query
	Query          sqlparser.SelectStatement
	// Bind calls a function in which the host finds relations as the view's query has to see them; nil: as the statement sees them.
	Bind func(fn func())
}

// Settings are what the session decides.
type Settings struct {
	// Env is for constants that are evaluated while the statement is bound.
	Env             *expr.Env
	OnlyFullGroupBy bool
	// Arith says how quotients and differences are typed.
	Arith expr.ArithForm
	// MaxRecursion is cte_max_recursion_depth; package exec heeds it.
	MaxRecursion int
}

// ErrUnsupported is wrapped by errors about statements that MySQL has and this package does not yet know. Nothing has been done then;
// the statement is left to another way of executing it.
var ErrUnsupported = errors.New("not supported by package bind")
