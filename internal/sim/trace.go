package sim

import (
	"fmt"
	"io"
	"strconv"
	"time"
)

// Trace is what happened, one short line per event, and a running hash of it and of every task switch. Two runs with the
// same hash did the same.
type Trace struct {
	h     uint64
	n     int
	tail  [][]byte // a ring of the last lines
	line  []byte   // the one that is being written
	out   io.Writer
	steps bool // write task switches too
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// newTrace keeps the last so many lines, and writes all of them to out unless that is nil.
func newTrace(keep int, out io.Writer, steps bool) *Trace {
	return &Trace{h: fnvOffset, tail: make([][]byte, 0, keep), out: out, steps: steps}
}

// Event adds a line.
func (t *Trace) Event(now time.Duration, who, format string, args ...any) {
	t.begin(now, who)
	t.line = fmt.Appendf(t.line, format, args...)
	t.end()
}

// Message adds the line of a message that arrives: the most common one.
func (t *Trace) Message(now time.Duration, who, from, kind string, size int) {
	t.begin(now, who)
	t.line = append(append(append(append(t.line, "< "...), from...), ' '), kind...)
	t.line = strconv.AppendInt(append(t.line, ' '), int64(size), 10)
	t.end()
}

// begin writes when and where.
func (t *Trace) begin(now time.Duration, who string) {
	const width, places = 13, 6
	digits := strconv.AppendInt(t.line[:0], int64(now/time.Microsecond), 10)
	for len(digits) <= places {
		digits = append([]byte{'0'}, digits...)
	}
	var text [32]byte
	line := text[:0]
	for range width - 1 - len(digits) {
		line = append(line, ' ')
	}
	point := len(digits) - places
	line = append(append(append(line, digits[:point]...), '.'), digits[point:]...)
	t.line = append(append(append(t.line[:0], line...), ' '), who...)
	for range 6 - len(who) {
		t.line = append(t.line, ' ')
	}
	t.line = append(t.line, ' ')
}

func (t *Trace) end() {
	t.mix(t.line)
	t.keep()
}

// Switch takes in that a task runs.
func (t *Trace) Switch(now time.Duration, runtime, task string) {
	t.mixInt(uint64(now))
	t.mixString(runtime)
	t.mixString(task)
	if t.steps {
		t.begin(now, runtime)
		t.line = append(append(t.line, ". "...), task...)
		t.keep()
	}
}

// keep takes the line into the tail.
func (t *Trace) keep() {
	t.n++
	if len(t.tail) < cap(t.tail) {
		t.tail = append(t.tail, append([]byte(nil), t.line...))
	} else if len(t.tail) > 0 {
		i := (t.n - 1) % len(t.tail)
		t.tail[i] = append(t.tail[i][:0], t.line...)
	}
	if t.out != nil {
		fmt.Fprintf(t.out, "%s\n", t.line)
	}
}

func (t *Trace) mix(s []byte) {
	h := t.h
	for _, c := range s {
		h = (h ^ uint64(c)) * fnvPrime
	}
	t.h = h * fnvPrime
}

func (t *Trace) mixString(s string) {
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
	var out []string
	for i := range t.tail {
		out = append(out, string(t.tail[(start+i)%k]))
	}
	return out[max(0, len(out)-n):]
}
