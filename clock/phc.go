package clock

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// PHC is Chrony where chronyd follows a PTP hardware clock on a network card that publishes its own error bound, as Amazon's
// ENA does. chronyd takes such a clock for exact, so its bound lacks the clock's own, which is added here.
//
// HAZARD: as for Chrony. The published bound is what the card's maker says.
type PHC struct {
	*Chrony
	// Device is a network interface (eth0), or a clock's device (/dev/ptp0, /dev/ptp_ena); empty: the only one on the
	// machine that publishes a bound.
	Device string
	// RefID is chronyd's reference while it follows that clock; chronyd calls its first one PHC0.
	RefID uint32
	// Root stands before all paths, for tests; empty: none.
	Root string

	path   string        // of the published bound; empty: not found yet, or gone
	had    bool          // it was found once
	at     time.Duration // of the last good value
	recent [2]int64      // the highest good values of this period of keepPHC and of the one before; 0: none
	period time.Duration // when this one began
	detail Detail
}

const (
	phcRefID = 0x50484330 // "PHC0"
	// keepPHC is for how long the last good value stands in for one that cannot be read, since the driver refuses now and
	// then; and for how long, at least, a high one holds: chronyd's estimate rests on several looks at the clock.
	keepPHC = 5 * time.Second
	// maxPHC is above what any clock publishes that is worth following. The driver's mark for "not known" is 2^32-1.
	maxPHC = int64(time.Second)
)

// NewPHC makes a source with the defaults.
func NewPHC(device string) *PHC { return &PHC{Chrony: NewChrony(""), Device: device, RefID: phcRefID} }

func parsePHC(rest string) (Source, error) {
	device, opts, _ := strings.Cut(rest, ",")
	p := NewPHC(device)
	if strings.HasPrefix(device, "/") && !strings.HasPrefix(device, "/dev/") || !strings.HasPrefix(device, "/") && strings.ContainsAny(device, "/.*?[\\") {
		return nil, fmt.Errorf("%q is neither a network interface nor a device such as /dev/ptp0", device)
	}
	set := p.Chrony.options()
	set["chrony"] = func(s string) error { p.Addr = s; return checkChronyAddr(s) }
	set["refid"] = func(s string) error {
		if len(s) < 1 || len(s) > 4 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) {
			return fmt.Errorf("%q is not one to four letters, such as PHC0", s)
		}
		p.RefID = refID(s)
		return nil
	}
	return p, options(opts, set)
}

// refID packs a name as chronyd does, the first letter first.
func refID(name string) (id uint32) {
	for i := range 4 {
		id <<= 8
		if i < len(name) {
			id |= uint32(name[i])
		}
	}
	return id
}

func refName(id uint32) string {
	return strings.TrimRight(string([]byte{byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}), "\x00")
}

// Read implements Source. The published bound is read after chronyd's answer; it is that of the driver's last look at the
// clock, which chronyd asked for; the highest of the last seconds counts.
func (p *PHC) Read(h *Host) (Sample, error) {
	s, t, err := p.ask(h)
	p.detail = p.Chrony.detail
	if missing := p.locate(); missing != nil && !p.had {
		return Sample{}, errors.Join(missing, err) // who asks for a hardware clock is not given chronyd alone
	}
	if err != nil || s.State != Synchronized && s.State != FreeRunning {
		return s, err
	}
	if t.RefID != p.RefID {
		// chronyd has left the clock. Its bound is that of the server that it follows instead, and complete.
		s.Why = fmt.Sprintf("chronyd follows %08X in place of the clock %s: %s", t.RefID, refName(p.RefID), s.Why)
		return s, nil
	}
	ns, err := p.bound(h)
	if err != nil {
		return Sample{}, err
	}
	d := time.Duration(ns)
	s.Earliest, s.Latest = s.Earliest.Add(-d), s.Latest.Add(d)
	s.Why = fmt.Sprintf("hardware clock %s ±%s, %s", refName(p.RefID), d, s.Why)
	return s, nil
}

// Detail implements Detailed.
func (p *PHC) Detail() Detail { return p.detail }

// bound is the published one in ns; if it cannot be read just now, the last that could be, for a while.
func (p *PHC) bound(h *Host) (int64, error) {
	ns, err := p.published()
	now := h.Mono()
	if err == nil {
		switch since := now - p.period; {
		case p.recent[0] == 0 || since > 2*keepPHC || since < 0:
			p.recent, p.period = [2]int64{}, now
		case since > keepPHC:
			p.recent, p.period = [2]int64{0, p.recent[0]}, now
		}
		p.recent[0], p.at = max(p.recent[0], ns), now
	} else if p.recent[0] == 0 || now-p.at > keepPHC {
		return 0, fmt.Errorf("the hardware clock's error bound cannot be read: %w", err)
	}
	return max(p.recent[0], p.recent[1]), nil
}

// locate finds the file once.
func (p *PHC) locate() (err error) {
	if p.path == "" {
		p.path, err = p.find()
		p.had = p.had || err == nil
	}
	return err
}

func (p *PHC) published() (int64, error) {
	if err := p.locate(); err != nil {
		return 0, err
	}
	b, err := readSmall(p.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			p.path = "" // the card went away, or its driver was loaded again
		}
		return 0, err
	}
	ns, err := parsePHCBound(b)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.path, err)
	}
	return ns, nil
}

// readSmall reads a file of sysfs; what is longer than a number is no bound.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4096))
}

// parsePHCBound reads a decimal number of ns with a newline behind it.
func parsePHCBound(b []byte) (int64, error) {
	s := string(bytes.TrimSuffix(b, []byte("\n")))
	if len(s) > 20 || len(s) == 0 || strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, fmt.Errorf("%.20q is not a number of nanoseconds", s)
	}
	ns, err := strconv.ParseInt(s, 10, 64)
	if err != nil || ns <= 0 || ns >= maxPHC {
		return 0, fmt.Errorf("%s ns is not a bound between 1 ns and %s", s, time.Duration(maxPHC))
	}
	return ns, nil
}

// find looks for the file with the bound.
func (p *PHC) find() (string, error) {
	switch {
	case p.Device == "":
		return p.only()
	case strings.HasPrefix(p.Device, "/dev/"):
		target := filepath.Join(p.Root, p.Device)
		if to, err := filepath.EvalSymlinks(target); err == nil {
			target = to // udev names ENA's clock /dev/ptp_ena
		}
		return p.ofDevice(filepath.Join(p.Root, "/sys/class/ptp", filepath.Base(target), "device"))
	}
	return p.ofDevice(filepath.Join(p.Root, "/sys/class/net", p.Device, "device"))
}

// ofDevice is the file of a device of some class: its PCI slot is in uevent, and the slot's directory has the bound.
func (p *PHC) ofDevice(dir string) (string, error) {
	b, err := readSmall(filepath.Join(dir, "uevent"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if slot, ok := strings.CutPrefix(strings.TrimSpace(line), "PCI_SLOT_NAME="); ok && slot != "" && slot == filepath.Base(slot) {
			path := filepath.Join(p.Root, "/sys/bus/pci/devices", slot, "phc_error_bound")
			if _, err := os.Stat(path); err != nil {
				return "", fmt.Errorf("the driver of %s publishes no error bound: %w", slot, err)
			}
			return path, nil
		}
	}
	return "", fmt.Errorf("%s names no PCI slot", filepath.Join(dir, "uevent"))
}

// only is the file of the machine's only clock that has one.
func (p *PHC) only() (string, error) {
	found, err := filepath.Glob(filepath.Join(p.Root, "/sys/bus/pci/devices/*/phc_error_bound"))
	if err != nil {
		return "", err
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no hardware clock publishes one (%s): %w", filepath.Join(p.Root, "/sys/bus/pci/devices/*/phc_error_bound"), fs.ErrNotExist)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("more than one clock publishes one, say which is meant, as in phc:eth0: %s", strings.Join(found, ", "))
}

func (p *PHC) String() string {
	b := p.spec("phc", p.Device)
	if p.RefID != phcRefID {
		b.text("refid", refName(p.RefID))
	}
	return b.text("chrony", p.Addr).String()
}
