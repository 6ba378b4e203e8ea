package clock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/facebook/time/ntp/chrony"
)

// Chrony asks chronyd, over its command protocol, how far the system clock may be from the time of its sources. The
// daemon disciplines the clock; nothing is asked of it but `tracking`, which it answers to everybody on the machine.
//
// HAZARD: the bound rests on chronyd's sources being honest and on maxclockerror and maxslewrate in chrony.conf being at
// most what drift and slew say here. docs/clock-sources.md lists the settings.
type Chrony struct {
	// Addr is host:port or the path of a unix socket; empty: 127.0.0.1:323, then [::1]:323, then
	// /run/chrony/chronyd.sock.
	Addr string
	// Drift (ppb) is what the oscillator may be off: at least chronyd's maxclockerror.
	Drift int64
	// Slew (ppb) is chronyd's maxslewrate: between two polls it may move to a worse estimate and slew the clock to it.
	Slew int64
	// Margin widens the bound on each side.
	Margin time.Duration
	// Stratum is the highest that is believed. Behind a server with a `local` directive there is only this to tell that
	// nobody is synchronised.
	Stratum uint16
	// VMClock is the hypervisor's page; empty: /dev/vmclock0 if there is one; "off": none.
	VMClock string

	vm      vmclock
	detail  Detail
	leaping bool // fenced off a leap second, until the daemon says that it is over
	conn    net.Conn
	own     string // path of our end of a unix socket
	seq     uint32
}

// Defaults of Chrony.
const (
	DefaultSlew    = 500_000 // the recommended maxslewrate; chronyd's own default is 83 333 ppm
	DefaultStratum = 8
	chronyTimeout  = 100 * time.Millisecond // answers come within 20 µs
)

// NewChrony makes a source with the defaults.
func NewChrony(addr string) *Chrony {
	return &Chrony{Addr: addr, Drift: DefaultDrift, Slew: DefaultSlew, Stratum: DefaultStratum}
}

func parseChrony(rest string) (Source, error) {
	addr, opts, _ := strings.Cut(rest, ",")
	c := NewChrony(addr)
	if err := checkChronyAddr(addr); addr != "" && err != nil {
		return nil, err
	}
	return c, options(opts, c.options())
}

func checkChronyAddr(addr string) error {
	if strings.HasPrefix(addr, "/") {
		return nil
	}
	if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
		return fmt.Errorf("%q is neither HOST:PORT nor an absolute path", addr)
	}
	return nil
}

// options are those of its spec.
func (c *Chrony) options() map[string]func(string) error {
	return map[string]func(string) error{
		"drift": ppb(&c.Drift, 0, MaxRate/4), "slew": ppb(&c.Slew, 0, MaxRate/2), "margin": nonNegative(&c.Margin),
		"vmclock": vmclockPath(&c.VMClock),
		"stratum": func(s string) error {
			n, err := strconv.ParseUint(s, 10, 16)
			if err != nil || n < 1 || n > 15 {
				return fmt.Errorf("%q is not between 1 and 15", s)
			}
			c.Stratum = uint16(n)
			return nil
		},
	}
}

// Read implements Source: it pairs wall and monotonic clock, asks, and judges the answer. Pairing comes first, so that the
// bound, which is computed at the answer, is not older than the anchor; the hypervisor's marker is looked at last.
func (c *Chrony) Read(h *Host) (Sample, error) {
	s, _, err := c.ask(h)
	return s, err
}

// ask is Read, which also returns the daemon's answer; nil if there was none.
func (c *Chrony) ask(h *Host) (s Sample, t *chrony.Tracking, err error) {
	c.vm.path = c.VMClock
	s, err = c.vm.guard(func() (Sample, error) {
		p := h.Pair()
		if t, err = c.tracking(); err != nil {
			c.drop()
			return Sample{}, err
		}
		c.describe(p, t)
		return c.judge(p, t)
	})
	c.detail.VMClock = c.vm.say
	return s, t, err
}

func (c *Chrony) describe(p Pair, t *chrony.Tracking) {
	leaps := [...]string{leapNone: "none", leapInsert: "insert", leapDelete: "delete", leapUnsynchronized: "unsynchronised"}
	c.detail = Detail{Leap: leaps[min(t.LeapStatus, leapUnsynchronized)]}
	if sec := t.RefTime.Unix(); sec > 0 && sec < maxSeconds {
		c.detail.DataAge = max(0, p.Latest.Sub(Instant(t.RefTime.UnixNano())))
	}
}

// Detail implements Detailed.
func (c *Chrony) Detail() Detail { return c.detail }

// Close implements io.Closer. A later Read opens the socket again.
func (c *Chrony) Close() error {
	c.drop()
	c.vm.close()
	return nil
}

// chronyAddrs are where chronyd listens unless chrony.conf says otherwise. Everybody on the machine may ask over UDP; the
// socket, for root and chronyd's user, is there also where cmdport is 0.
var chronyAddrs = []string{"127.0.0.1:323", "[::1]:323", "/run/chrony/chronyd.sock"}

func (c *Chrony) tracking() (*chrony.Tracking, error) {
	if c.conn != nil {
		return c.exchange()
	}
	addrs := []string{c.Addr}
	if c.Addr == "" {
		addrs = chronyAddrs
	}
	var errs []error
	for _, a := range addrs {
		err := c.dial(a)
		if err == nil {
			var t *chrony.Tracking
			if t, err = c.exchange(); err == nil {
				return t, nil
			}
			c.drop()
		}
		errs = append(errs, fmt.Errorf("chronyd at %s: %w", a, err))
	}
	return nil, errors.Join(errs...)
}

var socketNumber atomic.Uint32

func (c *Chrony) dial(addr string) (err error) {
	if !strings.HasPrefix(addr, "/") {
		c.conn, err = net.Dial("udp", addr)
		return err
	}
	// chronyd answers to the path that we bind, and runs as a user of its own, mostly with a private /tmp: so it is made
	// beside its socket, as chronyc does, and open to all.
	c.own = filepath.Join(filepath.Dir(addr), fmt.Sprintf("longitude.%d.%d.sock", os.Getpid(), socketNumber.Add(1)))
	_ = os.Remove(c.own) // of an earlier process with our id
	conn, err := net.DialUnix("unixgram", &net.UnixAddr{Name: c.own, Net: "unixgram"}, &net.UnixAddr{Name: addr, Net: "unixgram"})
	if err != nil {
		_ = os.Remove(c.own)
		return err
	}
	c.conn = conn
	return os.Chmod(c.own, 0o666)
}

func (c *Chrony) drop() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
	if c.own != "" {
		_ = os.Remove(c.own)
		c.own = ""
	}
}

// exchange sends one request and waits for its answer. Answers to earlier requests, which came after their deadline, are
// dropped: taking them for ours would put every later reading one poll behind.
func (c *Chrony) exchange() (*chrony.Tracking, error) {
	c.seq++
	req := chrony.NewTrackingPacket()
	req.SetSequence(c.seq)
	var buf bytes.Buffer
	if err := binary.Write(&buf, binary.BigEndian, req); err != nil {
		return nil, err
	}
	if err := c.conn.SetDeadline(time.Now().Add(chronyTimeout)); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(buf.Bytes()[:trackingBytes]); err != nil {
		return nil, err
	}
	in := make([]byte, 1024)
	for {
		n, err := c.conn.Read(in)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, fmt.Errorf("no answer within %s", chronyTimeout)
			}
			return nil, err
		}
		t, err := parseTracking(in[:n], c.seq)
		if errors.Is(err, errNotOurs) {
			continue
		}
		return t, err
	}
}

var errNotOurs = errors.New("not the answer to our request")

const (
	replyHeadBytes = 28
	trackingBytes  = 104 // of request and reply; the library pads requests to the longest there is
	cmdTracking    = 33
)

// parseTracking reads one datagram. What is not a reply to the request with this sequence is errNotOurs.
func parseTracking(b []byte, seq uint32) (*chrony.Tracking, error) {
	be := binary.BigEndian
	if len(b) < replyHeadBytes || b[1] != 2 || be.Uint16(b[4:]) != cmdTracking || be.Uint32(b[16:]) != seq {
		return nil, errNotOurs
	}
	if b[0] != 6 {
		return nil, fmt.Errorf("chronyd speaks version %d of its protocol, we version 6", b[0])
	}
	// The library's decoder can only be reached through its client, so the client gets a connection that plays the datagram.
	reply, err := (&chrony.Client{Connection: playback{bytes.NewReader(b)}}).Communicate(chrony.NewTrackingPacket())
	if err != nil {
		return nil, err
	}
	t, ok := reply.(*chrony.ReplyTracking)
	if !ok || len(b) < trackingBytes {
		return nil, fmt.Errorf("chronyd answered with a %T of %d bytes", reply, len(b))
	}
	return &t.Tracking, nil
}

type playback struct{ io.Reader }

func (playback) Write(b []byte) (int, error) { return len(b), nil }

func (c *Chrony) String() string { return c.spec("chrony", c.Addr).String() }

func (c *Chrony) spec(kind, arg string) *specBuilder {
	b := spec(kind, arg)
	return b.rate("drift", c.Drift, DefaultDrift).rate("slew", c.Slew, DefaultSlew).duration("margin", c.Margin, 0).
		number("stratum", int64(c.Stratum), DefaultStratum).text("vmclock", c.VMClock)
}
