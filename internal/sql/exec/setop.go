package exec

import "github.com/longitude-db/longitude/internal/sql/rel"

// newSetOp makes a set operation. UNIONs in a row become one iterator.
func newSetOp(x *Execution, n *rel.SetOp) (iterator, error) {
	if n.Kind == rel.Union {
		return newUnion(x, n)
	}
	left, err := x.build(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := x.build(n.Right)
	if err != nil {
		return nil, err
	}
	s := &setOp{x: x, n: n, left: left, right: right, table: newKeyTable(&x.mem), keys: make([]*rowKeys, 2)}
	for i, cols := range [][]rel.ColID{n.LeftCols, n.RightCols} {
		if s.keys[i], err = x.newRowKeys(n.Cols); err != nil { // the sides have the types of Cols
			return nil, err
		}
		s.keys[i].cols = cols
	}
	return s, nil
}

// setOp is INTERSECT or EXCEPT: the right side is counted, then the left one is read.
type setOp struct {
	x           *Execution
	n           *rel.SetOp
	left, right iterator
	keys        []*rowKeys // of the left side and the right
	table       *keyTable
	counts      []int // by key: how many rows of the right side are left. With DISTINCT: 1, or 0 once the row was given
}

func (s *setOp) open() error {
	s.table.reset()
	s.counts = s.counts[:0]
	if err := s.right.open(); err != nil {
		return err
	}
	for {
		ok, err := s.right.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := s.x.tick(); err != nil {
			return err
		}
		k, err := s.keys[1].of(s.x.regs)
		if err != nil {
			return err
		}
		i, fresh, err := s.table.add(k)
		if err != nil {
			return err
		}
		if fresh {
			s.counts = append(s.counts, 0)
		}
		if s.n.All || fresh {
			s.counts[i]++
		}
	}
	return s.left.open()
}

func (s *setOp) next() (bool, error) {
	for {
		if ok, err := s.left.next(); err != nil || !ok {
			return false, err
		}
		if err := s.x.tick(); err != nil {
			return false, err
		}
		k, err := s.keys[0].of(s.x.regs)
		if err != nil {
			return false, err
		}
		ok, err := s.wanted(k)
		if err != nil {
			return false, err
		}
		if ok {
			s.x.copy(s.n.Cols, s.n.LeftCols)
			return true, nil
		}
	}
}

func (s *setOp) wanted(k []byte) (bool, error) {
	if s.n.Kind == rel.Intersect {
		i := s.table.find(k)
		if i < 0 || s.counts[i] == 0 {
			return false, nil
		}
		s.counts[i]--
		return true, nil
	}
	if s.n.All {
		i := s.table.find(k)
		if i < 0 || s.counts[i] == 0 {
			return true, nil
		}
		s.counts[i]--
		return false, nil
	}
	_, fresh, err := s.table.add(k) // what is given is not given again
	return fresh, err
}

func (s *setOp) close() error {
	s.table.reset()
	return firstError(s.left.close(), s.right.close())
}

// copy copies registers.
func (x *Execution) copy(to, from []rel.ColID) {
	for i, c := range from {
		x.regs[to[i]] = x.regs[c]
	}
}

// union is UNION or UNION ALL of any number of sides.
type union struct {
	x     *Execution
	cols  []rel.ColID
	sides []unionSide
	at    int
	seen  *keyTable // nil: all rows are given
	keys  *rowKeys
}

type unionSide struct {
	iterator
	cols []rel.ColID
}

func newUnion(x *Execution, n *rel.SetOp) (iterator, error) {
	u := &union{x: x, cols: n.Cols}
	if err := u.add(n, n.Cols, n.All); err != nil {
		return nil, err
	}
	if n.All {
		return u, nil
	}
	u.seen = newKeyTable(&x.mem)
	var err error
	u.keys, err = x.newRowKeys(n.Cols)
	return u, err
}

// add adds the sides of a UNION, of which cols are the columns that go into u.cols, by place. Within UNION each UNION is flat; within
// UNION ALL only another UNION ALL is.
func (u *union) add(n *rel.SetOp, cols []rel.ColID, all bool) error {
	for i, side := range []rel.Node{n.Left, n.Right} {
		from := n.LeftCols
		if i == 1 {
			from = n.RightCols
		}
		wanted := make([]rel.ColID, len(cols))
		for j, c := range cols {
			for at, out := range n.Cols {
				if out == c {
					wanted[j] = from[at]
				}
			}
		}
		if s, ok := side.(*rel.SetOp); ok && s.Kind == rel.Union && (s.All || !all) {
			if err := u.add(s, wanted, all); err != nil {
				return err
			}
			continue
		}
		it, err := u.x.build(side)
		if err != nil {
			return err
		}
		u.sides = append(u.sides, unionSide{it, wanted})
	}
	return nil
}

func (u *union) open() error {
	if u.seen != nil {
		u.seen.reset()
	}
	u.at = 0
	return u.sides[0].open()
}

func (u *union) next() (bool, error) {
	for {
		side := &u.sides[u.at]
		ok, err := side.next()
		if err != nil {
			return false, err
		}
		if !ok {
			if u.at == len(u.sides)-1 {
				return false, nil
			}
			u.at++
			if err := u.sides[u.at].open(); err != nil {
				return false, err
			}
			continue
		}
		u.x.copy(u.cols, side.cols)
		if u.seen == nil {
			return true, nil
		}
		k, err := u.keys.of(u.x.regs)
		if err != nil {
			return false, err
		}
		if _, fresh, err := u.seen.add(k); err != nil || fresh {
			return err == nil, err
		}
		if err := u.x.tick(); err != nil {
			return false, err
		}
	}
}

func (u *union) close() (err error) {
	if u.seen != nil {
		u.seen.reset()
	}
	for i := range u.sides {
		err = firstError(err, u.sides[i].close())
	}
	return err
}
