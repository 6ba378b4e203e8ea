package routine

import (
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// statement parses a statement, without its semicolon.
func (p *parser) statement() (Statement, error) {
	name := ""
	if t := p.peek(0); (t.kind == 'w' || t.kind == '`') && p.peek(1).kind == ':' && p.peek(2).kind == 'w' {
		name, _ = p.name()
		p.at++
		for _, l := range p.labels {
			if strings.EqualFold(l.name, name) {
				return nil, expr.Errorf(1309, "42000", "Redefining label %s", name)
			}
		}
		if !p.is(0, "begin", "loop", "while", "repeat") {
			return nil, p.near()
		}
	}
	switch {
	case p.take("begin"):
		return p.block(name)
	case p.take("loop"):
		out := &Loop{Label: name}
		return out, p.loop(out, "loop")
	case p.take("while"):
		out := &Loop{Label: name, While: p.untilWord("do")}
		if err := p.need("do"); err != nil {
			return nil, err
		}
		return out, p.loop(out, "while")
	case p.take("repeat"):
		out := &Loop{Label: name}
		return out, p.loop(out, "repeat")
	case p.take("if"):
		return p.ifStatement()
	case p.take("case"):
		return p.caseStatement()
	case p.take("leave"):
		name, err := p.label(false)
		return &Leave{Label: name}, err
	case p.take("iterate"):
		name, err := p.label(true)
		return &Iterate{Label: name}, err
	case p.take("return"):
		if p.kind != Function {
			return nil, expr.Errorf(1313, "42000", "RETURN is only allowed in a FUNCTION")
		}
		return &Return{Value: p.untilEnd()}, nil
	case p.take("open"):
		name, err := p.cursor()
		return &Open{Cursor: name}, err
	case p.take("close"):
		name, err := p.cursor()
		return &Close{Cursor: name}, err
	case p.take("fetch"):
		return p.fetch()
	case p.is(0, "set") && !p.is(1, "password", "role", "default"):
		p.at++
		return p.set()
	case p.take("signal"):
		return p.signal(false)
	case p.take("resignal"):
		return p.signal(true)
	case p.is(0, "get") && p.is(1, "diagnostics", "current", "stacked"):
		p.at++
		return p.diagnostics()
	case p.is(0, "declare", "end"):
		return nil, p.near()
	}
	text := p.untilEnd()
	if text == "" {
		return nil, p.near()
	}
	return &SQL{Text: text}, p.allowed(text)
}

// allowed reports whether a program of this kind may have a statement (1314, 1415, 1422).
func (p *parser) allowed(text string) error {
	s := scan(text, p.ansi)
	for _, w := range []string{"use", "lock", "unlock", "load"} {
		if s.is(0, w) {
			return expr.Errorf(1314, "0A000", "%s is not allowed in stored procedures", strings.ToUpper(w))
		}
	}
	if p.kind == Procedure {
		return nil
	}
	where := "function or trigger"
	switch {
	case s.is(0, "create", "drop") && s.is(1, "temporary") && s.is(2, "table"):
	case s.is(0, "commit", "rollback", "create", "alter", "drop", "truncate", "rename", "grant", "revoke", "analyze", "optimize") || s.is(0, "start") || s.is(0, "begin"):
		return expr.Errorf(1422, "HY000", "Explicit or implicit commit is not allowed in stored %s.", where)
	case s.is(0, "prepare", "execute", "deallocate"):
		return expr.Errorf(1336, "0A000", "Dynamic SQL is not allowed in stored %s", where)
	case s.is(0, "show", "explain", "describe", "desc", "check", "checksum", "table", "values"):
		return expr.Errorf(1415, "0A000", "Not allowed to return a result set from a %s", p.kindName())
	case s.is(0, "select", "with") || s.peek(0).kind == '(':
		into := false
		for i := 0; s.peek(i).kind != 0; i++ {
			into = into || s.is(i, "into")
		}
		if !into {
			return expr.Errorf(1415, "0A000", "Not allowed to return a result set from a %s", p.kindName())
		}
	}
	return nil
}

func (p *parser) kindName() string {
	return [...]string{"procedure", "function", "trigger"}[p.kind]
}

// list parses statements, each with its semicolon, up to one of these words.
func (p *parser) list(ends ...string) (out []Statement, err error) {
	for !p.is(0, ends...) {
		s, err := p.statement()
		if err != nil {
			return nil, err
		}
		if !p.takeChar(';') {
			return nil, p.near()
		}
		out = append(out, s)
	}
	return out, nil
}

// endLabel takes the label behind END.
func (p *parser) endLabel(name string) error {
	if t := p.peek(0); t.kind != 'w' && t.kind != '`' {
		return nil
	}
	again, err := p.name()
	if err == nil && !strings.EqualFold(again, name) {
		return expr.Errorf(1310, "42000", "End-label %s without match", again)
	}
	return err
}

func (p *parser) loop(l *Loop, word string) (err error) {
	p.labels = append(p.labels, label{l.Label, true})
	defer func() { p.labels = p.labels[:len(p.labels)-1] }()
	end := "end"
	if word == "repeat" {
		end = "until"
	}
	if l.Body, err = p.list(end); err != nil {
		return err
	}
	if word == "repeat" {
		p.at++
		l.Until = p.untilWord("end")
	}
	if err := p.need("end", word); err != nil {
		return err
	}
	return p.endLabel(l.Label)
}

func (p *parser) label(loop bool) (string, error) {
	name, err := p.name()
	if err != nil {
		return "", err
	}
	for _, l := range p.labels {
		if strings.EqualFold(l.name, name) && name != "" && (l.loop || !loop) {
			return name, nil
		}
	}
	verb := "LEAVE"
	if loop {
		verb = "ITERATE"
	}
	return "", expr.Errorf(1308, "42000", "%s with no matching label: %s", verb, name)
}

func (p *parser) ifStatement() (Statement, error) {
	out := &If{}
	for {
		b := Branch{Cond: p.untilWord("then")}
		if err := p.need("then"); err != nil {
			return nil, err
		}
		var err error
		if b.Body, err = p.list("elseif", "else", "end"); err != nil {
			return nil, err
		}
		out.Branches = append(out.Branches, b)
		if p.take("elseif") {
			continue
		}
		if p.take("else") {
			if out.Else, err = p.list("end"); err != nil {
				return nil, err
			}
		}
		return out, p.need("end", "if")
	}
}

func (p *parser) caseStatement() (Statement, error) {
	operand := p.untilWord("when")
	var branches []Branch
	for p.take("when") {
		b := Branch{Cond: p.untilWord("then")}
		if err := p.need("then"); err != nil {
			return nil, err
		}
		var err error
		if b.Body, err = p.list("when", "else", "end"); err != nil {
			return nil, err
		}
		branches = append(branches, b)
	}
	var other []Statement
	hasElse := p.take("else")
	if hasElse {
		var err error
		if other, err = p.list("end"); err != nil {
			return nil, err
		}
	}
	if err := p.need("end", "case"); err != nil {
		return nil, err
	}
	if operand == "" {
		return &If{Branches: branches, Else: other, Case: true, HasElse: hasElse}, nil
	}
	return &Case{Operand: operand, Branches: branches, Else: other, HasElse: hasElse}, nil
}

func (p *parser) fetch() (Statement, error) {
	if p.take("next", "from") || p.take("from") {
	}
	name, err := p.cursor()
	if err != nil {
		return nil, err
	}
	out := &Fetch{Cursor: name}
	if err := p.need("into"); err != nil {
		return nil, err
	}
	for {
		to, err := p.target()
		if err != nil {
			return nil, err
		}
		out.Into = append(out.Into, to)
		if !p.takeChar(',') {
			return out, nil
		}
	}
}

// target parses a variable that gets a value: a local one, or @name.
func (p *parser) target() (string, error) {
	if p.takeChar('@') {
		name, err := p.name()
		return "@" + name, err
	}
	name, err := p.name()
	if err == nil && !p.variable(name) {
		err = expr.Errorf(1327, "42000", "Undeclared variable: %s", name)
	}
	return name, err
}

// set parses SET.
func (p *parser) set() (Statement, error) {
	out := &Set{}
	if p.is(0, "names", "transaction", "character", "charset", "session", "global", "local", "persist") {
		return &SQL{Text: "SET " + p.untilEnd()}, nil
	}
	for {
		from := p.peek(0).from
		a := Assignment{}
		switch t := p.peek(0); {
		case t.kind == '@' && p.peek(1).kind != '@':
			p.at++
			name, err := p.name()
			if err != nil {
				if q := p.peek(0); q.kind != '\'' {
					return nil, err
				}
				name = unquote(p.textOf(p.peek(0)))
				p.at++
			}
			for p.takeChar('.') {
				more, err := p.name()
				if err != nil {
					return nil, err
				}
				name += "." + more
			}
			a.Target = "@" + name
		case t.kind == 'w' || t.kind == '`':
			name, err := p.name()
			if err != nil {
				return nil, err
			}
			switch {
			case p.kind == Trigger && strings.EqualFold(name, "new") && p.takeChar('.'):
				column, err := p.name()
				if err != nil {
					return nil, err
				}
				a.Target = "NEW." + column
			case p.kind == Trigger && strings.EqualFold(name, "old") && p.peek(0).kind == '.':
				return nil, expr.Errorf(1362, "HY000", "Updating of OLD row is not allowed in trigger")
			case p.variable(name):
				a.Target = name
			}
		}
		if a.Target == "" {
			for k := p.peek(0).kind; k != '=' && k != ':' && k != 0 && k != ';'; k = p.peek(0).kind {
				p.at++
			}
		}
		p.takeChar(':')
		if !p.takeChar('=') {
			return nil, p.near()
		}
		a.Value = p.until(func() bool { return p.peek(0).kind == ',' || p.peek(0).kind == ';' })
		if a.Value == "" {
			return nil, p.near()
		}
		if a.Target == "" {
			a.Statement = "SET " + strings.TrimSpace(p.text[from:p.tokens[p.at-1].to])
		}
		out.Assignments = append(out.Assignments, a)
		if !p.takeChar(',') {
			return out, nil
		}
	}
}

func (p *parser) signal(again bool) (Statement, error) {
	out := &Signal{Again: again}
	if !again || !p.is(0, "set") && p.peek(0).kind != ';' && p.peek(0).kind != 0 {
		if k := p.peek(0).kind; k == ';' || k == 0 {
			return nil, p.near()
		}
		v, err := p.conditionValue()
		if err != nil {
			return nil, err
		}
		if v.Kind == ErrorCode {
			return nil, expr.Errorf(1646, "HY000", "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE")
		}
		out.Value = &v
	}
	if !p.take("set") {
		return out, nil
	}
	for {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		if !p.takeChar('=') {
			return nil, p.near()
		}
		out.Items = append(out.Items, Item{Name: strings.ToUpper(name), Value: p.until(func() bool { return p.peek(0).kind == ',' || p.peek(0).kind == ';' })})
		if !p.takeChar(',') {
			return out, nil
		}
	}
}

func (p *parser) diagnostics() (Statement, error) {
	out := &Diagnostics{Stacked: p.take("stacked")}
	p.take("current")
	if err := p.need("diagnostics"); err != nil {
		return nil, err
	}
	if p.take("condition") {
		if p.takeChar('@') {
			name, err := p.name()
			if err != nil {
				return nil, err
			}
			out.Condition = "@" + name
		} else {
			t := p.peek(0)
			p.at++
			out.Condition = p.textOf(t)
		}
	}
	for {
		to, err := p.target()
		if err != nil {
			return nil, err
		}
		if !p.takeChar('=') {
			return nil, p.near()
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, Item{Name: to, Value: strings.ToUpper(name)})
		if !p.takeChar(',') {
			return out, nil
		}
	}
}
