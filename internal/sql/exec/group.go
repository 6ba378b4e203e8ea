package exec

import (
	"strings"

	"github.com/longitude-db/longitude/internal/sql/aggregate"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// newGroup makes the iterator of a Group: rows are added to the groups of a table, or to one group after the other if they come in
// the order of the keys.
func newGroup(x *Execution, n *rel.Group, child iterator) (iterator, error) {
	keys, err := x.newRowKeys(n.Keys)
	if err != nil {
		return nil, err
	}
	a, err := newAggregates(x, n.Aggs)
	if err != nil {
		return nil, err
	}
	switch {
	case n.Rollup:
		return newRollup(x, n, child, a)
	case n.Ordered && !n.Scalar:
		return &orderedGroup{x: x, n: n, child: child, keys: keys, aggs: a, first: newRowStore(&x.mem, len(n.Keys)),
			memory: held{m: &x.mem}}, nil
	}
	return &hashGroup{x: x, n: n, child: child, keys: keys, aggs: a, table: newKeyTable(&x.mem), first: newRowStore(&x.mem, len(n.Keys)),
		states: held{m: &x.mem}}, nil
}

// aggregates makes the states of groups, adds rows to them and gives their results.
type aggregates struct {
	x     *Execution
	aggs  []rel.Agg
	make  []func() (rel.AggState, error)
	args  [][]expr.Value // by aggregate, for the row that is added
	bytes int64          // of the states of one group, about
}

// stateBytes is about what the state of an aggregate takes. What GROUP_CONCAT and DISTINCT keep is counted by Size.
const stateBytes = 96

// sizer is a state that keeps more the more rows it was given.
type sizer interface {
	// Size is how many bytes it keeps.
	Size() int64
}

func newAggregates(x *Execution, aggs []rel.Agg) (*aggregates, error) {
	a := &aggregates{x: x, aggs: aggs, bytes: int64(len(aggs)) * stateBytes}
	for i := range aggs {
		g := &aggs[i]
		a.args = append(a.args, make([]expr.Value, len(g.Args)))
		m, err := aggregate.Prepare(g, x.env)
		if err != nil {
			return nil, err
		}
		a.make = append(a.make, func() (rel.AggState, error) { return m.New(), nil })
	}
	return a, nil
}

// begin appends the states of a new group.
func (a *aggregates) begin(to []rel.AggState) ([]rel.AggState, error) {
	for _, m := range a.make {
		s, err := m()
		if err != nil {
			return to, err
		}
		to = append(to, s)
	}
	return to, nil
}

// evaluate evaluates the arguments for the row in the registers, once for all groups that it is added to.
func (a *aggregates) evaluate() error {
	for i := range a.aggs {
		for j, n := range a.aggs[i].Args {
			v, err := n.Eval(a.x.env)
			if err != nil {
				return err
			}
			a.args[i][j] = v
		}
	}
	return nil
}

// add adds the row of evaluate to a group, and counts what its states keep.
func (a *aggregates) add(states []rel.AggState, memory *held) error {
	for i, s := range states {
		z, grows := s.(sizer)
		var before int64
		if grows {
			before = z.Size()
		}
		if err := s.Add(a.x.env, a.args[i]); err != nil {
			return err
		}
		if grows {
			if err := memory.take(z.Size() - before); err != nil {
				return err
			}
		}
	}
	return nil
}

// results puts the results of a group into the registers.
func (a *aggregates) results(states []rel.AggState) error {
	for i, s := range states {
		v, err := s.Result(a.x.env)
		if err != nil {
			return err
		}
		a.x.regs[a.aggs[i].Col] = v
	}
	return nil
}

// own is a value without the memory of the row that it came from, of which a group that stays may be all that is left.
func own(v expr.Value) expr.Value {
	switch v.Kind() {
	case expr.KindText:
		return expr.Text(strings.Clone(v.RawText()))
	case expr.KindBytes:
		return expr.Bytes(strings.Clone(v.RawText()))
	}
	return v
}

// keepKeys keeps the key columns of the row in the registers.
func keepKeys(x *Execution, to *rowStore, cols []rel.ColID) error {
	row := to.slot()
	for i, c := range cols {
		row[i] = own(x.regs[c])
	}
	return to.count(row)
}

// hashGroup makes all groups before it gives the first; they come in the order in which their first rows came.
type hashGroup struct {
	x     *Execution
	n     *rel.Group
	child iterator
	keys  *rowKeys
	aggs  *aggregates

	table  *keyTable
	first  *rowStore // by group: the keys of its first row
	all    []rel.AggState
	states held
	count  int
	at     int
}

func (g *hashGroup) open() error {
	g.reset()
	if err := g.child.open(); err != nil {
		return err
	}
	width := len(g.n.Aggs)
	if g.n.Scalar && len(g.n.Keys) == 0 {
		if err := g.begin(); err != nil {
			return err
		}
	}
	for {
		ok, err := g.child.next()
		if err != nil {
			return err
		}
		if !ok {
			return g.child.close()
		}
		if err := g.x.tick(); err != nil {
			return err
		}
		i := 0
		if !g.n.Scalar {
			k, err := g.keys.of(g.x.regs)
			if err != nil {
				return err
			}
			var fresh bool
			if i, fresh, err = g.table.add(k); err != nil {
				return err
			}
			if fresh {
				if err := keepKeys(g.x, g.first, g.n.Keys); err != nil {
					return err
				}
				if err := g.begin(); err != nil {
					return err
				}
			}
		}
		if err := g.aggs.evaluate(); err != nil {
			return err
		}
		if err := g.aggs.add(g.all[i*width:(i+1)*width], &g.states); err != nil {
			return err
		}
	}
}

func (g *hashGroup) begin() (err error) {
	g.count++
	if g.all, err = g.aggs.begin(g.all); err != nil {
		return err
	}
	return g.states.take(g.aggs.bytes)
}

func (g *hashGroup) next() (bool, error) {
	if g.at >= g.count {
		return false, nil
	}
	if err := g.x.tick(); err != nil {
		return false, err
	}
	i, width := g.at, len(g.n.Aggs)
	g.at++
	if !g.n.Scalar {
		g.x.load(g.n.Out, g.first.row(i))
	}
	for _, c := range g.n.Grouping {
		g.x.regs[c.Col] = expr.Int(0)
	}
	return true, g.aggs.results(g.all[i*width : (i+1)*width])
}

func (g *hashGroup) reset() {
	g.table.reset()
	g.first.reset()
	g.states.free()
	g.all, g.count, g.at = nil, 0, 0
}

func (g *hashGroup) close() error {
	g.reset()
	return g.child.close()
}

// orderedGroup makes one group after the other, of rows that come in the order of the keys.
type orderedGroup struct {
	x     *Execution
	n     *rel.Group
	child iterator
	keys  *rowKeys
	aggs  *aggregates

	first  *rowStore // one row: the keys of the group's first row
	key    []byte    // of the group
	states []rel.AggState
	memory held
	begun  bool // the child stands on the first row of a group that is not yet begun
	done   bool
	ahead  []expr.Value // its keys: giving the group before it overwrites them in the registers
}

func (g *orderedGroup) open() error {
	g.begun, g.done = false, false
	g.memory.m = &g.x.mem
	return g.child.open()
}

func (g *orderedGroup) next() (bool, error) {
	if g.done {
		return false, nil
	}
	if !g.begun {
		if ok, err := g.child.next(); err != nil || !ok {
			g.done = true
			return false, err
		}
		k, err := g.keys.of(g.x.regs)
		if err != nil {
			return false, err
		}
		g.key = append(g.key[:0], k...)
	} else {
		g.x.load(g.n.Keys, g.ahead)
		g.begun = false
	}
	g.memory.free()
	g.first.reset()
	if err := keepKeys(g.x, g.first, g.n.Keys); err != nil {
		return false, err
	}
	var err error
	if g.states, err = g.aggs.begin(g.states[:0]); err != nil {
		return false, err
	}
	for {
		if err := g.aggs.evaluate(); err != nil {
			return false, err
		}
		if err := g.aggs.add(g.states, &g.memory); err != nil {
			return false, err
		}
		if err := g.x.tick(); err != nil {
			return false, err
		}
		ok, err := g.child.next()
		if err != nil {
			return false, err
		}
		if !ok {
			g.done = true
			break
		}
		k, err := g.keys.of(g.x.regs)
		if err != nil {
			return false, err
		}
		if string(k) != string(g.key) {
			g.key, g.begun, g.ahead = append(g.key[:0], k...), true, g.ahead[:0]
			for _, c := range g.n.Keys {
				g.ahead = append(g.ahead, g.x.regs[c])
			}
			break
		}
	}
	g.x.load(g.n.Out, g.first.row(0))
	for _, c := range g.n.Grouping {
		g.x.regs[c.Col] = expr.Int(0)
	}
	return true, g.aggs.results(g.states)
}

func (g *orderedGroup) close() error {
	g.first.reset()
	g.memory.free()
	return g.child.close()
}
