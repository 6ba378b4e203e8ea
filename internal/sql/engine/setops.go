package engine

import (
	"errors"
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"
)

// UNION, INTERSECT, EXCEPT and recursive queries compare rows as GROUP BY does. go-mysql-server compares 64-bit hashes (NULL is
// the text <nil>, collations are ignored), skips the rows of OFFSET before it sorts (rowexec/rel.go, buildSetOp), and ends
// recursive queries at 10,001 steps whatever cte_max_recursion_depth says (rowexec/rel_iters.go).

// setOp executes a set operation.
func (b *builder) setOp(ctx *sql.Context, n *plan.SetOp, row sql.Row) (sql.RowIter, error) {
	build := b.e.gms.Analyzer.ExecBuilder.Build
	left, err := build(ctx, n.Left(), row)
	if err != nil {
		return nil, err
	}
	right := func(ctx *sql.Context) (sql.RowIter, error) { return build(ctx, n.Right(), row) }
	ts := schemaTypes(n.Schema(ctx))
	var it sql.RowIter
	if n.SetOpType == plan.UnionType {
		it = &iters.UnionIter{Cur: left, NextIter: right}
	} else {
		it = &memberIter{RowIter: left, right: right, key: newRowKey(ts), keep: n.SetOpType == plan.IntersectType, once: n.Distinct}
	}
	if n.Distinct {
		it = newDistinct(it, ts, nil)
	}
	return sortedPart(ctx, it, n.SortConditions, n.Limit, n.Offset)
}

// sortedPart is ORDER BY, then OFFSET, then LIMIT.
func sortedPart(ctx *sql.Context, it sql.RowIter, by sql.SortConditions, limit, offset sql.Expression) (sql.RowIter, error) {
	most, skip := int64(-1), int64(0)
	var err error
	if offset != nil {
		if skip, err = iters.GetInt64Value(ctx, offset); err != nil {
			return nil, err
		}
	}
	if limit != nil {
		if most, err = iters.GetInt64Value(ctx, limit); err != nil {
			return nil, err
		}
	}
	if len(by) > 0 {
		wanted := int64(-1)
		if most >= 0 && most+skip >= 0 {
			wanted = most + skip
		}
		if it, err = sorted(ctx, it, by, wanted, false); err != nil {
			return nil, err
		}
	}
	if skip > 0 {
		it = &skipIter{RowIter: it, skip: skip}
	}
	if most >= 0 {
		it = &iters.LimitIter{Limit: most, ChildIter: it}
	}
	return it, nil
}

// memberIter keeps the rows that the right side has too (INTERSECT), or those that it has not (EXCEPT). With ALL each row of
// the right side stands for one of the left.
type memberIter struct {
	sql.RowIter // the left side
	right       func(*sql.Context) (sql.RowIter, error)
	key         *rowKey
	keep        bool
	once        bool           // without ALL: duplicates are dropped above
	have        map[string]int // of the right side: how often
}

// Next implements sql.RowIter.
func (m *memberIter) Next(ctx *sql.Context) (sql.Row, error) {
	if m.have == nil {
		if err := m.gather(ctx); err != nil {
			return nil, err
		}
	}
	for {
		row, err := m.RowIter.Next(ctx)
		if err != nil {
			return nil, err
		}
		k, err := m.keyOf(ctx, row)
		if err != nil {
			return nil, err
		}
		n := m.have[k]
		if n > 0 && !m.once {
			m.have[k] = n - 1
		}
		if n > 0 == m.keep {
			return row, nil
		}
	}
}

// keyOf leaves out the columns of outer queries, which stand before those of the row.
func (m *memberIter) keyOf(ctx *sql.Context, row sql.Row) (string, error) {
	return m.key.of(ctx, row[max(0, len(row)-len(m.key.weights)):])
}

func (m *memberIter) gather(ctx *sql.Context) error {
	m.have = map[string]int{}
	it, err := m.right(ctx)
	if err != nil {
		return err
	}
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			return it.Close(ctx)
		}
		var k string
		if err == nil {
			k, err = m.keyOf(ctx, row)
		}
		if err != nil {
			return errors.Join(err, it.Close(ctx))
		}
		m.have[k]++
	}
}

// recursive executes WITH RECURSIVE.
func (b *builder) recursive(ctx *sql.Context, n *plan.RecursiveCte, row sql.Row) (sql.RowIter, error) {
	v, err := ctx.GetSessionVariable(ctx, "cte_max_recursion_depth")
	if err != nil {
		return nil, err
	}
	most, ok, err := wholeNumberOf(ctx, v)
	if err != nil || !ok {
		return nil, fmt.Errorf("cte_max_recursion_depth is not a number: %v (%w)", v, err)
	}
	u := n.Union()
	r := &recursiveIter{build: b.e.gms.Analyzer.ExecBuilder.Build, n: n, parent: row, most: most}
	if u.Distinct {
		r.key, r.seen = newRowKey(schemaTypes(u.Schema(ctx))), map[string]struct{}{}
	}
	return sortedPart(ctx, r, u.SortConditions, u.Limit, u.Offset)
}

// recursiveIter gives the rows of the first SELECT, then those that the second makes of them, and so on until there are none.
type recursiveIter struct {
	build  func(*sql.Context, sql.Node, sql.Row) (sql.RowIter, error)
	n      *plan.RecursiveCte
	parent sql.Row
	iter   sql.RowIter
	fresh  []sql.Row // of this step
	step   int64
	most   int64
	key    *rowKey // UNION without ALL
	seen   map[string]struct{}
}

// Next implements sql.RowIter.
func (r *recursiveIter) Next(ctx *sql.Context) (sql.Row, error) {
	var err error
	if r.iter == nil {
		if r.iter, err = r.build(ctx, r.n.Left(), r.parent); err != nil {
			return nil, err
		}
	}
	for {
		row, err := r.iter.Next(ctx)
		if err == io.EOF && len(r.fresh) > 0 {
			if err := r.next(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if r.key != nil {
			k, err := r.key.of(ctx, row[max(0, len(row)-len(r.key.weights)):])
			if err != nil {
				return nil, err
			}
			if _, ok := r.seen[k]; ok {
				continue
			}
			r.seen[k] = struct{}{}
		}
		r.fresh = append(r.fresh, row)
		return row, nil
	}
}

// next begins the next step.
func (r *recursiveIter) next(ctx *sql.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.step++; r.step > r.most {
		return mysql.NewSQLError(3636, "HY000", "Recursive query aborted after %d iterations. Try increasing @@cte_max_recursion_depth to a larger value.", r.step)
	}
	if r.n.Working != nil {
		r.n.Working.Buf = r.fresh
	}
	r.fresh = nil
	if err := r.iter.Close(ctx); err != nil {
		return err
	}
	var err error
	r.iter, err = r.build(ctx, r.n.Right(), r.parent)
	return err
}

// Close implements sql.RowIter.
func (r *recursiveIter) Close(ctx *sql.Context) error {
	if r.n.Working != nil {
		r.n.Working.Buf = nil
	}
	r.fresh, r.seen = nil, nil
	if r.iter == nil {
		return nil
	}
	return r.iter.Close(ctx)
}
