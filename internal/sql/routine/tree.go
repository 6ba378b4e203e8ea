package routine

// Kind is what a program is.
type Kind uint8

// The kinds of programs.
const (
	Procedure Kind = iota
	Function
	Trigger
)

// Program is a stored program.
type Program struct {
	Kind Kind
	Name string
	// Database is the one that the program's name names, "" if it names none.
	Database    string
	Definer     string // as written, "" if it is not
	IfNotExists bool
	Params      []Param
	Returns     string // the type of a function's value, as written
	// What the characteristics say.
	Comment       string
	Deterministic bool
	Access        string // CONTAINS SQL, NO SQL, READS SQL DATA, MODIFIES SQL DATA; "" if it is not said
	Invoker       bool   // SQL SECURITY INVOKER
	// Of a trigger: BEFORE or AFTER; INSERT, UPDATE or DELETE; the table; FOLLOWS or PRECEDES and the trigger that this names.
	Time, Event, Table, Order, Other string
	// ParamText is what stands between the parentheses of the parameters, BodyText what the program does.
	ParamText, BodyText string
	Body                Statement
}

// Param is a parameter.
type Param struct {
	Name string
	Mode Mode
	Type string
}

// Mode is how a parameter is passed.
type Mode uint8

// The modes of parameters.
const (
	In Mode = iota
	Out
	InOut
)

// Statement is a statement of a program.
type Statement interface{ statement() }

// Block is BEGIN ... END.
type Block struct {
	Label     string
	Variables []Variable
	Cursors   []Cursor
	Handlers  []*Handler
	Body      []Statement
}

// Variable is DECLARE name type [DEFAULT value].
type Variable struct {
	Name, Type string
	Default    string // "" is NULL
}

// ValueKind is what a condition value is.
type ValueKind uint8

// The kinds of condition values.
const (
	ErrorCode ValueKind = iota
	SQLState
	SQLWarning
	NotFound
	SQLException
)

// Value is a condition value of a handler.
type Value struct {
	Kind  ValueKind
	Code  int    // of ErrorCode
	State string // of SQLState
}

// Cursor is DECLARE name CURSOR FOR.
type Cursor struct{ Name, Query string }

// Handler is DECLARE ... HANDLER FOR.
type Handler struct {
	Exit   bool // or CONTINUE
	Values []Value
	Body   Statement
}

// If is IF and CASE without operand: the first branch whose condition is true is taken.
type If struct {
	Branches []Branch
	Else     []Statement
	// Case: the statement is a CASE; without a branch to take it is error 1339.
	Case, HasElse bool
}

// Branch is a condition and what is done if it is true.
type Branch struct {
	Cond string
	Body []Statement
}

// Case is CASE with an operand.
type Case struct {
	Operand  string
	Branches []Branch
	Else     []Statement
	HasElse  bool
}

// Loop is LOOP, WHILE and REPEAT: While is asked before each pass, Until after it.
type Loop struct {
	Label        string
	While, Until string
	Body         []Statement
}

// Leave and Iterate are about the block or loop with the label.
type (
	Leave   struct{ Label string }
	Iterate struct{ Label string }
)

// Return is RETURN.
type Return struct{ Value string }

// The statements of cursors.
type (
	Open  struct{ Cursor string }
	Close struct{ Cursor string }
	Fetch struct {
		Cursor string
		Into   []string
	}
)

// Set is SET: in their order assignments to variables of the program, columns of NEW and user variables, and the rest as statements.
type Set struct{ Assignments []Assignment }

// Assignment is one of them.
type Assignment struct {
	Target string // a local variable, NEW.column, @user; "": Statement is to be executed
	Value  string
	// Statement is a SET of the server's variables.
	Statement string
}

// Signal is SIGNAL and RESIGNAL.
type Signal struct {
	Again bool   // RESIGNAL
	Value *Value // nil: RESIGNAL without one
	Items []Item
}

// Item is name = value.
type Item struct{ Name, Value string }

// Diagnostics is GET DIAGNOSTICS.
type Diagnostics struct {
	Stacked bool
	// Condition is the number of the condition, "" if the items are about the statement.
	Condition string
	Items     []Item // a target, and the name of what it gets
}

// SQL is any other statement; Text is without its semicolon.
type SQL struct{ Text string }

func (*Block) statement()       {}
func (*If) statement()          {}
func (*Case) statement()        {}
func (*Loop) statement()        {}
func (*Leave) statement()       {}
func (*Iterate) statement()     {}
func (*Return) statement()      {}
func (*Open) statement()        {}
func (*Close) statement()       {}
func (*Fetch) statement()       {}
func (*Set) statement()         {}
func (*Signal) statement()      {}
func (*Diagnostics) statement() {}
func (*SQL) statement()         {}
