package engine

import (
	"errors"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/routine"
)

// Stored programs (docs/queries.md). Package routine makes a tree of a program; here the tree is walked. Its expressions and queries are bound,
// planned and executed as those of clients are, with the program's variables as parameters (programquery.go).

// invocation is one execution of a program.
type invocation struct {
	x    *execution // of the client's statement
	sc   *sql.Context
	prog *storedProgram
	up   *invocation // the one that has called it, nil: the client's statement has
	// within: the program is a part of a statement, in whose transaction it runs: a function, a trigger, or a procedure that one of these calls.
	within bool
	frame  *blockFrame
	// caught are the conditions whose handlers are being executed, the innermost last.
	caught   []*condition
	result   expr.Value // of RETURN
	returned bool
	text     string    // the call of a function
	env      *expr.Env // for simple expressions; nil: to be made
	subject  uint64    // the table of a trigger
	affected uint64    // rows that the last statement has changed
	depth    int
}

// blockFrame is what the blocks of a program declare, one for each that is being executed.
type blockFrame struct {
	up      *blockFrame
	vars    map[string]*local
	cursors map[string]*cursor
	known   map[string]*rel.Query // plans of simple expressions, by their texts
	block   *routine.Block        // nil: its handlers do not count yet
	skip    *blockFrame           // the frame is that of a handler of this one: handlers are looked for behind it
}

// local is a variable or parameter.
type local struct {
	name string
	t    expr.Type
	v    expr.Value
	key  string // by which the program knows it, if not by its name
	set  bool   // the program has assigned to it
}

// cursor is the rows of an open cursor.
type cursor struct {
	query string
	open  bool
	rows  [][]expr.Value
	types []expr.Type
}

// condition is an error, a warning, or that there are no more rows.
type condition struct {
	code    int
	state   string
	message string
	err     error // what the program fails with if no handler takes it; nil: it goes on
}

// jump leaves a block or goes on with a loop. It is no error of the program's.
type jump struct {
	label   string
	iterate bool
	frame   *blockFrame // EXIT handlers leave the block of this frame
	returns bool
}

// Error implements error.
func (j *jump) Error() string { return "jump to " + j.label }

// unhandled is an error for which there is no handler.
type unhandled struct{ error }

// Unwrap returns the error.
func (u *unhandled) Unwrap() error { return u.error }

// variable finds a variable by its name; nil: there is none.
func (p *invocation) variable(name string) *local {
	if p == nil {
		return nil
	}
	name = strings.ToLower(name)
	for f := p.frame; f != nil; f = f.up {
		if v := f.vars[name]; v != nil {
			return v
		}
	}
	return nil
}

func (p *invocation) cursor(name string) *cursor {
	for f := p.frame; f != nil; f = f.up {
		if c := f.cursors[strings.ToLower(name)]; c != nil {
			return c
		}
	}
	return nil
}

// push begins a frame, which the function that is returned ends.
func (p *invocation) push(f *blockFrame) (pop func()) {
	was := p.frame
	f.up = was
	if f.vars == nil {
		f.vars = map[string]*local{}
	}
	p.frame = f
	return func() { p.frame = was }
}

// declare makes a variable of a type as it is written.
func (p *invocation) declare(f *blockFrame, name, typ string) (*local, error) {
	t, err := p.x.typeNamed(p.sc, typ)
	if err != nil {
		return nil, err
	}
	v := &local{name: name, t: t}
	f.vars[strings.ToLower(name)] = v
	return v, nil
}

// typeNamed is a type as it is written in a declaration.
func (x *execution) typeNamed(sc *sql.Context, text string) (expr.Type, error) {
	s, err := x.s.e.typeText(sc, text)
	if err != nil {
		return expr.Type{}, err
	}
	t := exprType(s, expr.Implicit)
	if !expr.Assignable(t) {
		return t, mysql.NewSQLError(1235, "42000", "This version of Longitude doesn't yet support 'variables of type %s'", text)
	}
	return t, nil
}

// textCollation is the collation of texts for which none is written: that of the database, or of the character set.
func (e *Engine) textCollation(sc *sql.Context, charset string) string {
	if s, err := sessionOf(sc); err == nil && charset == "" {
		if now, err := s.schema(sc); err == nil {
			if db := now.snap.Database(sc.GetCurrentDatabase()); db != nil && db.Collation != "" {
				return db.Collation
			}
		}
	}
	return routineConnection
}

func (e *Engine) typeText(sc *sql.Context, text string) (sql.Type, error) {
	stmt, err := sqlparser.Parse("CREATE TABLE t (c " + text + ")")
	if err != nil {
		return nil, mysql.NewSQLError(1064, "42000", "You have an error in your SQL syntax near '%s'", text)
	}
	d, ok := stmt.(*sqlparser.DDL)
	if !ok || d.TableSpec == nil || len(d.TableSpec.Columns) != 1 {
		return nil, mysql.NewSQLError(1064, "42000", "You have an error in your SQL syntax near '%s'", text)
	}
	column := &d.TableSpec.Columns[0].Type
	switch strings.ToLower(column.Type) {
	case "char", "varchar", "text", "tinytext", "mediumtext", "longtext", "enum", "set":
		if column.Collate == "" && (column.Charset == "" || strings.EqualFold(column.Charset, "utf8mb4")) && !column.BinaryCollate {
			column.Collate = e.textCollation(sc, column.Charset)
		}
	}
	t, err := types.ColumnTypeToType(column)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// assign gives a variable a value, converted to its type.
func (p *invocation) assign(to *local, v expr.Value) error {
	env := p.environment()
	env.Change = true
	out, err := expr.Assign(env, v, &expr.Target{Type: to.t, Name: to.name, Row: 1})
	if err == nil {
		err = env.Failed()
	}
	if err != nil {
		return clientSide(err)
	}
	to.v, to.set = out, true
	return nil
}

func (p *invocation) environment() *expr.Env { return newEnvironment(p.sc) }

// give gives a value to what SET, INTO, FETCH or an OUT parameter names: a variable of the program, or @name.
func (p *invocation) give(name string, v expr.Value, t expr.Type) error {
	if user, ok := strings.CutPrefix(name, "@"); ok {
		return setUserVariable(p.sc, p.environment(), user, v, t)
	}
	to := p.variable(name)
	if to == nil {
		return mysql.NewSQLError(1327, "42000", "Undeclared variable: %s", name)
	}
	return p.assign(to, v)
}

// conditionOf is an error as a condition.
func (p *invocation) conditionOf(err error) *condition {
	own := p.x.h.e.mapError(p.sc, clientSide(err), nil)
	state := own.State
	if state == "" {
		state = "HY000"
	}
	return &condition{code: own.Num, state: state, message: own.Message, err: own}
}

// raise finds the handler of a statement's error and executes it. The error is nil if the program goes on behind the statement.
func (p *invocation) raise(err error) error {
	var j *jump
	var u *unhandled
	if err == nil || errors.As(err, &j) || errors.As(err, &u) {
		return err
	}
	if p.lost() || interrupted(p.sc) != nil {
		return &unhandled{err}
	}
	return p.handle(p.conditionOf(err))
}

// lost reports whether the transaction that the program is a part of has to be repeated or is over: no handler may hide that.
func (p *invocation) lost() bool {
	t := p.x.s.transaction()
	return p.within && (t == nil || t.retry != nil)
}

// handle executes the handler of a condition.
func (p *invocation) handle(c *condition) error {
	f, h := p.handler(c)
	if h == nil {
		if c.err == nil {
			return nil
		}
		return &unhandled{c.err}
	}
	p.caught = append(p.caught, c)
	was := p.frame
	p.frame = &blockFrame{up: f, skip: f, vars: map[string]*local{}}
	err := p.exec(h.Body)
	p.frame = was
	p.caught = p.caught[:len(p.caught)-1]
	if err != nil {
		return err
	}
	p.x.s.ClearWarnings()
	if h.Exit {
		return &jump{frame: f}
	}
	return nil
}

// handler finds the handler of a condition: of the innermost block that has one the one that names it most exactly.
func (p *invocation) handler(c *condition) (*blockFrame, *routine.Handler) {
	for f := p.frame; f != nil; f = f.up {
		if f.skip != nil {
			f = f.skip
			continue
		}
		if f.block == nil {
			continue
		}
		var best *routine.Handler
		rank := 0
		for _, h := range f.block.Handlers {
			for _, v := range h.Values {
				if r := c.matches(v); r > rank {
					best, rank = h, r
				}
			}
		}
		if best != nil {
			return f, best
		}
	}
	return nil, nil
}

// matches says how exactly a condition value names a condition; 0: not at all.
func (c *condition) matches(v routine.Value) int {
	class := c.state[:2]
	switch v.Kind {
	case routine.ErrorCode:
		if c.code == v.Code {
			return 3
		}
	case routine.SQLState:
		if c.state == v.State {
			return 2
		}
	case routine.SQLWarning:
		if class == "01" {
			return 1
		}
	case routine.NotFound:
		if class == "02" {
			return 1
		}
	case routine.SQLException:
		if class != "00" && class != "01" && class != "02" {
			return 1
		}
	}
	return 0
}

// warned executes the handler of a statement's warnings, if the program has one.
func (p *invocation) warned() error {
	ws := p.x.s.Warnings()
	for i := len(ws) - 1; i >= 0; i-- { // the last one first
		if !strings.EqualFold(ws[i].Level, "warning") {
			continue
		}
		c := &condition{code: ws[i].Code, state: "01000", message: ws[i].Message}
		if c.code == 1329 {
			c.state = "02000"
		}
		if _, h := p.handler(c); h != nil {
			return p.handle(c)
		}
	}
	return nil
}

// signal is SIGNAL and RESIGNAL.
func (p *invocation) signal(s *routine.Signal) error {
	c := &condition{}
	if s.Again {
		if len(p.caught) == 0 {
			return mysql.NewSQLError(1645, "0K000", "RESIGNAL when handler not active")
		}
		last := *p.caught[len(p.caught)-1]
		c = &last
	}
	if s.Value != nil {
		c.state, c.code, c.message = s.Value.State, 1644, "Unhandled user-defined exception condition"
		switch c.state[:2] {
		case "01":
			c.code, c.message = 1642, "Unhandled user-defined warning condition"
		case "02":
			c.code, c.message = 1643, "Unhandled user-defined not found condition"
		}
	}
	for _, item := range s.Items {
		v, _, err := p.value(item.Value)
		if err != nil {
			return err
		}
		if v.IsNull() {
			return mysql.NewSQLError(1231, "42000", "Variable '%s' can't be set to the value of 'NULL'", item.Name)
		}
		text, err := expr.ToText(p.environment(), v)
		if err != nil {
			return err
		}
		switch item.Name {
		case "MESSAGE_TEXT":
			if c.message = text; len([]rune(text)) > 128 {
				if p.environment().Mode&expr.StrictTables != 0 {
					return mysql.NewSQLError(1648, "HY000", "Data too long for condition item 'MESSAGE_TEXT'")
				}
				c.message = string([]rune(text)[:128])
			}
		case "MYSQL_ERRNO":
			n, err := strconv.Atoi(text)
			if err != nil || n <= 0 || n > 65535 {
				return mysql.NewSQLError(1231, "42000", "Variable 'MYSQL_ERRNO' can't be set to the value of '%s'", text)
			}
			c.code = n
		}
	}
	if c.state[:2] == "01" {
		p.x.s.ClearWarnings()
		p.sc.Warn(c.code, "%s", c.message)
		c.err = nil
	} else {
		c.err = mysql.NewSQLError(c.code, c.state, "%s", c.message)
	}
	return p.handle(c)
}

// diagnostics is GET DIAGNOSTICS: about the condition whose handler is being executed, or about the last statement.
func (p *invocation) diagnostics(d *routine.Diagnostics) error {
	var all []*condition
	if len(p.caught) > 0 {
		all = append(all, p.caught[len(p.caught)-1])
	} else if d.Stacked {
		return mysql.NewSQLError(1887, "0Z002", "GET STACKED DIAGNOSTICS when handler not active")
	} else {
		for _, w := range p.x.s.Warnings() {
			all = append(all, &condition{code: w.Code, state: "01000", message: w.Message})
		}
	}
	if d.Condition == "" {
		for _, item := range d.Items {
			n := int64(len(all))
			if item.Value == "ROW_COUNT" {
				n = p.x.s.GetLastQueryInfo().RowCount.Load()
			} else if item.Value != "NUMBER" {
				return mysql.NewSQLError(1064, "42000", "You have an error in your SQL syntax near '%s'", item.Value)
			}
			if err := p.give(item.Name, expr.Int(n), expr.TInt); err != nil {
				return err
			}
		}
		return nil
	}
	v, _, err := p.value(d.Condition)
	if err != nil {
		return err
	}
	n, _, err := expr.ToInt(p.environment(), v)
	if err != nil {
		return err
	}
	if n < 1 || n > int64(len(all)) {
		return mysql.NewSQLError(1758, "35000", "Invalid condition number")
	}
	c := all[n-1]
	for _, item := range d.Items {
		value, t := expr.Text(""), expr.TText(64, systemCollation, expr.Implicit)
		switch item.Value {
		case "RETURNED_SQLSTATE":
			value = expr.Text(c.state)
		case "MESSAGE_TEXT":
			value = expr.Text(c.message)
		case "MYSQL_ERRNO":
			value, t = expr.Int(int64(c.code)), expr.TInt
		}
		if err := p.give(item.Name, value, t); err != nil {
			return err
		}
	}
	return nil
}
