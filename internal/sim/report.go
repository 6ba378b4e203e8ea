package sim

import (
	"fmt"
	"io"
	"os/exec"
	"runtime/debug"
	"strings"

	"github.com/longitude-db/longitude/internal/check"
)

// Report says of a failed run all that is needed to have it again.
func (r *Result) Report(out io.Writer, lines int) {
	fmt.Fprintf(out, "seed %d failed at commit %s\n  %s\n", r.Config.Seed, Commit(), r.Config)
	fmt.Fprintf(out, "last of the trace:\n")
	tail := r.Tail
	for _, l := range tail[max(0, len(tail)-lines):] {
		fmt.Fprintln(out, l)
	}
	fmt.Fprintf(out, "%s\nreplay: go run ./internal/sim/simrun -seed %d -trace\n", r.Problem(), r.Config.Seed)
}

// Line sums the run up.
func (r *Result) Line() string {
	state := "ok"
	if r.Failed() {
		state = "FAILED"
	}
	return fmt.Sprintf("seed %-6d %-6s %016x  %5.1fs virtual in %5.2fs  %7d steps  ops %d ok %d failed %d unknown  healed in %.1fs  gap %.1f of %.1fs",
		r.Config.Seed, state, r.Hash, r.Virtual.Seconds(), r.Real.Seconds(), r.Steps,
		r.Ops[check.OK], r.Ops[check.Failed], r.Ops[check.Unknown], r.Healed.Seconds(), r.Gap.Seconds(), r.Config.Available.Seconds())
}

// Commit names the source that this program was built from, as far as can be known.
func Commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		rev, dirty := "", ""
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				rev = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "+changes"
			}
		}
		if rev != "" {
			return rev[:min(12, len(rev))] + dirty
		}
	}
	out, err := exec.Command("git", "describe", "--always", "--dirty=+changes").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// Found sums up what a negative control showed.
func (r *Result) Found() string {
	s := check.Count(append(r.Anomalies[:len(r.Anomalies):len(r.Anomalies)], r.Tolerated...))
	if r.Err != nil {
		first, _, _ := strings.Cut(r.Err.Error(), "\n")
		s = strings.TrimPrefix(s+", "+first, ", ")
	}
	return s
}
