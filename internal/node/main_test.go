package node

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain gives the benchmarks' cluster a directory that goes with the process.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "longitude-bench-*")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		benchDir = dir
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(400) // as `longitude start` does
		}
		return m.Run()
	}())
}
