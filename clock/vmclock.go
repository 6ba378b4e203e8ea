package clock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
)

// DefaultVMClock is the device by which a hypervisor tells a Linux guest that it was paused, restored or migrated.
const DefaultVMClock = "/dev/vmclock0"

// noVMClock is the value of the option vmclock that turns the watch off.
const noVMClock = "off"

// vmPage is what the watch reads of the hypervisor's page (struct vmclock_abi of Linux, little endian; the times in it are
// not used). Either number changes when the guest has lost time that its own clocks know nothing about: after that, what
// was measured before says nothing about the time, and the frequency of the counter may be another.
type vmPage struct {
	disruption uint64 // disruption_marker
	generation uint64 // vm_generation_counter, 0 if the page has none
	watched    bool   // it has one
}

const (
	vmclockBytes      = 112
	vmclockMagic      = 0x4B4C4356
	vmclockSeq        = 12
	vmclockMarker     = 16
	vmclockGeneration = 104
	vmHasGeneration   = 1 << 8
	vmclockMinHeader  = vmclockGeneration // it came later
)

var errMalformedVMClock = errors.New("not a vmclock page")

// parseVMClock reads the page.
func parseVMClock(b []byte) (vmPage, error) {
	le := binary.LittleEndian
	if len(b) < vmclockBytes {
		return vmPage{}, fmt.Errorf("%w: it has %d bytes, not %d", errMalformedVMClock, len(b), vmclockBytes)
	}
	size, version := le.Uint32(b[4:]), le.Uint16(b[8:])
	switch {
	case le.Uint32(b) != vmclockMagic:
		return vmPage{}, fmt.Errorf("%w: it begins with %08x", errMalformedVMClock, le.Uint32(b))
	case version != 1:
		return vmPage{}, fmt.Errorf("%w of version 1, but of version %d", errMalformedVMClock, version)
	case size < vmclockMinHeader:
		return vmPage{}, fmt.Errorf("%w: it says that it has %d bytes", errMalformedVMClock, size)
	case le.Uint32(b[vmclockSeq:])%2 != 0:
		return vmPage{}, errTorn
	}
	p := vmPage{disruption: le.Uint64(b[vmclockMarker:])}
	if le.Uint64(b[24:])&vmHasGeneration != 0 && size >= vmclockBytes {
		p.generation, p.watched = le.Uint64(b[vmclockGeneration:]), true
	}
	return p, nil
}

// vmclock watches the page on behalf of a source. The marker is read after the clock: if it is still the one that was known
// before, nothing happened until then. Readers of the clock look at it themselves after that (marker). The zero value watches
// the default device, where there is one.
type vmclock struct {
	path   string // "": the default one; noVMClock: none
	page   mapping
	shared *sharedPage // the same page, as readers see it; nil: not mapped yet

	known bool // last was read
	last  vmPage
	// pending: it changed, and the source has not answered since, so that nobody knows which of its updates is the last
	// from before the change.
	pending bool
	event   string
	say     string // for Detail
}

// read reads the page. A machine without the device is not an error, unless one was asked for or was there before.
func (v *vmclock) read() (p vmPage, there bool, err error) {
	v.page.path = v.path
	if v.path == "" {
		v.page.path = DefaultVMClock
	}
	if err = v.page.open(vmclockBytes); err == nil {
		var b [vmclockBytes]byte
		if err = v.page.copy(b[:], vmclockSeq, fromLittleEndian); err == nil {
			p, err = parseVMClock(b[:])
		}
	}
	switch {
	case err == nil:
		v.say = fmt.Sprintf("%s: disruption marker %d, generation %d", v.page.path, p.disruption, p.generation)
		return p, true, nil
	case v.known || v.path != "":
		v.say = fmt.Sprintf("cannot be read: %v", err)
		return p, false, fmt.Errorf("the hypervisor's disruption marker cannot be read: %w", err)
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errors.ErrUnsupported):
		v.say = "none on this machine"
	default:
		v.say = fmt.Sprintf("not used: %v; make it readable (chmod a+r %s)", err, v.page.path)
	}
	return p, false, nil
}

func fromLittleEndian(word uint32) uint32 {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], word)
	return binary.LittleEndian.Uint32(b[:])
}

// guard asks a source, and turns its answer into a disruption if the marker has changed since the time before.
func (v *vmclock) guard(ask func() (Sample, error)) (Sample, error) {
	if v.path == noVMClock {
		v.say = "not looked at"
		return ask()
	}
	if !v.known {
		p, there, err := v.read()
		if err != nil {
			return Sample{}, err
		}
		v.known, v.last = there, p
	}
	s, err := ask()
	if !v.known {
		return s, err
	}
	p, _, verr := v.read()
	if verr != nil {
		return Sample{}, verr
	}
	if p != v.last {
		v.event = fmt.Sprintf("the hypervisor says that time was disrupted: marker %d to %d, generation %d to %d",
			v.last.disruption, p.disruption, v.last.generation, p.generation)
		v.last, v.pending = p, true
	} else if v.pending && err != nil {
		return s, fmt.Errorf("%s; since then: %w", v.event, err)
	}
	if v.pending {
		v.pending = err != nil
		return Sample{State: Disrupted, Update: s.Update, UpdateLag: s.UpdateLag, Why: v.event}, nil
	}
	if err == nil {
		s.marker, err = v.marker()
	}
	return s, err
}

// marker is what readers have to look at while they use what the source has said.
func (v *vmclock) marker() (*marker, error) {
	if v.shared == nil || v.shared.file != v.page.file {
		shared, err := v.page.share()
		if err != nil {
			return nil, fmt.Errorf("the hypervisor's disruption marker cannot be read: %w", err)
		}
		v.shared = shared
	}
	return v.shared.marker(v.last), nil
}

// close ends the watch. Readers may go on looking at the page (M2).
func (v *vmclock) close() {
	v.page.close()
	v.shared = nil
}

// vmclockPath is the option vmclock=PATH.
func vmclockPath(to *string) func(string) error {
	return func(s string) error {
		if s != noVMClock && (s == "" || s[0] != '/') {
			return fmt.Errorf("%q is neither an absolute path nor %q", s, noVMClock)
		}
		*to = s
		return nil
	}
}
