package harness

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// Live shows a run while it goes on: on a terminal a block that is drawn over itself each second, elsewhere a line now and
// then.
type Live struct {
	w        io.Writer
	terminal bool
	every    float64 // seconds between lines where it is not a terminal
	mu       sync.Mutex
	classes  []string
	title    string
	history  []float64
	drawn    int     // lines on the screen that are ours to draw over
	next     float64 // when the next plain line is due
}

// NewLive makes one that writes to w.
func NewLive(w io.Writer, terminal bool) *Live { return &Live{w: w, terminal: terminal, every: 5} }

// Terminal reports whether it draws; where it does not, short runs had better not be shown at all.
func (v *Live) Terminal() bool { return v.terminal }

// Begin names the run that follows.
func (v *Live) Begin(title string, classes []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.title, v.classes, v.history, v.drawn, v.next = title, classes, nil, 0, 0
}

// Say writes a line above what is drawn.
func (v *Live) Say(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	fmt.Fprintln(v.w, line)
}

func (v *Live) erase() {
	if v.drawn > 0 {
		fmt.Fprintf(v.w, "\x1b[%dA\x1b[J", v.drawn)
		v.drawn = 0
	}
}

// Second shows one point of the series.
func (v *Live) Second(s Second) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.WarmUp {
		v.next = 0
	}
	v.history = append(v.history, s.Total())
	if !v.terminal {
		if s.At < v.next {
			return
		}
		v.next = s.At + v.every
		fmt.Fprintln(v.w, v.line(s))
		return
	}
	v.erase()
	lines := v.block(s)
	for _, l := range lines {
		fmt.Fprintln(v.w, l)
	}
	v.drawn = len(lines)
}

// line is the plain form.
func (v *Live) line(s Second) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%6.1fs  %s", s.At, v.title)
	for i, c := range v.classes {
		fmt.Fprintf(&b, "  %s %s/s p50 %s p99 %s", c, figure(s.Ops[i]), figure(s.P50[i]), figure(s.P99[i]))
	}
	if s.Errors+s.Retries > 0 {
		fmt.Fprintf(&b, "  %d errors, %d retries", s.Errors, s.Retries)
	}
	return b.String()
}

// block is the form for terminals.
func (v *Live) block(s Second) []string {
	phase := "measuring"
	if s.WarmUp {
		phase = "warming up"
	}
	out := []string{
		fmt.Sprintf("%s   %s %.0fs   %d errors, %d retries", v.title, phase, s.At, s.Errors, s.Retries),
		fmt.Sprintf("%-10s %10s %10s %10s", "", "ops/s", "p50 ms", "p99 ms"),
	}
	for i, c := range v.classes {
		out = append(out, fmt.Sprintf("%-10s %10s %10s %10s", c, figure(s.Ops[i]), figure(s.P50[i]), figure(s.P99[i])))
	}
	return append(out, fmt.Sprintf("%-10s %10s  %s", "all", figure(s.Total()), sparkline(v.history, 48)))
}

// sparkline draws the last values as bars, relative to the highest of them.
func sparkline(vs []float64, width int) string {
	vs = vs[max(0, len(vs)-width):]
	var highest float64
	for _, x := range vs {
		highest = max(highest, x)
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, x := range vs {
		i := 0
		if highest > 0 {
			i = int(x / highest * float64(len(bars)-1))
		}
		b.WriteRune(bars[i])
	}
	return b.String()
}
