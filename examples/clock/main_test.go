package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/longitude-db/longitude/clock"
)

func TestRun(t *testing.T) {
	if err := run("sim:eps=0.1ms"); err != nil {
		t.Error(err)
	}
	if err := run("sim:eps=1ms,lost"); !errors.Is(err, clock.ErrUnknown) || !strings.Contains(err.Error(), "lost") {
		t.Errorf("a source that does not answer: %v", err)
	}
	if err := run("sundial"); err == nil || !strings.Contains(err.Error(), "sundial") {
		t.Errorf("no such source: %v", err)
	}
}
