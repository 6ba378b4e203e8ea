package engine

import (
	"errors"
	"strings"

	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/routine"
)

// exec executes a statement of a program. Conditions for which there is a handler are dealt with where the statement ends.
func (p *invocation) exec(s routine.Statement) error {
	if err := interrupted(p.sc); err != nil {
		return &unhandled{err}
	}
	switch s := s.(type) {
	case *routine.Block:
		return p.block(s)
	case *routine.If:
		return p.branches(s)
	case *routine.Case:
		return p.cases(s)
	case *routine.Loop:
		return p.loop(s)
	case *routine.Leave:
		return &jump{label: s.Label}
	case *routine.Iterate:
		return &jump{label: s.Label, iterate: true}
	case *routine.Signal:
		if err := p.signal(s); err != nil {
			return p.raise(err)
		}
		return nil
	case *routine.Return:
		v, _, err := p.value(s.Value)
		out := &local{name: p.text, t: p.prog.returns}
		if err == nil {
			err = p.assign(out, v)
		}
		if err != nil {
			return p.raise(err)
		}
		p.result, p.returned = out.v, true
		return &jump{returns: true}
	}
	return p.raise(p.simple(s))
}

// simple executes a statement that contains no others.
func (p *invocation) simple(s routine.Statement) error {
	switch s := s.(type) {
	case *routine.Open:
		return p.open(s)
	case *routine.Close:
		c := p.cursor(s.Cursor)
		if !c.open {
			return mysql.NewSQLError(1326, "24000", "Cursor is not open")
		}
		c.open, c.rows = false, nil
		return nil
	case *routine.Fetch:
		return p.fetch(s)
	case *routine.Set:
		return p.set(s)
	case *routine.Diagnostics:
		return p.diagnostics(s)
	case *routine.SQL:
		if err := p.statement(s.Text); err != nil {
			return err
		}
		return p.warned()
	}
	return mysql.NewSQLError(1105, "HY000", "a stored program cannot execute a %T", s)
}

// list executes statements one after the other.
func (p *invocation) list(ss []routine.Statement) error {
	for _, s := range ss {
		if err := p.exec(s); err != nil {
			return err
		}
	}
	return nil
}

func (p *invocation) block(b *routine.Block) error {
	f := &blockFrame{cursors: map[string]*cursor{}}
	defer p.push(f)()
	for _, v := range b.Variables {
		to, err := p.declare(f, v.Name, v.Type)
		if err == nil && v.Default != "" {
			delete(f.vars, strings.ToLower(v.Name)) // the default does not see it
			var value expr.Value
			if value, _, err = p.value(v.Default); err == nil {
				err = p.assign(to, value)
			}
			f.vars[strings.ToLower(v.Name)] = to
		}
		if err != nil {
			if err = p.raise(err); err != nil {
				return err
			}
		}
	}
	for _, c := range b.Cursors {
		f.cursors[strings.ToLower(c.Name)] = &cursor{query: c.Query}
	}
	f.block = b
	err := p.list(b.Body)
	var j *jump
	if errors.As(err, &j) && (j.frame == f || !j.iterate && !j.returns && j.frame == nil && b.Label != "" && strings.EqualFold(j.label, b.Label)) {
		return nil
	}
	return err
}

// isTrue is the value of a condition. skip: a handler has dealt with an error in it, and the statement that it is of is over.
func (p *invocation) isTrue(text string) (yes, skip bool, err error) {
	v, _, err := p.value(text)
	if err == nil && !v.IsNull() {
		env := p.environment()
		yes, _, err = expr.Truth(env, v)
	}
	if err != nil {
		return false, true, p.raise(err)
	}
	return yes, false, nil
}

var errNoCase = mysql.NewSQLError(1339, "20000", "Case not found for CASE statement")

func (p *invocation) branches(s *routine.If) error {
	for _, b := range s.Branches {
		yes, skip, err := p.isTrue(b.Cond)
		if err != nil || skip {
			return err
		}
		if yes {
			return p.list(b.Body)
		}
	}
	if s.Case && !s.HasElse {
		return p.raise(errNoCase)
	}
	return p.list(s.Else)
}

func (p *invocation) cases(s *routine.Case) error {
	for _, b := range s.Branches {
		yes, skip, err := p.isTrue("(" + s.Operand + ") = (" + b.Cond + ")")
		if err != nil || skip {
			return err
		}
		if yes {
			return p.list(b.Body)
		}
	}
	if !s.HasElse {
		return p.raise(errNoCase)
	}
	return p.list(s.Else)
}

func (p *invocation) loop(l *routine.Loop) error {
	for {
		if err := interrupted(p.sc); err != nil {
			return &unhandled{err}
		}
		if l.While != "" {
			yes, skip, err := p.isTrue(l.While)
			if err != nil || skip || !yes {
				return err
			}
		}
		err := p.list(l.Body)
		var j *jump
		if errors.As(err, &j) && j.frame == nil && !j.returns && l.Label != "" && strings.EqualFold(j.label, l.Label) {
			if !j.iterate {
				return nil
			}
			err = nil
			if l.Until != "" {
				continue // REPEAT begins again without asking
			}
		}
		if err != nil {
			return err
		}
		if l.Until != "" {
			yes, skip, err := p.isTrue(l.Until)
			if err != nil || skip || yes {
				return err
			}
		}
	}
}

func (p *invocation) set(s *routine.Set) error {
	for _, a := range s.Assignments {
		if a.Target == "" {
			if err := p.statement(a.Statement); err != nil {
				return err
			}
			continue
		}
		v, t, err := p.value(a.Value)
		if err != nil {
			return err
		}
		if err := p.give(a.Target, v, t); err != nil {
			return err
		}
	}
	p.x.s.GetLastQueryInfo().RowCount.Store(0)
	return nil
}

// open executes the query of a cursor. All of its rows are read: what the program changes later is not in them.
func (p *invocation) open(s *routine.Open) error {
	c := p.cursor(s.Cursor)
	if c.open {
		return mysql.NewSQLError(1325, "24000", "Cursor is already open")
	}
	var rows *keptRows
	err := p.query(c.query, func(q *rel.Query) rowReceiver {
		rows = &keptRows{most: p.x.cursorMemory(p.sc)}
		for _, o := range q.Out {
			rows.types = append(rows.types, q.Meta.Columns[o.Col].Type)
		}
		return rows
	})
	if err != nil {
		return err
	}
	c.open, c.rows, c.types = true, rows.rows, rows.types
	return nil
}

func (p *invocation) fetch(s *routine.Fetch) error {
	c := p.cursor(s.Cursor)
	switch {
	case !c.open:
		return mysql.NewSQLError(1326, "24000", "Cursor is not open")
	case len(s.Into) != len(c.types):
		return mysql.NewSQLError(1328, "HY000", "Incorrect number of FETCH variables")
	case len(c.rows) == 0:
		return mysql.NewSQLError(1329, "02000", "No data - zero rows fetched, selected, or processed")
	}
	row := c.rows[0]
	c.rows = c.rows[1:]
	for i, name := range s.Into {
		if err := p.give(name, row[i], c.types[i]); err != nil {
			return err
		}
	}
	return nil
}
