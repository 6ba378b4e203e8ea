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
	return x.checked(n, it), nil
}

func (x *Execution) make(n rel.Node) (iterator, error) {
	switch n := n.(type) {
	case *rel.Scan:
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
	child, err := x.build(kids[0])
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
			x.groups[n] = c
			return c, nil
		}
		return plain, nil
	case *rel.Window:
		return newWindow(x, n, child)
	}
	return nil, fmt.Errorf("package exec knows no operator %T", n)
}
