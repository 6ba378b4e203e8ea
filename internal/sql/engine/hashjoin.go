package engine

import (
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// hashLookup gives the rows of a hash join's right side whose key equals that of the present row. go-mysql-server's own
// (plan/hash_lookup.go) takes the hash of two texts of different lengths (VARCHAR(5), VARCHAR(9)) by their bytes, and that of several
// columns by the types of one side.
func (b *builder) hashLookup(ctx *sql.Context, n *plan.HashLookup, row sql.Row) (sql.RowIter, error) {
	if n.JoinType.IsExcludeNulls() {
		return nil, nil
	}
	n.Mutex.Lock()
	defer n.Mutex.Unlock()
	key := newRowKey(hashTypes(ctx, n.LeftProbeKey, n.RightEntryKey))
	if n.Lookup == nil {
		rows, err := b.hashRows(ctx, n, key, row)
		if err != nil {
			return nil, err
		}
		n.Lookup = &rows
	}
	k, err := hashKey(ctx, key, n.LeftProbeKey, row)
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter((*n.Lookup)[k]...), nil
}

// hashRows reads the right side.
func (b *builder) hashRows(ctx *sql.Context, n *plan.HashLookup, key *rowKey, row sql.Row) (rows map[any][]sql.Row, err error) {
	it, err := b.e.gms.Analyzer.ExecBuilder.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close(ctx)) }()
	rows = map[any][]sql.Row{}
	for {
		r, err := it.Next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		k, err := hashKey(ctx, key, n.RightEntryKey, r)
		if err != nil {
			return nil, err
		}
		rows[k] = append(rows[k], r)
	}
}

func hashKey(ctx *sql.Context, key *rowKey, e sql.Expression, row sql.Row) (string, error) {
	v, err := e.Eval(ctx, row)
	if err != nil {
		return "", err
	}
	vs, ok := v.([]any)
	if !ok {
		vs = []any{v}
	}
	return key.of(ctx, vs)
}

// hashTypes are the types by which the two sides are compared: of texts that of the column, if only one of them is.
func hashTypes(ctx *sql.Context, left, right sql.Expression) (out []sql.Type) {
	ls, rs := members(left), members(right)
	for i, l := range ls {
		e := l
		if _, column := l.(*expression.GetField); !column && i < len(rs) {
			if _, column := rs[i].(*expression.GetField); column {
				e = rs[i]
			}
		}
		out = append(out, e.Type(ctx))
	}
	return out
}

func members(e sql.Expression) []sql.Expression {
	if t, ok := e.(expression.Tuple); ok {
		return t
	}
	return []sql.Expression{e}
}

// withoutHeap is a join of a column with the range between two others, executed as an ordinary one over rows in memory:
// go-mysql-server's (rowexec/range_heap_iter.go) takes NULL for the smallest value.
func withoutHeap(ctx *sql.Context, n *plan.JoinNode) (sql.Node, error) {
	right := n.Right()
	if h, ok := right.(*plan.RangeHeap); ok {
		right = h.Child
	}
	op := plan.JoinTypeInner
	if n.Op.IsLeftOuter() {
		op = plan.JoinTypeLeftOuter
	}
	j := *n
	j.Op = op
	return j.WithChildren(ctx, n.Left(), plan.NewCachedResults(right))
}
