package exec

import "github.com/longitude-db/longitude/internal/sql/rel"

// distinct passes on the first of the rows that are equal.
type distinct struct {
	x     *Execution
	child iterator
	keys  *rowKeys
	seen  *keyTable
}

func newDistinct(x *Execution, n *rel.Distinct, child iterator) (iterator, error) {
	k, err := x.newRowKeys(n.Cols)
	return &distinct{x: x, child: child, keys: k, seen: newKeyTable(&x.mem)}, err
}

func (d *distinct) open() error {
	d.seen.reset()
	return d.child.open()
}

func (d *distinct) next() (bool, error) {
	for {
		if ok, err := d.child.next(); err != nil || !ok {
			return false, err
		}
		k, err := d.keys.of(d.x.regs)
		if err != nil {
			return false, err
		}
		if _, fresh, err := d.seen.add(k); err != nil || fresh {
			return err == nil, err
		}
		if err := d.x.tick(); err != nil {
			return false, err
		}
	}
}

func (d *distinct) close() error {
	d.seen.reset()
	return d.child.close()
}
