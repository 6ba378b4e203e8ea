package exec

import (
	"fmt"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// recursive executes a recursive common table expression: it gives the rows of the seed, then those of each step, which reads the rows
// of the step before.
type recursive struct {
	x          *Execution
	n          *rel.Recursive
	seed, step iterator

	keys  *rowKeys
	seen  *keyTable // nil: all rows count
	prior *rowStore // what the step reads
	fresh *rowStore // what it, or the seed, gives
	steps int       // how many steps have begun
	skip  uint64
	left  uint64
	inner iterator // seed or step; nil: there is nothing more
}

func newRecursive(x *Execution, n *rel.Recursive) (iterator, error) {
	r := &recursive{x: x, n: n}
	x.work[n] = r
	var err error
	if r.seed, err = x.build(n.Seed); err != nil {
		return nil, err
	}
	if r.step, err = x.build(n.Step); err != nil {
		return nil, err
	}
	if n.Distinct {
		r.seen = newKeyTable(&x.mem)
		if r.keys, err = x.newRowKeys(n.Cols); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *recursive) open() (err error) {
	r.drop()
	r.prior, r.fresh = newRowStore(&r.x.mem, len(r.n.Cols)), newRowStore(&r.x.mem, len(r.n.Cols))
	r.steps, r.skip = 0, 0
	if r.left, err = r.x.mostRows(r.n.Limit); err != nil {
		return err
	}
	if r.n.Offset != nil {
		if r.skip, err = r.x.rowCount(r.n.Offset); err != nil {
			return err
		}
	}
	if r.left == 0 {
		r.inner = nil
		return nil
	}
	r.inner = r.seed
	return r.storing(r.seed.open)
}

// storing executes a part of the seed or of the step, which MySQL stores in a table: in strict mode what goes wrong is an error.
func (r *recursive) storing(part func() error) error {
	env := r.x.env
	change := env.Change
	env.Change = true
	err := part()
	if err == nil {
		err = env.Failed()
	}
	env.Change = change
	return err
}

func (r *recursive) next() (bool, error) {
	for r.inner != nil && r.left > 0 {
		var ok bool
		err := r.storing(func() (err error) {
			ok, err = r.inner.next()
			return err
		})
		if err != nil {
			return false, err
		}
		if err := r.x.tick(); err != nil {
			return false, err
		}
		if !ok {
			if err := r.advance(); err != nil {
				return false, err
			}
			continue
		}
		ok, err = r.keep()
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		if r.skip > 0 {
			r.skip--
			continue
		}
		r.left--
		return true, nil
	}
	return false, nil
}

// keep copies the row that the seed or the step gave, for the next step; false: the row was there before.
func (r *recursive) keep() (bool, error) {
	from := r.n.SeedCols
	if r.inner == r.step {
		from = r.n.StepCols
	}
	r.x.copy(r.n.Cols, from)
	if r.seen != nil {
		k, err := r.keys.of(r.x.regs)
		if err != nil {
			return false, err
		}
		if _, fresh, err := r.seen.add(k); err != nil || !fresh {
			return false, err
		}
	}
	return true, r.fresh.add(r.x.regs, r.n.Cols)
}

// advance begins the next step, if the one before gave rows.
func (r *recursive) advance() error {
	if err := r.inner.close(); err != nil {
		return err
	}
	r.inner = nil
	if r.fresh.n == 0 {
		return nil
	}
	if r.steps++; r.steps > r.x.opts.MaxRecursion {
		return expr.Errorf(3636, "HY000", "Recursive query aborted after %d iterations. Try increasing @@cte_max_recursion_depth to a "+
			"larger value.", r.steps)
	}
	r.prior, r.fresh = r.fresh, r.prior
	r.fresh.reset()
	r.inner = r.step
	return r.storing(r.step.open)
}

func (r *recursive) drop() {
	for _, s := range []*rowStore{r.prior, r.fresh} {
		if s != nil {
			s.reset()
		}
	}
	if r.seen != nil {
		r.seen.reset()
	}
}

func (r *recursive) close() error {
	r.drop()
	r.inner = nil
	return firstError(r.seed.close(), r.step.close())
}

// workScan reads the rows of the step before.
type workScan struct {
	storeScan
	from *recursive
}

func newWorkScan(x *Execution, n *rel.WorkScan) (iterator, error) {
	r := x.work[n.From]
	if r == nil {
		return nil, fmt.Errorf("the step of recursive query %s is read outside of it", n.From.Name)
	}
	return &workScan{storeScan: storeScan{x: x, cols: n.Cols}, from: r}, nil
}

func (w *workScan) open() error {
	w.rows, w.at = w.from.prior, 0
	return nil
}

func (w *workScan) close() error { return nil }
