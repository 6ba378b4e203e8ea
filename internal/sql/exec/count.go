package exec

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A Group directly over a Scan, with counts, minima and maxima of columns, is left to the source if it can count where the rows are
// (Counter). The rows that are meant have to be those of spans of an index exactly: the conditions of the scan are made sets of
// values here (valueset.go), by column. What the source declines is grouped as usual.

// counted is such a Group.
type counted struct {
	x     *Execution
	n     *rel.Group
	s     *rel.Scan
	src   Counter
	plain iterator
	req   CountRequest
	cols  []rel.ColID // that Rows fill in
	rows  Rows
	// beside is the left side of a join whose right side this is: a whole table, which can be read in the same round.
	beside *scan
	// look is the scan's iterator if it is looked up for several rows at once; nil: it is not. What it kept is grouped as usual.
	look  *lookup
	usual bool // plain gives the rows
}

// newCounted makes the iterator of a Group that may be counted; nil: it is none.
func newCounted(x *Execution, n *rel.Group, plain iterator) *counted {
	src, ok := x.src.(Counter)
	s, isScan := n.Child.(*rel.Scan)
	if !ok || !isScan || n.Rollup || len(n.Grouping) > 0 || s.Limit > 0 {
		return nil
	}
	c := &counted{x: x, n: n, s: s, src: src, plain: plain, req: CountRequest{Table: s.Table}}
	place := func(id rel.ColID) int {
		if i := slices.Index(s.Cols, id); i >= 0 {
			return s.Places[i]
		}
		return -1
	}
	for i, k := range n.Keys {
		at := place(k)
		if at < 0 || n.Out[i] != k {
			return nil
		}
		c.req.Keys = append(c.req.Keys, at)
	}
	c.cols = append(c.cols, n.Keys...)
	for i := range n.Aggs {
		a := &n.Aggs[i]
		if a.Distinct || !a.Star && len(a.Args) != 1 {
			return nil
		}
		out := CountAgg{}
		if !a.Star {
			switch arg := a.Args[0].(type) {
			case *rel.Col:
				if out.Place = place(arg.ID); out.Place < 0 {
					return nil
				}
				out.Kind = CountPlace
			case *expr.Lit:
				if arg.V.IsNull() {
					return nil
				}
			default:
				return nil
			}
		}
		switch {
		case a.Name == "count":
		case a.Name == "min" && out.Kind == CountPlace:
			out.Kind = MinPlace
		case a.Name == "max" && out.Kind == CountPlace:
			out.Kind = MaxPlace
		default:
			return nil
		}
		c.req.Aggs, c.cols = append(c.req.Aggs, out), append(c.cols, a.Col)
	}
	for _, f := range s.Filter {
		if !c.restricts(f) {
			return nil
		}
	}
	return c
}

// restricts reports whether a condition is of a kind that sets of values are made of.
func (c *counted) restricts(f expr.Node) bool {
	r := restriction{x: c.x, s: c.s}
	return r.known(f)
}

func (c *counted) open() error {
	if err := c.close(); err != nil {
		return err
	}
	if c.usual = c.look != nil && c.look.kept; c.usual {
		return c.plain.open()
	}
	var ok bool
	var err error
	if c.req.Index, c.req.Spans, ok, err = c.spans(); err != nil {
		return err
	}
	if ok {
		c.req.Beside = nil
		if c.beside != nil {
			c.req.Beside = &c.beside.req
		}
		if c.rows, err = c.src.Count(&c.req); err != nil || c.rows != nil {
			return err
		}
	}
	c.usual = true
	return c.plain.open()
}

func (c *counted) next() (bool, error) {
	if c.usual {
		return c.plain.next()
	}
	if err := c.x.tick(); err != nil {
		return false, err
	}
	return c.rows.Next(c.x.regs, c.cols)
}

func (c *counted) close() error {
	err := c.plain.close()
	if c.rows != nil {
		err = firstError(err, c.rows.Close())
		c.rows = nil
	}
	return err
}

// spans are the parts of an index that hold the rows that are meant, and no others; nil: it is the whole table.
func (c *counted) spans() (rel.Index, []KeySpan, bool, error) {
	var order rel.Index // in which the groups have to come
	if c.n.Ordered {
		if c.s.Access != nil {
			order, c.req.Reverse = c.s.Access.Index, c.s.Access.Reverse
		} else if all := c.s.Table.Indexes(); len(all) > 0 && all[0].Primary() {
			order = all[0]
		} else {
			return nil, nil, false, nil
		}
		c.req.Ordered = true
	}
	if len(c.s.Filter) == 0 {
		return order, nil, order == nil || c.groupsBy(order), nil
	}
	sets := map[int]*valueSet{} // by place
	r := restriction{x: c.x, s: c.s}
	for _, f := range c.s.Filter {
		at, set, ok, err := r.of(f)
		if err != nil || !ok {
			return nil, nil, false, err
		}
		if have := sets[at]; have != nil {
			set, err = have.and(c.x.env, set)
			if err != nil {
				return nil, nil, false, err
			}
		}
		sets[at] = set
	}
	for _, x := range c.s.Table.Indexes() {
		if order != nil && x != order {
			continue
		}
		if spans, ok := spansOf(x, sets); ok && c.groupsBy(x) {
			return x, spans, true, nil
		}
	}
	return nil, nil, false, nil
}

// groupsBy reports whether the first columns of an index are the keys, in any order.
func (c *counted) groupsBy(x rel.Index) bool {
	parts := x.Parts()
	if len(c.req.Keys) > len(parts) {
		return false
	}
	for i := range c.req.Keys {
		if !slices.Contains(c.req.Keys, parts[i].Place) {
			return false
		}
	}
	return true
}

// mostCounted is how many spans are asked for at most.
const mostCounted = 1024

// spansOf are the spans of an index in which columns have the values of sets; false: the index does not have exactly these rows in
// spans.
func spansOf(x rel.Index, sets map[int]*valueSet) ([]KeySpan, bool) {
	out := make([]KeySpan, 1)
	used := 0
	for _, p := range x.Parts() {
		set := sets[p.Place]
		if set == nil || p.Prefix > 0 {
			break
		}
		used++
		points := set.points()
		if !points && used < len(sets) {
			return nil, false
		}
		next := []KeySpan{}
		for _, s := range out {
			next = append(next, set.within(s.Equal)...)
		}
		if out = next; len(out) > mostCounted {
			return nil, false
		}
		if !points {
			break
		}
	}
	return out, used == len(sets)
}
