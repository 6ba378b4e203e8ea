//go:build !invariants

package mvcc

// checked: see checked.go.
const checked = false
