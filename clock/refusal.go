package clock

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Refusal is why a clock gives no reading, for people: what happened, with values, and what they can do. It is empty if
// there is a reading.
func (s Status) Refusal() (what, hint string) {
	if s.Err == nil {
		return "", ""
	}
	s.Why = strings.ReplaceAll(s.Why, "\n", "; ")
	d := round(s.FencedFor)
	source := fmt.Sprintf("(source %s: last good answer %s ago)", s.Source, round(s.Age))
	if s.Age < 0 {
		source = fmt.Sprintf("(source %s: no good answer)", s.Source)
	}
	const assume = "to run on an assumed bound instead, start every node with --clock=static:500ms"
	switch {
	case errors.Is(s.Err, ErrFenced) && s.Limit > 0 && s.Fenced != "" && strings.HasPrefix(s.Fenced, "the interval"):
		return fmt.Sprintf("clock bound is %s, maximum uncertainty is %s: %s, for %s %s", round(s.Bound), s.Limit, s.Fenced, d, source),
			"see `longitude clock sources` and `chronyc tracking`; " + assume
	case errors.Is(s.Err, ErrFenced):
		return fmt.Sprintf("%s, for %s%s %s", s.Fenced, d, s.apart(), source),
			"this machine's clock is wrong beyond its bound, or its bound is too small: compare it with the others' (`chronyc tracking`, SHOW CLOCK on another node), " +
				"and mend it or change its source (`longitude clock set`); the node returns by itself about 10s after the others agree with its clock"
	case errors.Is(s.Err, ErrDisrupted):
		return fmt.Sprintf("the clock is disrupted: %s %s", s.Why, source),
			"it comes back with the source's next measurement; if it does not, see `longitude clock sources` and `chronyc tracking`"
	}
	return fmt.Sprintf("the clock does not know the time: %s %s", s.Why, source),
		"see `longitude clock sources` and `chronyc tracking`; " + assume
}

// apart says how far the peers that contradicted the clock lately are from it.
func (s Status) apart() string {
	var out []string
	for _, d := range s.Conflicts {
		if d.Age < 2*time.Minute {
			out = append(out, fmt.Sprintf("node %d by %s", d.Peer, round(d.Apart().Abs())))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; outside of the readings of " + strings.Join(out, " and ")
}

// round leaves three or four digits.
func round(d time.Duration) time.Duration {
	unit := time.Nanosecond
	for d.Abs()/unit >= 10_000 {
		unit *= 10
	}
	return d.Round(unit)
}
