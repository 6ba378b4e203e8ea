package exec

import "github.com/longitude-db/longitude/internal/sql/rel"

// values gives rows of expressions.
type values struct {
	x  *Execution
	n  *rel.Values
	at int
}

func (v *values) open() error {
	v.at = 0
	return nil
}

func (v *values) next() (bool, error) {
	if v.at >= len(v.n.Rows) {
		return false, nil
	}
	if err := v.x.tick(); err != nil {
		return false, err
	}
	row := v.n.Rows[v.at]
	v.at++
	return true, v.x.fill(v.n.Cols, row)
}

func (v *values) close() error { return nil }

// filter passes on the rows for which all conditions are true.
type filter struct {
	x     *Execution
	n     *rel.Filter
	child iterator
}

func (f *filter) open() error { return f.child.open() }

func (f *filter) next() (bool, error) {
	for {
		if ok, err := f.child.next(); err != nil || !ok {
			return false, err
		}
		if ok, err := f.x.holds(f.n.Conds); err != nil || ok {
			return ok, err
		}
		if err := f.x.tick(); err != nil {
			return false, err
		}
	}
}

func (f *filter) close() error { return f.child.close() }

// project adds columns that are calculated, in order: one may read those before it.
type project struct {
	x     *Execution
	n     *rel.Project
	child iterator
}

func (p *project) open() error { return p.child.open() }

func (p *project) next() (bool, error) {
	if ok, err := p.child.next(); err != nil || !ok {
		return false, err
	}
	return true, p.x.fill(p.n.Cols, p.n.Exprs)
}

func (p *project) close() error { return p.child.close() }

// one gives the first row.
type one struct {
	child iterator
	done  bool
}

func (o *one) open() error {
	o.done = false
	return o.child.open()
}

func (o *one) next() (bool, error) {
	if o.done {
		return false, nil
	}
	o.done = true
	return o.child.next()
}

func (o *one) close() error { return o.child.close() }
