package exec

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// sorter compares rows whose first values are prepared sort keys.
type sorter struct {
	x      *Execution
	keys   []rel.SortKey
	orders []expr.Order
	arena  expr.Arena
	err    error // the first error of a comparison, which has no other way out of a sort
	ticks  uint
}

func newSorter(x *Execution, keys []rel.SortKey) *sorter {
	s := &sorter{x: x, keys: keys, orders: make([]expr.Order, len(keys))}
	for i, k := range keys {
		s.orders[i] = expr.OrderOf(k.Expr.Type())
	}
	return s
}

// prepare evaluates the keys of the row in the registers.
func (s *sorter) prepare(into []expr.Value) error {
	for i, k := range s.keys {
		v, err := k.Expr.Eval(s.x.env)
		if err != nil {
			return err
		}
		if into[i], err = s.orders[i].PrepareIn(s.x.env, v, &s.arena); err != nil {
			return err
		}
	}
	return nil
}

// compare orders two rows that prepare filled in. After an error all rows are equal.
func (s *sorter) compare(a, b []expr.Value) int {
	if s.err != nil {
		return 0
	}
	for i := range s.orders {
		var o int
		switch va, vb := &a[i], &b[i]; {
		case va.Kind() == expr.KindInt && vb.Kind() == expr.KindInt:
			o = compareNumbers(va.RawInt(), vb.RawInt())
		case va.Kind() == expr.KindBytes && vb.Kind() == expr.KindBytes:
			o = strings.Compare(va.RawText(), vb.RawText())
		default:
			var err error
			if o, err = s.orders[i].Compare(s.x.env, *va, *vb); err != nil {
				s.err = err
				return 0
			}
		}
		if o != 0 {
			if s.keys[i].Desc {
				return -o
			}
			return o
		}
	}
	return 0
}

// prefix is a number that is in the order of the first key: where two rows' prefixes differ, so do their keys. Comparing it needs no
// look at the rows.
func (s *sorter) prefix(row []expr.Value) uint64 {
	if len(s.keys) == 0 {
		return 0
	}
	const value = 1 << 63 // NULL is before all values
	var p uint64
	switch v := &row[0]; v.Kind() {
	case expr.KindNull:
	case expr.KindInt, expr.KindDate, expr.KindDatetime, expr.KindTime:
		p = (v.RawUint()^1<<63)>>1 | value
	case expr.KindUint:
		p = v.RawUint()>>1 | value
	case expr.KindFloat:
		bits := math.Float64bits(v.RawFloat() + 0)
		if bits>>63 == 1 {
			bits = ^bits
		} else {
			bits |= 1 << 63
		}
		p = bits>>1 | value
	case expr.KindBytes:
		var b [8]byte
		copy(b[:], v.RawText())
		p = binary.BigEndian.Uint64(b[:])>>1 | value
	default:
		p = value
	}
	if s.keys[0].Desc {
		return ^p
	}
	return p
}

// sortEntry is a row in the order in which rows are given.
type sortEntry struct {
	prefix uint64
	at     int32 // its place in the store
}

func compareNumbers(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// sortRows orders rows; those that are equal stay in the order in which they came.
type sortRows struct {
	x     *Execution
	n     *rel.Sort
	child iterator
	by    *sorter
	keep  []rel.ColID

	rows  *rowStore // the keys, then the columns that are kept
	order []sortEntry
	since []int64 // top: by place, which row of the child it is
	keys  []expr.Value
	at    int
}

func newSort(x *Execution, n *rel.Sort, child iterator) iterator {
	s := &sortRows{x: x, n: n, child: child, by: newSorter(x, n.Keys), keep: n.Columns()}
	s.rows, s.keys = newRowStore(&x.mem, len(n.Keys)+len(s.keep)), make([]expr.Value, len(n.Keys))
	return s
}

func (s *sortRows) open() error {
	s.reset()
	most, err := s.x.mostRows(s.n.Limit)
	if err != nil || most == 0 {
		return err
	}
	if err := s.child.open(); err != nil {
		return err
	}
	top := most < 1<<20
	for row := int64(0); ; row++ {
		ok, err := s.child.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := s.x.tick(); err != nil {
			return err
		}
		if top && s.rows.n == int(most) {
			if row == int64(most) {
				s.heapify()
			}
			err = s.replace(row)
		} else {
			err = s.add(row, top)
		}
		if err != nil {
			return err
		}
	}
	slices.SortFunc(s.order, s.earlier)
	if s.by.err != nil {
		return s.by.err
	}
	return s.child.close()
}

// add keeps the row in the registers.
func (s *sortRows) add(number int64, top bool) error {
	slot := s.rows.slot()
	if err := s.by.prepare(slot); err != nil {
		return err
	}
	for i, c := range s.keep {
		slot[len(s.n.Keys)+i] = s.x.regs[c]
	}
	s.order = append(s.order, sortEntry{s.by.prefix(slot), int32(s.rows.n - 1)})
	if top {
		s.since = append(s.since, number)
	}
	return s.rows.count(slot)
}

// earlier orders rows.
func (s *sortRows) earlier(a, b sortEntry) int {
	if s.by.ticks++; s.by.ticks&0xfff == 0 && s.by.err == nil {
		s.by.err = s.x.env.Poll()
	}
	if a.prefix != b.prefix {
		if a.prefix < b.prefix {
			return -1
		}
		return 1
	}
	if o := s.by.compare(s.rows.row(int(a.at)), s.rows.row(int(b.at))); o != 0 {
		return o
	}
	if s.since != nil {
		return compareNumbers(s.since[a.at], s.since[b.at])
	}
	return int(a.at) - int(b.at)
}

// heapify makes a heap of order, the last row on top.
func (s *sortRows) heapify() {
	for i := len(s.order)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
}

func (s *sortRows) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(s.order) {
			return
		}
		if child+1 < len(s.order) && s.earlier(s.order[child], s.order[child+1]) < 0 {
			child++
		}
		if s.earlier(s.order[i], s.order[child]) >= 0 {
			return
		}
		s.order[i], s.order[child] = s.order[child], s.order[i]
		i = child
	}
}

// replace puts the row in the registers in the place of the last one that is kept, if it comes before that. The heap is full.
func (s *sortRows) replace(number int64) error {
	keys, mark := s.keys, s.by.arena.Mark()
	defer s.by.arena.Rewind(mark)
	if err := s.by.prepare(keys); err != nil {
		return err
	}
	last := s.order[0].at
	row := s.rows.row(int(last))
	if s.by.compare(keys, row) >= 0 { // of equal rows the earlier one stays
		return s.by.err
	}
	var before int64
	for i := range row {
		before += s.rows.m.extra(&row[i])
	}
	for i, k := range keys {
		row[i] = own(k)
	}
	for i, c := range s.keep {
		row[len(keys)+i] = own(s.x.regs[c])
	}
	s.since[last], s.order[0].prefix = number, s.by.prefix(row)
	s.sink(0)
	for i := range row {
		before -= s.rows.m.extra(&row[i])
	}
	return s.rows.take(-before)
}

func (s *sortRows) next() (bool, error) {
	if s.at >= len(s.order) {
		return false, nil
	}
	if err := s.x.tick(); err != nil {
		return false, err
	}
	row := s.rows.row(int(s.order[s.at].at))
	s.at++
	s.x.load(s.keep, row[len(s.n.Keys):])
	return true, nil
}

func (s *sortRows) reset() {
	s.rows.reset()
	s.order, s.since, s.at, s.by.err, s.by.arena = nil, nil, 0, nil, expr.Arena{}
}

func (s *sortRows) close() error {
	s.reset()
	return s.child.close()
}
