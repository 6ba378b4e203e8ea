// Package check judges what clients saw of a database: histories of operations with the moments at which they began and
// ended. It knows nothing of the database that made them.
//
//	C1  A checker reports an anomaly only if no behaviour of a correct database explains the history. What became of an
//	    operation with an unknown outcome is open: it may have taken effect at any moment after it began, or never.
//	C2  Moments are ranks in one order of all beginnings and ends. That a ended before b began is a fact, not an estimate.
//	C3  Each anomaly says which operations make it up, with their ranks, so that it can be found in a trace.
package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Outcome is what the client learned about its operation.
type Outcome uint8

// Unknown is the zero value, because it is what becomes of an operation whose client dies.
const (
	Unknown Outcome = iota // may have taken effect, or may yet
	OK                     // acknowledged
	Failed                 // certainly had no effect
)

func (o Outcome) String() string { return [...]string{"?", "ok", "failed"}[o] }

// Op is what all operations have in common.
type Op struct {
	Client string
	// Invoke and Return are the ranks of beginning and end (C2). Return means nothing if the outcome is Unknown.
	Invoke, Return int64
	Outcome        Outcome
}

// end is the rank after which the operation certainly takes no effect any more.
func (o *Op) end() int64 {
	if o.Outcome == Unknown {
		return math.MaxInt64
	}
	return o.Return
}

func (o *Op) String() string {
	if o.Outcome == Unknown {
		return fmt.Sprintf("%s [%d,?]", o.Client, o.Invoke)
	}
	return fmt.Sprintf("%s [%d,%d]", o.Client, o.Invoke, o.Return)
}

// Kind names a class of anomalies.
type Kind string

// The kinds.
const (
	NotLinearizable Kind = "not linearizable" // a register: no order of its operations explains what was seen
	WrongTotal      Kind = "wrong total"      // money appeared or vanished
	LostUpdate      Kind = "lost update"      // two transactions replaced the same version
	LostWrite       Kind = "lost write"       // an acknowledged write is gone at the end
	FracturedRead   Kind = "fractured read"   // one half of a transaction is seen, the other is not
	AbortedRead     Kind = "aborted read"     // a write is seen that was reported not to have happened
	FutureRead      Kind = "future read"      // a write is seen before it was asked for
	StaleRead       Kind = "stale read"       // an acknowledged write is not seen
	BackwardRead    Kind = "backward read"    // what an earlier reader saw is not seen by a later one
	LongFork        Kind = "long fork"        // two readers saw two writes in different orders
	CausalReverse   Kind = "causal reverse"   // a write is seen, and one that was acknowledged before it began is not
)

// Anomaly is something that must not happen.
type Anomaly struct {
	Kind Kind
	Text string
}

func (a Anomaly) String() string { return string(a.Kind) + ": " + a.Text }

// Except returns the anomalies that are none of these kinds.
func Except(as []Anomaly, permitted ...Kind) []Anomaly {
	return slices.DeleteFunc(slices.Clone(as), func(a Anomaly) bool { return slices.Contains(permitted, a.Kind) })
}

// Count says how many there are of each kind, in the order of their names.
func Count(as []Anomaly) string {
	n := map[Kind]int{}
	for _, a := range as {
		n[a.Kind]++
	}
	var out []string
	for k, c := range n {
		out = append(out, fmt.Sprintf("%d %s", c, k))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// found gathers anomalies, at most a few of each kind: a broken clock makes thousands.
type found struct {
	as []Anomaly
	n  map[Kind]int
}

const perKind = 5

func (f *found) add(k Kind, format string, args ...any) {
	if f.n == nil {
		f.n = map[Kind]int{}
	}
	if f.n[k]++; f.n[k] <= perKind {
		f.as = append(f.as, Anomaly{k, fmt.Sprintf(format, args...)})
	}
}
