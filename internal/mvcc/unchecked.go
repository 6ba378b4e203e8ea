//go:build !invariants && !assert

package mvcc

// checked: see checked.go.
const checked = false
