package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// use is what one transaction did to one register, seen from outside: the version it first read, if it read before it
// wrote, and the last value it wrote.
type use struct {
	txn             int32
	reads, absent   bool // absent: it read the initial state
	read            int64
	writes          bool
	wrote           int64
	invoke, return_ int64
}

// first and last are the versions at which it met and left the register; none: not known.
func (u *use) first() (v version, ok bool) {
	if u.reads {
		return version{u.read, u.absent}, true
	}
	return version{u.wrote, false}, u.writes
}

func (u *use) last() (v version, ok bool) {
	if u.writes {
		return version{u.wrote, false}, true
	}
	return version{u.read, u.absent}, u.reads
}

// version is a state of a register.
type version struct {
	v      int64
	absent bool // the initial one, which is before all others
}

// pair is two values of a register, the first before the second, and what shows it. That the initial state is before all
// goes without saying.
type pair struct {
	before, after int64
	from, to      int32 // transactions: from left the first value, and ended before to began, which met the second
	timed         bool  // or else one transaction, which read the first and wrote the second
	writes        bool  // from and to wrote these values
}

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.before, b.before), cmp.Compare(a.after, b.after), cmp.Compare(a.rank(), b.rank()))
}

// rank is lower for better evidence.
func (p *pair) rank() int {
	switch {
	case !p.timed:
		return 0
	case p.writes:
		return 1
	}
	return 2
}

// registerAnalysis infers the order of the versions of registers. It is seldom total, as a register does not show its past. These facts are
// known: the initial state is before everything; what a transaction wrote comes after what it had read; and if the model guarantees
// that keys are linearizable (or follow each client's order), a version met after another had been
// left is that one, or a later one. A database that breaks the guarantee by which an order was inferred shows a cycle all the
// same, though perhaps of a worse name than it deserves.
type registerAnalysis struct {
	*analysis
	writer map[int64]ref
	final  map[int64]bool // of each value written: the last one its transaction wrote
	uses   []use
	pairs  []pair
}

// registers finds the anomalies and the edges of all registers.
func (a *analysis) registers() {
	r := &registerAnalysis{analysis: a}
	for k := range a.refs {
		if !a.list[k] {
			r.key(int32(k))
		}
	}
}

func (r *registerAnalysis) key(k int32) {
	r.writer, r.final = emptied(r.writer), emptied(r.final)
	r.uses, r.pairs = r.uses[:0], r.pairs[:0]
	r.perTxn(int(k), func(txn int32, refs []ref) {
		last := ref{-1, -1}
		for _, f := range refs {
			if m := r.mop(f); m.Kind == MopWrite {
				r.writer[m.Value] = f
				last = f
			}
		}
		if last.txn >= 0 {
			r.final[r.mop(last).Value] = true
		}
		if !r.in[txn] {
			return
		}
		if u, ok := r.walk(k, txn, refs); ok {
			r.uses = append(r.uses, u)
		}
	})
	r.origins(k)
	r.updates(k)
	for i := range r.uses {
		u := &r.uses[i]
		if u.reads && u.writes {
			r.before(version{u.read, u.absent}, version{u.wrote, false}, pair{from: u.txn, to: u.txn})
		}
	}
	switch {
	case r.model.Forbids(G0 + KeyRealtime):
		r.inTime(r.uses)
	case r.model.Forbids(G0 + Process):
		r.inSessions()
	}
	r.link(k)
}

// walk follows one transaction: it reads what it wrote itself, or else always the same.
func (r *registerAnalysis) walk(k, txn int32, refs []ref) (u use, ok bool) {
	t := &r.h[txn]
	u = use{txn: txn, invoke: t.Invoke, return_: t.end()}
	for _, f := range refs {
		m := r.mop(f)
		switch {
		case m.Kind == MopWrite && u.reads && !u.absent && u.read == m.Value:
			r.note(Internal, []int32{txn}, "it read %d in key %s before it wrote that itself", m.Value, r.keys[k])
			return u, false
		case m.Kind == MopWrite:
			u.writes, u.wrote = true, m.Value
		case !m.Known:
		case u.writes && (m.Nil || m.Value != u.wrote):
			r.note(Internal, []int32{txn}, "%s, although it had written %d itself", m, u.wrote)
			return u, false
		case u.writes:
		case u.reads && (m.Nil != u.absent || m.Value != u.read):
			r.note(Internal, []int32{txn}, "it read key %s as %s, and then as %s", r.keys[k], u.text(), valueText(m.Value, m.Nil))
			return u, false
		default:
			u.reads, u.absent, u.read = true, m.Nil, m.Value
			if m.Nil {
				u.read = 0
			}
		}
	}
	return u, true
}

func (u *use) text() string { return valueText(u.read, u.absent) }

// before notes that a version comes before another, if both are states that the register was left in: the last that some
// transaction wrote, which took effect.
func (r *registerAnalysis) before(a, b version, p pair) {
	if a != b && r.replaced(a) && r.replaced(b) {
		p.before, p.after = a.v, b.v
		r.pairs = append(r.pairs, p)
	}
}

func (r *registerAnalysis) replaced(v version) bool {
	w, ok := r.writer[v.v]
	return ok && !v.absent && r.in[w.txn] && r.final[v.v]
}

// origins finds reads of what nobody wrote, what failed, and what was overwritten by its own transaction.
func (r *registerAnalysis) origins(k int32) {
	for i := range r.uses {
		u := &r.uses[i]
		if !u.reads || u.absent {
			continue
		}
		w, ok := r.writer[u.read]
		switch {
		case !ok:
			r.note(UnwrittenRead, []int32{u.txn}, "it read %d in key %s, which nobody wrote", u.read, r.keys[k])
		case r.h[w.txn].Outcome == Failed:
			r.note(G1a, []int32{w.txn, u.txn}, "the second read %d in key %s, which the first wrote, and the first failed", u.read, r.keys[k])
		case !r.final[u.read] && w.txn != u.txn:
			r.note(G1b, []int32{w.txn, u.txn}, "the second read %d in key %s, which the first overwrote itself", u.read, r.keys[k])
		}
	}
}

// updates finds two transactions that both replaced the version that they had read.
func (r *registerAnalysis) updates(k int32) {
	by := map[version]int32{}
	for i := range r.uses {
		u := &r.uses[i]
		if !u.reads || !u.writes || r.h[u.txn].Outcome != OK {
			continue
		}
		v := version{u.read, u.absent}
		if o, ok := by[v]; ok {
			r.note(LostUpdate, []int32{o, u.txn}, "both read key %s as %s and replaced that", r.keys[k], u.text())
		}
		by[v] = u.txn
	}
}

// inTime lets versions come after each other as transactions on the key do: whoever begins after another has ended meets
// what that one left, or something later.
func (r *registerAnalysis) inTime(uses []use) {
	type meeting struct {
		at  int64
		end bool
		use *use
	}
	ms := make([]meeting, 0, 2*len(uses))
	for i := range uses {
		u := &uses[i]
		ms = append(ms, meeting{u.invoke, false, u})
		if r.h[u.txn].Outcome == OK {
			ms = append(ms, meeting{u.return_, true, u})
		}
	}
	slices.SortFunc(ms, func(a, b meeting) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		if a.end != b.end { // an end is before a beginning only if it is earlier
			if b.end {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.use.txn, b.use.txn)
	})
	var ended []*use // those after whose end no other has begun and ended: the others follow from these
	for _, m := range ms {
		if m.end {
			if _, ok := m.use.last(); ok {
				ended = append(slices.DeleteFunc(ended, func(e *use) bool { return e.return_ < m.use.invoke }), m.use)
			}
			continue
		}
		after, ok := m.use.first()
		if !ok {
			continue
		}
		for _, e := range ended {
			before, _ := e.last()
			r.before(before, after, pair{from: e.txn, to: m.use.txn, timed: true, writes: e.writes && !m.use.reads})
		}
	}
}

// inSessions does the same for each client by itself.
func (r *registerAnalysis) inSessions() {
	by := slices.Clone(r.uses)
	client := func(u use) string { return r.h[u.txn].Client }
	slices.SortStableFunc(by, func(a, b use) int { return cmp.Compare(client(a), client(b)) })
	for len(by) > 0 {
		n := 1
		for n < len(by) && client(by[n]) == client(by[0]) {
			n++
		}
		r.inTime(by[:n])
		by = by[n:]
	}
}

// link makes the edges of a register.
func (r *registerAnalysis) link(k int32) {
	r.settleOrder(k)
	readers := map[version][]int32{}
	for i := range r.uses {
		u := &r.uses[i]
		if !u.reads {
			continue
		}
		readers[version{u.read, u.absent}] = append(readers[version{u.read, u.absent}], r.node[u.txn])
		if w, ok := r.writer[u.read]; ok && !u.absent && r.in[w.txn] {
			r.g.link(edge{kind: edgeWR, key: k, v1: u.read}, r.node[w.txn], target{r.node[u.txn], u.read})
		}
	}
	later := map[int64]bool{} // another value is known to be before it
	for rest := r.pairs; len(rest) > 0; {
		v := rest[0].before
		var to []target
		for ; len(rest) > 0 && rest[0].before == v; rest = rest[1:] {
			after := rest[0].after
			to = append(to, target{r.node[r.writer[after].txn], after})
			later[after] = true
		}
		r.g.fan(edge{kind: edgeRW, key: k, v1: v}, readers[version{v: v}], to)
		r.g.fan(edge{kind: edgeWW, key: k, v1: v}, []int32{r.node[r.writer[v].txn]}, to)
	}
	// Whoever read the initial state comes before all writers: before those whose value follows no other, and through
	// them before the rest.
	var to []target
	for i := range r.uses {
		if u := &r.uses[i]; u.writes && !later[u.wrote] {
			to = append(to, target{r.node[u.txn], u.wrote})
		}
	}
	r.g.fan(edge{kind: edgeRW, key: k, absent: true}, readers[version{absent: true}], to)
}

// settleOrder sorts the pairs. If values come before one another, that is an anomaly, and only the better evidence is kept:
// it may still show which transaction is to blame.
func (r *registerAnalysis) settleOrder(k int32) {
	slices.SortFunc(r.pairs, comparePairs)
	r.pairs = slices.CompactFunc(r.pairs, func(a, b pair) bool { return a.before == b.before && a.after == b.after })
	told := false
	for rank := 1; ; rank-- {
		c := circle(r.pairs)
		if c == nil {
			return
		}
		worst := slices.MaxFunc(c, func(a, b pair) int { return cmp.Compare(a.rank(), b.rank()) })
		if !told || !worst.timed {
			r.reportCycle(k, c, worst.timed)
			told = true
		}
		if !worst.timed {
			rank = -1 // nothing can be said of their order
		}
		r.pairs = slices.DeleteFunc(r.pairs, func(p pair) bool { return p.rank() > rank })
	}
}

// reportCycle reports values that come before one another.
func (r *registerAnalysis) reportCycle(k int32, c []pair, timed bool) {
	kind := CyclicVersions
	switch {
	case timed && r.model.Forbids(G0+Realtime):
		kind += Realtime
	case timed && r.model.Forbids(G0+KeyRealtime):
		kind += KeyRealtime
	case timed:
		kind += Process
	}
	var txns []int32
	name := func(t int32) string {
		if !slices.Contains(txns, t) {
			txns = append(txns, t)
		}
		return fmt.Sprint("T", slices.Index(txns, t)+1)
	}
	var why []string
	for _, p := range c {
		if p.timed {
			why = append(why, fmt.Sprintf("%d before %d, as %s left the one and ended before %s began and met the other", p.before, p.after, name(p.from), name(p.to)))
		} else {
			why = append(why, fmt.Sprintf("%d before %d, as %s read the one and wrote the other", p.before, p.after, name(p.from)))
		}
	}
	r.note(kind, txns, "the values of key %s come before one another: %s", r.keys[k], strings.Join(why, "; "))
}

// circle returns a shortest circle of values through one that is on a circle, or nil if there is none. The pairs are sorted.
func circle(pairs []pair) []pair {
	left := cyclic(pairs)
	from := func(v int64) []pair {
		i, _ := slices.BinarySearchFunc(pairs, v, func(p pair, v int64) int { return cmp.Compare(p.before, v) })
		n := i
		for n < len(pairs) && pairs[n].before == v {
			n++
		}
		return pairs[i:n]
	}
	for _, goal := range left {
		via := map[int64]pair{}
		for work := []int64{goal}; len(work) > 0; work = work[1:] {
			for _, p := range from(work[0]) {
				if _, ok := via[p.after]; ok {
					continue
				}
				via[p.after] = p
				work = append(work, p.after)
			}
			p, ok := via[goal]
			if !ok {
				continue
			}
			c := []pair{p}
			for p.before != goal {
				p = via[p.before]
				c = append(c, p)
			}
			slices.Reverse(c)
			return c
		}
	}
	return nil
}

// cyclic returns the values of sorted pairs that come before one another or after such, or nil if there are none: what
// is left when values with nothing before them are taken away one by one.
func cyclic(pairs []pair) (left []int64) {
	if len(pairs) == 0 {
		return nil
	}
	before := make(map[int64]int, len(pairs))
	for _, p := range pairs {
		before[p.before] += 0
		before[p.after]++
	}
	var free []int64
	for v, n := range before {
		if n == 0 {
			free = append(free, v)
		}
	}
	for len(free) > 0 {
		v := free[len(free)-1]
		free = free[:len(free)-1]
		delete(before, v)
		i, _ := slices.BinarySearchFunc(pairs, v, func(p pair, v int64) int { return cmp.Compare(p.before, v) })
		for ; i < len(pairs) && pairs[i].before == v; i++ {
			if before[pairs[i].after]--; before[pairs[i].after] == 0 {
				free = append(free, pairs[i].after)
			}
		}
	}
	for v := range before {
		left = append(left, v)
	}
	slices.Sort(left)
	return left
}
