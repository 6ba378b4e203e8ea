//go:build race

package sim

// raceEnabled: the race detector makes everything ten times as slow, and a single loop has no races to find.
const raceEnabled = true
