package kv

import "slices"

// A transaction that lays intents before its commit numbers its writes, from 1. What it has on a key is a list of values by
// their numbers: the last one in Intent.Value, those before in Intent.Earlier. Rolling back takes a range of numbers back
// and touches no intent: whoever looks at the intents of the transaction leaves these numbers out. So it does not matter in
// which order, how late or how often the copies of a write arrive: they add nothing that is not there or left out.

// MaxMarks is how many marks a write request carries.
const MaxMarks = 64

// Earlier is a value that the transaction gave a key before the one in its intent.
type Earlier struct {
	Seq    uint64 `msg:"q"`
	Value  []byte `msg:"v,omitempty"`
	Delete bool   `msg:"d,omitempty"`
}

// SeqRange is the writes of a transaction that are numbered above After and up to To.
type SeqRange struct {
	After uint64 `msg:"a"`
	To    uint64 `msg:"t"`
}

// Own says which of its own intents a transaction sees: those up to Seq, without those that it has taken back.
type Own struct {
	Seq     uint64     `msg:"s"`
	Ignored []SeqRange `msg:"i,omitempty"`
}

// Ignored reports whether a write was taken back.
func Ignored(list []SeqRange, seq uint64) bool {
	return slices.ContainsFunc(list, func(r SeqRange) bool { return r.After < seq && seq <= r.To })
}

// Visible is the last of the transaction's writes to the key of the intent that has a number up to seq and was not taken
// back; ok is false if there is none.
func (in *Intent) Visible(seq uint64, ignored []SeqRange) (value []byte, deleted, ok bool) {
	if in.Seq <= seq && !Ignored(ignored, in.Seq) {
		return in.Value, in.Delete, true
	}
	for i := len(in.Earlier) - 1; i >= 0; i-- {
		if e := &in.Earlier[i]; e.Seq <= seq && !Ignored(ignored, e.Seq) {
			return e.Value, e.Delete, true
		}
	}
	return nil, false, false
}

// Over returns the values that an intent by p keeps beside p's own, if in is there: in order, without those that the
// transaction has taken back or cannot go back to. p is later than in. What was taken back has to go first: a mark behind it
// leads to the value before it.
func (p *Put) Over(in *Intent, marks []uint64, ignored []SeqRange) []Earlier {
	all := slices.Clone(in.Earlier)
	all = append(all, Earlier{Seq: in.Seq, Value: in.Value, Delete: in.Delete})
	all = append(all, p.Earlier...)
	all = slices.DeleteFunc(all, func(e Earlier) bool { return Ignored(ignored, e.Seq) })
	return Reachable(all, p.Seq, marks)
}

// Reachable drops from a list of values those that no mark leads to: a mark leads to the last value at or below it. next is
// the number of the value after the list. What lies below the lowest of MaxMarks marks is kept, since there may be more.
func Reachable(list []Earlier, next uint64, marks []uint64) []Earlier {
	var kept []Earlier
	for i := len(list) - 1; i >= 0; i-- {
		at, _ := slices.BinarySearch(marks, list[i].Seq)
		if at < len(marks) && marks[at] < next || len(marks) >= MaxMarks && next <= marks[0] {
			kept = append(kept, list[i])
		}
		next = list[i].Seq
	}
	slices.Reverse(kept)
	return kept
}
