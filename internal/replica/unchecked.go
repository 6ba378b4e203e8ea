//go:build !invariants && !assert

package replica

// checked: see checked.go.
const checked = false
