package exec

import (
	"math"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// limit passes on some of the rows.
type limit struct {
	x     *Execution
	n     *rel.Limit
	child iterator

	skip, left uint64
	began      bool   // child is open
	found      uint64 // rows of the child, those of the offset included
}

func newLimit(x *Execution, n *rel.Limit, child iterator) *limit {
	l := &limit{x: x, n: n, child: child}
	if n.FoundRows || n == x.top {
		x.counted = l
	}
	return l
}

func (l *limit) open() (err error) {
	l.skip, l.left, l.began, l.found = 0, math.MaxUint64, false, 0
	if l.n.Offset != nil {
		if l.skip, err = l.x.rowCount(l.n.Offset); err != nil {
			return err
		}
	}
	if l.n.Count != nil {
		if l.left, err = l.x.rowCount(l.n.Count); err != nil {
			return err
		}
	}
	if l.left == 0 && !l.n.FoundRows {
		return nil // nothing is read
	}
	l.began = true
	return l.child.open()
}

func (l *limit) next() (bool, error) {
	if !l.began {
		return false, nil
	}
	for {
		if l.left == 0 && !l.n.FoundRows {
			return false, nil
		}
		if ok, err := l.child.next(); err != nil || !ok {
			l.began = false
			return false, err
		}
		l.found++
		switch {
		case l.skip > 0:
			l.skip--
		case l.left > 0:
			l.left--
			return true, nil
		}
		if err := l.x.tick(); err != nil {
			return false, err
		}
	}
}

func (l *limit) close() error { return l.child.close() }

// rowCount is the value of an expression of LIMIT or OFFSET.
func (x *Execution) rowCount(n expr.Node) (uint64, error) {
	v, err := n.Eval(x.env)
	if err != nil {
		return 0, err
	}
	if !v.IsNull() {
		c, unsigned, err := expr.ToInt(x.env, v)
		if err != nil {
			return 0, err
		}
		if unsigned || c >= 0 {
			return uint64(c), nil
		}
	}
	return 0, expr.Errorf(1210, "HY000", "Incorrect arguments to LIMIT")
}

// mostRows is how many rows an operator needs at most for LIMIT n; nil: no limit, which is all that fit into 64 bits.
func (x *Execution) mostRows(n expr.Node) (uint64, error) {
	if n == nil {
		return math.MaxUint64, nil
	}
	return x.rowCount(n)
}
