package exec

import (
	"time"

	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Measure is what the operators of a query did, for EXPLAIN ANALYZE.
type Measure struct {
	// Clock gives the time since some moment.
	Clock func() time.Duration
	// Nodes has the operators that were opened.
	Nodes map[rel.Node]*Actual
}

// Actual is what one operator did, all its openings together. The times include those of the operators below it.
type Actual struct {
	Loops uint64 // how often it was opened
	Rows  uint64 // that it gave
	First time.Duration
	Total time.Duration
}

// NewMeasure makes a Measure.
func NewMeasure(clock func() time.Duration) *Measure {
	return &Measure{Clock: clock, Nodes: map[rel.Node]*Actual{}}
}

// measured is an iterator whose time and rows are measured, if the execution is.
func (x *Execution) measured(n rel.Node, it iterator) iterator {
	m := x.opts.Measure
	if m == nil {
		return it
	}
	a := m.Nodes[n]
	if a == nil {
		a = &Actual{}
		m.Nodes[n] = a
	}
	return &measuredIterator{iterator: it, m: m, a: a}
}

type measuredIterator struct {
	iterator
	m     *Measure
	a     *Actual
	begun time.Duration // of this opening, what it took until the first row
	given bool
}

func (i *measuredIterator) open() error {
	from := i.m.Clock()
	err := i.iterator.open()
	i.begun, i.given = i.m.Clock()-from, false
	i.a.Loops++
	i.a.Total += i.begun
	return err
}

func (i *measuredIterator) next() (bool, error) {
	from := i.m.Clock()
	ok, err := i.iterator.next()
	took := i.m.Clock() - from
	i.a.Total += took
	if !i.given {
		i.given = true
		i.a.First += i.begun + took
	}
	if ok {
		i.a.Rows++
	}
	return ok, err
}
