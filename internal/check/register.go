package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// RegisterKind is what an operation does to its register.
type RegisterKind uint8

// Every value written is written once (to any key), so that a value seen tells who wrote it. 0 is the absent value.
const (
	Read   RegisterKind = iota // saw Old
	Write                      // wrote New
	Change                     // read Old and wrote New, in one transaction
)

// RegisterOp is one operation on a register.
type RegisterOp struct {
	Op
	Key      string
	Kind     RegisterKind
	Old, New int64
}

func (o *RegisterOp) String() string {
	var s string
	switch o.Kind {
	case Read:
		s = fmt.Sprintf("read %d", o.Old)
	case Write:
		s = fmt.Sprintf("write %d", o.New)
	case Change:
		s = fmt.Sprintf("change %d to %d", o.Old, o.New)
	}
	return fmt.Sprintf("%s %s %s", &o.Op, s, o.Outcome)
}

// Registers checks that each key by itself is linearizable. undecided counts the keys for which that took longer than
// limit (0: no limit).
func Registers(ops []RegisterOp, limit time.Duration) (as []Anomaly, undecided int) {
	var f found
	for _, k := range byKey(ops) {
		switch porcupine.CheckOperationsTimeout(registerModel, operations(k), limit) {
		case porcupine.Illegal:
			if f.n[NotLinearizable] == 0 { // one explanation will do
				k = shrink(k, 5*time.Second)
			}
			f.add(NotLinearizable, "key %s: no order explains\n%s", k[0].Key, describe(k))
		case porcupine.Unknown:
			undecided++
		}
	}
	return f.as, undecided
}

func byKey(ops []RegisterOp) (keys [][]RegisterOp) {
	at := map[string]int{}
	for _, o := range ops {
		i, ok := at[o.Key]
		if !ok {
			i = len(keys)
			at[o.Key] = i
			keys = append(keys, nil)
		}
		keys[i] = append(keys[i], o)
	}
	return keys
}

// registerModel is one register. A Change whose outcome is unknown takes effect where its old value is found, and has
// none elsewhere; as it may be put anywhere after its beginning, that covers all that can have happened.
var registerModel = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, _ any) (bool, any) {
		o, v := input.(*RegisterOp), state.(int64)
		switch {
		case o.Kind == Read:
			return v == o.Old, v
		case o.Kind == Write:
			return true, o.New
		case v == o.Old:
			return true, o.New
		}
		return o.Outcome == Unknown, v
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(input, _ any) string { return input.(*RegisterOp).String() },
}

// operations leaves out what says nothing: failed operations (that their values are never seen follows from their
// absence), reads without an answer, and writes of unknown outcome whose value nobody saw: one can always put them last.
// The fewer operations without an end, the faster the search.
func operations(ops []RegisterOp) (out []porcupine.Operation) {
	seen := map[int64]bool{}
	for i := range ops {
		if o := &ops[i]; o.Outcome != Failed && o.Kind != Write {
			seen[o.Old] = true
		}
	}
	clients := map[string]int{}
	for i := range ops {
		o := &ops[i]
		if o.Outcome == Failed || (o.Outcome == Unknown && (o.Kind == Read || !seen[o.New])) {
			continue
		}
		id, ok := clients[o.Client]
		if !ok {
			id = len(clients)
			clients[o.Client] = id
		}
		out = append(out, porcupine.Operation{ClientId: id, Input: o, Call: o.Invoke, Return: o.end()})
	}
	return out
}

// shrink looks for the shortest beginning of the history that is already impossible, and then leaves out reads and unknown
// writes that the contradiction does not need. Operations that began before a moment but had not ended count as unknown.
// It does what it can within the limit.
func shrink(ops []RegisterOp, limit time.Duration) []RegisterOp {
	end := time.Now().Add(limit)
	slices.SortStableFunc(ops, func(a, b RegisterOp) int { return cmp.Compare(a.Invoke, b.Invoke) })
	bad := func(ops []RegisterOp) bool {
		left := min(time.Second, time.Until(end))
		return left > 0 && porcupine.CheckOperationsTimeout(registerModel, operations(ops), left) == porcupine.Illegal
	}
	var ends []int64
	for i := range ops {
		if ops[i].Outcome == OK {
			ends = append(ends, ops[i].Return)
		}
	}
	slices.Sort(ends)
	n, _ := slices.BinarySearchFunc(ends, true, func(end int64, _ bool) int {
		if bad(until(ops, end)) {
			return 1
		}
		return -1
	})
	if n < len(ends) {
		ops = until(ops, ends[n])
	}
	for i := len(ops) - 1; i >= 0 && len(ops) < 400 && time.Now().Before(end); i-- {
		if ops[i].Kind == Change {
			continue // leaving out one of a chain contradicts the next by itself
		}
		if ops[i].Kind == Write && observed(ops, ops[i].New) {
			continue
		}
		if less := slices.Delete(slices.Clone(ops), i, i+1); bad(less) {
			ops = less
		}
	}
	return ops
}

func observed(ops []RegisterOp, v int64) bool {
	return slices.ContainsFunc(ops, func(o RegisterOp) bool { return o.Kind != Write && o.Old == v })
}

// until is the history as it was known at a moment.
func until(ops []RegisterOp, end int64) (out []RegisterOp) {
	for _, o := range ops {
		if o.Invoke > end {
			continue
		}
		if o.Outcome == OK && o.Return > end {
			o.Outcome = Unknown
		}
		out = append(out, o)
	}
	return out
}

func describe(ops []RegisterOp) string {
	const most = 60
	var b strings.Builder
	for i := range ops {
		if i == most {
			fmt.Fprintf(&b, "    (and %d more)\n", len(ops)-most)
			break
		}
		fmt.Fprintf(&b, "    %s\n", &ops[i])
	}
	return strings.TrimSuffix(b.String(), "\n")
}
