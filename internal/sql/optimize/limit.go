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
	if z.o.NoLimit || n.FoundRows {
		return
	}
	if count, ok := limitOf(n); ok {
		z.tellLimit(&n.Child, count)
	}
}

// limitOf is how many rows a LIMIT takes of its child, those of OFFSET included.
func limitOf(n *rel.Limit) (uint64, bool) {
	if n.Count == nil {
		return 0, false
	}
	count, ok := wholeLiteral(n.Count)
	if n.Offset != nil && ok {
		var offset uint64
		offset, ok = wholeLiteral(n.Offset)
		if count > math.MaxInt32 || offset > math.MaxInt32 {
			return 0, false
		}
		count += offset
	}
	return count, ok && count <= math.MaxInt32
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
