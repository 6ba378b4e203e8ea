package check

import (
	"fmt"
	"slices"
)

// element is one element of a list, in the order of its versions.
type element struct {
	v      int64
	writer int32 // transaction; -1: nobody
}

// listRead is a list as a transaction first saw it, before appending to it: a version that others made.
type listRead struct {
	txn  int32
	list []int64
}

// listAnalysis recovers the versions of lists. A list shows its whole past: reading [1 2 3] shows that 1 was appended first,
// 2 after it, and nothing between them. So the longest list read is the order of the versions; every other is a beginning
// of it; and what was appended by a transaction that took effect, and is not in it, came later.
type listAnalysis struct {
	*analysis
	writer map[int64]ref // of each element of the key
	pos    map[int64]int32
	order  []element

	// Kept from key to key, because allocating them takes most of the time.
	firstReads []listRead
	updaters   map[int]int32 // length of the version read -> an acknowledged transaction that appended to it
	own        []int64
	liars      map[int32]bool // transactions that contradict themselves
}

// lists finds the anomalies and the edges of all lists.
func (a *analysis) lists() {
	l := &listAnalysis{analysis: a}
	for k := range a.refs {
		if a.list[k] {
			l.key(int32(k))
		}
	}
}

func (l *listAnalysis) key(k int32) {
	l.writer, l.pos, l.order = emptied(l.writer), emptied(l.pos), l.order[:0]
	l.firstReads, l.updaters, l.liars = l.firstReads[:0], emptied(l.updaters), emptied(l.liars)
	var longest ref
	for _, r := range l.refs[k] {
		if m := l.mop(r); m.Kind == MopAppend {
			l.writer[m.Value] = r
		}
	}
	found := false
	l.perTxn(int(k), func(txn int32, refs []ref) {
		if !l.in[txn] {
			return
		}
		first, seen, ok := l.walk(k, txn, refs)
		if !ok {
			l.liars[txn] = true
			return // it contradicts itself: what it saw is no evidence
		}
		for _, r := range refs {
			if m := l.mop(r); m.Kind == MopReadList && m.Known && (!found || len(m.List) > len(l.mop(longest).List)) {
				longest, found = r, true
			}
		}
		if !seen {
			return
		}
		l.firstReads = append(l.firstReads, listRead{txn, first})
		if l.h[txn].Outcome == OK && slices.ContainsFunc(refs, func(r ref) bool { return l.mop(r).Kind == MopAppend }) {
			if o, ok := l.updaters[len(first)]; ok && slices.Equal(first, l.saw(o, k)) {
				l.note(LostUpdate, []int32{o, txn}, "both read key %s as %s and appended to that", l.keys[k], listText(first))
			}
			l.updaters[len(first)] = txn
		}
	})
	if found {
		l.versions(k, longest)
	}
	l.compatible(k, longest)
	l.link(k)
}

// saw is what a transaction saw of a list first.
func (l *listAnalysis) saw(txn, k int32) []int64 {
	for i := range l.h[txn].Mops {
		if m := &l.h[txn].Mops[i]; m.Key == l.keys[k] && m.Kind == MopReadList && m.Known {
			return m.List
		}
	}
	return nil
}

// walk follows one transaction: every read must be what others had appended when it first read (first), with its own
// appends behind that. seen reports whether it read at all.
func (l *listAnalysis) walk(k, txn int32, refs []ref) (first []int64, seen, ok bool) {
	own := l.own[:0]
	for _, r := range refs {
		m := l.mop(r)
		switch {
		case m.Kind == MopAppend && slices.Contains(first, m.Value):
			l.note(Internal, []int32{txn}, "it read %d in key %s before it appended that itself", m.Value, l.keys[k])
			return nil, false, false
		case m.Kind == MopAppend:
			own = append(own, m.Value)
		case !m.Known:
		case len(m.List) < len(own) || !slices.Equal(m.List[len(m.List)-len(own):], own):
			l.note(Internal, []int32{txn}, "it read key %s as %s, although it had appended %v itself", l.keys[k], listText(m.List), own)
			return nil, false, false
		case !seen:
			// What stands before its own appends others had appended.
			first, seen = m.List[:len(m.List)-len(own)], true
		case !slices.Equal(m.List[:len(m.List)-len(own)], first):
			l.note(Internal, []int32{txn}, "it read key %s as %s, and at first as %s, where others' appends are concerned",
				l.keys[k], listText(m.List[:len(m.List)-len(own)]), listText(first))
			return nil, false, false
		}
	}
	l.own = own
	return first, seen, true
}

// versions takes the order of versions from the longest list, and finds what is wrong with the list itself.
func (l *listAnalysis) versions(k int32, longest ref) {
	reader := longest.txn
	var aborted *ref
	for _, v := range l.mop(longest).List {
		if _, ok := l.pos[v]; ok {
			l.note(DuplicateElements, []int32{reader}, "it read key %s as %s, with %d more than once", l.keys[k], listText(l.mop(longest).List), v)
			continue
		}
		l.pos[v] = int32(len(l.order))
		e := element{v, -1}
		if w, ok := l.writer[v]; ok {
			e.writer = w.txn
			switch {
			case l.h[w.txn].Outcome == Failed:
				aborted = &w
			case aborted != nil && w.txn != aborted.txn:
				l.note(DirtyUpdate, []int32{aborted.txn, w.txn}, "the second appended %d to key %s behind the %d of the first, which failed",
					v, l.keys[k], l.mop(*aborted).Value)
				aborted = nil
			}
		}
		l.order = append(l.order, e)
	}
}

// compatible holds every list that was read against the order, and its elements against those who appended them.
func (l *listAnalysis) compatible(k int32, longest ref) {
	blamed := map[int64]bool{} // of each element one reader is enough
	unknown := func(txn int32, v int64) {
		if blamed[v] {
			return
		}
		w, ok := l.writer[v]
		switch {
		case !ok:
			blamed[v] = true
			l.note(UnwrittenRead, []int32{txn}, "it read %d in key %s, which nobody appended", v, l.keys[k])
		case l.h[w.txn].Outcome == Failed && w.txn != txn:
			blamed[v] = true
			l.note(G1a, []int32{w.txn, txn}, "the second read %d in key %s, which the first appended, and the first failed", v, l.keys[k])
		}
	}
	whole := 0 // of the order: how much has been looked at
	bad := false
	for _, r := range l.refs[k] {
		m := l.mop(r)
		if m.Kind != MopReadList || !m.Known || !l.in[r.txn] || l.liars[r.txn] {
			continue
		}
		from := whole
		if l.isVersion(m.List) {
			whole = max(whole, len(m.List))
		} else {
			from = 0
			if !bad && !duplicated(m.List) {
				bad = true
				l.note(IncompatibleOrder, []int32{longest.txn, r.txn}, "key %s was read as %s, and as %s: neither is the beginning of the other",
					l.keys[k], listText(l.mop(longest).List), listText(m.List))
			}
			if duplicated(m.List) && r != longest {
				l.note(DuplicateElements, []int32{r.txn}, "it read key %s as %s", l.keys[k], listText(m.List))
			}
		}
		for i := from; i < len(m.List); i++ {
			unknown(r.txn, m.List[i])
		}
		if len(m.List) == 0 {
			continue
		}
		last := m.List[len(m.List)-1]
		if w, ok := l.writer[last]; ok && w.txn != r.txn && l.in[w.txn] && l.appendsAfter(w) {
			l.note(G1b, []int32{w.txn, r.txn}, "the second read key %s as %s, in the midst of what the first appended", l.keys[k], listText(m.List))
		}
	}
}

func duplicated(l []int64) bool {
	seen := make(map[int64]bool, len(l))
	for _, v := range l {
		seen[v] = true
	}
	return len(seen) < len(l)
}

// isVersion reports whether a list is a beginning of the order.
func (l *listAnalysis) isVersion(list []int64) bool {
	if len(list) > len(l.order) {
		return false
	}
	for i, v := range list {
		if l.order[i].v != v {
			return false
		}
	}
	return true
}

// appendsAfter reports whether a transaction appends to the same list again after this append.
func (l *listAnalysis) appendsAfter(w ref) bool {
	ms := l.h[w.txn].Mops
	return slices.ContainsFunc(ms[w.mop+1:], func(m Mop) bool { return m.Kind == MopAppend && m.Key == ms[w.mop].Key })
}

// link makes the edges of a list: each writer comes after the one before (ww) and before who saw its element last (wr),
// and who saw a version comes before the next writer (rw).
func (l *listAnalysis) link(k int32) {
	// next[i] is the first element from i on whose writer took effect; prev[i] the last one before i.
	n := len(l.order)
	next, prev := make([]int32, n+1), make([]int32, n+1)
	next[n], prev[0] = -1, -1
	for i := n - 1; i >= 0; i-- {
		next[i] = next[i+1]
		if w := l.order[i].writer; w >= 0 && l.in[w] {
			next[i] = int32(i)
		}
	}
	for i := range n {
		prev[i+1] = prev[i]
		if next[i] == int32(i) {
			prev[i+1] = int32(i)
		}
	}
	for i := range n {
		if next[i] != int32(i) {
			continue
		}
		if p := prev[i]; p >= 0 {
			l.g.link(edge{kind: edgeWW, key: k, v1: l.order[p].v}, l.node[l.order[p].writer], target{l.node[l.order[i].writer], l.order[i].v})
		}
	}
	var unseen []target
	var later []moment // of unseen
	for _, r := range l.refs[k] {
		m := l.mop(r)
		if _, ok := l.pos[m.Value]; m.Kind == MopAppend && l.in[r.txn] && !ok {
			unseen = append(unseen, target{l.node[r.txn], m.Value})
			later = l.moments(later, r.txn, l.node[r.txn], m.Value)
		}
	}
	var last []int32 // who read the longest list
	for _, g := range l.firstReads {
		if !l.isVersion(g.list) {
			continue
		}
		i := len(g.list)
		me := l.node[g.txn]
		p := prev[i]
		for p >= 0 && l.order[p].writer == g.txn {
			p = prev[p]
		}
		if p >= 0 {
			v := l.order[p].v
			l.g.link(edge{kind: edgeWR, key: k, v1: v}, l.node[l.order[p].writer], target{me, v})
		}
		rw := edge{kind: edgeRW, key: k, absent: i == 0}
		if i > 0 {
			rw.v1 = g.list[i-1]
		}
		if x := next[i]; x >= 0 {
			l.g.link(rw, me, target{l.node[l.order[x].writer], l.order[x].v})
		} else {
			last = append(last, me)
		}
	}
	if len(unseen) == 0 {
		return
	}
	if p := prev[n]; p >= 0 {
		l.g.fan(edge{kind: edgeWW, key: k, v1: l.order[p].v}, []int32{l.node[l.order[p].writer]}, unseen)
	}
	rw := edge{kind: edgeRW, key: k, absent: n == 0}
	if n > 0 {
		rw.v1 = l.order[n-1].v
	}
	l.g.fan(rw, last, unseen)
	if l.model == SerializableLinearizableKeys {
		l.g.linkTime(edge{kind: edgeWW, key: k}, later) // in a strict model this follows from time alone
	}
}

// note adds an anomaly that is not a cycle.
func (a *analysis) note(k Kind, txns []int32, format string, args ...any) {
	if a.n[k]++; a.n[k] > perKind {
		return
	}
	an := TxnAnomaly{Anomaly: Anomaly{Kind: k}, Why: fmt.Sprintf(format, args...)}
	for _, t := range txns {
		an.Txns = append(an.Txns, int(t))
	}
	a.report(an)
}
