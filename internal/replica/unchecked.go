//go:build !invariants

package replica

// checked: see checked.go.
const checked = false
