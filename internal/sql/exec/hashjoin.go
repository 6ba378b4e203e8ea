package exec

import "github.com/longitude-db/longitude/internal/sql/rel"

// hashJoin reads its right side once into a hash table, and looks each row of the left one up in it.
type hashJoin struct {
	x           *Execution
	n           *rel.Join
	left, right iterator
	cols        []rel.ColID // of the right side
	keys        []match     // those that are hashed
	equal       []match     // those that only a comparison can tell
	aware       bool        // an anti join to which unknown comparisons are partners (NOT IN)
	fixed       bool        // the right side never changes in a statement
	keysOnly    bool        // the rows of the right side are not needed

	built bool
	table *keyTable
	rows  *rowStore
	heads []int32 // by key: the first of its rows; they stand in the order in which they came
	tails []int32
	nexts []int32 // by row: the next of the same key; -1: none
	nulls []int32 // aware: rows with a NULL in the key
	buf   []byte

	at      int32 // the next row to try for the row of left; -1: none
	matched bool
}

func newHashJoin(x *Execution, n *rel.Join, left, right iterator) (iterator, error) {
	j := &hashJoin{x: x, n: n, left: left, right: right, cols: n.Right.Columns(), fixed: fixed(n.Right)}
	j.aware = n.Kind == rel.Anti && n.NullAware
	for _, k := range n.Hash {
		m, err := newMatch(k)
		if err != nil {
			return nil, err
		}
		if m.Hashable() {
			j.keys = append(j.keys, m)
			j.fixed = j.fixed && steady(k.Right, colSet(j.cols))
		} else {
			j.equal = append(j.equal, m)
		}
	}
	j.keysOnly = (n.Kind == rel.Semi || n.Kind == rel.Anti) && len(n.On) == 0 && len(j.equal) == 0 && !j.aware
	j.table, j.rows = newKeyTable(&x.mem), newRowStore(&x.mem, len(j.cols))
	return j, nil
}

func colSet(cols []rel.ColID) rel.Cols {
	out := make(rel.Cols, len(cols))
	for _, c := range cols {
		out[c] = true
	}
	return out
}

func (j *hashJoin) open() error {
	j.at = -1
	j.matched = true // of no row
	if !j.built || !j.fixed {
		if err := j.build(); err != nil {
			return err
		}
	}
	return j.left.open()
}

// build reads the right side.
func (j *hashJoin) build() error {
	j.drop()
	if err := j.right.open(); err != nil {
		return err
	}
	for {
		ok, err := j.right.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := j.x.tick(); err != nil {
			return err
		}
		if err := j.insert(); err != nil {
			return err
		}
	}
	j.built = true
	return j.right.close()
}

// insert adds the row of the right side that the registers hold.
func (j *hashJoin) insert() error {
	b, null := j.buf[:0], false
	for _, m := range j.keys {
		var err error
		if b, null, err = m.RightKey(j.x.env, b, m.nullSafe); err != nil {
			return err
		}
		if null {
			break
		}
	}
	j.buf = b
	if null && !j.aware {
		return nil // equal to nothing
	}
	row := int32(j.rows.n)
	if !j.keysOnly {
		if err := j.rows.add(j.x.regs, j.cols); err != nil {
			return err
		}
		j.nexts = append(j.nexts, -1)
	}
	if null {
		j.nulls = append(j.nulls, row)
		return nil
	}
	k, fresh, err := j.table.add(b)
	if err != nil || j.keysOnly {
		return err
	}
	if fresh {
		j.heads, j.tails = append(j.heads, row), append(j.tails, row)
		return nil
	}
	j.nexts[j.tails[k]] = row
	j.tails[k] = row
	return nil
}

func (j *hashJoin) next() (bool, error) {
	for {
		for j.at >= 0 {
			row := j.at
			j.at = j.nexts[row]
			if err := j.x.tick(); err != nil {
				return false, err
			}
			j.x.load(j.cols, j.rows.row(int(row)))
			t, err := j.x.and(j.equal, j.n.On, false)
			if err != nil {
				return false, err
			}
			if t != isTrue {
				continue
			}
			j.matched = true
			switch j.n.Kind {
			case rel.Semi:
				j.at = -1
				return true, nil
			case rel.Anti:
				j.at = -1
			default:
				return true, nil
			}
		}
		if !j.matched {
			j.matched = true
			switch j.n.Kind {
			case rel.Left:
				j.x.setNull(j.cols)
				return true, nil
			case rel.Anti:
				return true, nil
			}
		}
		if j.n.Kind == rel.Inner && j.rows.n == 0 {
			return false, nil
		}
		if ok, err := j.left.next(); err != nil || !ok {
			return false, err
		}
		if err := j.x.tick(); err != nil {
			return false, err
		}
		if ok, err := j.probe(); err != nil || ok {
			return ok, err
		}
	}
}

// probe looks the row of the left side up; true: it is to be given, and nothing else needs to be looked at.
func (j *hashJoin) probe() (bool, error) {
	b, null := j.buf[:0], false
	for _, m := range j.keys {
		var err error
		if b, null, err = m.LeftKey(j.x.env, b, m.nullSafe); err != nil {
			return false, err
		}
		if null {
			break
		}
	}
	j.buf = b
	j.at, j.matched = -1, false
	if j.aware {
		return j.isOutside(b, null)
	}
	if null {
		return false, nil
	}
	k := j.table.find(b)
	if j.keysOnly {
		j.matched = true
		return (k >= 0) == (j.n.Kind == rel.Semi), nil
	}
	if k >= 0 {
		j.at = j.heads[k]
	}
	return false, nil
}

// isOutside reports whether no row of the right side is a partner of the left row, where unknown comparisons count as partners.
func (j *hashJoin) isOutside(key []byte, null bool) (bool, error) {
	j.matched = true
	simple := len(j.keys) == 1 && len(j.equal) == 0 && len(j.n.On) == 0 && !j.keys[0].nullSafe
	if null { // each row may be one
		if simple {
			return j.rows.n == 0, nil
		}
		for i := range j.rows.n {
			if is, err := j.isPartner(i, j.keys); err != nil || is {
				return false, err
			}
		}
		return true, nil
	}
	if simple && len(j.nulls) > 0 {
		return false, nil
	}
	if k := j.table.find(key); k >= 0 {
		for row := j.heads[k]; row >= 0; row = j.nexts[row] {
			if is, err := j.isPartner(int(row), nil); err != nil || is {
				return false, err
			}
		}
	}
	for _, row := range j.nulls {
		if is, err := j.isPartner(int(row), j.keys); err != nil || is {
			return false, err
		}
	}
	return true, nil
}

// isPartner reports whether the conditions, and the equalities of keys, are true or unknown for a row of the right side.
func (j *hashJoin) isPartner(row int, keys []match) (bool, error) {
	if err := j.x.tick(); err != nil {
		return false, err
	}
	j.x.load(j.cols, j.rows.row(row))
	t, err := j.x.and(keys, nil, true)
	if err != nil || t == isFalse {
		return false, err
	}
	if t, err = j.x.and(j.equal, j.n.On, true); err != nil {
		return false, err
	}
	return t != isFalse, nil
}

func (j *hashJoin) drop() {
	j.table.reset()
	j.rows.reset()
	j.heads, j.tails, j.nexts, j.nulls = j.heads[:0], j.tails[:0], j.nexts[:0], j.nulls[:0]
	j.built = false
}

func (j *hashJoin) close() error {
	if !j.fixed {
		j.drop()
	}
	return firstError(j.left.close(), j.right.close())
}
