//go:build race

package replica

// On one event loop there is nothing to race with: a single seed shows that the tests run.
func init() { fewerSeeds = true }
