package lock

import "fmt"

// checkInvariants walks over the whole table. It is written apart from the code that it checks.
func (t *Table) checkInvariants() error {
	locks, waiting := 0, map[*owner]int{}
	held := map[*owner]int{}
	for k, q := range t.queues {
		if len(q.holders) == 0 {
			return fmt.Errorf("K4: %q is in the table and nobody holds it", k)
		}
		for i, h := range q.holders {
			locks++
			held[h.o]++
			if h.q != q || h.at >= len(h.o.held) || h.o.held[h.at] != h || t.owners[h.o.ID] != h.o {
				return fmt.Errorf("K4: the hold of %s on %q is not linked", h.o.ID, k)
			}
			for _, g := range q.holders[:i] {
				if g.o == h.o || !compatible(g.mode, h.mode) {
					return fmt.Errorf("K1: %q is held by %s %s and %s %s", k, g.o.ID, g.mode, h.o.ID, h.mode)
				}
			}
		}
		for i, w := range q.waiters {
			waiting[w.o]++
			h := q.holdOf(w.o)
			switch {
			case t.waiters[w.ticket] != w || w.q != q:
				return fmt.Errorf("K4: waiter %d on %q is not linked", w.ticket, k)
			case i > 0 && !q.waiters[i-1].before(w):
				return fmt.Errorf("K2: waiter %d stands behind %d on %q", w.ticket, q.waiters[i-1].ticket, k)
			case w.upgrade && h == nil:
				return fmt.Errorf("K2: waiter %d on %q wants to raise a lock that it has not got", w.ticket, k)
			case i == 0 && len(q.conflicts(w.o, w.mode)) == 0:
				return fmt.Errorf("K2: waiter %d on %q could be let in", w.ticket, k)
			}
		}
	}
	if locks != t.locks || locks > t.o.MaxLocks {
		return fmt.Errorf("K4: %d locks, counted as %d; %d waiters", locks, t.locks, len(t.waiters))
	}
	for _, o := range t.owners {
		if o.waiting != waiting[o] || len(o.held) != held[o] || len(o.held) > t.o.MaxPerOwner || o.waiting+len(o.held) == 0 {
			return fmt.Errorf("K4: %s waits %d times and is counted %d, holds %d and is counted %d", o.ID, waiting[o], o.waiting, held[o], len(o.held))
		}
	}
	return nil
}
