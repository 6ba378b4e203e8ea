package sim

import (
	"fmt"
	"io"
	"time"
)

// Trace is what happened, one short line per event, and a running hash of it and of every task switch. Two runs with the
// same hash did the same.
type Trace struct {
	h     uint64
	n     int
	tail  []string // a ring of the last lines
	out   io.Writer
	steps bool // write task switches too
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// newTrace keeps the last so many lines, and writes all of them to out unless that is nil.
func newTrace(keep int, out io.Writer, steps bool) *Trace {
	return &Trace{h: fnvOffset, tail: make([]string, 0, keep), out: out, steps: steps}
}

// Event adds a line.
func (t *Trace) Event(now time.Duration, who, format string, args ...any) {
	line := fmt.Sprintf("%13.6f %-6s ", now.Seconds(), who) + fmt.Sprintf(format, args...)
	t.mix(line)
	t.keep(line)
}

// Switch takes in that a task runs.
func (t *Trace) Switch(now time.Duration, runtime, task string) {
	t.mixInt(uint64(now))
	t.mix(runtime)
	t.mix(task)
	if t.steps {
		t.keep(fmt.Sprintf("%13.6f %-6s . %s", now.Seconds(), runtime, task))
	}
}

func (t *Trace) keep(line string) {
	t.n++
	if len(t.tail) < cap(t.tail) {
		t.tail = append(t.tail, line)
	} else if len(t.tail) > 0 {
		t.tail[(t.n-1)%len(t.tail)] = line
	}
	if t.out != nil {
		fmt.Fprintln(t.out, line)
	}
}

func (t *Trace) mix(s string) {
	h := t.h
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	t.h = h * fnvPrime
}

func (t *Trace) mixInt(v uint64) { t.h = (t.h ^ v) * fnvPrime }

// Hash is the running hash.
func (t *Trace) Hash() uint64 { return t.h }

// Lines counts the lines so far.
func (t *Trace) Lines() int { return t.n }

// Tail returns the last lines, oldest first.
func (t *Trace) Tail(n int) []string {
	k := len(t.tail)
	if k == 0 {
		return nil
	}
	start := 0
	if t.n > k {
		start = t.n % k
	}
	out := append(append([]string{}, t.tail[start:]...), t.tail[:start]...)
	return out[max(0, len(out)-n):]
}
