package processes

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Flags are those of a build's `start`, without the dashes.
type Flags map[string]bool

// helpLimit is how long a build may take to print its help.
const helpLimit = 30 * time.Second

var flagLine = regexp.MustCompile(`(?m)^\s+(?:-\w, )?--([a-z][a-z-]*)`)

// FlagsOf asks a build what flags its `start` has.
func FlagsOf(ctx context.Context, program string) (Flags, error) {
	out, err := help(ctx, program, "start")
	if err != nil {
		return nil, err
	}
	f := flagsIn(out)
	for _, need := range []string{"store", "rpc-addr", "sql-addr", "http-addr", "join", "clock"} {
		if !f[need] {
			return nil, fmt.Errorf("%s start has no flag --%s, without which its nodes cannot be run beside others\nhint: name a build of longitude that has `longitude start`", program, need)
		}
	}
	return f, nil
}

func flagsIn(help string) Flags {
	f := Flags{}
	for _, m := range flagLine.FindAllStringSubmatch(help, -1) {
		f[m[1]] = true
	}
	return f
}

// HoldsNodes reports whether a build can hold the nodes of a benchmark in one process.
func HoldsNodes(ctx context.Context, program string) (bool, error) {
	out, err := help(ctx, program, "bench", "nodes")
	// A build without that command shows the help of `bench`, or refuses.
	return strings.Contains(out, "longitude bench nodes"), err
}

func help(ctx context.Context, program string, command ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, helpLimit)
	defer cancel()
	c := exec.CommandContext(ctx, program, append(slices.Clone(command), "--help")...)
	c.WaitDelay = time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if c.ProcessState != nil && c.ProcessState.Exited() {
		return out.String(), nil // what it said is looked at, whatever its code
	}
	return "", fmt.Errorf("asking %s for its help: %w", program, err)
}

// Common are the flags that all of several builds have (N1).
func Common(all ...Flags) Flags {
	out := Flags{}
	for name := range all[0] {
		if !slices.ContainsFunc(all[1:], func(f Flags) bool { return !f[name] }) {
			out[name] = true
		}
	}
	return out
}
