package sqldiff

import (
	"slices"
	"strings"
)

// shrink makes the tables of a finding smaller: unmentioned columns and keys go, and rows without which the answers still differ. It works
// in a database of its own.
func (r *runner) shrink(f *Finding) {
	if f.replay == nil || len(f.replay.schema.Tables) == 0 {
		return
	}
	all := f.Reduced
	for _, h := range f.replay.history {
		all += "\n" + h.String()
	}
	r.family = f.replay.family
	whole := f.replay.schema
	less := &Schema{After: whole.After}
	for _, t := range whole.Tables {
		if strings.Contains(all, t.Name) || len(whole.After) > 0 {
			less.Tables = append(less.Tables, withoutColumns(t, all))
		}
	}
	d := r.replay(f, less)
	if !f.Diff.same(d) {
		if less = whole; !f.Diff.same(r.replay(f, less)) {
			return // it does not happen again, or only after what was executed before it
		}
	}
	if !r.family.fresh {
		for _, t := range less.Tables {
			for i := len(t.Rows) - 1; i >= 0; i-- {
				rows := t.Rows
				t.Rows = append(slices.Clone(rows[:i]), rows[i+1:]...)
				r.reset()
				if d := r.execute(f); f.Diff.same(d) {
					f.Diff = d
				} else {
					t.Rows = rows
				}
			}
		}
	}
	f.Script = script(less, f.replay.history, f.Reduced, all)
}

// withoutColumns is the table without columns that the statements do not name.
func withoutColumns(t *Table, statements string) *Table {
	out := *t
	out.Cols, out.Rows = nil, make([][]string, len(t.Rows))
	at := 0
	for i, c := range t.Cols {
		keep := i == 0 || strings.Contains(statements, c.Name)
		if keep {
			out.Cols = append(out.Cols, c)
		}
		if c.fixed() {
			continue
		}
		for j, row := range t.Rows {
			if keep {
				out.Rows[j] = append(out.Rows[j], row[at])
			}
		}
		at++
	}
	out.Keys = nil
	for _, k := range t.Keys {
		whole := true
		for _, c := range t.Cols {
			whole = whole && (!strings.Contains(k, c.Name) || slices.Contains(out.Cols, c))
		}
		if whole {
			out.Keys = append(out.Keys, k)
		}
	}
	return &out
}

// replay makes the tables anew and executes the case.
func (r *runner) replay(f *Finding, s *Schema) *Diff {
	if r.use("d_shrink") != nil || r.create(s, func(string, *Diff) {}) != nil {
		return nil
	}
	return r.execute(f)
}

// execute executes the statements of a case on the tables as they are.
func (r *runner) execute(f *Finding) *Diff {
	for _, h := range f.replay.history {
		r.both(h.String())
	}
	return r.try(f.replay.statement)
}

// script is a case as statements.
func script(s *Schema, history []*Stmt, last, all string) (out []string) {
	for _, t := range s.Tables {
		if strings.Contains(all, t.Name) || len(s.After) > 0 {
			out = append(out, t.Create())
			if fill := t.Fill(); fill != "" {
				out = append(out, fill)
			}
		}
	}
	out = append(out, s.After...)
	for _, h := range history {
		out = append(out, h.String())
	}
	return append(out, last)
}
