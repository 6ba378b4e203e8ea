//go:build unix

package clock

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// vmclockPage is the hypervisor's page, made by hand.
func vmclockPage(seq uint32, disruption, generation uint64) []byte {
	le, b := binary.LittleEndian, make([]byte, 4096)
	le.PutUint32(b, vmclockMagic)
	le.PutUint32(b[4:], 4096)
	le.PutUint16(b[8:], 1)
	le.PutUint32(b[12:], seq)
	le.PutUint64(b[16:], disruption)
	le.PutUint64(b[24:], vmHasGeneration)
	le.PutUint64(b[104:], generation)
	return b
}

func TestParseVMClock(t *testing.T) {
	le := binary.LittleEndian
	for _, tc := range []struct {
		name   string
		change func([]byte) []byte
		want   string
	}{
		{"a page", func(b []byte) []byte { return b }, ""},
		{"too short", func(b []byte) []byte { return b[:111] }, "it has 111 bytes"},
		{"another magic", func(b []byte) []byte { b[0]++; return b }, "begins with"},
		{"version 2", func(b []byte) []byte { b[8] = 2; return b }, "but of version 2"},
		{"says it is short", func(b []byte) []byte { le.PutUint32(b[4:], 100); return b }, "says that it has 100 bytes"},
		{"during an update", func(b []byte) []byte { b[12] = 3; return b }, "being written"},
	} {
		p, err := parseVMClock(tc.change(vmclockPage(2, 5, 6)))
		if tc.want == "" && (err != nil || p != vmPage{5, 6, true}) || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %+v, %v", tc.name, p, err)
		}
	}
	b := vmclockPage(2, 5, 6)
	le.PutUint64(b[24:], 0)
	if p, err := parseVMClock(b); err != nil || p.generation != 0 {
		t.Errorf("a page without generation: %+v, %v", p, err)
	}
}

// vmMachine is a guest whose page, and whose chronyd's updates, the test controls.
type vmMachine struct {
	machine
	t      *testing.T
	path   string
	vm     vmclock
	update int64
	fail   error
	c      *Clock
}

func (m *vmMachine) Read(h *Host) (Sample, error) {
	return m.vm.guard(func() (Sample, error) {
		if m.fail != nil {
			return Sample{}, m.fail
		}
		p := h.Pair()
		return Sample{State: Synchronized, Mono: p.Mono, Earliest: p.Earliest.Add(-time.Millisecond), Latest: p.Latest.Add(time.Millisecond), Update: m.update}, nil
	})
}

func (m *vmMachine) String() string { return "vm" }

func newVMMachine(t *testing.T) *vmMachine {
	m := &vmMachine{t: t, path: filepath.Join(t.TempDir(), "vmclock0")}
	m.vm.path = m.path
	m.page(2, 0, 0)
	m.c = m.clock(m)
	t.Cleanup(m.vm.close)
	return m
}

func (m *vmMachine) page(seq uint32, disruption, generation uint64) {
	m.t.Helper()
	put(m.t, m.path, vmclockPage(seq, disruption, generation))
}

func (m *vmMachine) poll(want string) {
	m.t.Helper()
	m.advance(100 * time.Millisecond)
	if err := m.c.Poll(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		m.t.Fatalf("poll: %v; want %q", err, want)
	}
}

// The machine was migrated. What chronyd knew before says nothing about the time now; its next update does.
func TestVMClockDisruption(t *testing.T) {
	for name, change := range map[string][2]uint64{"marker": {1, 0}, "generation": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			m := newVMMachine(t)
			m.poll("")
			m.page(4, 0, 0) // an update of the page that is no disruption
			m.poll("")
			m.page(6, change[0], change[1])
			m.poll("the hypervisor says that time was disrupted: marker 0 to")
			refuses(t, m.c, ErrDisrupted)
			for range 50 {
				m.poll("waiting for news from after the disruption")
				refuses(t, m.c, ErrDisrupted)
			}
			m.update++
			m.poll("")
			must(t, m.c)
			if st := m.c.Status(); st.Disruptions != 1 {
				t.Errorf("one disruption was counted as %d", st.Disruptions)
			}
		})
	}
}

// The page changes while chronyd is silent: nobody can tell whether its first answer rests on an update from before.
func TestVMClockDisruptionWhileTheSourceIsSilent(t *testing.T) {
	m := newVMMachine(t)
	m.poll("")
	m.fail = os.ErrDeadlineExceeded
	m.page(4, 1, 0)
	m.poll("the hypervisor says")
	refuses(t, m.c, ErrDisrupted)
	m.poll("; since then: ")
	m.fail, m.update = nil, 7 // learned some time between
	m.poll("the hypervisor says")
	m.poll("waiting for news")
	m.update = 8
	m.poll("")
	must(t, m.c)
}

// A page that cannot be read vouches for nothing; the last anchor goes on growing.
func TestVMClockGone(t *testing.T) {
	m := newVMMachine(t)
	m.poll("")
	m.page(3, 0, 0)
	m.poll("it is being written")
	must(t, m.c)
	if err := os.Remove(m.path); err != nil {
		t.Fatal(err)
	}
	m.poll("disruption marker cannot be read")
	must(t, m.c)
	m.page(4, 0, 0)
	m.poll("")
}

// A simulated machine with a hypervisor: what a simulation relies on.
func TestSimulatedHypervisor(t *testing.T) {
	for _, everywhere := range []bool{true, false} {
		w := &world{}
		c, s := w.clock(t, Conditions{Bound: time.Millisecond}, Options{})
		s.Disrupt() // it has no hypervisor that could tell
		_ = c.Poll()
		must(t, c)
		s.Mark(everywhere)
		_ = c.Poll()
		must(t, c)
		s.Disrupt()
		if _, err := c.Now(); (err == ErrDisrupted) != everywhere {
			t.Errorf("readers look at the marker: %v; %v", everywhere, err)
		}
		_ = c.Poll()
		refuses(t, c, ErrDisrupted)
		_ = c.Poll()
		must(t, c)
	}
}

func TestVMClockOptions(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "vmclock0")
	asked := vmclock{path: missing}
	if _, err := asked.guard(func() (Sample, error) { return Sample{}, nil }); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a page that was asked for by name and is not there: %v", err)
	}
	off := vmclock{path: noVMClock}
	if s, err := off.guard(func() (Sample, error) { return Sample{Why: "asked"}, nil }); err != nil || s.Why != "asked" || off.say != "not looked at" {
		t.Errorf("off: %+v, %v, %q", s, err, off.say)
	}
}

// ClockBound's daemon is slower than we are to see the marker: until it has, its segment says "synchronized" and is of no use.
func TestVMClockBeforeClockBoundSawIt(t *testing.T) {
	dir := t.TempDir()
	page, seg := filepath.Join(dir, "vmclock0"), filepath.Join(dir, "shm0")
	src, err := Parse("clockbound:" + seg + ",vmclock=" + page)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{}
	m.advance(time.Hour)
	c := m.clock(src)
	defer c.Stop()
	write := func(marker uint64) {
		m.advance(100 * time.Millisecond)
		s := healthy(m.mono())
		s.watched, s.marker = true, marker
		put(t, seg, s.bytes())
	}
	poll := func(want string) {
		t.Helper()
		if err := c.Poll(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Fatalf("poll: %v; want %q", err, want)
		}
	}
	put(t, page, vmclockPage(2, 5, 0))
	write(5)
	poll("")
	put(t, page, vmclockPage(4, 6, 0))
	write(5)
	poll("the hypervisor says that time was disrupted: marker 5 to 6")
	write(5)
	poll("disruption marker is 6, ClockBound has only seen 5")
	refuses(t, c, ErrDisrupted)
	write(6)
	poll("ClockBound has seen the hypervisor's disruption marker go from 5 to 6")
	refuses(t, c, ErrDisrupted)
	write(6)
	poll("")
	must(t, c)
	if st := c.Status(); !strings.Contains(st.VMClock, "disruption marker 6") {
		t.Errorf("the marker is not shown: %q", st.VMClock)
	}
}
