package exec

import (
	"fmt"

	"github.com/longitude-db/longitude/internal/sql/rel"
)

// shared is a query whose rows are kept and read in several places.
type shared struct {
	x     *Execution
	n     *rel.Shared
	plan  iterator
	rows  *rowStore // nil: it has not been executed
	outer exactKey  // of the outer columns with which it was
	key   []byte
	busy  bool
}

// sharedOf is the one state that all scans of a shared query have.
func (x *Execution) sharedOf(n *rel.Shared) (*shared, error) {
	s := x.shared[n]
	if s == nil {
		plan, err := x.buildApart(n.Plan, false)
		if err != nil {
			return nil, err
		}
		s = &shared{x: x, n: n, plan: plan}
		x.shared[n] = s
	}
	return s, nil
}

// read gives the rows for the present outer columns. They stay as they are while somebody reads them: rows for other outer columns
// are kept apart.
func (s *shared) read() (*rowStore, error) {
	s.outer.reset()
	for _, c := range s.n.Outer {
		s.outer.add(s.x.regs[c])
	}
	if s.rows != nil && s.outer.ok && string(s.outer.bytes) == string(s.key) {
		return s.rows, nil
	}
	if s.busy {
		return nil, fmt.Errorf("the query %s reads itself", s.n.Name)
	}
	s.busy = true
	defer func() { s.busy = false }()
	s.drop()
	rows := newRowStore(&s.x.mem, len(s.n.Cols))
	if err := s.x.gather(s.plan, rows, s.n.Cols); err != nil {
		rows.free()
		return nil, err
	}
	s.rows, s.key = rows, append(s.key[:0], s.outer.bytes...)
	return rows, nil
}

// drop gives the memory of rows back; an iterator that reads them still may.
func (s *shared) drop() {
	if s.rows != nil {
		s.rows.free()
		s.rows = nil
	}
}

func (s *shared) close() error {
	s.drop()
	return s.plan.close()
}

// gather reads an iterator to its end and keeps the columns of its rows.
func (x *Execution) gather(it iterator, rows *rowStore, cols []rel.ColID) error {
	if err := it.open(); err != nil {
		return err
	}
	for {
		ok, err := it.next()
		if err != nil {
			return err
		}
		if !ok {
			return it.close()
		}
		if err := x.tick(); err != nil {
			return err
		}
		if err := rows.add(x.regs, cols); err != nil {
			return err
		}
	}
}

// storeScan gives the rows of a store.
type storeScan struct {
	x    *Execution
	cols []rel.ColID
	rows *rowStore
	at   int
}

func (s *storeScan) next() (bool, error) {
	if s.at >= s.rows.n {
		return false, nil
	}
	if err := s.x.tick(); err != nil {
		return false, err
	}
	s.x.load(s.cols, s.rows.row(s.at))
	s.at++
	return true, nil
}

// sharedScan reads the rows of a shared query.
type sharedScan struct {
	storeScan
	n *rel.SharedScan
}

func newSharedScan(x *Execution, n *rel.SharedScan) iterator {
	return &sharedScan{storeScan: storeScan{x: x, cols: n.Cols}, n: n}
}

func (s *sharedScan) open() error {
	from, err := s.x.sharedOf(s.n.From)
	if err != nil {
		return err
	}
	s.at = 0
	s.rows, err = from.read()
	return err
}

func (s *sharedScan) close() error {
	s.rows = nil
	return nil
}
