package txn

import "github.com/longitude-db/longitude/clock"

// order is where a transaction stands among all others. This file is rule 1 (X1): the only place where a clock reading
// becomes timestamps of a transaction.
type order struct {
	reading clock.Interval // at the first access
	r       clock.Timestamp
	g       clock.Timestamp // Invariant: r <= g
}

// startHigh applies rule 1 to a reading that was taken just now.
//
// HAZARD: a transaction acknowledged before this reading was taken has its timestamp below true time then (rule 2), and so
// below Latest; if true time lies outside the interval it may be missed.
func startHigh(o Ordering, now clock.Interval) order {
	ord := order{reading: now, g: now.Limit()}
	switch o {
	case Wait:
		ord.r = ord.g // nothing is uncertain, and c >= r = g is above all that ended before
	case Uncertainty:
		ord.r = now.Start() // pulled up to the versions in (r, g] that it meets
	default:
		panic("txn: unknown ordering " + o.String())
	}
	return ord
}

// forward moves r up. What was read must have been refreshed (X3).
func (o *order) forward(to clock.Timestamp) {
	o.r = o.r.Forward(to)
	o.g = o.g.Forward(o.r)
}

// limit is g for a read on a node of which something was observed (X5).
func (o *order) limit(observed clock.Timestamp, known bool) clock.Timestamp {
	if known && observed.Less(o.g) {
		return observed.Forward(o.r)
	}
	return o.g
}

// above is where r has to go for an uncertain version at ts on that node: past everything on the node that might be
// uncertain, so that it happens at most once per node.
func (o *order) above(ts, observed clock.Timestamp, known bool) clock.Timestamp {
	return o.limit(observed, known).Forward(ts)
}
