package check

import (
	"cmp"
	"slices"
)

// A view is what one reader saw of a set of counters that only grow: how far each had come. All that readers and writers
// of such counters can do wrong shows as an order between views, or between a view and the writes.
type view struct {
	op  *Op
	vec []int64
}

// mark is one transaction's write of some counters: it brought counter at[i] to to[i].
type mark struct {
	op   *Op
	name string
	at   []int
	to   []int64
	seen bool // some view shows that it committed
}

// in reports whether the view contains the write: wholly, or in part.
func (m *mark) in(vec []int64) (all, some bool) {
	all = true
	for i, c := range m.at {
		if vec[c] >= m.to[i] {
			some = true
		} else {
			all = false
		}
	}
	return all, some
}

// checkViews holds every pair of view and write, and every pair of views, against the order of real time.
func checkViews(f *found, views []view, marks []mark) {
	slices.SortStableFunc(views, func(a, b view) int { return cmp.Compare(a.op.Return, b.op.Return) })
	for i := range views {
		v := &views[i]
		// newest is the visible write that was asked for last: whatever was acknowledged before that must be visible too.
		var newest *mark
		for j := range marks {
			m := &marks[j]
			if m.op.Outcome == Failed {
				continue
			}
			if all, _ := m.in(v.vec); all && (m.op.Outcome == OK || m.seen) {
				if m.op.Invoke > v.op.Return {
					f.add(FutureRead, "reader %s saw %s of %s", v.op, m.name, m.op)
				}
				if newest == nil || m.op.Invoke > newest.op.Invoke {
					newest = m
				}
			}
		}
		for j := range marks {
			m := &marks[j]
			all, some := m.in(v.vec)
			switch {
			case all || m.op.Outcome == Failed || (m.op.Outcome == Unknown && !m.seen):
			case m.op.Outcome == OK && m.op.Return < v.op.Invoke:
				f.add(StaleRead, "reader %s does not see %s of %s", v.op, m.name, m.op)
			case some:
				f.add(FracturedRead, "reader %s sees only a part of %s of %s", v.op, m.name, m.op)
			case newest != nil && m.op.Outcome == OK && m.op.Return < newest.op.Invoke:
				f.add(CausalReverse, "reader %s sees %s of %s, but not %s of %s", v.op, newest.name, newest.op, m.name, m.op)
			}
		}
	}
	checkMonotonic(f, views)
	checkForks(f, views)
}

// checkMonotonic: a reader that begins after another has ended sees at least as much.
func checkMonotonic(f *found, views []view) {
	if len(views) == 0 {
		return
	}
	byInvoke := slices.Clone(views)
	slices.SortStableFunc(byInvoke, func(a, b view) int { return cmp.Compare(a.op.Invoke, b.op.Invoke) })
	floor := make([]int64, len(views[0].vec))
	from := make([]*Op, len(floor))
	next := 0 // of views, which are in the order of their ends
	for _, v := range byInvoke {
		for ; next < len(views) && views[next].op.Return < v.op.Invoke; next++ {
			for c, n := range views[next].vec {
				if n > floor[c] {
					floor[c], from[c] = n, views[next].op
				}
			}
		}
		for c, n := range v.vec {
			if n < floor[c] {
				f.add(BackwardRead, "reader %s saw counter %d at %d, reader %s after it at %d", from[c], c, floor[c], v.op, n)
				break
			}
		}
	}
}

// checkForks: of any two views one contains the other. Ordered by their sums, it is enough to compare neighbours.
func checkForks(f *found, views []view) {
	sum := func(v view) (s int64) {
		for _, n := range v.vec {
			s += n
		}
		return s
	}
	bySum := slices.Clone(views)
	slices.SortStableFunc(bySum, func(a, b view) int { return cmp.Compare(sum(a), sum(b)) })
	for i := 1; i < len(bySum); i++ {
		a, b := bySum[i-1], bySum[i]
		for c := range a.vec {
			if a.vec[c] > b.vec[c] {
				f.add(LongFork, "readers %s and %s saw %v and %v", a.op, b.op, a.vec, b.vec)
				break
			}
		}
	}
}
