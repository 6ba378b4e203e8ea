package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// explained is a second, naive judge: is there an order of all transactions that took effect in which each reads exactly
// what those before it left, and which keeps to `before` and is accepted (nil: any is)? Of those with an unknown outcome any may have taken effect.
func explained(h []Txn, before func(a, b *Txn) bool, accept func(h []Txn, order []int) bool) bool {
	var must, may []int
	for i := range h {
		switch h[i].Outcome {
		case OK:
			must = append(must, i)
		case Unknown:
			may = append(may, i)
		}
	}
	for set := range 1 << len(may) {
		all := slices.Clone(must)
		for i, t := range may {
			if set&(1<<i) != 0 {
				all = append(all, t)
			}
		}
		if inSomeOrder(h, all, nil, before, accept) {
			return true
		}
	}
	return false
}

func inSomeOrder(h []Txn, left, done []int, before func(a, b *Txn) bool, accept func(h []Txn, order []int) bool) bool {
	if len(left) == 0 {
		return accept == nil || accept(h, done)
	}
	for i, t := range left {
		rest := slices.Delete(slices.Clone(left), i, i+1)
		if slices.ContainsFunc(rest, func(o int) bool { return before(&h[o], &h[t]) }) {
			continue
		}
		if next := append(slices.Clone(done), t); reads(h, next) && inSomeOrder(h, rest, next, before, accept) {
			return true
		}
	}
	return false
}

// reads reports whether the last of these transactions, done one after the other, read what was there.
func reads(h []Txn, done []int) bool {
	lists, regs := map[string][]int64{}, map[string]int64{}
	for i, t := range done {
		for _, m := range h[t].Mops {
			switch m.Kind {
			case MopAppend:
				lists[m.Key] = append(lists[m.Key], m.Value)
			case MopWrite:
				regs[m.Key] = m.Value
			case MopReadList:
				if i == len(done)-1 && m.Known && !slices.Equal(m.List, lists[m.Key]) {
					return false
				}
			case MopRead:
				if i == len(done)-1 && m.Known && (m.Nil != (regs[m.Key] == 0) || m.Value != regs[m.Key]) {
					return false
				}
			}
		}
	}
	return true
}

// befores are the orders that the models demand.
var befores = map[Model]func(a, b *Txn) bool{
	Serializable: func(a, b *Txn) bool { return false },
	StrongSessionSerializable: func(a, b *Txn) bool {
		return a.Client == b.Client && a.Outcome == OK && a.Return < b.Invoke
	},
	StrictSerializable: func(a, b *Txn) bool { return a.Outcome == OK && a.Return < b.Invoke },
}

// linearizableKeys reports whether each key by itself has an order that contains real time, with its writers as they are in
// this order of all.
func linearizableKeys(h []Txn, order []int) bool {
	for _, key := range []string{"x", "y"} {
		var own []Txn
		var all []int
		place := map[*Op]int{}
		for _, t := range order {
			x := h[t]
			x.Mops = slices.DeleteFunc(slices.Clone(x.Mops), func(m Mop) bool { return m.Key != key })
			if len(x.Mops) > 0 {
				own, all = append(own, x), append(all, len(own))
			}
		}
		for i := range own {
			if slices.ContainsFunc(own[i].Mops, func(m Mop) bool { return !m.isRead() }) {
				place[&own[i].Op] = i + 1
			}
		}
		before := func(a, b *Txn) bool {
			return befores[StrictSerializable](a, b) || place[&a.Op] > 0 && place[&a.Op] < place[&b.Op]
		}
		if !inSomeOrder(own, all, nil, before, nil) {
			return false
		}
	}
	return true
}

// sloppy makes a short history of a database that shows each reader some version, not always the right one.
func sloppy(rng *rand.Rand, registers bool) (h []Txn) {
	lists := map[string][]int64{}
	n, next := 2+rng.IntN(4), int64(0)
	busy := [3]int64{}
	for range n {
		c := rng.IntN(3)
		begin := busy[c] + 1 + rng.Int64N(6)
		x := Txn{Op: Op{fmt.Sprint("c", c), begin, begin + 1 + rng.Int64N(12), Outcome(min(1, rng.IntN(6)))}}
		busy[c] = x.Return
		for range 1 + rng.IntN(3) {
			m := Mop{Kind: MopAppend, Key: [2]string{"x", "y"}[rng.IntN(2)]}
			if registers {
				m.Kind = MopWrite
			}
			if rng.IntN(2) == 0 {
				next++
				m.Value = next
				lists[m.Key] = append(lists[m.Key], m.Value)
			} else {
				m.Kind++
				m.Known = true
			}
			x.Mops = append(x.Mops, m)
		}
		h = append(h, x)
	}
	for i := range h {
		last := map[string]int{} // what this transaction has seen; often it sees the same again, with its own behind
		for j := range h[i].Mops {
			m := &h[i].Mops[j]
			l := lists[m.Key]
			if !m.isRead() {
				last[m.Key] = slices.Index(l, m.Value) + 1
				continue
			}
			at, ok := last[m.Key]
			if !ok || rng.IntN(8) == 0 {
				at = rng.IntN(len(l) + 1)
			}
			last[m.Key] = at
			if !registers {
				m.List = l[:at:at]
			} else if m.Nil = at == 0; !m.Nil {
				m.Value = l[at-1]
			}
		}
	}
	return h
}

// TestTxnsAgainstNaive holds the checker against the naive judge: no anomaly where some order explains the history (C1),
// in any model; and for lists, whose versions are known, also an anomaly wherever none does.
func TestTxnsAgainstNaive(t *testing.T) {
	n := map[string]int{}
	for seed := range uint64(6000) {
		registers := seed%2 == 0
		h := sloppy(rand.New(rand.NewPCG(seed, 5)), registers)
		for _, m := range []Model{Serializable, StrongSessionSerializable, StrictSerializable, SerializableLinearizableKeys} {
			as := Transactions(h, TxnOptions{m})
			before, accept := befores[m], linearizableKeys
			if m != SerializableLinearizableKeys {
				accept = nil
			} else {
				before = befores[Serializable]
			}
			ok := explained(h, before, accept)
			n[fmt.Sprint(m, ok)]++
			switch {
			case ok && len(as) > 0:
				t.Fatalf("seed %d, %s: an order explains this, but found %v\n%s", seed, m, as, text(h))
			case !ok && len(as) == 0 && !registers:
				t.Fatalf("seed %d, %s: no order explains this, and nothing was found\n%s", seed, m, text(h))
			}
			if !ok && len(as) > 0 {
				n[fmt.Sprint(m, " found")]++
			}
		}
	}
	for _, m := range []Model{Serializable, StrongSessionSerializable, StrictSerializable, SerializableLinearizableKeys} { // the test is worth something only if all this occurs often
		for _, what := range []string{"true", "false", " found"} {
			if n[string(m)+what] < 300 {
				t.Errorf("%s %s: only %d", m, what, n[string(m)+what])
			}
		}
	}
}
