package clock

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// candidate is a source that a test makes present, good, bad.
type candidate struct {
	named
	absent, fail error
	asked        int
	closed       int
}

func (c *candidate) Read(h *Host) (Sample, error) {
	c.asked++
	if c.fail != nil {
		return Sample{}, c.fail
	}
	return c.named.Read(h)
}

func (c *candidate) Close() error { c.closed++; return nil }

// chooser is a clock on auto, with candidates of ±1 ms by name, best first.
type chooser struct {
	world
	t    *testing.T
	auto *Auto
	c    *Clock
	by   map[string]*candidate
}

func newChooser(t *testing.T, names ...string) *chooser {
	k := &chooser{t: t, by: map[string]*candidate{}, auto: &Auto{Patience: 15 * time.Second}}
	for _, name := range names {
		c := &candidate{named: named{Sim: NewSim(Conditions{Bound: time.Millisecond}, k.truth), name: name}}
		k.by[name] = c
		k.auto.Candidates = append(k.auto.Candidates, Candidate{c, func() error { return c.absent }})
	}
	k.c = New(k.auto, Options{Mono: k.mono})
	return k
}

func (k *chooser) poll(want string) {
	k.t.Helper()
	if err := k.c.Poll(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		k.t.Fatalf("poll: %v; want %q", err, want)
	}
}

// chose checks what was taken and what is said of the others, in order.
func (k *chooser) chose(want string, others ...string) {
	k.t.Helper()
	st := k.c.Status()
	if st.Chosen != want || want != "" && !strings.Contains(st.ChosenWhy, "the best that answers") || len(st.PassedOver) != len(others) {
		k.t.Fatalf("chose %q (%s), not %v", st.Chosen, st.ChosenWhy, st.PassedOver)
	}
	for i, f := range st.PassedOver {
		if got := f.Source + " " + f.Why; !strings.HasPrefix(got, others[i]) {
			k.t.Errorf("%q, want %q", got, others[i])
		}
	}
}

var errNotThere = fmt.Errorf("no such thing: %w", fs.ErrNotExist)

func TestAutoTakesTheBest(t *testing.T) {
	k := newChooser(t, "card", "daemon", "ntp")
	k.poll("")
	k.chose("card", "daemon not asked: card comes before it", "ntp not asked: card comes before it")
	if k.by["ntp"].asked != 0 || k.by["ntp"].closed != 1 || k.by["card"].closed != 0 {
		t.Errorf("asked %d, closed %d", k.by["ntp"].asked, k.by["ntp"].closed)
	}
	if got := k.auto.String(); got != "auto" {
		t.Errorf("its spec is %q", got) // after a restart the choice is made again
	}
}

func TestAutoTakesWhatIsThere(t *testing.T) {
	k := newChooser(t, "card", "daemon", "ntp")
	k.by["card"].absent = errNotThere
	k.by["daemon"].fail = fmt.Errorf("udp: %w", syscall.ECONNREFUSED) // it looked present, but is not
	k.poll("")
	k.chose("ntp", "card not there: no such thing", "daemon not there: udp: connection refused")
}

// While a machine starts, the better daemon is there and not yet synchronised.
func TestAutoWaitsForABetterOne(t *testing.T) {
	k := newChooser(t, "card", "daemon", "ntp")
	k.by["card"].absent = errNotThere
	k.by["daemon"].fail = errors.New("not synchronised")
	k.poll("no source is ready yet: daemon: not synchronised; ntp: it answers, but a better one that is present is waited for")
	k.chose("", "card not there", "daemon not synchronised", "ntp it answers, but a better one")
	refuses(t, k.c, ErrUnknown)
	k.advance(10 * time.Second)
	k.by["daemon"].fail = nil
	k.poll("")
	k.chose("daemon", "card not there", "ntp not asked: daemon comes before it")
}

// A better one counts only if it is good: free running, it might have been so for days.
func TestAutoWaitsForTheBetterOneToBeSynchronised(t *testing.T) {
	k := newChooser(t, "daemon", "ntp")
	k.by["daemon"].Set(Conditions{Bound: time.Millisecond, State: FreeRunning})
	k.poll("daemon: free running: simulated")
	k.by["daemon"].Set(Conditions{Bound: time.Millisecond})
	k.poll("")
	k.chose("daemon", "ntp not asked")
}

func TestAutoDoesNotWaitForEver(t *testing.T) {
	k := newChooser(t, "daemon", "ntp")
	k.by["daemon"].fail = errors.New("not synchronised")
	k.poll("no source is ready yet")
	k.advance(15*time.Second - 1)
	k.poll("no source is ready yet")
	k.advance(1)
	k.poll("")
	k.chose("ntp", "daemon not synchronised")
	// From now on it is that one. What was better comes too late: a node's trust does not change behind its user's back.
	k.by["daemon"].fail = nil
	asked := k.by["daemon"].asked
	k.advance(time.Second)
	k.poll("")
	k.chose("ntp", "daemon not synchronised")
	if k.by["daemon"].asked != asked {
		t.Error("the other is still asked")
	}
}

// The source that was chosen is lost: the clock says so, and does not become another.
func TestAutoStays(t *testing.T) {
	k := newChooser(t, "daemon", "ntp")
	k.poll("")
	k.by["daemon"].fail = fmt.Errorf("gone: %w", fs.ErrNotExist)
	for range 20 {
		k.advance(100 * time.Second)
		k.poll("gone")
		k.chose("daemon", "ntp not asked")
	}
	refuses(t, k.c, ErrUnknown)
	if k.by["ntp"].asked != 0 {
		t.Error("another source was asked")
	}
	k.by["daemon"].fail = nil
	k.poll("")
	must(t, k.c)
}

func TestAutoFindsNothing(t *testing.T) {
	k := newChooser(t, "card", "ntp")
	k.by["card"].absent = errNotThere
	k.by["ntp"].fail = errors.Join(fmt.Errorf("one address: %w", syscall.ECONNREFUSED), fmt.Errorf("another: %w", fs.ErrNotExist))
	k.poll("no source on this machine bounds the clock's error: card: not there: no such thing: file does not exist; ntp: not there: one address")
	err := k.c.Poll()
	if !errors.Is(err, ErrNoBoundedSource) || !Absent(err) || !strings.Contains(err.Error(), "static:500ms") {
		t.Errorf("%v", err)
	}
	refuses(t, k.c, ErrUnknown)
	// It does not give up: somebody may start the daemon.
	k.by["ntp"].fail = nil
	k.poll("")
	k.chose("ntp", "card not there")
}

// Those that auto chooses from measure something.
func TestAutoNeverAssumes(t *testing.T) {
	var kinds []string
	for _, c := range NewAuto().Candidates {
		kinds = append(kinds, kindOf(c.Source.String()))
	}
	if got := strings.Join(kinds, " "); got != "phc clockbound chrony" {
		t.Errorf("auto chooses from %s", got)
	}
}

func TestAutoOptions(t *testing.T) {
	src, err := Parse("auto,slew=0,drift=10ppm")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range src.(*Auto).Candidates {
		got = append(got, c.Source.String())
	}
	if want := "phc,drift=10ppm,slew=0ppm clockbound,drift=10ppm,slew=0ppm chrony,drift=10ppm,slew=0ppm"; strings.Join(got, " ") != want {
		t.Errorf("%s", got)
	}
}

func TestAbsent(t *testing.T) {
	_, missing := os.Stat(filepath.Join(t.TempDir(), "nothing"))
	refused := &net.OpError{Op: "read", Net: "udp", Err: os.NewSyscallError("recvfrom", syscall.ECONNREFUSED)}
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{missing, true},
		{refused, true},
		{fmt.Errorf("chronyd at 127.0.0.1:323: %w", refused), true},
		{errors.Join(refused, missing), true},
		{syscall.EACCES, true},
		{errors.ErrUnsupported, true},
		{fmt.Errorf("%w: nothing", ErrNoBoundedSource), true},
		{errors.New("chronyd is not synchronised"), false},
		{os.ErrDeadlineExceeded, false},
		// It is there: it is stopped, or busy. That another address is closed does not make it absent.
		{errors.Join(errors.New("no answer within 100ms"), refused, missing), false},
		{syscall.EIO, false},
	} {
		if got := Absent(tc.err); got != tc.want {
			t.Errorf("%v: %t", tc.err, got)
		}
	}
}
