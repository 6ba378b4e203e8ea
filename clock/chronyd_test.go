//go:build unix

package clock

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// findChronyd returns a chronyd to run: $CHRONYD, the machine's, or the one of Debian's package, fetched once and unpacked
// under the temporary directory; or "".
func findChronyd(t *testing.T) string {
	kept := filepath.Join(os.TempDir(), "longitude-test-chrony")
	fetched := filepath.Join(kept, "usr/sbin/chronyd")
	for _, p := range []string{os.Getenv("CHRONYD"), "/usr/sbin/chronyd", fetched} {
		if _, err := os.Stat(p); p != "" && err == nil {
			return p
		}
	}
	if testing.Short() {
		return ""
	}
	dir, err := os.MkdirTemp("", "chrony")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "apt-get download chrony && mkdir x && dpkg -x chrony_*.deb x")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("apt-get download chrony: %v: %s", err, out)
		return ""
	}
	if err := os.Rename(filepath.Join(dir, "x"), kept); err != nil {
		t.Logf("%v", err) // another test process was first
	}
	return fetched
}

func freePort(t *testing.T) int {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}

// daemon runs chronyd without privileges (-x: it never touches the system clock) until the test ends.
func daemon(t *testing.T, bin, name, dir, conf string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(dir, name+".conf")
	if err := os.WriteFile(file, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-U", "-u", u.Username, "-x", "-d", "-f", file)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Skipf("chronyd does not start here: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			t.Logf("%s:\n%s", name, b)
		}
	})
	return cmd
}

// chronies are a reference and daemons that follow it, each on ports of its own, in a directory that the sockets are in.
type chronies struct {
	t   *testing.T
	bin string
	dir string
	ntp int
}

func newChronies(t *testing.T) *chronies {
	t.Helper()
	k := &chronies{t: t, bin: findChronyd(t), ntp: freePort(t)}
	if k.bin == "" {
		t.Skip("no chronyd: install Debian's package chrony, or set CHRONYD to the daemon, to run this")
	}
	var err error
	if k.dir, err = os.MkdirTemp("/tmp", "chrony"); err != nil { // a short path: sockets have 108 bytes for it
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(k.dir) })
	if err := os.Chmod(k.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	k.start("reference", fmt.Sprintf("local stratum 4\nport %d\nbindaddress 127.0.0.1\nallow 127.0.0.1\ncmdport 0\n", k.ntp))
	return k
}

func (k *chronies) start(name, conf string) *exec.Cmd {
	k.t.Helper()
	return daemon(k.t, k.bin, name, k.dir, conf+fmt.Sprintf("bindcmdaddress %s\npidfile %s/%s.pid\n", k.socket(name), k.dir, name))
}

func (k *chronies) socket(name string) string { return filepath.Join(k.dir, name+".sock") }

// follow starts a daemon that follows the reference; option is for its line with the server, more for its configuration.
func (k *chronies) follow(name, option, more string) *exec.Cmd {
	k.t.Helper()
	return k.start(name, fmt.Sprintf("server 127.0.0.1 port %d minpoll 0 maxpoll 0 iburst %s\nport 0\nmaxclockerror 50\ncombinelimit 0\n", k.ntp, option)+more)
}

// end kills a daemon and waits for it.
func end(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// running is a clock on a source, polled 50 times a second.
func running(t *testing.T, spec string) *Clock {
	t.Helper()
	src, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	c := New(src, Options{PollInterval: 20 * time.Millisecond})
	c.Start()
	t.Cleanup(c.Stop)
	return c
}

// await waits for the condition, for long enough for any daemon on a busy machine.
func await(t *testing.T, c *Clock, what string, cond func(Status) bool) Status {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		st := c.Status()
		if cond(st) {
			return st
		}
		if time.Now().After(limit) {
			t.Fatalf("%s: not in 30 s: %s (last error %s ago: %s)", what, st, st.LastErrorAge, st.LastError)
		}
	}
}

func synchronized(st Status) bool { return st.Err == nil && st.State == Synchronized }

// holds takes a reading that has to hold the system clock: that is what the reference here serves.
func holds(t *testing.T, c *Clock) Interval {
	t.Helper()
	before := Instant(time.Now().UnixNano())
	iv := must(t, c)
	if after := Instant(time.Now().UnixNano()); after < iv.Earliest || before > iv.Latest {
		t.Fatalf("%d..%d is not in %s (%s)", before, after, iv, c.Status())
	}
	return iv
}

// Real daemons, synchronised to a real server on loopback: the bound is tens of microseconds and holds the system clock. When
// the server is 20 ms away the bound says so.
func TestRealChronyd(t *testing.T) {
	k := newChronies(t)
	near, far := freePort(t), freePort(t)
	k.follow("near", "", fmt.Sprintf("cmdport %d\nbindcmdaddress 127.0.0.1\n", near))
	k.follow("far", "offset 0.02", fmt.Sprintf("cmdport %d\nbindcmdaddress 127.0.0.1\n", far))
	udp := running(t, fmt.Sprintf("chrony:127.0.0.1:%d,slew=0", near))
	unix := running(t, "chrony:"+k.socket("near"))
	away := running(t, fmt.Sprintf("chrony:127.0.0.1:%d,slew=0", far))
	t.Logf("over UDP:         %s", await(t, udp, "over UDP", synchronized))
	t.Logf("over unix socket: %s", await(t, unix, "over the socket", synchronized))
	t.Logf("20 ms away:       %s", await(t, away, "20 ms away", synchronized))
	if w := holds(t, udp).Width(); w > 20*time.Millisecond {
		t.Errorf("on loopback, the clock reports to be %s wide", w)
	}
	holds(t, unix)
	// Once a few samples are in, the rest of the width is noise.
	await(t, away, "20 ms away", func(st Status) bool { return st.Bound > 10*time.Millisecond && st.Bound < 12500*time.Microsecond })
	if w := holds(t, away).Width(); w < 20*time.Millisecond {
		t.Errorf("20 ms from its server, the clock reports to be %s wide", w)
	}
}

// The daemon with `local` must not be believed: its bound is a microsecond, and means nothing. One that falls back to it is
// as if it were gone.
func TestRealChronydLocal(t *testing.T) {
	k := newChronies(t)
	src, err := Parse("chrony:" + k.socket("reference"))
	if err != nil {
		t.Fatal(err)
	}
	c := New(src, Options{})
	defer c.Stop()
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if err := c.Poll(); err == nil {
			t.Fatalf("it was believed: %s", c.Status())
		} else if strings.Contains(err.Error(), "`local`") {
			break
		} else if time.Now().After(limit) {
			t.Fatal(err)
		}
	}
	refuses(t, c, ErrUnknown)
	// Behind it the stratum tells: a daemon whose server has lost everything.
	k.follow("behind", "", "")
	behind := running(t, "chrony:"+k.socket("behind")+",stratum=4")
	st := await(t, behind, "behind `local`", func(st Status) bool { return strings.Contains(st.LastError, "stratum 5 is not in 1..4") })
	if st.Err == nil {
		t.Errorf("it was believed: %s", st)
	}
}

// The daemon is killed: the interval grows, by 550 µs a second and side. It is started again: the interval is narrow again.
func TestRealChronydKilledAndRestarted(t *testing.T) {
	k := newChronies(t)
	node := k.follow("node", "", "")
	c := running(t, "chrony:"+k.socket("node"))
	await(t, c, "start", synchronized)
	await(t, c, "a narrow interval", func(st Status) bool { return st.Bound < 2*time.Millisecond })
	end(node)
	st := await(t, c, "its death", func(st Status) bool {
		return st.Age > 200*time.Millisecond && st.Failures > 0 && st.LastErrorAge < st.Age
	})
	first, at := holds(t, c).Width(), time.Now()
	t.Logf("dead:      %s; %s", st, st.LastError)
	logged := time.Duration(0)
	st = await(t, c, "free running", func(st Status) bool {
		if st.Age.Truncate(time.Second) > logged { // each second, for whoever wants to see it
			logged = st.Age.Truncate(time.Second)
			t.Logf("dead for %s: %s, ±%s", logged, st.State, st.Bound)
		}
		return st.State == FreeRunning
	})
	if !strings.Contains(st.Why, "the interval grows: chronyd at ") {
		t.Errorf("why: %s", st.Why)
	}
	grown, elapsed := holds(t, c).Width()-first, time.Since(at)
	// At least the assumed drift and slew; skew and residual frequency come on top.
	if least := time.Duration(2 * 550e-6 * float64(elapsed-200*time.Millisecond)); grown < least {
		t.Errorf("in %s the interval grew by %s, not by %s", elapsed, grown, least)
	}
	t.Logf("%s later: %s wider", elapsed.Round(time.Millisecond), grown)
	k.follow("node", "", "")
	st = await(t, c, "restart", func(st Status) bool { return synchronized(st) && st.Age < 200*time.Millisecond })
	holds(t, c)
	t.Logf("restarted: %s", st)
	if st.Disruptions != 0 {
		t.Errorf("a restart of the daemon is no disruption: %s", st.LastDisruption)
	}
}

// The daemon hangs: each request meets its deadline, readers notice nothing but the growth, and late answers are dropped.
func TestRealChronydStopped(t *testing.T) {
	k := newChronies(t)
	node := k.follow("node", "", "")
	c := running(t, "chrony:"+k.socket("node"))
	await(t, c, "start", synchronized)
	pause(t, node)
	st := await(t, c, "its silence", func(st Status) bool {
		return strings.Contains(st.LastError, "no answer within 100ms") && st.Age > 300*time.Millisecond
	})
	holds(t, c)
	t.Logf("stopped:  %s; %s", st, st.LastError)
	resume(t, node)
	st = await(t, c, "its return", func(st Status) bool { return synchronized(st) && st.Age < 100*time.Millisecond })
	holds(t, c)
	t.Logf("resumed:  %s", st)
}

// pause stops a daemon as SIGSTOP, a debugger or a frozen container does; it still has its sockets.
func pause(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

func resume(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
