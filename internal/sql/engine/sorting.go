package engine

import (
	"io"
	"sort"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// sorter sorts rows as ORDER BY says. go-mysql-server's (sql/sorters) evaluates the expressions again at each comparison, knows
// one weight for each character, and cannot be ended while it sorts.
type sorter struct {
	conditions sql.SortConditions
	orders     []expr.Order
	nodes      []expr.Node
	run        evaluation
	rows       []sortedRow
	err        error
	compared   int
}

type sortedRow struct {
	row  sql.Row
	keys []expr.Value
}

func newSorter(ctx *sql.Context, conditions sql.SortConditions) (*sorter, error) {
	s := &sorter{conditions: conditions}
	for _, c := range conditions {
		n, err := lowered(ctx, c.Expr)
		if err != nil {
			return nil, err
		}
		s.nodes = append(s.nodes, n)
		s.orders = append(s.orders, expr.OrderOf(n.Type()))
	}
	return s, nil
}

// add takes a row in.
func (s *sorter) add(ctx *sql.Context, row sql.Row) error {
	r := sortedRow{row: row, keys: make([]expr.Value, len(s.nodes))}
	for i, n := range s.nodes {
		v, err := s.run.value(ctx, n, row)
		if err != nil {
			return err
		}
		if r.keys[i], err = s.orders[i].Prepare(s.run.env, v); err != nil {
			return clientSide(err)
		}
	}
	s.rows = append(s.rows, r)
	return nil
}

func (s *sorter) less(i, j int) bool {
	if s.err != nil {
		return false
	}
	if s.compared++; s.compared&0xffff == 0 {
		if s.err = s.run.env.Poll(); s.err != nil {
			return false
		}
	}
	a, b := s.rows[i].keys, s.rows[j].keys
	for k, c := range s.conditions {
		if a[k].IsNull() != b[k].IsNull() && c.NullOrdering == sql.NullsLast {
			return b[k].IsNull()
		}
		o, err := s.orders[k].Compare(s.run.env, a[k], b[k])
		if err != nil {
			s.err = err
			return false
		}
		if o != 0 {
			return (o < 0) == (c.Order != sql.Descending)
		}
	}
	return false
}

// sort orders the rows; those that are equal stay in the order in which they came.
func (s *sorter) sort() error {
	sort.SliceStable(s.rows, s.less)
	return clientSide(s.err)
}

// sortIter gives the first rows in order.
type sortIter struct {
	child  sql.RowIter
	sorter *sorter
	limit  int64 // negative: all
	found  bool  // FOUND_ROWS() is how many there were
	n      int64
	at     int
	done   bool
}

// Next implements sql.RowIter.
func (i *sortIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !i.done {
		if err := i.gather(ctx); err != nil {
			return nil, err
		}
		i.done = true
	}
	if i.at >= len(i.sorter.rows) {
		return nil, io.EOF
	}
	row := i.sorter.rows[i.at].row
	i.sorter.rows[i.at] = sortedRow{}
	i.at++
	return row, nil
}

func (i *sortIter) gather(ctx *sql.Context) error {
	for {
		row, err := i.child.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if i.n++; i.n&1023 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if i.limit == 0 {
			continue
		}
		if err := i.sorter.add(ctx, row); err != nil {
			return err
		}
		if i.limit > 0 && int64(len(i.sorter.rows)) >= 2*i.limit+1024 {
			if err := i.cut(); err != nil {
				return err
			}
		}
	}
	return i.cut()
}

// cut sorts, and forgets the rows beyond the limit.
func (i *sortIter) cut() error {
	if err := i.sorter.sort(); err != nil {
		return err
	}
	if rows := i.sorter.rows; i.limit >= 0 && int64(len(rows)) > i.limit {
		clear(rows[i.limit:])
		i.sorter.rows = rows[:i.limit]
	}
	return nil
}

// Close implements sql.RowIter.
func (i *sortIter) Close(ctx *sql.Context) error {
	i.sorter.rows = nil
	if i.found {
		ctx.GetLastQueryInfo().FoundRows.Store(i.n)
	}
	return i.child.Close(ctx)
}

// sorted sorts the rows of an iterator; a negative limit: all.
func sorted(ctx *sql.Context, child sql.RowIter, conditions sql.SortConditions, limit int64, found bool) (sql.RowIter, error) {
	s, err := newSorter(ctx, conditions)
	if err != nil {
		return nil, err
	}
	return &sortIter{child: child, sorter: s, limit: limit, found: found}, nil
}

func (b *builder) sort(ctx *sql.Context, n *plan.Sort, row sql.Row) (sql.RowIter, error) {
	child, err := b.e.gms.Analyzer.ExecBuilder.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	return sorted(ctx, child, n.SortConditions, -1, false)
}

func (b *builder) topN(ctx *sql.Context, n *plan.TopN, row sql.Row) (sql.RowIter, error) {
	child, err := b.e.gms.Analyzer.ExecBuilder.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	limit, err := iters.GetInt64Value(ctx, n.Limit)
	if err != nil {
		return nil, err
	}
	if limit < 0 { // more than a BIGINT holds: all
		limit = -1
	}
	return sorted(ctx, child, n.SortConditions, limit, n.CalcFoundRows)
}
