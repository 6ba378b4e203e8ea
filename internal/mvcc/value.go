package mvcc

import "github.com/longitude-db/longitude/internal/kv"

// The first byte of a version's value says what it is; with signed the name of the transaction that wrote it comes next. Of a
// tombstone that is all there is.
const (
	tombstone = 0
	present   = 1
	signed    = 2
)

// sizeValue is the length of a version's stored form.
func sizeValue(value []byte, by kv.TxnID) int {
	if by.IsZero() {
		return 1 + len(value)
	}
	return 1 + len(by) + len(value)
}

// appendValue appends a version's stored form.
func appendValue(dst, value []byte, deleted bool, by kv.TxnID) []byte {
	kind := byte(present)
	if deleted {
		kind, value = tombstone, nil
	}
	if by.IsZero() {
		return append(append(dst, kind), value...)
	}
	return append(append(append(dst, kind|signed), by[:]...), value...)
}

// decodeValue takes a version's stored form apart; the value is nil for a tombstone, and a part of the argument.
func decodeValue(stored []byte) ([]byte, error) {
	const name = len(kv.TxnID{})
	switch {
	case len(stored) > 1 && stored[0] == present:
		return stored[1:], nil
	case len(stored) > 1+name && stored[0] == present|signed:
		return stored[1+name:], nil
	case len(stored) == 1 && stored[0] == tombstone, len(stored) == 1+name && stored[0] == tombstone|signed:
		return nil, nil
	}
	return nil, assertionf("malformed value %.16x of %d bytes", stored, len(stored)) // M4
}

// signedBy reports whether a version's stored form names a transaction.
func signedBy(stored []byte, id kv.TxnID) bool {
	return len(stored) > len(id) && stored[0]&signed != 0 && kv.TxnID(stored[1:1+len(id)]) == id
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
