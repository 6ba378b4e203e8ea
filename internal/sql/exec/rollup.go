package exec

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// rollup is GROUP BY ... WITH ROLLUP: each row is added to a group of all keys, and to one of each prefix of them. The groups are
// given in the order of the keys, those of a prefix after the groups that they consist of.
type rollup struct {
	x     *Execution
	n     *rel.Group
	child iterator
	keys  *rowKeys
	aggs  *aggregates

	levels  []rollupLevel // by how many keys they have
	first   *rowStore     // by group of all keys: prepared for the order, then as they are
	orders  []expr.Order
	parents [][]int32 // by group of all keys: the number of the group that it is part of, by level
	numbers []int32   // of the groups of the row that is added
	memory  held
	order   []int32 // groups of all keys
	at      int     // in order: the group that was given last
	level   int     // the next to give for it
	to      int     // the last to give for it
}

// rollupLevel are the groups of the first keys.
type rollupLevel struct {
	table  *keyTable
	states []rel.AggState
}

func newRollup(x *Execution, n *rel.Group, child iterator, a *aggregates) (iterator, error) {
	r := &rollup{x: x, n: n, child: child, aggs: a, memory: held{m: &x.mem}, levels: make([]rollupLevel, len(n.Keys)+1),
		numbers: make([]int32, len(n.Keys)+1)}
	var err error
	if r.keys, err = x.newRowKeys(n.Keys); err != nil {
		return nil, err
	}
	for _, c := range n.Keys {
		r.orders = append(r.orders, expr.OrderOf(x.q.Meta.Columns[c].Type))
	}
	r.first = newRowStore(&x.mem, 2*len(n.Keys))
	for i := range r.levels {
		r.levels[i].table = newKeyTable(&x.mem)
	}
	return r, nil
}

func (r *rollup) open() error {
	r.reset()
	if err := r.child.open(); err != nil {
		return err
	}
	for {
		ok, err := r.child.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := r.x.tick(); err != nil {
			return err
		}
		if err := r.add(); err != nil {
			return err
		}
	}
	r.order = make([]int32, r.first.n)
	for i := range r.order {
		r.order[i] = int32(i)
	}
	var failed error
	slices.SortStableFunc(r.order, func(a, b int32) int {
		x, y := r.first.row(int(a)), r.first.row(int(b))
		for i, o := range r.orders {
			c, err := o.Compare(r.x.env, x[i], y[i])
			if err != nil {
				failed = err
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	if failed != nil {
		return failed
	}
	if len(r.order) == 0 { // no rows: the row of the total alone
		if _, err := r.group(0, nil); err != nil {
			return err
		}
		r.at, r.level, r.to = 0, 0, 0
		return r.child.close()
	}
	r.begin(0)
	return r.child.close()
}

// add adds the row in the registers to the groups of all levels.
func (r *rollup) add() error {
	if err := r.aggs.evaluate(); err != nil {
		return err
	}
	b := r.keys.buf[:0]
	width := len(r.aggs.aggs)
	for l := range r.levels {
		if l > 0 {
			var err error
			if b, err = r.keys.keys.Append(b, r.x.env, l-1, r.x.regs[r.n.Keys[l-1]]); err != nil {
				return err
			}
		}
		i, err := r.group(l, b)
		if err != nil {
			return err
		}
		r.numbers[l] = int32(i)
		level := &r.levels[l]
		if err := r.aggs.add(level.states[i*width:(i+1)*width], &r.memory); err != nil {
			return err
		}
	}
	r.keys.buf = b
	if int(r.numbers[len(r.n.Keys)]) == r.first.n {
		return r.begun()
	}
	return nil
}

// group is the number of the group of a level that has a key; it may be a new one.
func (r *rollup) group(l int, key []byte) (int, error) {
	level := &r.levels[l]
	i, fresh, err := level.table.add(key)
	if err != nil || !fresh {
		return i, err
	}
	if level.states, err = r.aggs.begin(level.states); err != nil {
		return i, err
	}
	return i, r.memory.take(r.aggs.bytes)
}

// begun is called after the first row of a group of all keys: it keeps the keys, and of which groups it is part.
func (r *rollup) begun() error {
	row := r.first.slot()
	for i, c := range r.n.Keys {
		v := own(r.x.regs[c])
		p, err := r.orders[i].Prepare(r.x.env, v)
		if err != nil {
			return err
		}
		row[i], row[len(r.n.Keys)+i] = p, v
	}
	r.parents = append(r.parents, slices.Clone(r.numbers))
	return r.first.count(row)
}

// begin prepares to give a group of all keys, and those of its prefixes that end with it.
func (r *rollup) begin(at int) {
	r.at, r.level, r.to = at, len(r.n.Keys), 0
	if at+1 == len(r.order) {
		return // all end
	}
	now, then := r.parents[r.order[at]], r.parents[r.order[at+1]]
	for r.to <= len(r.n.Keys) && now[r.to] == then[r.to] {
		r.to++
	}
}

func (r *rollup) next() (bool, error) {
	if r.level < r.to {
		if r.at+1 >= len(r.order) {
			return false, nil
		}
		r.begin(r.at + 1)
	}
	if err := r.x.tick(); err != nil {
		return false, err
	}
	l := r.level
	r.level--
	i := 0
	if len(r.order) > 0 {
		group := int(r.order[r.at])
		r.x.load(r.n.Out[:l], r.first.row(group)[len(r.n.Keys):])
		i = int(r.parents[group][l])
	}
	r.x.setNull(r.n.Out[l:])
	for _, g := range r.n.Grouping {
		bits := int64(0)
		for _, k := range g.Keys {
			bits <<= 1
			if k >= l {
				bits |= 1
			}
		}
		r.x.regs[g.Col] = expr.Int(bits)
	}
	width := len(r.aggs.aggs)
	return true, r.aggs.results(r.levels[l].states[i*width : (i+1)*width])
}

func (r *rollup) reset() {
	for i := range r.levels {
		r.levels[i].table.reset()
		r.levels[i].states = nil
	}
	r.first.reset()
	r.memory.free()
	r.parents, r.order = nil, nil
}

func (r *rollup) close() error {
	r.reset()
	return r.child.close()
}
