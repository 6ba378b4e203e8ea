package exec

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A join that looks rows up by an index asks for those of its right side once for each row of its left side. If the source can read
// for several rows in one round, the left rows are read ahead in batches, and what the right side will ask for them is read at once. This
// is for right sides that are more than a table (lookup.go has those that are one): a group, another join. L1, L2 and L4 hold here, too.

// ManySource is a Source that reads several requests at once.
type ManySource interface {
	Source
	// ReadMany begins to read requests that differ in their spans alone: Rows for each, nil for those that are to be read by
	// themselves.
	ReadMany(rs []*Request) ([]Rows, error)
}

// Sizes of batches: the first ones are small, because many joins end early.
const (
	aheadFirst = 16 // 1 if perhaps not all rows are wanted
	aheadMost  = 512
)

// ahead is the left side of such a join.
type ahead struct {
	x      *Execution
	left   iterator
	cols   []rel.ColID
	scan   *scan // of the right side
	source ManySource
	batch  *rowStore
	given  []Rows // for the rows of batch; nil: each is read by itself
	at, n  int    // of the rows of batch
	size   int
	some   bool  // perhaps not all rows are wanted
	over   bool  // left has given its last row,
	err    error // or it, or a value of the index, has failed
}

// newAhead is the left side of a join that is read ahead, or left itself if that makes no sense.
func newAhead(x *Execution, n *rel.Join, left iterator) iterator {
	src, ok := x.src.(ManySource)
	if !ok || n.Keep || n.Hash != nil && !n.Lateral {
		return left
	}
	s := lookupBelow(n.Right)
	if s == nil || x.scans[s] == nil || x.opts.NoAhead || !calmExprs(n) || !calm(n.Left) || !calm(n.Right) {
		return left
	}
	cols := n.Left.Columns()
	reads := rel.Cols{}
	for _, span := range s.Access.Spans {
		rel.CollectCols(reads, span.Equal...)
		for _, b := range []*rel.Bound{span.Low, span.High} {
			if b != nil {
				rel.CollectCols(reads, b.Value)
			}
		}
		rel.CollectCols(reads, span.Prefix)
	}
	uses := false
	for c := range reads {
		uses = uses || slices.Contains(cols, c)
	}
	if !uses || slices.ContainsFunc(n.Right.Columns(), func(c rel.ColID) bool { return reads[c] }) {
		return left
	}
	return &ahead{x: x, left: left, cols: cols, scan: x.scans[s], source: src, some: x.some,
		batch: newRowStore(&x.mem, len(cols))}
}

// lookupBelow is the scan with which an operator begins when it is opened, if it looks up rows by an index.
func lookupBelow(n rel.Node) *rel.Scan {
	switch n := n.(type) {
	case *rel.Scan:
		if n.Access != nil && len(n.Access.Spans) > 0 {
			return n
		}
	case *rel.Filter, *rel.Project, *rel.Group, *rel.Distinct, *rel.One:
		return lookupBelow(n.Children()[0])
	case *rel.Join:
		if !n.Keep {
			return lookupBelow(n.Left)
		}
	}
	return nil
}

func (a *ahead) open() error {
	if err := a.forget(); err != nil {
		return err
	}
	a.over, a.err, a.size = false, nil, aheadFirst
	if a.some {
		a.size = 1
	}
	return a.left.open()
}

func (a *ahead) next() (bool, error) {
	if a.at == a.n {
		if a.over {
			return false, a.err
		}
		if err := a.fill(); err != nil {
			return false, err
		}
		if a.n == 0 {
			return false, a.err
		}
	}
	a.x.load(a.cols, a.batch.row(a.at))
	if a.given != nil {
		if err := a.scan.drop(); err != nil {
			return false, err
		}
		a.scan.given, a.given[a.at] = a.given[a.at], nil
	}
	a.at++
	return true, nil
}

// fill reads the next rows of the left side, and begins to read what the right side will ask for them.
func (a *ahead) fill() error {
	if err := a.forget(); err != nil {
		return err
	}
	var requests []*Request
	var places []int
	for a.n < a.size {
		ok, err := a.left.next()
		if err != nil || !ok {
			a.over, a.err = true, err // told after the rows before it
			break
		}
		if err := a.x.tick(); err != nil {
			return err
		}
		if err := a.batch.add(a.x.regs, a.cols); err != nil {
			return err
		}
		// An error is told when the row's turn comes.
		if spans, err := a.scan.spans(); err == nil && len(spans) > 0 {
			r := a.scan.req
			r.Spans = spans
			requests, places = append(requests, &r), append(places, a.n)
		}
		a.n++
	}
	if a.some {
		a.size = min(a.size*2, aheadMost)
	} else {
		a.size = min(a.size*4, aheadMost)
	}
	if len(requests) < 2 {
		return nil
	}
	rows, err := a.source.ReadMany(requests)
	if err != nil || rows == nil {
		return err
	}
	a.given = make([]Rows, a.n)
	for i, at := range places {
		a.given[at] = rows[i]
	}
	return nil
}

// forget lets go of the batch.
func (a *ahead) forget() error {
	err := a.scan.drop()
	for _, r := range a.given {
		if r != nil {
			err = firstError(err, r.Close())
		}
	}
	a.given, a.at, a.n = nil, 0, 0
	a.batch.reset()
	return err
}

func (a *ahead) close() error { return firstError(a.forget(), a.left.close()) }
