package exec

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A join whose right side is found by an index, by values of the left side, would ask the Source once for each row of the left side. In
// a cluster each of these reads waits for other nodes. Instead the join reads several rows of the left side ahead (leftAhead), asks the
// Source once for what belongs to any of them, keeps what it gives (lookup), and gives each row of the left side its own:
//
//	L1  The rows and their order are those of the join that reads nothing ahead. A row that the Source gives belongs to the rows of the
//	    left side that have its key: the values of the first columns of the index, as the index compares them. All conditions are
//	    checked of each pair of rows.
//	L2  What is read ahead is little where perhaps not all rows are wanted: one row, then two, four, ...
//	L3  What is kept is little. Where the rows that belong together are many they are not kept, but read for each row of the left side.
//	L4  Nothing volatile is evaluated ahead. An error that is met ahead is told when its row's turn comes.

const (
	mostAhead  = 128 // so many rows of the left side are read ahead at most,
	firstAhead = 16  // and so many at first if all rows are wanted

	leftAheadBytes = 1 << 20 // no more rows are read ahead if those take so much,
	lookupBytes    = 4 << 20 // and what belongs to them is not kept if it takes so much
	pairsAhead     = 8       // semi and anti joins, which need one partner of each row, keep about so many of each row
)

// lookup reads the rows of the right side: what was kept for the row of the left side that the registers hold, or as a scan.
type lookup struct {
	scan
	width   int         // how many columns of the index are the key
	keyCols []rel.ColID // the registers in which a row of the right side has it
	keys    *expr.Keys
	own     int  // the first so many conditions of the scan read its own columns alone
	few     bool // partners suffice
	built   bool // it is the iterator of the scan

	req   Request
	spans []KeySpan
	seen  map[string]bool // spans with bounds, by their exact keys
	exact exactKey
	buf   []byte
	table *keyTable
	of    []int32 // the keys of the rows of the left side, one row after the other; -1: any
	ends  []int   // by row of the left side: where its keys end in of
	wide  bool    // some row has the key -1

	kept  bool // what follows is there, for all rows of the left side that were read ahead
	rows  *rowStore
	keyOf []int32 // by row: its key; -1: that of no row of the left side
	byKey []int32 // rows by key, and in order within it
	froms []int32 // by key: where its rows begin in byKey, and behind the last where they end
	row   int     // of the left side

	given []int32 // the rows to give now
	at    int
	plain bool // they come from the scan
	tmp   []int32
}

// lookupOf is how the right side of a join is looked up for several rows at once; nil: it cannot be.
func (x *Execution) lookupOf(n *rel.Join) *lookup {
	s, few := lookupBelow(n.Right)
	if s == nil || s.Access == nil || len(s.Access.Spans) == 0 || len(s.Cols) == 0 {
		return nil
	}
	if n.Kind == rel.Semi || n.Kind == rel.Anti || s.Limit > 0 {
		few = true
	}
	width := keyWidth(s)
	left := n.Left.Columns()
	for i := range s.Access.Spans {
		p := &s.Access.Spans[i]
		if !readsAny(left, p.Equal[:width]...) || p.Prefix != nil && readsAny(left, p.Prefix) {
			return nil
		}
		for _, b := range []*rel.Bound{p.Low, p.High} {
			if b != nil && readsAny(left, b.Value) {
				return nil
			}
		}
	}
	if !calmExprs(n) || !calm(n.Left) || !calm(n.Right) {
		return nil
	}
	return &lookup{scan: *newScan(x, s), width: width, few: few}
}

// keyWidth is how many columns of its index all spans of a scan fix to a value and a row has in registers.
func keyWidth(s *rel.Scan) int {
	width := len(s.Access.Spans[0].Equal)
	for i := range s.Access.Spans {
		width = min(width, len(s.Access.Spans[i].Equal))
	}
	at := 0
	for _, parts := range [][]rel.IndexPart{s.Access.Index.Parts(), s.Access.Index.Suffix()} {
		for _, p := range parts {
			if at == width || !slices.Contains(s.Places, p.Place) {
				return at
			}
			at++
		}
	}
	return at
}

// prepare makes what the first row needs that is looked up together with others.
func (l *lookup) prepare() (err error) {
	n := l.n
	l.req = Request{Table: n.Table, Places: n.Places, Index: n.Access.Index, Reverse: n.Access.Reverse, Ahead: true}
	l.keyCols = make([]rel.ColID, 0, l.width)
	for _, p := range slices.Concat(n.Access.Index.Parts(), n.Access.Index.Suffix())[:l.width] {
		l.keyCols = append(l.keyCols, n.Cols[slices.Index(n.Places, p.Place)])
	}
	own := colSet(n.Cols)
	for l.own < len(n.Filter) && steady(n.Filter[l.own], own) {
		l.own++
	}
	l.table, l.rows = newKeyTable(&l.x.mem), newRowStore(&l.x.mem, len(n.Cols))
	l.keys, err = expr.NewKeys(l.types[:l.width])
	return err
}

// lookupBelow is the scan that an operator begins with whenever it is opened; nil: it begins with something else. few: it is perhaps
// not read to its end.
func lookupBelow(n rel.Node) (s *rel.Scan, few bool) {
	for {
		switch m := n.(type) {
		case *rel.Scan:
			return m, few
		case *rel.Filter, *rel.Project, *rel.Distinct, *rel.Group:
			n = n.Children()[0]
		case *rel.One:
			n, few = m.Child, true
		case *rel.Join: // a hash join opens its right side first, which reads nothing of this scan
			n = m.Left
		default:
			return nil, few
		}
	}
}

// readsAny reports whether expressions read one of the columns.
func readsAny(cols []rel.ColID, nodes ...expr.Node) bool {
	found := false
	for _, n := range nodes {
		rel.Walk(n, func(n expr.Node) bool {
			switch n := n.(type) {
			case *rel.Col:
				found = found || slices.Contains(cols, n.ID)
			case *rel.Subquery:
				found = found || slices.ContainsFunc(n.Outer, func(c rel.ColID) bool { return slices.Contains(cols, c) })
			}
			return !found
		})
	}
	return found
}

// begin forgets what was kept and gets ready for other rows of the left side.
func (l *lookup) begin() error {
	if l.rows != nil {
		l.forget()
	}
	l.spans, l.of, l.ends, l.wide, l.seen = l.spans[:0], l.of[:0], l.ends[:0], false, nil
	return l.scan.close()
}

func (l *lookup) forget() {
	l.kept, l.keyOf, l.byKey, l.froms, l.given = false, l.keyOf[:0], l.byKey[:0], l.froms[:0], nil
	l.rows.rewind()
	l.table.reset()
}

// add takes in the row of the left side that the registers hold.
func (l *lookup) add() error {
	if l.rows == nil {
		if err := l.prepare(); err != nil {
			return err
		}
	}
	spans, err := l.scan.spans()
	if err != nil {
		return err
	}
	from := len(l.of)
	for i := range spans {
		s := &spans[i]
		key, fresh := int32(-1), true
		if len(s.Equal) >= l.width {
			b := l.buf[:0]
			for at, v := range s.Equal[:l.width] {
				if b, err = l.keys.Append(b, l.x.env, at, v); err != nil {
					return err
				}
			}
			l.buf = b
			var k int
			if k, fresh, err = l.table.add(b); err != nil {
				return err
			}
			key = int32(k)
		}
		l.wide = l.wide || key < 0
		if !slices.Contains(l.of[from:], key) {
			l.of = append(l.of, key)
		}
		if fresh || !l.isKey(s) && !l.had(s) {
			l.spans = append(l.spans, *s)
		}
	}
	l.ends = append(l.ends, len(l.of))
	return nil
}

// isKey reports whether a span is all rows of its key.
func (l *lookup) isKey(s *KeySpan) bool {
	return len(s.Equal) == l.width && s.Low == nil && s.High == nil && s.Prefix == nil
}

// had reports whether the span has been asked about before.
func (l *lookup) had(s *KeySpan) bool {
	s.key(&l.exact)
	if !l.exact.ok || l.seen[string(l.exact.bytes)] {
		return l.exact.ok
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[string(l.exact.bytes)] = true
	return false
}

// read reads what belongs to the rows that were added. False: it is too much, a condition failed, or the source does not read ahead;
// nothing is kept then.
func (l *lookup) read() (bool, error) {
	if len(l.spans) > 0 {
		l.req.Spans = l.spans
		rows, err := l.x.src.Read(&l.req)
		if err != nil || rows == nil {
			return false, err
		}
		fits, err := l.keep(rows)
		if err = firstError(err, rows.Close()); err != nil || !fits {
			return false, err
		}
	}
	l.kept = true
	l.sort()
	return true, nil
}

// sort puts the rows that were kept in the order of their keys.
func (l *lookup) sort() {
	l.froms = append(l.froms, make([]int32, l.table.len()+1)...)
	for _, k := range l.keyOf {
		if k >= 0 {
			l.froms[k]++
		}
	}
	end := int32(0)
	for k := range l.froms {
		end += l.froms[k]
		l.froms[k] = end
	}
	l.byKey = append(l.byKey, make([]int32, end)...)
	for row := len(l.keyOf) - 1; row >= 0; row-- {
		if k := l.keyOf[row]; k >= 0 {
			l.froms[k]--
			l.byKey[l.froms[k]] = int32(row)
		}
	}
}

func (l *lookup) keep(rows Rows) (bool, error) {
	most := -1
	if l.few {
		most = pairsAhead * len(l.ends)
	}
	for {
		ok, err := rows.Next(l.x.regs, l.n.Cols)
		if err != nil || !ok {
			return true, err
		}
		if err := l.x.tick(); err != nil {
			return false, err
		}
		if l.own > 0 {
			if ok, err := l.x.holds(l.n.Filter[:l.own]); err != nil {
				return false, nil // the row may never be looked at
			} else if !ok {
				continue
			}
		}
		b := l.buf[:0]
		for i, c := range l.keyCols {
			if b, err = l.keys.Append(b, l.x.env, i, l.x.regs[c]); err != nil {
				return false, err
			}
		}
		l.buf = b
		k := l.table.find(b)
		if k < 0 && !l.wide {
			continue
		}
		if err := l.rows.add(l.x.regs, l.n.Cols); err != nil || l.rows.held.n > lookupBytes || l.rows.n == most {
			return false, nil
		}
		l.keyOf = append(l.keyOf, int32(k))
	}
}

// rowsOf are the rows that belong to a row of the left side, in order.
func (l *lookup) rowsOf(row int) []int32 {
	from := 0
	if row > 0 {
		from = l.ends[row-1]
	}
	keys := l.of[from:l.ends[row]]
	switch {
	case len(keys) == 0:
		return nil
	case len(keys) == 1 && keys[0] >= 0:
		return l.byKey[l.froms[keys[0]]:l.froms[keys[0]+1]]
	}
	l.tmp = l.tmp[:0]
	if slices.Contains(keys, -1) {
		for i := range l.rows.n {
			l.tmp = append(l.tmp, int32(i))
		}
		return l.tmp
	}
	for _, k := range keys {
		l.tmp = append(l.tmp, l.byKey[l.froms[k]:l.froms[k+1]]...)
	}
	slices.Sort(l.tmp)
	return l.tmp
}

func (l *lookup) open() error {
	if l.plain = !l.kept; l.plain {
		return l.scan.open()
	}
	l.given, l.at, l.scan.left = l.rowsOf(l.row), 0, -1
	if l.n.Limit > 0 {
		l.scan.left = l.n.Limit
	}
	return nil
}

func (l *lookup) next() (bool, error) {
	if l.plain {
		return l.scan.next()
	}
	for l.at < len(l.given) && l.scan.left != 0 {
		if err := l.x.tick(); err != nil {
			return false, err
		}
		l.x.load(l.n.Cols, l.rows.row(int(l.given[l.at])))
		l.at++
		if len(l.n.Filter) > l.own {
			if ok, err := l.x.holds(l.n.Filter[l.own:]); err != nil {
				return false, err
			} else if !ok {
				continue
			}
		}
		l.scan.left--
		return true, nil
	}
	return false, nil
}

func (l *lookup) close() error {
	if l.rows != nil {
		l.forget()
	}
	return l.scan.close()
}

// leftAhead reads rows of the left side of a join ahead, and has lookup read what belongs to them.
type leftAhead struct {
	x     *Execution
	child iterator
	cols  []rel.ColID
	look  *lookup
	some  bool // perhaps not all rows are wanted

	rows *rowStore
	at   int
	size int   // how many rows to read next
	most int   // at most
	over bool  // child has given its last row,
	err  error // or has failed
}

func (a *leftAhead) open() error {
	a.rows.reset()
	a.at, a.over, a.err = 0, false, nil
	a.size = min(firstAhead, a.most)
	if a.some {
		a.size = 1
	}
	return a.child.open()
}

func (a *leftAhead) next() (bool, error) {
	if a.at++; a.at >= a.rows.n {
		if ok, err := a.read(); err != nil || !ok || a.rows.n == 0 {
			return ok, err
		}
		a.at = 0
	}
	a.x.load(a.cols, a.rows.row(a.at))
	a.look.row = a.at
	return true, nil
}

// read reads the next rows; false: there are none. One row alone it leaves in the registers.
func (a *leftAhead) read() (bool, error) {
	if a.rows.n > 0 {
		a.rows.rewind() // the registers hold the last row, as child left it (E2)
	}
	if err := a.look.begin(); err != nil || a.over {
		return false, firstError(err, a.err)
	}
	size := a.size
	if a.some {
		a.size = min(2*size, a.most)
	} else {
		a.size = min(8*size, a.most)
	}
	if size == 1 {
		return a.child.next()
	}
	fine := true
	for a.rows.n < size && a.rows.held.n < leftAheadBytes {
		ok, err := a.child.next()
		if err != nil || !ok {
			a.over, a.err = true, err
			break
		}
		if err := a.x.tick(); err != nil {
			return false, err
		}
		if err := a.rows.add(a.x.regs, a.cols); err != nil {
			return false, err
		}
		if fine && a.rows.n > 1 {
			fine = a.add() == nil // else it is told when the row's turn comes
		}
	}
	if a.rows.n == 0 {
		return false, a.err
	}
	if a.rows.n > 1 && fine {
		var err error
		if fine, err = a.look.read(); err != nil {
			return false, err
		}
		if !fine {
			a.most = max(1, size/4)
			a.size = min(a.size, a.most)
		}
	}
	return true, nil
}

// add has the row looked up that was read last, and the first one before the second.
func (a *leftAhead) add() error {
	if a.rows.n == 2 {
		a.x.load(a.cols, a.rows.row(0))
		err := a.look.add()
		a.x.load(a.cols, a.rows.row(1))
		if err != nil {
			return err
		}
	}
	return a.look.add()
}

func (a *leftAhead) close() error {
	a.rows.reset()
	return a.child.close()
}
