package check

import (
	"fmt"
	"strings"
)

// MopKind is what a micro-operation does. A key is either a list (appended to, read as a whole) or a register
// (overwritten), in the whole history.
type MopKind uint8

// The micro-operations.
const (
	MopAppend   MopKind = iota // puts Value behind the list
	MopReadList                // saw List
	MopWrite                   // put Value in place of what the register held
	MopRead                    // saw Value, or nothing (Nil)
)

// Mop is one micro-operation of a transaction. No value may be appended or written to a key twice in a history, not even by
// a transaction that fails: a value seen tells who wrote it.
type Mop struct {
	Kind  MopKind
	Key   string
	Value int64   // appended, written, or read from a register
	List  []int64 // read from a list, oldest first; empty: nothing had been appended
	Nil   bool    // a read of a register that nobody had written
	// Known says that the client learned what the read saw. A client that does not learn what became of its transaction may
	// set it for what the last attempt read: it counts only if other transactions show that this attempt took effect.
	Known bool
}

// Append, ReadList, WriteTo, ReadNil and ReadOf make micro-operations. Reads made by them are known; a read whose result is
// not, is a Mop with a Kind and a Key alone.
func Append(key string, v int64) Mop { return Mop{Kind: MopAppend, Key: key, Value: v} }

// ReadList is a read of a list that saw these elements.
func ReadList(key string, list ...int64) Mop {
	return Mop{Kind: MopReadList, Key: key, List: list, Known: true}
}

// WriteTo is a write of a register.
func WriteTo(key string, v int64) Mop { return Mop{Kind: MopWrite, Key: key, Value: v} }

// ReadOf is a read of a register that saw v.
func ReadOf(key string, v int64) Mop { return Mop{Kind: MopRead, Key: key, Value: v, Known: true} }

// ReadNil is a read of a register that nobody had written.
func ReadNil(key string) Mop { return Mop{Kind: MopRead, Key: key, Nil: true, Known: true} }

func (m *Mop) isRead() bool { return m.Kind == MopReadList || m.Kind == MopRead }
func (m *Mop) isList() bool { return m.Kind == MopReadList || m.Kind == MopAppend }

// String is the notation of traces and reports: "append 3 5" is 5 put behind list 3, "r 3 [1 2]" a read of it.
func (m Mop) String() string {
	switch {
	case m.Kind == MopAppend:
		return fmt.Sprintf("append %s %d", m.Key, m.Value)
	case m.Kind == MopWrite:
		return fmt.Sprintf("w %s %d", m.Key, m.Value)
	case !m.Known:
		return fmt.Sprintf("r %s ?", m.Key)
	case m.Kind == MopReadList:
		return fmt.Sprintf("r %s %s", m.Key, listText(m.List))
	case m.Nil:
		return fmt.Sprintf("r %s nil", m.Key)
	}
	return fmt.Sprintf("r %s %d", m.Key, m.Value)
}

// listText shortens long lists in the middle: what matters of a list is mostly how it begins and ends.
func listText(l []int64) string {
	const ends = 8
	if len(l) <= 2*ends {
		return fmt.Sprint(l)
	}
	s := fmt.Sprint(l[:ends])
	e := fmt.Sprint(l[len(l)-ends:])
	return fmt.Sprintf("%s ..%d more.. %s", strings.TrimSuffix(s, "]"), len(l)-2*ends, strings.TrimPrefix(e, "["))
}

// Txn is one transaction of a history. What was written by one that Failed is never seen by others; whether one whose
// outcome is Unknown took effect is told by whether anybody saw its writes.
type Txn struct {
	Op
	Mops []Mop
}

func (t *Txn) String() string {
	ms := make([]string, len(t.Mops))
	for i, m := range t.Mops {
		ms[i] = m.String()
	}
	s := fmt.Sprintf("%s %s", &t.Op, strings.Join(ms, ", "))
	if t.Outcome == Failed {
		s += " (failed)"
	}
	return s
}

// The kinds of anomalies between transactions. Cycles are named after Adya's thesis (1999) and Cerone, Bernardi and Gotsman
// (2015); each also comes with the suffixes -process, -realtime and -key-realtime, if the cycle closes only by the order
// of one client's transactions, by the order of real time, or by that among transactions of one key.
const (
	G0           Kind = "G0"            // a cycle of writes
	G1a          Kind = "G1a"           // aborted read: what a failed transaction wrote was seen
	G1b          Kind = "G1b"           // intermediate read: what a transaction itself overwrote was seen
	G1c          Kind = "G1c"           // a cycle of writes and of reads of them
	GSingle      Kind = "G-single"      // a cycle with one read that misses a write
	GNonadjacent Kind = "G-nonadjacent" // a cycle with several such reads, no two of them next to each other
	G2Item       Kind = "G2-item"       // any other cycle with such reads

	Internal          Kind = "internal"           // a transaction contradicts itself
	IncompatibleOrder Kind = "incompatible order" // two reads saw a list's elements in different orders
	DuplicateElements Kind = "duplicate elements" // an element was seen twice in a list
	DirtyUpdate       Kind = "dirty update"       // a transaction that committed built upon one that failed
	UnwrittenRead     Kind = "unwritten read"     // a value was seen that nobody wrote
	CyclicVersions    Kind = "cyclic versions"    // a register's values come before one another
	BadHistory        Kind = "bad history"        // the history is not one: it cannot be judged
)

// The suffixes of the names of cycles.
const (
	Process     = "-process"
	Realtime    = "-realtime"
	KeyRealtime = "-key-realtime"
)

// TxnOptions are what transactions are judged by.
type TxnOptions struct {
	// Model is what the database guarantees. Default: StrictSerializable.
	Model Model
}
