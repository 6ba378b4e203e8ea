package txn

import (
	"slices"

	"github.com/longitude-db/longitude/internal/kv"
)

// marks are the moments between writes that somebody may still ask for: savepoints, and scans that have not ended. A value
// that was overwritten since is kept for as long as one of them leads to it.
type marks struct{ list []heldMark } // ascending

type heldMark struct {
	seq  uint64
	held int
}

// add takes a mark that is no lower than those before.
func (m *marks) add(seq uint64) {
	if n := len(m.list); n > 0 && m.list[n-1].seq == seq {
		m.list[n-1].held++
		return
	}
	m.list = append(m.list, heldMark{seq, 1})
}

func (m *marks) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(m.list, seq, func(h heldMark, s uint64) int {
		switch {
		case h.seq < s:
			return -1
		case h.seq > s:
			return 1
		}
		return 0
	})
}

// drop gives a mark back.
func (m *marks) drop(seq uint64) {
	if i, ok := m.find(seq); ok {
		if m.list[i].held--; m.list[i].held == 0 {
			m.list = slices.Delete(m.list, i, i+1)
		}
	}
}

// keep drops all marks but these.
func (m *marks) keep(seqs []uint64) {
	slices.Sort(seqs)
	m.list = m.list[:0]
	for _, s := range seqs {
		m.add(s)
	}
}

// leadTo reports whether a mark leads to a write: the next one to its key has the number next.
func (m *marks) leadTo(seq, next uint64) bool {
	i, _ := m.find(seq)
	return i < len(m.list) && m.list[i].seq < next
}

// newest lists the newest marks, in order, as a request carries them.
func (m *marks) newest() (out []uint64) {
	for _, h := range m.list[max(0, len(m.list)-kv.MaxMarks):] {
		out = append(out, h.seq)
	}
	return out
}
