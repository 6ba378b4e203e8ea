package engine

import (
	"cmp"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// sorting is the order by a column in which the rows of a span do not lie.
type sorting struct {
	at       int
	reverse  bool
	distinct bool // of rows that are equal in the column only the first is wanted
	compare  func(a, b *rowcodec.Datum) int
}

// sorted reads ORDER BY one column. Rows that are equal in it stay in the order in which they are read, as on the ordinary
// path, unless that could read them by an index in this order.
func (c *compiler) sorted(f *spanForm, by sqlparser.OrderBy) bool {
	f.reverse = false
	if len(by) != 1 {
		return false
	}
	at := c.column(by[0].Expr)
	if at < 0 || slices.ContainsFunc(c.l.all(), func(x *indexLayout) bool { return x.parts[0].at == at }) {
		return false
	}
	compare := comparison(c.l.schema.Schema[at].Type, c.l.columns[at].Kind)
	if compare == nil {
		return false
	}
	f.sort = &sorting{at: at, reverse: by[0].Direction == sqlparser.DescScr, compare: compare}
	if !slices.Contains(f.places, at) {
		f.places = append(f.places, at)
	}
	return true
}

// comparison is how values of a type that are not NULL are ordered; nil: it is not among those that are known here.
func comparison(t sql.Type, kind rowcodec.Kind) func(a, b *rowcodec.Datum) int {
	base := t.Type()
	switch {
	case kind == rowcodec.Int && (sqltypes.IsSigned(base) || base == sqltypes.Date || base == sqltypes.Datetime || base == sqltypes.Timestamp):
		return func(a, b *rowcodec.Datum) int { return cmp.Compare(a.I, b.I) }
	case kind == rowcodec.Uint && sqltypes.IsUnsigned(base):
		return func(a, b *rowcodec.Datum) int { return cmp.Compare(a.U, b.U) }
	case kind == rowcodec.Text && isUTF8MB4(t):
		c, err := orderOf(t)
		if err != nil {
			return nil
		}
		return func(a, b *rowcodec.Datum) int { return c.CompareBytes(a.B, b.B) }
	}
	return nil
}

// order compares two rows. NULL comes first.
func (s *sorting) order(a, b datums) int {
	x, y := &a[s.at], &b[s.at]
	c := 0
	switch {
	case x.Kind == rowcodec.Null || y.Kind == rowcodec.Null:
		c = cmp.Compare(min(x.Kind, 1), min(y.Kind, 1))
	default:
		c = s.compare(x, y)
	}
	if s.reverse {
		return -c
	}
	return c
}

// sorted reads all rows of the span, and gives them on in order.
func (f *spanForm) sorted(x *execution, sc *sql.Context, r reach, most int, out *opened) error {
	it, err := f.reader(x, sc, r)
	if err != nil {
		return err
	}
	var rows []datums
	for enough := keepUnsorted; ; {
		d, err := it.next(sc)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if rows = append(rows, d); len(rows) >= enough {
			rows = f.sort.settle(rows, most)
			enough = max(enough, 2*len(rows))
		}
	}
	for _, d := range f.sort.settle(rows, most) {
		if err := out.row(d); err != nil {
			return err
		}
	}
	return nil
}

// keepUnsorted is how many rows are read before those are let go that are not among the first.
const keepUnsorted = 1024

// settle sorts rows and lets those go that are not wanted, whatever rows follow.
func (s *sorting) settle(rows []datums, most int) []datums {
	slices.SortStableFunc(rows, s.order)
	if s.distinct {
		rows = slices.CompactFunc(rows, func(a, b datums) bool { return s.order(a, b) == 0 })
	}
	if most >= 0 && len(rows) > most {
		clear(rows[most:])
		rows = rows[:most]
	}
	return rows
}
