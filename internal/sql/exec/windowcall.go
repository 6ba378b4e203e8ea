package exec

import (
	"github.com/longitude-db/longitude/internal/sql/aggregate"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// windowCall is one function of a window.
type windowCall struct {
	w     *window
	fn    *rel.WindowFunc
	args  []expr.Node
	frame *framer
	state func() (rel.AggState, error) // an aggregate
	// as brings a value to the function's type, if that is not the kind of what is calculated.
	as     expr.Node
	source *register
}

// register is an expression whose value its owner sets.
type register struct {
	t expr.Type
	v expr.Value
}

// Type implements expr.Node.
func (r *register) Type() expr.Type { return r.t }

// Eval implements expr.Node.
func (r *register) Eval(*expr.Env) (expr.Value, error) { return r.v, nil }

func newWindowCall(w *window, f *rel.WindowFunc) (*windowCall, error) {
	c := &windowCall{w: w, fn: f, args: f.Args}
	var err error
	if c.frame, err = newFramer(w, f); err != nil {
		return nil, err
	}
	if f.Agg == nil {
		return c, nil
	}
	c.args = f.Agg.Args
	m, err := aggregate.Prepare(f.Agg, w.x.env)
	if err != nil {
		return nil, err
	}
	c.state = func() (rel.AggState, error) { return m.New(), nil }
	return c, nil
}

// values are those of the function for the rows of a partition.
func (c *windowCall) values(p *windowPart) ([]expr.Value, error) {
	out := make([]expr.Value, p.size())
	var err error
	switch c.fn.Name {
	case "lag", "lead", "ntile", "percent_rank", "cume_dist":
		if err := c.frame.check(p); err != nil {
			return nil, err
		}
	}
	switch {
	case c.fn.Agg != nil:
		err = c.aggregate(p, out)
	case c.fn.Name == "lag" || c.fn.Name == "lead":
		err = c.neighbour(p, out)
	case c.fn.Name == "ntile":
		err = c.ntile(p, out)
	case c.fn.Name == "first_value" || c.fn.Name == "last_value" || c.fn.Name == "nth_value":
		err = c.pick(p, out)
	default:
		err = c.rank(p, out)
	}
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i], err = c.typed(out[i]); err != nil {
			return nil, err
		}
		if c.fn.Agg != nil {
			out[i] = out[i].From(expr.Calculated)
		}
		if err := c.w.held.take(c.w.x.mem.extra(&out[i])); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// typed is a value as one of the function's type (R3).
func (c *windowCall) typed(v expr.Value) (expr.Value, error) {
	if v.IsNull() || v.Kind() == c.fn.T.Kind() {
		return v, nil
	}
	if c.as == nil {
		c.source = &register{t: c.fn.T}
		as, err := expr.Build("as", c.fn.Text, c.fn.T, c.source)
		if err != nil {
			return expr.Null, err
		}
		c.as = as
	}
	c.source.v = v
	return c.as.Eval(c.w.x.env)
}

// argument evaluates an argument for each row of a partition (W3).
func (c *windowCall) argument(p *windowPart, arg int) ([]expr.Value, error) {
	if err := c.w.held.take(int64(p.size()) * valueBytes); err != nil {
		return nil, err
	}
	out := make([]expr.Value, p.size())
	for i := range out {
		if err := c.w.x.tick(); err != nil {
			return nil, err
		}
		c.w.loadRow(p.start + i)
		v, err := c.args[arg].Eval(c.w.x.env)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// count is an argument that says how many; false: it is NULL. Error 1210 if it is no whole number from least on.
func (c *windowCall) count(p *windowPart, arg int, least int64) (int64, bool, error) {
	c.w.loadRow(p.start)
	v, err := c.args[arg].Eval(c.w.x.env)
	switch {
	case err != nil:
		return 0, false, err
	case v.IsNull():
		return 0, false, nil
	case v.Kind() == expr.KindInt && v.RawInt() >= least:
		return v.RawInt(), true, nil
	case v.Kind() == expr.KindUint && v.RawUint() >= uint64(least):
		return int64(min(v.RawUint(), 1<<62)), true, nil
	}
	return 0, false, c.wrongArguments()
}

func (c *windowCall) wrongArguments() error {
	return expr.Errorf(1210, "HY000", "Incorrect arguments to %s", c.fn.Name)
}

// rank computes the functions of a row's place in its partition.
func (c *windowCall) rank(p *windowPart, out []expr.Value) error {
	n := len(out)
	dense := uint64(0)
	for i := range out {
		first := int(p.first[i])
		if first == i {
			dense++
		}
		switch c.fn.Name {
		case "row_number":
			out[i] = expr.Uint(uint64(i) + 1)
		case "rank":
			out[i] = expr.Uint(uint64(first) + 1)
		case "dense_rank":
			out[i] = expr.Uint(dense)
		case "percent_rank":
			out[i] = expr.Float(0)
			if n > 1 {
				out[i] = expr.Float(float64(first) / float64(n-1))
			}
		case "cume_dist":
			out[i] = expr.Float(float64(p.last[i]) / float64(n))
		default:
			return expr.Errorf(1235, "42000", "This version of Longitude doesn't yet have the window function %s", c.fn.Name)
		}
	}
	return nil
}

// neighbour is LAG and LEAD: the value of the row so many places before or behind, or the default for the row itself.
func (c *windowCall) neighbour(p *windowPart, out []expr.Value) error {
	off := int64(1)
	if len(c.args) > 1 {
		n, known, err := c.count(p, 1, 0)
		if err != nil {
			return err
		}
		if !known {
			return c.wrongArguments()
		}
		off = n
	}
	values, err := c.argument(p, 0)
	if err != nil {
		return err
	}
	step := int(min(off, int64(len(out))))
	if c.fn.Name == "lag" {
		step = -step
	}
	for i := range out {
		at := i + step
		switch {
		case at >= 0 && at < len(out):
			out[i] = values[at]
		case len(c.args) > 2:
			c.w.loadRow(p.start + i)
			if out[i], err = c.args[2].Eval(c.w.x.env); err != nil {
				return err
			}
		}
	}
	return nil
}

// ntile cuts the partition into buckets; the first ones are larger by one if the rows cannot be shared out evenly.
func (c *windowCall) ntile(p *windowPart, out []expr.Value) error {
	n, known, err := c.count(p, 0, 1)
	if err != nil || !known {
		return err
	}
	rows := int64(len(out))
	size, larger := rows/n, rows%n
	for i := range out {
		at := int64(i)
		bucket := at / (size + 1)
		if at >= larger*(size+1) {
			bucket = larger + (at-larger*(size+1))/max(size, 1)
		}
		out[i] = expr.Uint(uint64(bucket) + 1)
	}
	return nil
}

// pick is FIRST_VALUE, LAST_VALUE and NTH_VALUE.
func (c *windowCall) pick(p *windowPart, out []expr.Value) error {
	nth := int64(1)
	if c.fn.Name == "nth_value" {
		n, known, err := c.count(p, 1, 1)
		if err != nil {
			return err
		}
		if !known {
			return c.wrongArguments()
		}
		nth = n
	}
	values, err := c.argument(p, 0)
	if err != nil {
		return err
	}
	if err := c.frame.begin(p); err != nil {
		return err
	}
	for i := range out {
		from, to, err := c.frame.of(i)
		if err != nil {
			return err
		}
		if from >= to {
			continue
		}
		switch {
		case c.fn.Name == "last_value":
			out[i] = values[to-1]
		case nth <= int64(to-from):
			out[i] = values[from+int(nth)-1]
		}
	}
	return nil
}
