package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
)

// On a terminal the picture stays in place: the cursor goes up as many lines as were shown. Otherwise lines follow each other.
func TestWatchInPlace(t *testing.T) {
	for _, inPlace := range []bool{true, false} {
		var out bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		looks := [][]string{{"one", "two"}, {"three"}, {"four", "five", "six"}}
		i := 0
		err := watch(ctx, &out, inPlace, time.Millisecond, 0, func(context.Context) []string {
			lines := looks[i]
			if i++; i == len(looks) {
				cancel()
			}
			return lines
		})
		want := "one\ntwo\nthree\nfour\nfive\nsix\n"
		if inPlace {
			want = "one\ntwo\n\x1b[2A\x1b[Jthree\n\x1b[1A\x1b[Jfour\nfive\nsix\n"
		}
		if err != nil || out.String() != want {
			t.Errorf("in place %v: %v, %q, want %q", inPlace, err, out.String(), want)
		}
	}
}

func TestSparkline(t *testing.T) {
	for _, tc := range []struct {
		in   []time.Duration
		want string
	}{
		{nil, ""}, {[]time.Duration{0, 0}, "▁▁"}, {[]time.Duration{1, 2, 3, 4, 5, 6, 7, 8}, "▂▃▄▅▆▇██"}, {[]time.Duration{1000, 1}, "█▁"},
	} {
		if got := sparkline(tc.in); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.in, got, tc.want)
		}
	}
}

func TestLocalLine(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	iv := clock.Interval{Earliest: 1000, Latest: 3000}
	for _, tc := range []struct {
		st   clock.Status
		err  error
		want string
	}{
		{clock.Status{Source: "chrony", State: clock.Synchronized, Age: 12 * time.Millisecond}, nil, "03:04:05.006  ±1µs           synchronized   age 12ms       chrony"},
		{clock.Status{Source: "chrony", State: clock.FreeRunning, Age: time.Second, Why: "no answer"}, nil, "03:04:05.006  ±1µs           free running   age 1s         chrony: no answer"},
		{clock.Status{Source: "chrony", State: clock.Unknown, Age: -1, Why: "a\nb"}, errors.New("x"), "03:04:05.006  no reading     unknown        age -          chrony: a; b"},
	} {
		if got := localLine(at, iv, tc.err, tc.st); got != tc.want {
			t.Errorf("%q\nwant\n%q", strings.TrimSpace(got), tc.want)
		}
	}
}
