package engine

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestScriptsWithSpilling runs the scripts once more, with transactions that lay intents for every write at once, or for a
// few of them together: that must not show.
func TestScriptsWithSpilling(t *testing.T) {
	for _, p := range []struct {
		dir       string
		nodes, at int
	}{{"testdata", 1, 1}, {"testdata", 1, 3000}, {"testdata/cluster", 3, 1}} {
		files, _ := filepath.Glob(p.dir + "/*.txt")
		t.Run(fmt.Sprintf("%s at %d", filepath.Base(p.dir), p.at), func(t *testing.T) {
			t.Parallel() // most of the time is waiting
			c := (&cluster{t: t}).spillAt(p.at).startAll(p.nodes)
			c.waitReplicated()
			for _, f := range files {
				name := strings.TrimSuffix(filepath.Base(f), ".txt")
				if name == "atcommit" || name == "scanlocks" { // what shows: waiting at the statement, and for intents instead of locks
					continue
				}
				t.Run(name, func(t *testing.T) { runScript(t, c, f, stage{db: "d_" + name}) })
			}
			if c.nodes[0].node.DB.Stats().Spilled == 0 {
				t.Error("no transaction has laid an intent before its commit")
			}
		})
	}
}
