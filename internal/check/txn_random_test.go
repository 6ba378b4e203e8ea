package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// shape is what random histories look like.
type shape struct {
	txns, clients, keys, mops int
	registers                 bool // else lists
	both                      bool // half of the keys are the one, half the other
	// loss is how many of a hundred transactions do not take effect, or leave their client without an answer.
	loss int
	// perKey is how many writes a key gets before it is given up for a new one (0: it is kept).
	perKey int
}

// perfect makes the history of a database that does one transaction at a time, at some moment between its beginning and its
// end: strictly serializable.
func perfect(rng *rand.Rand, s shape) (h []Txn) {
	lists, regs := map[string][]int64{}, map[string]int64{}
	uses := make([]int, s.keys)
	var next, now int64
	type running struct {
		i  int
		on bool
	}
	free := make([]string, s.clients)
	for i := range free {
		free[i] = fmt.Sprint("c", i)
	}
	var open []running
	for len(h) < s.txns || len(open) > 0 {
		now++
		if len(h) < s.txns && len(free) > 0 && (len(open) == 0 || rng.IntN(2) == 0) {
			c := rng.IntN(len(free))
			x := Txn{Op: Op{Client: free[c], Invoke: now}}
			free = slices.Delete(free, c, c+1)
			for range 1 + rng.IntN(s.mops) {
				slot := rng.IntN(s.keys)
				key := fmt.Sprintf("k%d", slot)
				if s.perKey > 0 {
					key = fmt.Sprintf("k%d.%d", slot, uses[slot]/s.perKey)
				}
				m := Mop{Kind: MopAppend, Key: key}
				if s.registers || s.both && slot%2 == 0 {
					m.Kind = MopWrite
				}
				if rng.IntN(2) == 0 {
					m.Kind++ // a read
				} else {
					next++
					m.Value = next
					uses[slot]++
				}
				x.Mops = append(x.Mops, m)
			}
			h = append(h, x)
			open = append(open, running{i: len(h) - 1})
			continue
		}
		j := rng.IntN(len(open))
		r := &open[j]
		x := &h[r.i]
		lost := rng.IntN(100) < s.loss
		if !r.on && !lost {
			r.on = true
			for k := range x.Mops {
				m := &x.Mops[k]
				switch m.Kind {
				case MopAppend:
					l := lists[m.Key]
					lists[m.Key] = append(l[:len(l):len(l)], m.Value)
				case MopReadList:
					m.List, m.Known = lists[m.Key], true
				case MopWrite:
					regs[m.Key] = m.Value
				case MopRead:
					m.Value, m.Known = regs[m.Key], true
					m.Nil = m.Value == 0
				}
			}
			continue
		}
		// Its client gets an answer, or none.
		switch {
		case !lost:
			x.Return, x.Outcome = now, OK
		case !r.on && rng.IntN(2) == 0:
			x.Return, x.Outcome = now, Failed
		}
		free = append(free, x.Client)
		open = slices.Delete(open, j, j+1)
	}
	return h
}

var shapes = []shape{
	{txns: 60, clients: 5, keys: 3, mops: 4, loss: 10},
	{txns: 60, clients: 5, keys: 3, mops: 4, loss: 10, registers: true},
	{txns: 80, clients: 8, keys: 6, mops: 6, loss: 20, both: true},
	{txns: 200, clients: 20, keys: 5, mops: 4, loss: 5, perKey: 20},
	{txns: 50, clients: 30, keys: 2, mops: 3, loss: 30, both: true},
}

// TestTxnsAcceptTruth: what a strictly serializable database does is accepted by every model.
func TestTxnsAcceptTruth(t *testing.T) {
	for seed := range uint64(100) {
		for i, s := range shapes {
			h := perfect(rand.New(rand.NewPCG(seed, uint64(i))), s)
			for _, m := range Models {
				if as := Transactions(h, TxnOptions{m}); len(as) > 0 {
					t.Fatalf("seed %d, shape %d, %s: %v\n%s", seed, i, m, as, text(h))
				}
			}
		}
	}
}

func text(h []Txn) (s string) {
	for i := range h {
		s += h[i].String() + "\n"
	}
	return s
}

// corruption is something done to a history that a correct database could have made, which it then could not.
type corruption struct {
	name string
	add  int    // transactions that it makes up, at the beginning of the history
	kind []Kind // what it is called; any of them
	do   func(rng *rand.Rand, h []Txn) bool
}

// pick returns some transaction with some micro-operation that the func likes.
func pick(rng *rand.Rand, h []Txn, like func(x *Txn, m *Mop) bool) (*Txn, *Mop) {
	for range 20 * len(h) {
		x := &h[rng.IntN(len(h))]
		if len(x.Mops) == 0 {
			continue
		}
		if m := &x.Mops[rng.IntN(len(x.Mops))]; like(x, m) {
			return x, m
		}
	}
	return nil, nil
}

// writer is who appended or wrote a value.
func writerOf(h []Txn, key string, v int64) *Txn {
	for i := range h {
		for _, m := range h[i].Mops {
			if m.Key == key && !m.isRead() && m.Value == v {
				return &h[i]
			}
		}
	}
	return nil
}

// lone reports whether a transaction touches the key only once.
func lone(x *Txn, key string) bool {
	n := 0
	for _, m := range x.Mops {
		if m.Key == key {
			n++
		}
	}
	return n == 1
}

// misses are the names of cycles with a read that misses a write, and others.
func misses(others ...Kind) []Kind {
	for _, k := range []Kind{GSingle, GNonadjacent, G2Item} {
		others = append(others, k, k+Process, k+Realtime)
	}
	return others
}

var corruptions = []corruption{
	{"a read misses what was acknowledged before it began", 0, misses(G1b),
		func(rng *rand.Rand, h []Txn) bool {
			_, m := pick(rng, h, func(x *Txn, m *Mop) bool {
				if x.Outcome != OK || m.Kind != MopReadList || len(m.List) == 0 || !lone(x, m.Key) {
					return false
				}
				w := writerOf(h, m.Key, m.List[len(m.List)-1])
				return w.Outcome == OK && w.Return < x.Invoke && lone(w, m.Key)
			})
			if m != nil {
				m.List = m.List[:len(m.List)-1]
			}
			return m != nil
		}},
	{"a register is read as it was before the version that was there when the reader began", 0, misses(CyclicVersions + Realtime),
		func(rng *rand.Rand, h []Txn) bool {
			_, m := pick(rng, h, func(x *Txn, m *Mop) bool {
				if x.Outcome != OK || m.Kind != MopRead || m.Nil || !lone(x, m.Key) {
					return false
				}
				w := writerOf(h, m.Key, m.Value)
				return w.Outcome == OK && w.Return < x.Invoke && w != x
			})
			if m != nil {
				m.Nil, m.Value = true, 0
			}
			return m != nil
		}},
	{"a transaction whose write was read failed", 0, []Kind{G1a}, func(rng *rand.Rand, h []Txn) bool {
		x, _ := pick(rng, h, func(x *Txn, m *Mop) bool {
			if x.Outcome != OK || m.isRead() || !lone(x, m.Key) {
				return false
			}
			for i := range h {
				for _, r := range h[i].Mops {
					if h[i].Outcome == OK && &h[i] != x && r.Key == m.Key && r.isRead() && r.Known &&
						(slices.Contains(r.List, m.Value) || r.Kind == MopRead && r.Value == m.Value) {
						return true
					}
				}
			}
			return false
		})
		if x != nil {
			x.Outcome = Failed
		}
		return x != nil
	}},
	{"an element that nobody appended", 0, []Kind{UnwrittenRead}, func(rng *rand.Rand, h []Txn) bool {
		_, m := pick(rng, h, func(x *Txn, m *Mop) bool { return x.Outcome == OK && m.isRead() && lone(x, m.Key) })
		if m != nil {
			m.List, m.Value, m.Nil = append(slices.Clone(m.List), -5), -5, false
			if m.Kind == MopReadList {
				m.Value = 0
			}
		}
		return m != nil
	}},
	{"an element twice", 0, []Kind{DuplicateElements}, func(rng *rand.Rand, h []Txn) bool {
		_, m := pick(rng, h, func(x *Txn, m *Mop) bool { return x.Outcome == OK && len(m.List) > 0 && lone(x, m.Key) })
		if m != nil {
			m.List = append(slices.Clone(m.List), m.List[0])
		}
		return m != nil
	}},
	{"elements in another order", 0, []Kind{IncompatibleOrder}, func(rng *rand.Rand, h []Txn) bool {
		x, m := pick(rng, h, func(x *Txn, m *Mop) bool { return x.Outcome == OK && len(m.List) > 1 && lone(x, m.Key) })
		if m == nil {
			return false
		}
		for i := range h { // somebody else saw the true order
			for _, o := range h[i].Mops {
				if &h[i] != x && h[i].Outcome == OK && o.Key == m.Key && len(o.List) >= len(m.List) && lone(&h[i], o.Key) {
					m.List = slices.Clone(m.List)
					m.List[0], m.List[1] = m.List[1], m.List[0]
					return true
				}
			}
		}
		return false
	}},
	{"a transaction that does not see its own append", 0, []Kind{Internal}, func(rng *rand.Rand, h []Txn) bool {
		x, _ := pick(rng, h, func(x *Txn, m *Mop) bool { return x.Outcome == OK && m.Kind == MopAppend && lone(x, m.Key) })
		if x != nil {
			i := slices.IndexFunc(x.Mops, func(m Mop) bool { return m.Kind == MopAppend && lone(x, m.Key) })
			x.Mops = append(slices.Clone(x.Mops), ReadList(x.Mops[i].Key))
		}
		return x != nil
	}},
	{"write skew", 2, []Kind{G2Item}, func(rng *rand.Rand, h []Txn) bool {
		for i, ms := range [][]Mop{{ReadList("p"), Append("q", 1)}, {ReadList("q"), Append("p", 1)}} {
			h[i] = Txn{Op{fmt.Sprint("x", i), 0, 1 << 40, OK}, ms}
		}
		return true
	}},
	{"long fork", 4, []Kind{GNonadjacent}, func(rng *rand.Rand, h []Txn) bool {
		for i, ms := range [][]Mop{{Append("p", 1)}, {Append("q", 1)}, {ReadList("p", 1), ReadList("q")}, {ReadList("p"), ReadList("q", 1)}} {
			h[i] = Txn{Op{fmt.Sprint("x", i), 0, 1 << 40, OK}, ms}
		}
		return true
	}},
	{"read skew", 2, []Kind{GSingle}, func(rng *rand.Rand, h []Txn) bool {
		for i, ms := range [][]Mop{{WriteTo("p", 1), WriteTo("q", 1)}, {ReadOf("p", 1), ReadNil("q")}} {
			h[i] = Txn{Op{fmt.Sprint("x", i), 0, 1 << 40, OK}, ms}
		}
		return true
	}},
	{"a circle of writes", 3, []Kind{G0}, func(rng *rand.Rand, h []Txn) bool {
		for i, ms := range [][]Mop{{Append("p", 1), Append("q", 1)}, {Append("p", 2), Append("q", 2)}, {ReadList("p", 1, 2), ReadList("q", 2, 1)}} {
			h[i] = Txn{Op{fmt.Sprint("x", i), 0, 1 << 40, OK}, ms}
		}
		return true
	}},
	{"causal reverse", 3, []Kind{GSingle + Realtime}, func(rng *rand.Rand, h []Txn) bool {
		for i, ms := range [][]Mop{{Append("p", 1)}, {Append("q", 1)}, {ReadList("p"), ReadList("q", 1)}} {
			h[i] = Txn{Op{fmt.Sprint("x", i), int64(10 * i), int64(10*i + 1), OK}, ms}
		}
		h[2].Invoke = 0
		return true
	}},
}

// TestTxnsFindCorruption: each corruption done to a correct history is found, under its name.
func TestTxnsFindCorruption(t *testing.T) {
	for _, corruption := range corruptions {
		done := 0
		for seed := range uint64(60) {
			s := shapes[seed%uint64(len(shapes))]
			rng := rand.New(rand.NewPCG(seed, 77))
			h := perfect(rng, s)
			h = append(make([]Txn, corruption.add), h...)
			if !corruption.do(rng, h) {
				continue
			}
			done++
			as := Transactions(h, TxnOptions{})
			if !slices.ContainsFunc(corruption.kind, func(k Kind) bool { return has(as, k) }) {
				t.Errorf("%s, seed %d: found %v, want one of %v\n%s", corruption.name, seed, as, corruption.kind, text(h))
				return
			}
		}
		if done < 10 {
			t.Errorf("%s: could be done only %d times", corruption.name, done)
		}
	}
}
