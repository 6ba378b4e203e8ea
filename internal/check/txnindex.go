package check

import (
	"fmt"
	"slices"
)

// ref is one micro-operation.
type ref struct{ txn, mop int32 }

// analysis is the work on one history of transactions.
type analysis struct {
	h     []Txn
	model Model
	// in says which transactions took effect: those acknowledged, and those of unknown outcome whose writes were seen.
	in   []bool
	node []int32 // of each transaction that is in
	keys []string
	list []bool  // of each key: a list, or a register
	refs [][]ref // of each key, in the history's order
	g    graph
	rep  *TxnReport
	n    map[Kind]int
	left int // how many more steps the search for cycles may take
}

// Malformed says what keeps a history from being judged, or nil: a key that is both list and register, a value written
// twice to a key, an end before its beginning.
func Malformed(h []Txn) error {
	_, err := index(h)
	return err
}

type written struct {
	key int32
	v   int64
}

// index gathers the micro-operations of each key.
func index(h []Txn) (*analysis, error) {
	a := &analysis{h: h}
	ids := map[string]int32{}
	for i := range h {
		t := &h[i]
		if t.Outcome > Failed {
			return nil, fmt.Errorf("transaction %d (%s): there is no outcome %d", i, t, t.Outcome)
		}
		if t.Outcome != Unknown && t.Return < t.Invoke {
			return nil, fmt.Errorf("transaction %d (%s) ends before it begins", i, t)
		}
		for j := range t.Mops {
			m := &t.Mops[j]
			if m.Kind > MopRead {
				return nil, fmt.Errorf("transaction %d of %s: there is no micro-operation of kind %d", i, &t.Op, m.Kind)
			}
			id, ok := ids[m.Key]
			if !ok {
				id = int32(len(a.keys))
				ids[m.Key] = id
				a.keys, a.list, a.refs = append(a.keys, m.Key), append(a.list, m.isList()), append(a.refs, nil)
			}
			if a.list[id] != m.isList() {
				return nil, fmt.Errorf("key %s is a list and a register: transaction %d (%s)", m.Key, i, t)
			}
			a.refs[id] = append(a.refs[id], ref{int32(i), int32(j)})
		}
	}
	seen := map[int64]int32{}
	for k, refs := range a.refs {
		seen = emptied(seen)
		for _, r := range refs {
			m := a.mop(r)
			if m.isRead() {
				continue
			}
			if o, ok := seen[m.Value]; ok {
				return nil, fmt.Errorf("%d is written twice to key %s, so that it does not tell who wrote it: transaction %d (%s) and transaction %d (%s)",
					m.Value, a.keys[k], o, &h[o], r.txn, &h[r.txn])
			}
			seen[m.Value] = r.txn
		}
	}
	return a, nil
}

// emptied makes a map ready for the next key. Emptying one that was large would take as long for each small one after it.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) > 1000 {
		return map[K]V{}
	}
	clear(m)
	return m
}

func (a *analysis) mop(r ref) *Mop { return &a.h[r.txn].Mops[r.mop] }

// settle finds out which transactions took effect. What one of unknown outcome read counts when it is known to have taken
// effect, and may show that of another.
func (a *analysis) settle() {
	a.in = make([]bool, len(a.h))
	open := map[written]int32{}
	var work []int32
	keyOf := map[string]int32{}
	for i := range a.h {
		if a.h[i].Outcome == OK {
			a.in[i] = true
			work = append(work, int32(i))
		}
	}
	for k, refs := range a.refs {
		for _, r := range refs {
			if m := a.mop(r); !m.isRead() && a.h[r.txn].Outcome == Unknown {
				open[written{int32(k), m.Value}] = r.txn
				keyOf[m.Key] = int32(k)
			}
		}
	}
	longest := map[int32][]int64{} // of each key: elements that have been looked up
	saw := func(k int32, v int64) {
		if t, ok := open[written{k, v}]; ok && !a.in[t] {
			a.in[t] = true
			work = append(work, t)
		}
	}
	for len(open) > 0 && len(work) > 0 {
		t := &a.h[work[len(work)-1]]
		work = work[:len(work)-1]
		for j := range t.Mops {
			m := &t.Mops[j]
			k, ok := keyOf[m.Key]
			if !ok || !m.isRead() || !m.Known {
				continue
			}
			if m.Kind == MopRead {
				if !m.Nil {
					saw(k, m.Value)
				}
				continue
			}
			l, known := m.List, longest[k]
			n := min(len(l), len(known))
			if slices.Equal(l[:n], known[:n]) {
				l = l[n:]
				if len(l) > 0 {
					longest[k] = m.List
				}
			}
			for _, v := range l {
				saw(k, v)
			}
		}
	}
	a.node = make([]int32, len(a.h))
	for i := range a.h {
		a.node[i] = -1
		if a.in[i] {
			a.node[i] = a.g.node(int32(i))
		}
	}
}

// perTxn calls fn for each transaction that touches a key, with its micro-operations on that key in order.
func (a *analysis) perTxn(k int, fn func(txn int32, refs []ref)) {
	refs := a.refs[k]
	for len(refs) > 0 {
		n := 1
		for n < len(refs) && refs[n].txn == refs[0].txn {
			n++
		}
		fn(refs[0].txn, refs[:n])
		refs = refs[n:]
	}
}
