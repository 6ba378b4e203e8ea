package engine

import "sync"

// tableStats is what this node has seen of the sizes of tables. It is only for choosing between plans.
type tableStats struct {
	mu     sync.Mutex
	tables map[uint64]tableSize
}

type tableSize struct{ rows, bytes uint64 }

// unknownRows is what a table is taken for that was never scanned.
const unknownRows = 1000

func newTableStats() *tableStats { return &tableStats{tables: map[uint64]tableSize{}} }

// forget drops what is known of a table.
func (s *tableStats) forget(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, id)
}

func (s *tableStats) scanned(id, rows, bytes uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables[id] = tableSize{rows, bytes}
}

// counted is scanned where only the number of rows became known. What they take is guessed unless it was seen before.
func (s *tableStats) counted(id, rows uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, perRow := s.tables[id], uint64(guessedBytes)
	if t.rows > 0 {
		perRow = t.bytes / t.rows
	}
	s.tables[id] = tableSize{rows, rows * perRow}
}

// guessedBytes is what a row is taken for of which none was seen.
const guessedBytes = 128

// wrote follows inserts and deletes.
func (s *tableStats) wrote(id uint64, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tables[id]
	if !ok {
		return
	}
	perRow := uint64(32)
	if t.rows > 0 {
		perRow = t.bytes / t.rows
	}
	if rows < 0 {
		t.rows -= min(t.rows, uint64(-rows))
	} else {
		t.rows += uint64(rows)
		t.bytes += uint64(rows) * perRow
	}
	s.tables[id] = t
}

// grew corrects an estimate that proved too small.
func (s *tableStats) grew(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[id]
	t.bytes = max(2*t.bytes, 2*atOnce)
	s.tables[id] = t
}

func (s *tableStats) rows(id uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.tables[id]; ok {
		return t.rows
	}
	return unknownRows
}

// known is rows, if anything is known.
func (s *tableStats) known(id uint64) (rows uint64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tables[id]
	return t.rows, ok
}

func (s *tableStats) bytes(id uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tables[id].bytes
}

// small reports whether the table is known to be small enough to be read at once.
func (s *tableStats) small(id uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tables[id]
	return ok && t.bytes <= atOnce
}
