//go:build invariants || assert

package mvcc

// checked: what must be so is looked at each time.
const checked = true
