package routine

import (
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// block parses BEGIN ... END behind its BEGIN.
func (p *parser) block(name string) (Statement, error) {
	out := &Block{Label: name}
	s := &scope{variables: map[string]bool{}, cursors: map[string]bool{}, conditions: map[string]Value{}}
	p.scopes, p.labels = append(p.scopes, s), append(p.labels, label{name, false})
	defer func() { p.scopes, p.labels = p.scopes[:len(p.scopes)-1], p.labels[:len(p.labels)-1] }()
	for p.take("declare") {
		if err := p.declare(out, s); err != nil {
			return nil, err
		}
		if !p.takeChar(';') {
			return nil, p.near()
		}
	}
	var err error
	if out.Body, err = p.list("end"); err != nil {
		return nil, err
	}
	if err := p.need("end"); err != nil {
		return nil, err
	}
	return out, p.endLabel(name)
}

// declare parses one DECLARE behind the word. Variables and conditions come first, then cursors, then handlers (1337, 1338).
func (p *parser) declare(b *Block, s *scope) error {
	if p.is(0, "continue", "exit", "undo") && p.is(1, "handler") {
		return p.handler(b)
	}
	var names []string
	for {
		name, err := p.name()
		if err != nil {
			return err
		}
		names = append(names, name)
		if !p.takeChar(',') {
			break
		}
	}
	first := strings.ToLower(names[0])
	switch {
	case len(names) == 1 && p.take("cursor", "for"):
		if len(b.Handlers) > 0 {
			return expr.Errorf(1338, "42000", "Cursor declaration after handler declaration")
		}
		if s.cursors[first] {
			return expr.Errorf(1333, "42000", "Duplicate cursor: %s", names[0])
		}
		s.cursors[first] = true
		b.Cursors = append(b.Cursors, Cursor{Name: names[0], Query: p.untilEnd()})
		return nil
	case len(b.Cursors) > 0 || len(b.Handlers) > 0:
		return expr.Errorf(1337, "42000", "Variable or condition declaration after cursor or handler declaration")
	case len(names) == 1 && p.take("condition", "for"):
		v, err := p.conditionValue()
		if err != nil {
			return err
		}
		if _, ok := s.conditions[first]; ok {
			return expr.Errorf(1332, "42000", "Duplicate condition: %s", names[0])
		}
		s.conditions[first] = v
		return nil
	}
	typ := p.until(func() bool { return p.is(0, "default") || p.peek(0).kind == ';' })
	if typ == "" {
		return p.near()
	}
	value := ""
	if p.take("default") {
		if value = p.untilEnd(); value == "" {
			return p.near()
		}
	}
	for _, name := range names {
		if s.variables[strings.ToLower(name)] {
			return expr.Errorf(1331, "42000", "Duplicate variable: %s", name)
		}
		s.variables[strings.ToLower(name)] = true
		b.Variables = append(b.Variables, Variable{Name: name, Type: typ, Default: value})
	}
	return nil
}

func (p *parser) handler(b *Block) error {
	h := &Handler{Exit: p.is(0, "exit")}
	if p.is(0, "undo") {
		return p.near()
	}
	p.at += 2
	if err := p.need("for"); err != nil {
		return err
	}
	for {
		switch {
		case p.take("sqlwarning"):
			h.Values = append(h.Values, Value{Kind: SQLWarning})
		case p.take("sqlexception"):
			h.Values = append(h.Values, Value{Kind: SQLException})
		case p.take("not", "found"):
			h.Values = append(h.Values, Value{Kind: NotFound})
		default:
			v, err := p.conditionValue()
			if err != nil {
				return err
			}
			h.Values = append(h.Values, v)
		}
		if !p.takeChar(',') {
			break
		}
	}
	// A handler cannot leave or iterate what stands around its block.
	labels := p.labels
	p.labels = nil
	body, err := p.statement()
	p.labels = labels
	if err != nil {
		return err
	}
	h.Body = body
	b.Handlers = append(b.Handlers, h)
	return nil
}
