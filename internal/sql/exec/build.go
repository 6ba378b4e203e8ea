package exec

import (
	"fmt"

	"github.com/longitude-db/longitude/internal/sql/rel"
)

// build makes the iterator of an operator and those below it. Subqueries in its expressions are built when they are first evaluated.
func (x *Execution) build(n rel.Node) (iterator, error) {
	it, err := x.make(n)
	if err != nil {
		return nil, err
	}
	return x.measured(n, x.checked(n, it)), nil
}

func (x *Execution) make(n rel.Node) (iterator, error) {
	switch n := n.(type) {
	case *rel.Scan:
		if l := x.lookups[n]; l != nil && !l.built {
			l.built = true
			return l, nil
		}
		return newScan(x, n), nil
	case *rel.Values:
		return &values{x: x, n: n}, nil
	case *rel.SharedScan:
		return newSharedScan(x, n), nil
	case *rel.WorkScan:
		return newWorkScan(x, n)
	case *rel.SetOp:
		return newSetOp(x, n)
	case *rel.Recursive:
		return newRecursive(x, n)
	case *rel.Join:
		return newJoin(x, n)
	}
	kids := n.Children()
	if len(kids) != 1 {
		return nil, fmt.Errorf("package exec knows no operator %T", n)
	}
	child, err := x.buildChild(n, kids[0])
	if err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *rel.Filter:
		return &filter{x: x, n: n, child: child}, nil
	case *rel.Project:
		return &project{x: x, n: n, child: child}, nil
	case *rel.One:
		return &one{child: child}, nil
	case *rel.Limit:
		return newLimit(x, n, child), nil
	case *rel.Distinct:
		return newDistinct(x, n, child)
	case *rel.Sort:
		return newSort(x, n, child), nil
	case *rel.Group:
		plain, err := newGroup(x, n, child)
		if err != nil {
			return nil, err
		}
		if c := newCounted(x, n, plain); c != nil {
			if x.groups == nil {
				x.groups = map[*rel.Group]*counted{}
			}
			x.groups[n], c.look = c, x.lookups[c.s]
			return c, nil
		}
		return plain, nil
	case *rel.Window:
		return newWindow(x, n, child)
	}
	return nil, fmt.Errorf("package exec knows no operator %T", n)
}

// buildChild builds what an operator reads, and notes whether it may stop before the end.
func (x *Execution) buildChild(n, child rel.Node) (iterator, error) {
	some := x.some
	switch n := n.(type) {
	case *rel.Limit, *rel.One:
		x.some = true
	case *rel.Sort, *rel.Window:
		x.some = false
	case *rel.Group:
		x.some = some && n.Ordered
	}
	it, err := x.build(child)
	x.some = some
	return it, err
}

// buildApart builds a query that is not part of the tree that is being built; some: it is perhaps not read to its end.
func (x *Execution) buildApart(n rel.Node, some bool) (iterator, error) {
	before := x.some
	x.some = some
	it, err := x.build(n)
	x.some = before
	return it, err
}
