package clock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/facebook/time/ntp/chrony"
)

// sysfs is a machine's /sys and /dev, made by hand: two network cards, ens5 with a clock that publishes its error (±12.5 µs)
// and ens6 with a clock that does not.
func sysfs(t *testing.T) string {
	root := t.TempDir()
	for path, text := range map[string]string{
		"/sys/bus/pci/devices/0000:00:05.0/phc_error_bound": "12500\n",
		"/sys/bus/pci/devices/0000:00:05.0/uevent":          "DRIVER=ena\nPCI_CLASS=20000\nPCI_SLOT_NAME=0000:00:05.0\n",
		"/sys/bus/pci/devices/0000:00:06.0/uevent":          "DRIVER=ixgbe\nPCI_SLOT_NAME=0000:00:06.0\n",
		"/sys/devices/virtual/net/lo/uevent":                "INTERFACE=lo\nIFINDEX=1\n",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{
		"/sys/class/net/ens5/device": "../../../bus/pci/devices/0000:00:05.0",
		"/sys/class/net/ens6/device": "../../../bus/pci/devices/0000:00:06.0",
		"/sys/class/net/lo/device":   "../../../devices/virtual/net/lo",
		"/sys/class/ptp/ptp0/device": "../../../bus/pci/devices/0000:00:06.0",
		"/sys/class/ptp/ptp1/device": "../../../bus/pci/devices/0000:00:05.0",
		"/dev/ptp_ena":               "ptp1",
	} {
		link := filepath.Join(root, from)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "/dev/ptp1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

const published = "/sys/bus/pci/devices/0000:00:05.0/phc_error_bound"

func TestPHCFind(t *testing.T) {
	root := sysfs(t)
	for _, tc := range []struct{ device, want string }{
		{"", ""},
		{"ens5", ""},
		{"/dev/ptp1", ""},
		{"/dev/ptp_ena", ""},
		{"ens6", "the driver of 0000:00:06.0 publishes no error bound"},
		{"/dev/ptp0", "the driver of 0000:00:06.0 publishes no error bound"},
		{"lo", "names no PCI slot"},
		{"eth9", "no such file"},
		{"/dev/ptp7", "no such file"},
	} {
		p := NewPHC(tc.device)
		p.Root = root
		path, err := p.find()
		switch {
		case tc.want == "" && (err != nil || path != filepath.Join(root, published)):
			t.Errorf("%q: %s, %v", tc.device, path, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%q: %s, %v; want %q", tc.device, path, err, tc.want)
		}
	}
	p := NewPHC("")
	p.Root = root
	another := filepath.Join(root, "/sys/bus/pci/devices/0000:00:06.0/phc_error_bound")
	if err := os.WriteFile(another, []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := p.find(); err == nil || !strings.Contains(err.Error(), "more than one clock") || !strings.Contains(err.Error(), "0000:00:06.0") {
		t.Errorf("two clocks: %v", err)
	}
	p.Root = t.TempDir()
	if _, err := p.find(); err == nil || !Absent(err) {
		t.Errorf("no clock: %v", err)
	}
}

func TestPHCBound(t *testing.T) {
	for text, want := range map[string]int64{
		"12500\n": 12500, "1": 1, "999999999\n": 999_999_999,
		"": 0, "\n": 0, "0\n": 0, "-5\n": 0, "12.5\n": 0, "4294967295\n": 0, "1000000000\n": 0, "12500\n\n": 0, "0x10\n": 0, " 7\n": 0,
		strings.Repeat("9", 40): 0,
	} {
		if got, err := parsePHCBound([]byte(text)); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}

// chronyd follows the clock on the card and takes it for exact: the published bound is added to each side. When chronyd falls back
// to a server, that server's bound is complete.
func TestPHCAddsThePublishedBound(t *testing.T) {
	root := sysfs(t)
	file := filepath.Join(root, published)
	var ref atomic.Uint32
	ref.Store(phcRefID)
	addr := server(t, "udp", "127.0.0.1:0", func(seq uint32) [][]byte {
		tr := now(good())
		tr.RefID, tr.Stratum, tr.CurrentCorrection = ref.Load(), 1, 0 // E is 100 µs
		return [][]byte{reply(seq, tr)}
	})
	src, err := Parse("phc:ens5,vmclock=off,slew=0,chrony=" + addr)
	if err != nil {
		t.Fatal(err)
	}
	p := src.(*PHC)
	p.Root = root
	var ns atomic.Int64 // the card's time since the clock was made: it decides how old the last good value is
	ns.Store(int64(time.Hour))
	h := &Host{mono: func() time.Duration { return time.Duration(ns.Load()) }, wall: func() Instant { return Instant(time.Now().UnixNano()) }}
	defer p.Close()
	read := func(extra time.Duration, why string) {
		t.Helper()
		s, err := p.Read(h)
		for try := 0; err != nil && strings.Contains(err.Error(), "no answer within") && try < 50; try++ {
			s, err = p.Read(h) // the machine was busy: the stand-in of chronyd was not run in time
		}
		if err != nil || s.State != Synchronized || !strings.Contains(s.Why, why) {
			t.Fatalf("%+v, %v; want %q", s, err, why)
		}
		half := s.Latest.Sub(s.Earliest) / 2
		if d := half - 100*time.Microsecond - extra; d < 0 || d > time.Microsecond {
			t.Fatalf("±%s, want ±100µs and %s", half, extra)
		}
	}
	us := time.Microsecond
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read(12500*time.Nanosecond, "hardware clock PHC0 ±12.5µs, stratum 1")
	write("40000\n")
	read(40*us, "±40µs")
	// chronyd's estimate still rests on the looks at the clock from when it was worse.
	write("10000\n")
	ns.Add(int64(time.Second))
	read(40*us, "±40µs")
	ns.Add(int64(11 * time.Second))
	read(10*us, "±10µs")
	// The driver refuses for a moment, as it does now and then; after some seconds the poll has failed.
	write("4294967295\n")
	ns.Add(int64(5 * time.Second))
	read(10*us, "±10µs")
	ns.Add(1)
	if s, err := p.Read(h); err == nil || !strings.Contains(err.Error(), "error bound cannot be read") || !strings.Contains(err.Error(), "4294967295 ns is not a bound") {
		t.Fatalf("%+v, %v", s, err)
	}
	ref.Store(0x0A000001)
	read(0, "chronyd follows 0A000001 in place of the clock PHC0")
	ref.Store(phcRefID)
	// The driver is loaded again.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(h); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%v", err)
	}
	write("15000\n")
	read(15*us, "±15µs")
}

// A machine without such a clock: who asks for one by name is not given chronyd's servers in its place.
func TestPHCIsNotThere(t *testing.T) {
	addr := server(t, "udp", "127.0.0.1:0", func(seq uint32) [][]byte { return [][]byte{reply(seq, now(good()))} })
	src, err := Parse("phc,vmclock=off,chrony=" + addr)
	if err != nil {
		t.Fatal(err)
	}
	p := src.(*PHC)
	p.Root = t.TempDir()
	defer p.Close()
	if s, err := p.Read(&Host{base: time.Now()}); err == nil || !Absent(err) || !strings.Contains(err.Error(), "no hardware clock publishes one") {
		t.Fatalf("%+v, %v", s, err)
	}
	p.Root = sysfs(t)
	if s, err := p.Read(&Host{base: time.Now()}); err != nil || !strings.Contains(s.Why, "in place of the clock PHC0") {
		t.Fatalf("%+v, %v", s, err)
	}
}

// What chronyd says of itself counts as for chrony, before any bound is added.
func TestPHCNeedsChronyd(t *testing.T) {
	addr := server(t, "udp", "127.0.0.1:0", func(seq uint32) [][]byte {
		return [][]byte{reply(seq, chrony.Tracking{LeapStatus: leapUnsynchronized, RootDelay: 1, RootDispersion: 1})}
	})
	src, err := Parse("phc,vmclock=off,chrony=" + addr)
	if err != nil {
		t.Fatal(err)
	}
	p := src.(*PHC)
	p.Root = sysfs(t)
	defer p.Close()
	if _, err := p.Read(&Host{base: time.Now()}); err == nil || !strings.Contains(err.Error(), "chronyd is not synchronised") {
		t.Fatalf("%v", err)
	}
}
