package exec

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Options are what a session decides about the execution of a query.
type Options struct {
	// MaxRecursion is cte_max_recursion_depth: how many steps a recursive query may make.
	MaxRecursion int
	// MemoryLimit is how many bytes the operators of a statement may keep; 0: no limit. MemorySetting is the setting that raises it,
	// for the error.
	MemoryLimit   int64
	MemorySetting string
	// Session is what the host's leaves find in rel.Frame.Session.
	Session any
	// NoAhead: joins that look rows up by an index do so row by row; for tests.
	NoAhead bool
	// SizeOf is about how many bytes a value of the host takes (JSON documents, geometries); nil: a guess.
	SizeOf func(v any) int
	// Measure, if not nil, is told what each operator did (EXPLAIN ANALYZE).
	Measure *Measure
}

// Execution is the execution of a query. It is used by one goroutine.
type Execution struct {
	q     *rel.Query
	env   *expr.Env
	src   Source
	opts  Options
	frame *rel.Frame
	regs  []expr.Value // those of frame
	mem   memory
	ticks uint

	host any // what env.Host was before
	root iterator
	open bool
	done bool // there are no more rows

	subs   map[*rel.Subquery]*subquery
	shared map[*rel.Shared]*shared
	work   map[*rel.Recursive]*recursive
	groups map[*rel.Group]*counted

	lookups map[*rel.Scan]*lookup // scans that are looked up for several rows of the left side of a join at once
	some    bool                  // while it is built: what reads the operator may stop before the end

	given   uint64
	top     *rel.Limit // the LIMIT of the whole query, if it has one
	counted *limit     // the one that knows how many rows were found
}

// iterator is an operator that is executed.
type iterator interface {
	// open begins to give rows, anew if it has been opened before (E1).
	open() error
	// next fills the registers of the operator's columns; false: there are no more rows, and next is not called again.
	next() (bool, error)
	// close lets go of what the iterator holds. It may be closed at any time, more than once, and opened again.
	close() error
}

// New prepares the execution of a query. From Open to Close env.Host is the execution's frame.
func New(q *rel.Query, env *expr.Env, src Source, o Options) *Execution {
	x := &Execution{q: q, env: env, src: src, opts: o,
		subs: map[*rel.Subquery]*subquery{}, shared: map[*rel.Shared]*shared{}, work: map[*rel.Recursive]*recursive{},
		lookups: map[*rel.Scan]*lookup{}}
	x.mem = memory{limit: o.MemoryLimit, setting: o.MemorySetting, sizeOf: o.SizeOf}
	x.regs = make([]expr.Value, len(q.Meta.Columns))
	x.top = topLimit(q.Root)
	x.frame = &rel.Frame{Regs: x.regs, Run: x, Session: o.Session}
	return x
}

// topLimit is the LIMIT of the whole query, above which there are only columns that are calculated.
func topLimit(n rel.Node) *rel.Limit {
	for {
		switch t := n.(type) {
		case *rel.Limit:
			return t
		case *rel.Project:
			n = t.Child
		default:
			return nil
		}
	}
}

// Open begins the execution.
func (x *Execution) Open() (err error) {
	x.host, x.env.Host, x.open = x.env.Host, x.frame, true
	if x.root, err = x.build(x.q.Root); err != nil {
		return err
	}
	if err = x.root.open(); err != nil {
		return err
	}
	return x.failed()
}

// Next puts the next row of the result into out, which has a place for each of the query's Out; false: there is none.
func (x *Execution) Next(out []expr.Value) (bool, error) {
	if x.done {
		return false, nil
	}
	ok, err := x.root.next()
	if err == nil {
		err = x.failed()
	}
	if err != nil || !ok {
		x.done = true
		return false, err
	}
	x.given++
	for i := range x.q.Out {
		out[i] = x.regs[x.q.Out[i].Col]
	}
	return true, nil
}

// failed is the error that strict mode makes of warnings in a statement that stores something.
func (x *Execution) failed() error {
	if x.env.Change {
		return x.env.Failed()
	}
	return nil
}

// Close ends the execution, whether all rows have been read or not.
func (x *Execution) Close() error {
	if !x.open {
		return nil
	}
	x.open = false
	x.env.Host = x.host
	var err error
	if x.root != nil {
		err = x.root.close()
	}
	for _, s := range x.subs {
		err = firstError(err, s.close())
	}
	for _, s := range x.shared {
		err = firstError(err, s.close())
	}
	return err
}

// FoundRows is what FOUND_ROWS() says after the query: how many rows it gave and skipped (OFFSET), and with SQL_CALC_FOUND_ROWS those
// beyond the limit too. It is known when all rows have been read.
func (x *Execution) FoundRows() uint64 {
	if x.counted != nil {
		return x.counted.found
	}
	return x.given
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// tick is called for each row that is read or looked at (E4).
func (x *Execution) tick() error {
	if x.ticks++; x.ticks&1023 == 0 {
		return x.env.Poll()
	}
	return nil
}

// holds reports whether all conditions are true for the row in the registers.
func (x *Execution) holds(conds []expr.Node) (bool, error) {
	for _, c := range conds {
		v, err := c.Eval(x.env)
		if err != nil {
			return false, err
		}
		if is, _, err := expr.Truth(x.env, v); err != nil || !is {
			return false, err
		}
	}
	return true, nil
}

// setNull makes columns NULL.
func (x *Execution) setNull(cols []rel.ColID) {
	for _, c := range cols {
		x.regs[c] = expr.Null
	}
}

// load puts a row that was kept back into the registers.
func (x *Execution) load(cols []rel.ColID, row []expr.Value) {
	for i, c := range cols {
		x.regs[c] = row[i]
	}
}

// fill evaluates expressions into columns.
func (x *Execution) fill(cols []rel.ColID, nodes []expr.Node) error {
	for i, n := range nodes {
		v, err := n.Eval(x.env)
		if err != nil {
			return err
		}
		x.regs[cols[i]] = v
	}
	return nil
}
