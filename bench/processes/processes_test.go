package processes

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/proc"
)

// program writes a shell script that stands for a build.
func program(t *testing.T, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "longitude")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

const oldHelp = `cat <<END
Run a node, with --nonsense in the middle of a line.

Flags:
      --clock string      source
  -s, --store string      directory
      --rpc-addr string   for nodes
      --sql-addr string   for clients
      --http-addr string  for people
      --join strings      any node
END
`

// TestFlags: builds that are compared get what all of them have, and what one lacks is told.
func TestFlags(t *testing.T) {
	old, err := FlagsOf(t.Context(), program(t, oldHelp))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"clock": true, "store": true, "nonsense": false, "advertise-addr": false} {
		if old[name] != want {
			t.Errorf("--%s: %v, want %v", name, old[name], want)
		}
	}
	newer := Common(old)
	for _, f := range []string{"advertise-addr", "ordering", "max-uncertainty"} {
		newer[f] = true
	}
	if w := (Options{Flags: newer, Delay: time.Second}).Withheld(); w != "" {
		t.Errorf("of a build with all flags is withheld: %s", w)
	}
	w := Options{Flags: Common(newer, old), Delay: time.Second}.Withheld()
	for _, part := range []string{"no delay between nodes", "--ordering", "--max-uncertainty"} {
		if !strings.Contains(w, part) {
			t.Errorf("withheld: %q, wanted: with %q", w, part)
		}
	}
	if _, err := FlagsOf(t.Context(), program(t, "echo what is a node")); err == nil || !strings.Contains(err.Error(), "has no flag --store") {
		t.Errorf("a program of another kind: %v", err)
	}
	if _, err := FlagsOf(t.Context(), filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a program that is not there has flags")
	}
}

func TestHoldsNodes(t *testing.T) {
	for script, want := range map[string]bool{
		`echo "Usage:"; echo "  longitude bench nodes [flags]"`:                   true,
		`echo "Usage:"; echo "  longitude bench [command]"`:                       false,
		`echo "longitude bench: unknown command nodes for longitude" >&2; exit 2`: false,
	} {
		if got, err := HoldsNodes(t.Context(), program(t, script)); err != nil || got != want {
			t.Errorf("%s: %v, %v", script, got, err)
		}
	}
}

// TestEndedByItself: a node that ends says why, and nothing of the cluster is left.
func TestEndedByItself(t *testing.T) {
	_, err := Start(t.Context(), Options{Program: program(t, `echo "the store is full of eels" >&2; exit 3`), Dir: t.TempDir(), Clocks: []string{"sim:eps=1ms"}})
	if err == nil || !strings.Contains(err.Error(), "node 1 ended by itself: exit status 3") || !strings.Contains(err.Error(), "full of eels") {
		t.Errorf("%v", err)
	}
}

// TestInterrupted: when a run is interrupted its processes are gone when Start has returned (N3).
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	said := filepath.Join(dir, "pid")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil { // until the node is there
			if b, err := os.ReadFile(said); err == nil && len(b) > 0 {
				cancel()
			}
		}
	}()
	// A node that never becomes healthy, and takes no notice of signals that can be ignored, which `sleep` inherits.
	_, err := Start(ctx, Options{Program: program(t, "trap '' INT TERM\necho $$ >"+said+"\nexec sleep 1000"), Dir: dir, Clocks: []string{"sim:eps=1ms"}})
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("%v", err)
	}
	b, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	for _, c := range strings.TrimSpace(string(b)) {
		pid = pid*10 + int(c-'0')
	}
	if d, err := proc.CPU(pid); err == nil {
		t.Errorf("process %d is still there and has worked for %s", pid, d)
	}
}
