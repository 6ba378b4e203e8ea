package clock

import (
	"strings"
	"testing"
	"time"
)

// scripted is a source that says what the test puts into it.
type scripted struct {
	s   Sample
	err error
}

func (f *scripted) Read(h *Host) (Sample, error) {
	s := f.s
	s.Mono = h.Mono()
	return s, f.err
}
func (f *scripted) String() string { return "scripted" }

// A source that no longer vouches for what it said takes readings away at once. The next good answer brings them back, but
// only if it agrees with what was said before.
func TestWithdraw(t *testing.T) {
	for _, tc := range []struct {
		name  string
		shift time.Duration
		err   error
	}{
		{"agrees", 0, nil},
		{"contradicts", 10 * time.Millisecond, ErrDisrupted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &world{}
			src := &scripted{s: Sample{State: Synchronized, Earliest: epoch, Latest: epoch + 1000, Update: 1}}
			c := New(src, Options{Mono: w.mono})
			_ = c.Poll()
			must(t, c)
			src.s = Sample{State: Unknown, Why: "the daemon has lost it"}
			if err := c.Poll(); err == nil {
				t.Fatal("the poll said nothing")
			}
			refuses(t, c, ErrUnknown)
			if st := c.Status(); st.State != Unknown || !strings.Contains(st.Why, "the daemon has lost it") {
				t.Fatalf("status: %s", st)
			}
			at := epoch.Add(tc.shift)
			src.s = Sample{State: Synchronized, Earliest: at, Latest: at + 1000, Update: 1}
			_ = c.Poll()
			if _, err := c.Now(); err != tc.err && tc.err != nil || (err == nil) != (tc.err == nil) {
				t.Fatalf("got %v, want %v (%s)", err, tc.err, c.Status())
			}
		})
	}
}

// After a disruption a source whose updates lag behind has to come further.
func TestUpdateLag(t *testing.T) {
	w := &world{}
	src := &scripted{s: Sample{State: Synchronized, Earliest: epoch, Latest: epoch + 1000, Update: 100, UpdateLag: 50}}
	c := New(src, Options{Mono: w.mono})
	_ = c.Poll()
	good := src.s
	src.s.State, src.s.Why = Disrupted, "something happened"
	_ = c.Poll()
	src.s = good
	for _, u := range []int64{101, 150} {
		src.s.Update = u
		_ = c.Poll()
		refuses(t, c, ErrDisrupted)
	}
	src.s.Update = 151
	_ = c.Poll()
	must(t, c)
}
