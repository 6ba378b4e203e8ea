package routine

import (
	"strconv"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// parser parses one program.
type parser struct {
	*scanner
	kind   Kind
	scopes []*scope
	labels []label
}

// scope is what a block declares.
type scope struct {
	variables, cursors map[string]bool
	conditions         map[string]Value
}

type label struct {
	name string
	loop bool
}

// Parse parses CREATE PROCEDURE, CREATE FUNCTION or CREATE TRIGGER. ansiQuotes: the sql_mode is ANSI_QUOTES. The error is MySQL's.
func Parse(text string, ansiQuotes bool) (*Program, error) {
	p := &parser{scanner: scan(text, ansiQuotes)}
	out, err := p.header()
	if err != nil {
		return nil, err
	}
	p.kind = out.Kind
	first := &scope{variables: map[string]bool{}}
	for _, a := range out.Params {
		if first.variables[strings.ToLower(a.Name)] {
			return nil, expr.Errorf(1330, "42000", "Duplicate parameter: %s", a.Name)
		}
		first.variables[strings.ToLower(a.Name)] = true
	}
	p.scopes = append(p.scopes, first)
	from := p.peek(0).from
	if out.Body, err = p.statement(); err != nil {
		return nil, err
	}
	to := p.peek(0).from
	p.takeChar(';')
	if p.peek(0).kind != 0 {
		return nil, p.near()
	}
	out.BodyText = strings.TrimSpace(text[from:to])
	if out.Kind == Function && !returns(out.Body) {
		return nil, expr.Errorf(1320, "42000", "No RETURN found in FUNCTION %s", out.Name)
	}
	return out, nil
}

// End is where the first statement of a text, which creates a program, ends: behind it or at its semicolon; if it cannot be parsed, at the end
// of the text.
func End(text string) int {
	p := &parser{scanner: scan(text, false)}
	out, err := p.header()
	if err != nil {
		return len(text)
	}
	p.kind = out.Kind
	first := &scope{variables: map[string]bool{}}
	for _, a := range out.Params {
		first.variables[strings.ToLower(a.Name)] = true
	}
	p.scopes = append(p.scopes, first)
	if _, err := p.statement(); err != nil || p.peek(0).kind != ';' {
		return len(text)
	}
	return p.peek(0).from
}

// header parses what stands before the body.
func (p *parser) header() (*Program, error) {
	out := &Program{}
	if err := p.need("create"); err != nil {
		return nil, err
	}
	if p.take("definer") {
		if !p.takeChar('=') {
			return nil, p.near()
		}
		out.Definer = p.untilWord("procedure", "function", "trigger", "aggregate")
	}
	switch {
	case p.take("procedure"):
		out.Kind = Procedure
	case p.take("function"):
		out.Kind = Function
	case p.take("trigger"):
		out.Kind = Trigger
	default:
		return nil, p.near()
	}
	out.IfNotExists = p.take("if", "not", "exists")
	var err error
	if out.Name, err = p.name(); err != nil {
		return nil, err
	}
	if p.takeChar('.') {
		out.Database = out.Name
		if out.Name, err = p.name(); err != nil {
			return nil, err
		}
	}
	if out.Kind == Trigger {
		return out, p.triggerHeader(out)
	}
	if err := p.params(out); err != nil {
		return nil, err
	}
	if out.Kind == Function {
		if err := p.need("returns"); err != nil {
			return nil, err
		}
		out.Returns = p.typeText()
	}
	return out, p.characteristics(out)
}

func (p *parser) triggerHeader(out *Program) (err error) {
	one := func(of *string, words ...string) error {
		if !p.is(0, words...) {
			return p.near()
		}
		*of = strings.ToUpper(p.textOf(p.peek(0)))
		p.at++
		return nil
	}
	if err := one(&out.Time, "before", "after"); err != nil {
		return err
	}
	if err := one(&out.Event, "insert", "update", "delete"); err != nil {
		return err
	}
	if err := p.need("on"); err != nil {
		return err
	}
	if out.Table, err = p.name(); err != nil {
		return err
	}
	if p.takeChar('.') {
		if out.Table, err = p.name(); err != nil {
			return err
		}
	}
	if err := p.need("for", "each", "row"); err != nil {
		return err
	}
	if p.is(0, "follows", "precedes") {
		if err := one(&out.Order, "follows", "precedes"); err != nil {
			return err
		}
		out.Other, err = p.name()
	}
	return err
}

func (p *parser) params(out *Program) error {
	if !p.takeChar('(') {
		return p.near()
	}
	from := p.peek(0).from
	for p.peek(0).kind != ')' {
		a := Param{}
		if out.Kind == Procedure {
			switch {
			case p.take("in"):
			case p.take("out"):
				a.Mode = Out
			case p.take("inout"):
				a.Mode = InOut
			}
		}
		var err error
		if a.Name, err = p.name(); err != nil {
			return err
		}
		if a.Type = p.until(func() bool { return p.peek(0).kind == ',' }); a.Type == "" {
			return p.near()
		}
		out.Params = append(out.Params, a)
		if !p.takeChar(',') && p.peek(0).kind != ')' {
			return p.near()
		}
	}
	out.ParamText = strings.TrimSpace(p.text[from:p.peek(0).from])
	p.at++
	return nil
}

// typeText takes a type.
func (p *parser) typeText() string {
	first := true
	return p.until(func() bool {
		if first {
			first = false
			return false
		}
		switch {
		case p.is(0, "unsigned", "signed", "zerofill", "precision", "varying", "charset", "ascii", "unicode", "binary", "byte"):
			return false
		case p.is(0, "character") && p.is(1, "set"):
			return false
		case p.is(0, "set") && p.is(-1, "character"), p.is(0, "collate"):
			return false
		case p.is(-1, "charset", "collate"), p.is(-1, "set") && p.is(-2, "character"):
			return false
		case p.peek(0).kind == '(':
			return false
		}
		return true
	})
}

// characteristics parses those of a procedure or function.
func (p *parser) characteristics(out *Program) error {
	for {
		switch {
		case p.take("comment"):
			t := p.peek(0)
			if t.kind != '\'' {
				return p.near()
			}
			out.Comment = unquote(p.textOf(t))
			p.at++
		case p.take("language", "sql"):
		case p.take("not", "deterministic"):
			out.Deterministic = false
		case p.take("deterministic"):
			out.Deterministic = true
		case p.take("contains", "sql"):
			out.Access = "CONTAINS SQL"
		case p.take("no", "sql"):
			out.Access = "NO SQL"
		case p.take("reads", "sql", "data"):
			out.Access = "READS SQL DATA"
		case p.take("modifies", "sql", "data"):
			out.Access = "MODIFIES SQL DATA"
		case p.take("sql", "security", "definer"):
			out.Invoker = false
		case p.take("sql", "security", "invoker"):
			out.Invoker = true
		default:
			return nil
		}
	}
}

// unquote is the value of a quoted text.
func unquote(s string) string {
	if len(s) < 2 {
		return s
	}
	quote := s[:1]
	s = strings.ReplaceAll(s[1:len(s)-1], quote+quote, quote)
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
				continue
			case 't':
				b.WriteByte('\t')
				continue
			case 'r':
				b.WriteByte('\r')
				continue
			case '0':
				b.WriteByte(0)
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// returns reports whether a statement contains RETURN.
func returns(s Statement) bool {
	in := func(lists ...[]Statement) bool {
		for _, l := range lists {
			for _, s := range l {
				if returns(s) {
					return true
				}
			}
		}
		return false
	}
	switch s := s.(type) {
	case *Return:
		return true
	case *Block:
		for _, h := range s.Handlers {
			if returns(h.Body) {
				return true
			}
		}
		return in(s.Body)
	case *If:
		for _, b := range s.Branches {
			if in(b.Body) {
				return true
			}
		}
		return in(s.Else)
	case *Case:
		for _, b := range s.Branches {
			if in(b.Body) {
				return true
			}
		}
		return in(s.Else)
	case *Loop:
		return in(s.Body)
	}
	return false
}

// variable reports whether there is a variable of a name.
func (p *parser) variable(name string) bool {
	for _, s := range p.scopes {
		if s.variables[strings.ToLower(name)] {
			return true
		}
	}
	return false
}

func (p *parser) cursor() (string, error) {
	name, err := p.name()
	if err != nil {
		return "", err
	}
	for _, s := range p.scopes {
		if s.cursors[strings.ToLower(name)] {
			return name, nil
		}
	}
	return "", expr.Errorf(1324, "42000", "Undefined CURSOR: %s", name)
}

// conditionValue parses SQLSTATE 'x', an error code, or the name of a condition.
func (p *parser) conditionValue() (Value, error) {
	t := p.peek(0)
	switch {
	case p.take("sqlstate"):
		p.take("value")
		t = p.peek(0)
		state := unquote(p.textOf(t))
		if t.kind != '\'' {
			return Value{}, p.near()
		}
		if p.at++; len(state) != 5 || strings.HasPrefix(state, "00") {
			return Value{}, expr.Errorf(1407, "42000", "Bad SQLSTATE: '%s'", state)
		}
		return Value{Kind: SQLState, State: state}, nil
	case t.kind == 'w' && t.to > t.from && '0' <= p.text[t.from] && p.text[t.from] <= '9':
		n, err := strconv.Atoi(p.textOf(t))
		if err != nil {
			return Value{}, p.near()
		}
		p.at++
		return Value{Kind: ErrorCode, Code: n}, nil
	}
	name, err := p.name()
	if err != nil {
		return Value{}, err
	}
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if v, ok := p.scopes[i].conditions[strings.ToLower(name)]; ok {
			return v, nil
		}
	}
	return Value{}, expr.Errorf(1319, "42000", "Undefined CONDITION: %s", name)
}

// Alter changes the characteristics of a program as ALTER PROCEDURE says.
func (prog *Program) Alter(characteristics string) error {
	p := &parser{scanner: scan(characteristics, false)}
	if err := p.characteristics(prog); err != nil {
		return err
	}
	if p.peek(0).kind != 0 {
		return p.near()
	}
	return nil
}

// RowRef is NEW.column or OLD.column in a trigger.
type RowRef struct {
	Old    bool
	Column string
	Set    bool // the trigger assigns to it
}

// RowRefs are the columns of NEW and OLD that a trigger names.
func (prog *Program) RowRefs() (out []RowRef) {
	p := &parser{scanner: scan(prog.BodyText, false)}
	for ; p.peek(0).kind != 0; p.at++ {
		if !p.is(0, "new", "old") || p.peek(1).kind != '.' || p.peek(-1).kind == '.' && p.at > 0 {
			continue
		}
		r := RowRef{Old: p.is(0, "old"), Set: p.at > 0 && p.is(-1, "set")}
		p.at += 2
		if name, err := p.name(); err == nil {
			r.Column = name
			out = append(out, r)
		}
		p.at--
	}
	return out
}
