package exec

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Window functions.
//
//	W1  Rows whose PARTITION BY values are equal form a partition. Within it rows are in the order of ORDER BY, NULLs first (last, if
//	    descending); equal rows keep the order in which they came.
//	W2  Two rows are peers iff neither comes before the other in ORDER BY. Without ORDER BY all rows of a partition are peers.
//	W3  An argument is evaluated once for each row of a partition, however many frames the row is in.
//	W4  A frame that begins where the one before began, and ends no earlier, costs the rows that it has more; so does one that slides,
//	    if the aggregate can take rows back exactly, or is MIN or MAX. Other aggregates are calculated anew for each frame that slides.

// window reads all rows of its child, orders them, and gives them partition by partition.
type window struct {
	x     *Execution
	n     *rel.Window
	child iterator
	by    *sorter // of PARTITION BY and ORDER BY together
	cols  []rel.ColID
	calls []*windowCall

	rows  *rowStore // the keys, then the columns
	order []int32
	at    int // the row to give next
	part  windowPart
	held  held // by the partition
}

// windowPart is the partition whose rows are given.
type windowPart struct {
	start, end  int     // in window.order
	first, last []int32 // of each row the bounds of its peers, [first, last), from the partition's start
	results     [][]expr.Value
}

func (p *windowPart) size() int { return p.end - p.start }

// newWindow executes window functions.
func newWindow(x *Execution, n *rel.Window, child iterator) (iterator, error) {
	keys := make([]rel.SortKey, 0, len(n.Partition)+len(n.Order))
	for _, p := range n.Partition {
		keys = append(keys, rel.SortKey{Expr: p})
	}
	keys = append(keys, n.Order...)
	w := &window{x: x, n: n, child: child, by: newSorter(x, keys), cols: slices.Clone(n.Child.Columns()), held: held{m: &x.mem}}
	for i := range n.Funcs {
		c, err := newWindowCall(w, &n.Funcs[i])
		if err != nil {
			return nil, err
		}
		w.calls = append(w.calls, c)
	}
	w.rows = newRowStore(&x.mem, len(keys)+len(w.cols))
	return w, nil
}

func (w *window) open() error {
	w.reset()
	if err := w.child.open(); err != nil {
		return err
	}
	for {
		ok, err := w.child.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := w.x.tick(); err != nil {
			return err
		}
		slot := w.rows.slot()
		if err := w.by.prepare(slot); err != nil {
			return err
		}
		for i, c := range w.cols {
			slot[len(w.by.keys)+i] = w.x.regs[c]
		}
		w.order = append(w.order, int32(w.rows.n-1))
		if err := w.rows.count(slot); err != nil {
			return err
		}
	}
	if len(w.by.keys) > 0 {
		slices.SortStableFunc(w.order, func(a, b int32) int { return w.by.compare(w.rows.row(int(a)), w.rows.row(int(b))) })
		if w.by.err != nil {
			return w.by.err
		}
	}
	return w.child.close()
}

func (w *window) next() (bool, error) {
	if w.at >= len(w.order) {
		return false, nil
	}
	if err := w.x.tick(); err != nil {
		return false, err
	}
	if w.at >= w.part.end {
		if err := w.compute(); err != nil {
			return false, err
		}
	}
	w.loadRow(w.at)
	for i, c := range w.calls {
		w.x.regs[c.fn.Col] = w.part.results[i][w.at-w.part.start]
	}
	w.at++
	return true, nil
}

// loadRow puts the child's row at a place of the order into the registers.
func (w *window) loadRow(at int) { w.x.load(w.cols, w.kept(at)[len(w.by.keys):]) }

// kept is the row at a place of the order: keys, then columns.
func (w *window) kept(at int) []expr.Value { return w.rows.row(int(w.order[at])) }

// differs reports whether two rows differ in some of the keys.
func (w *window) differs(a, b, from, to int) (bool, error) {
	x, y := w.kept(a), w.kept(b)
	for i := from; i < to; i++ {
		o, err := w.by.orders[i].Compare(w.x.env, x[i], y[i])
		if err != nil || o != 0 {
			return true, err
		}
	}
	return false, nil
}

// compute finds the partition that begins with the next row, its peers, and the values of all functions for its rows.
func (w *window) compute() error {
	w.held.free()
	keys := len(w.n.Partition)
	p := windowPart{start: w.at, end: w.at + 1}
	for ; p.end < len(w.order); p.end++ {
		if err := w.x.tick(); err != nil {
			return err
		}
		differ, err := w.differs(p.start, p.end, 0, keys)
		if err != nil {
			return err
		}
		if differ {
			break
		}
	}
	n := p.size()
	if err := w.held.take(int64(n) * (8 + int64(len(w.calls))*valueBytes)); err != nil {
		return err
	}
	p.first, p.last = make([]int32, n), make([]int32, n)
	for i := 0; i < n; {
		j := i + 1
		for ; j < n; j++ {
			differ, err := w.differs(p.start+i, p.start+j, keys, len(w.by.keys))
			if err != nil {
				return err
			}
			if differ {
				break
			}
		}
		for k := i; k < j; k++ {
			p.first[k], p.last[k] = int32(i), int32(j)
		}
		i = j
	}
	for _, c := range w.calls {
		out, err := c.values(&p)
		if err != nil {
			return err
		}
		p.results = append(p.results, out)
	}
	w.part = p
	return nil
}

func (w *window) reset() {
	w.rows.reset()
	w.held.free()
	w.order, w.at, w.part, w.by.err = nil, 0, windowPart{}, nil
}

func (w *window) close() error {
	w.reset()
	return w.child.close()
}
