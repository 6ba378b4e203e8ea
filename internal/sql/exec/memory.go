package exec

import (
	"errors"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// memory counts what the operators of a statement keep, in bytes (E3). It is about right: what a value takes itself, not what the
// allocator does about it.
type memory struct {
	used, limit int64
	setting     string
	sizeOf      func(any) int
}

// errMemory is the code of the error about too much memory.
const errMemory = 1038

func (m *memory) take(n int64) error {
	m.used += n
	if m.limit == 0 || m.used <= m.limit {
		return nil
	}
	hint := "add conditions, an index for the order or the join, or a LIMIT"
	if m.setting != "" {
		hint += ", or increase " + m.setting
	}
	return expr.Errorf(errMemory, "HY001", "Out of sort memory, consider increasing server sort buffer size: "+
		"this query keeps more than %d bytes of rows in memory; %s", m.limit, hint)
}

// isOutOfMemory reports whether an error is that of take.
func isOutOfMemory(err error) bool {
	var e *expr.Error
	return errors.As(err, &e) && e.Code == errMemory
}

const (
	valueBytes   = 48  // of an expr.Value without its text
	decimalBytes = 64  // of what a decimal points to
	hostBytes    = 256 // of a value of the host of which the size is not known
)

// extra is what a value takes beside its place: its text.
func (m *memory) extra(v *expr.Value) int64 {
	switch v.Kind() {
	case expr.KindText, expr.KindBytes, expr.KindBit:
		return int64(len(v.RawText()))
	case expr.KindDecimal:
		return decimalBytes
	case expr.KindJSON:
		return int64(v.DocumentSize())
	case expr.KindOther:
		if m.sizeOf != nil {
			return int64(m.sizeOf(v.Raw()))
		}
		return hostBytes
	}
	return 0
}

// held is what one operator keeps.
type held struct {
	m *memory
	n int64
}

func (h *held) take(n int64) error {
	h.n += n
	return h.m.take(n)
}

// free gives all back.
func (h *held) free() {
	h.m.used -= h.n
	h.n = 0
}
