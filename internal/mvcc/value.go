package mvcc

// The first byte of a version's value says what it is. The zero byte of a tombstone is all there is of it.
const (
	tombstone = 0
	present   = 1
)

// appendValue appends a version's stored form.
func appendValue(dst, value []byte, deleted bool) []byte {
	if deleted {
		return append(dst, tombstone)
	}
	return append(append(dst, present), value...)
}

// decodeValue takes a version's stored form apart; the value is nil for a tombstone, and a part of the argument.
func decodeValue(stored []byte) ([]byte, error) {
	switch {
	case len(stored) == 1 && stored[0] == tombstone:
		return nil, nil
	case len(stored) > 1 && stored[0] == present:
		return stored[1:], nil
	}
	return nil, assertionf("malformed value %.16x of %d bytes", stored, len(stored)) // M4
}

// arena hands out byte slices from a few large ones, so that the rows of a page cost a handful of allocations. The first one is
// as large as it has to be: often nothing follows.
type arena struct{ buf []byte }

const (
	secondChunk = 1 << 10
	lastChunk   = 256 << 10
)

func (a *arena) copy(b []byte) []byte {
	if cap(a.buf)-len(a.buf) < len(b) {
		n := len(b)
		if cap(a.buf) > 0 {
			n = max(n, secondChunk, min(2*cap(a.buf), lastChunk))
		}
		a.buf = make([]byte, 0, n)
	}
	n := len(a.buf)
	a.buf = append(a.buf, b...)
	return a.buf[n:len(a.buf):len(a.buf)]
}
