package exec

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// rowStore keeps rows of one width, in the order in which they were added. Rows do not move in memory once there are more than a
// chunk of them.
type rowStore struct {
	held
	width  int
	n      int
	chunks [][]expr.Value
}

// chunkRows is how many rows stand in one piece of memory.
const chunkRows = 256

func newRowStore(m *memory, width int) *rowStore { return &rowStore{held: held{m: m}, width: width} }

// slot makes room for a row. The caller fills it in and calls count.
func (s *rowStore) slot() []expr.Value {
	if s.n%chunkRows == 0 && (s.n > 0 || len(s.chunks) == 0) {
		size := chunkRows * s.width
		if s.n == 0 {
			size = 4 * s.width
		}
		s.chunks = append(s.chunks, make([]expr.Value, 0, size))
	}
	at := len(s.chunks) - 1
	c := s.chunks[at]
	from := len(c)
	if from+s.width > cap(c) {
		c = append(make([]expr.Value, 0, min(2*cap(c), chunkRows*s.width)), c...)
	}
	c = c[:from+s.width]
	s.chunks[at] = c
	s.n++
	return c[from:len(c):len(c)]
}

// count counts the memory of a row that was filled in.
func (s *rowStore) count(row []expr.Value) error {
	n := int64(valueBytes * s.width)
	for i := range row {
		n += s.m.extra(&row[i])
	}
	return s.take(n)
}

// add keeps what the registers of columns hold; as many as the store is wide.
func (s *rowStore) add(regs []expr.Value, cols []rel.ColID) error {
	row := s.slot()
	for i, c := range cols {
		row[i] = regs[c]
	}
	return s.count(row)
}

// row is the ith row.
func (s *rowStore) row(i int) []expr.Value {
	at := i % chunkRows * s.width
	return s.chunks[i/chunkRows][at : at+s.width : at+s.width]
}

// rewind forgets all rows, and will put others into their memory.
func (s *rowStore) rewind() {
	if len(s.chunks) > 1 {
		s.chunks = s.chunks[:1]
	}
	if s.n > 0 {
		s.chunks[0] = s.chunks[0][:0]
	}
	s.n = 0
	s.free()
}

// reset forgets all rows.
func (s *rowStore) reset() {
	s.chunks, s.n = nil, 0
	s.free()
}
