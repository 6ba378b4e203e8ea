package exec

import (
	"github.com/longitude-db/longitude/internal/sql/aggregate"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// aggregate computes an aggregate over the frame of each row (W4).
func (c *windowCall) aggregate(p *windowPart, out []expr.Value) error {
	rows := make([][]expr.Value, len(c.args)) // by argument
	for i := range c.args {
		var err error
		if rows[i], err = c.argument(p, i); err != nil {
			return err
		}
	}
	if err := c.frame.begin(p); err != nil {
		return err
	}
	if order, ok := c.slidingExtreme(); ok {
		return c.extremes(p, rows[0], order, out)
	}
	args := make([]expr.Value, len(c.args))
	row := func(i int) []expr.Value {
		for a := range args {
			args[a] = rows[a][i]
		}
		return args
	}
	x := c.w.x
	var state rel.AggState
	var value expr.Value
	start, end := 0, 0
	for i := range out {
		from, to, err := c.frame.of(i)
		if err != nil {
			return err
		}
		to = max(from, to)
		if state != nil && from == start && to == end {
			out[i] = value
			continue
		}
		r, removes := state.(aggregate.Remover)
		if state == nil || from < start || to < end || from > start && (!removes || from >= end) {
			if state, err = c.state(); err != nil {
				return err
			}
			start, end = from, from
		}
		for ; start < from; start++ {
			if err := x.tick(); err != nil {
				return err
			}
			if err := r.Remove(x.env, row(start)); err != nil {
				return err
			}
		}
		for ; end < to; end++ {
			if err := x.tick(); err != nil {
				return err
			}
			if err := state.Add(x.env, row(end)); err != nil {
				return err
			}
		}
		if value, err = state.Result(x.env); err != nil {
			return err
		}
		out[i] = value
	}
	return nil
}

// slidingExtreme is the order of the values of a MIN or MAX over a frame whose beginning moves; false: it is none, or its values are
// compared in another order than that of their type (ENUM and SET: as texts).
func (c *windowCall) slidingExtreme() (o expr.Order, ok bool) {
	f := c.fn.Agg
	if f.Name != "min" && f.Name != "max" || c.frame.startsAtBeginning() {
		return o, false
	}
	t := f.Args[0].Type()
	switch t.Kind() {
	case expr.KindEnum, expr.KindSet, expr.KindJSON, expr.KindOther, expr.KindNull, expr.KindBit:
		return o, false
	}
	return expr.OrderOf(t), true
}

// extremes is MIN and MAX over frames that slide: a queue of the rows that may still become the extreme, each more extreme than those
// behind it, so that each row enters and leaves once. Of equal values the first is given.
func (c *windowCall) extremes(p *windowPart, values []expr.Value, order expr.Order, out []expr.Value) error {
	x := c.w.x
	sign := 1
	if c.fn.Agg.Name == "max" {
		sign = -1
	}
	keys := make([]expr.Value, len(values))
	for i, v := range values {
		var err error
		if keys[i], err = order.Prepare(x.env, v); err != nil {
			return err
		}
	}
	var queue []int
	start, end := 0, 0
	for i := range out {
		from, to, err := c.frame.of(i)
		if err != nil {
			return err
		}
		to = max(from, to)
		if from < start || to < end {
			queue, start, end = queue[:0], from, from
		}
		if from > end {
			queue, end = queue[:0], from
		}
		start = from
		for ; end < to; end++ {
			if err := x.tick(); err != nil {
				return err
			}
			if keys[end].IsNull() {
				continue
			}
			for len(queue) > 0 {
				o, err := order.Compare(x.env, keys[queue[len(queue)-1]], keys[end])
				if err != nil {
					return err
				}
				if o*sign <= 0 {
					break
				}
				queue = queue[:len(queue)-1]
			}
			queue = append(queue, end)
		}
		for len(queue) > 0 && queue[0] < from {
			queue = queue[1:]
		}
		if len(queue) > 0 {
			out[i] = values[queue[0]]
		}
	}
	return nil
}
