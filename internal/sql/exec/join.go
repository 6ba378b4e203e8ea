package exec

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

func newJoin(x *Execution, n *rel.Join) (iterator, error) {
	some := x.some
	left, err := x.build(n.Left)
	if err != nil {
		return nil, err
	}
	var look *lookup
	whole := !n.Lateral && (n.Hash != nil || n.Keep) // the right side is read to its end
	if !whole && !x.opts.NoAhead {
		look = x.lookupOf(n)
	}
	if look != nil {
		x.lookups[look.n] = look
		left = x.checked(n.Left, &leftAhead{x: x, child: left, cols: n.Left.Columns(), look: look, some: some, most: mostAhead,
			rows: newRowStore(&x.mem, len(n.Left.Columns()))})
	}
	x.some = !whole && (some || n.Kind == rel.Semi || n.Kind == rel.Anti)
	right, err := x.build(n.Right)
	x.some = some
	if err != nil {
		return nil, err
	}
	if n.Hash != nil && !n.Lateral {
		if g, ok := n.Right.(*rel.Group); ok && x.groups[g] != nil {
			if s, ok := n.Left.(*rel.Scan); ok {
				x.groups[g].beside = newScan(x, s) // for what it asks of the source
			}
		}
		return newHashJoin(x, n, left, right)
	}
	j := &nestedJoin{x: x, n: n, left: left, right: right, nulls: n.Right.Columns()}
	if n.Keep && !n.Lateral {
		j.kept = &kept{storeScan: storeScan{x: x, cols: n.Right.Columns()}, child: right, fixed: fixed(n.Right)}
		j.right = j.kept
	}
	for _, k := range n.Hash { // a lateral join with equalities apart: they are conditions like others
		m, err := newMatch(k)
		if err != nil {
			return nil, err
		}
		j.equal = append(j.equal, m)
	}
	return j, nil
}

// match is an equality of a join.
type match struct {
	*expr.Match
	nullSafe bool
}

func newMatch(k rel.HashKey) (match, error) {
	m, err := expr.NewMatch(k.Left, k.Right)
	return match{m, k.NullSafe}, err
}

// truth is a condition's: false, unknown or true, in the order of AND.
type truth uint8

const (
	isFalse truth = iota
	isUnknown
	isTrue
)

func (x *Execution) truthOf(v expr.Value) (truth, error) {
	is, known, err := expr.Truth(x.env, v)
	switch {
	case err != nil || known && !is:
		return isFalse, err
	case !known:
		return isUnknown, nil
	}
	return isTrue, nil
}

// and is the truth of equalities and conditions together for the row in the registers. Unless unknowns matters, what is unknown is
// false.
func (x *Execution) and(equal []match, conds []expr.Node, unknowns bool) (truth, error) {
	out := isTrue
	for _, m := range equal {
		t := isFalse
		if m.nullSafe {
			is, err := m.NullSafeEqual(x.env)
			if err != nil {
				return isFalse, err
			}
			if is {
				t = isTrue
			}
		} else {
			v, err := m.Equal(x.env)
			if err != nil {
				return isFalse, err
			}
			if t, err = x.truthOf(v); err != nil {
				return isFalse, err
			}
		}
		if out = min(out, t); out == isFalse || out == isUnknown && !unknowns {
			return isFalse, nil
		}
	}
	for _, c := range conds {
		v, err := c.Eval(x.env)
		if err != nil {
			return isFalse, err
		}
		t, err := x.truthOf(v)
		if err != nil {
			return isFalse, err
		}
		if out = min(out, t); out == isFalse || out == isUnknown && !unknowns {
			return isFalse, nil
		}
	}
	return out, nil
}

// nestedJoin opens its right side for each row of the left one.
type nestedJoin struct {
	x           *Execution
	n           *rel.Join
	left, right iterator
	equal       []match
	kept        *kept // right, if it is kept
	nulls       []rel.ColID

	within  bool // right is open for the row of left
	matched bool // it had a partner
}

func (j *nestedJoin) open() error {
	j.within = false
	if j.kept != nil {
		j.kept.forget()
	}
	return j.left.open()
}

func (j *nestedJoin) next() (bool, error) {
	for {
		if !j.within {
			if ok, err := j.left.next(); err != nil || !ok {
				return false, err
			}
			if err := j.right.open(); err != nil {
				return false, err
			}
			j.within, j.matched = true, false
		}
		if err := j.x.tick(); err != nil {
			return false, err
		}
		ok, err := j.right.next()
		if err != nil {
			return false, err
		}
		if !ok {
			j.within = false
			if j.matched {
				continue
			}
			switch j.n.Kind {
			case rel.Left:
				j.x.setNull(j.nulls)
				return true, nil
			case rel.Anti:
				return true, nil
			}
			continue
		}
		aware := j.n.Kind == rel.Anti && j.n.NullAware
		t, err := j.x.and(j.equal, j.n.On, aware)
		if err != nil {
			return false, err
		}
		if t != isTrue && !(aware && t == isUnknown) {
			continue
		}
		j.matched = true
		switch j.n.Kind {
		case rel.Semi:
			j.within = false
			return true, nil
		case rel.Anti:
			j.within = false
		default:
			return true, nil
		}
	}
}

func (j *nestedJoin) close() error { return firstError(j.left.close(), j.right.close()) }

// kept gives the rows of an iterator that do not change, and reads them once. If there is no room for them it reads them each time.
type kept struct {
	storeScan
	child iterator
	fixed bool // they never change in a statement
	big   bool // they do not fit
	full  bool // rows holds them
}

func (k *kept) open() error {
	k.at = 0
	if k.full {
		return nil
	}
	if k.big {
		return k.child.open()
	}
	k.rows = newRowStore(&k.x.mem, len(k.cols))
	// All are read at once: rows given back would overwrite the registers of a child that has not come to its end (E2).
	err := k.x.gather(k.child, k.rows, k.cols)
	switch {
	case isOutOfMemory(err):
		k.rows.reset()
		k.big = true
		return k.child.open()
	case err != nil:
		return err
	}
	k.full = true
	return nil
}

func (k *kept) next() (bool, error) {
	if k.big {
		return k.child.next()
	}
	return k.storeScan.next()
}

// forget drops rows that may have changed.
func (k *kept) forget() {
	if k.full && !k.fixed {
		k.rows.reset()
		k.full = false
	}
}

func (k *kept) close() error {
	if k.rows != nil && !k.fixed {
		k.rows.reset()
		k.full = false
	}
	return k.child.close()
}
