//go:build invariants

package exec

import (
	"fmt"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// checked asserts of an iterator, whenever it is called, what the package promises: E2 and R3.
func (x *Execution) checked(n rel.Node, it iterator) iterator {
	return &checker{x: x, n: n, it: it, cols: n.Columns()}
}

type checker struct {
	x           *Execution
	n           rel.Node
	it          iterator
	cols        []rel.ColID
	last        []expr.Value // the row that was given last; nil: none
	begun, done bool
}

// unset stands in registers that hold no row.
var unset = expr.Other("a register without a row")

func (c *checker) spoil() {
	for _, id := range c.cols {
		c.x.regs[id] = unset
	}
	c.last = c.last[:0]
}

func (c *checker) open() error {
	c.spoil()
	err := c.it.open()
	c.begun, c.done = err == nil, false
	return err
}

func (c *checker) next() (bool, error) {
	if !c.begun || c.done {
		panic(fmt.Sprintf("exec: next of %T that is open: %v, at its end: %v", c.n, c.begun, c.done))
	}
	if len(c.last) > 0 {
		for i, id := range c.cols {
			if !same(c.last[i], c.x.regs[id]) {
				panic(fmt.Sprintf("exec: E2: column %d of %T was overwritten: %v became %v", id, c.n, c.last[i], c.x.regs[id]))
			}
		}
	}
	ok, err := c.it.next()
	if err != nil {
		return ok, err
	}
	if !ok {
		c.done = true
		c.spoil()
		return false, nil
	}
	c.last = c.last[:0]
	for _, id := range c.cols {
		v, t := c.x.regs[id], c.x.q.Meta.Columns[id].Type
		if !v.IsNull() && v.Kind() != t.Kind() {
			panic(fmt.Sprintf("exec: R3: column %d (%s) of %T is of kind %d, not %d: %v", id, c.x.q.Meta.Columns[id].Name, c.n, v.Kind(),
				t.Kind(), v))
		}
		c.last = append(c.last, v)
	}
	return true, nil
}

func (c *checker) close() error {
	c.begun = false
	return c.it.close()
}

func same(a, b expr.Value) bool {
	return a.Kind() == b.Kind() && a.RawUint() == b.RawUint() && a.RawText() == b.RawText()
}
