package optimize

import (
	"math"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A LIMIT tells what is below it how many rows suffice: a sort keeps only the first ones, a table is read no further. The operators
// between pass on each row that they are given, so as many rows come to the LIMIT as it takes. SQL_CALC_FOUND_ROWS counts all rows, so
// there nothing is told.

// pushLimit tells the operators below a LIMIT.
func (z *optimizer) pushLimit(n *rel.Limit) {
	if z.o.NoLimit || n.FoundRows || n.Count == nil {
		return
	}
	count, ok := wholeLiteral(n.Count)
	if !ok {
		return
	}
	if n.Offset != nil {
		offset, ok := wholeLiteral(n.Offset)
		if !ok || count > math.MaxInt32 || offset > math.MaxInt32 {
			return
		}
		count += offset
	}
	if count > math.MaxInt32 {
		return
	}
	z.tellLimit(&n.Child, count)
}

func wholeLiteral(n expr.Node) (uint64, bool) {
	l, ok := n.(*expr.Lit)
	if !ok {
		return 0, false
	}
	switch l.V.Kind() {
	case expr.KindInt:
		return uint64(l.V.RawInt()), l.V.RawInt() >= 0
	case expr.KindUint:
		return l.V.RawUint(), true
	}
	return 0, false
}

func (z *optimizer) tellLimit(at *rel.Node, count uint64) {
	for {
		switch n := (*at).(type) {
		case *rel.Project:
			at = &n.Child
		case *rel.Sort:
			if n.Limit == nil {
				n.Limit = &expr.Lit{V: expr.Uint(count), T: expr.TUint}
				*at = z.saveSort(n)
				if rel.Node(n) != *at {
					continue // the order comes from an index: what is below gives as many rows
				}
			}
			return
		case *rel.Scan:
			if count > 0 && n.Limit == 0 {
				n.Limit = int(count)
			}
			return
		case *rel.Join: // each row of the left side gives one at least
			if n.Kind != rel.Left {
				return
			}
			at = &n.Left
		default:
			return
		}
	}
}
