package replica

import "slices"

// logSize knows roughly how many bytes the log holds after an index, by marks at some of the entries: for deciding how far
// to truncate. After a restart it knows nothing of what was there before, which only means truncating later.
type logSize struct {
	total int64
	marks []logMark
}

type logMark struct {
	index uint64
	total int64 // up to and including the entry
}

// markEvery is the distance of marks in bytes.
const markEvery = 64 << 10

func (s *logSize) add(index uint64, size int) {
	s.total += int64(size)
	if n := len(s.marks); n == 0 || s.total-s.marks[n-1].total >= markEvery {
		s.marks = append(s.marks, logMark{index, s.total})
	}
}

// cut forgets the entries from an index on.
func (s *logSize) cut(index uint64) {
	n := len(s.marks)
	for n > 0 && s.marks[n-1].index >= index {
		n--
	}
	if n < len(s.marks) {
		s.total = s.marks[n].total // too high by less than a mark
		s.marks = s.marks[:n]
	}
}

// drop forgets the entries up to an index.
func (s *logSize) drop(index uint64) {
	n := 0
	for n < len(s.marks) && s.marks[n].index <= index {
		n++
	}
	s.marks = slices.Clone(s.marks[n:])
}

// after is about how many bytes the log holds after an index.
func (s *logSize) after(index uint64) int64 {
	for i := len(s.marks) - 1; i >= 0; i-- {
		if s.marks[i].index <= index {
			return s.total - s.marks[i].total
		}
	}
	if len(s.marks) == 0 {
		return 0
	}
	return s.total - s.marks[0].total
}

// keep returns the index up to which the log can go if about so many bytes shall stay; 0: it has no more than that.
func (s *logSize) keep(bytes int64) (index uint64) {
	for _, m := range s.marks {
		if s.total-m.total < bytes {
			break
		}
		index = m.index
	}
	return index
}
