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

// A real daemon, synchronised to a real server on loopback: the bound is tens of microseconds and holds the system clock.
// When the server is 20 ms away the bound says so. When the daemon dies the interval grows.
func TestRealChronyd(t *testing.T) {
	bin := findChronyd(t)
	if bin == "" {
		t.Skip("no chronyd: install Debian's package chrony, or set CHRONYD to the daemon, to run this")
	}
	dir, err := os.MkdirTemp("/tmp", "chrony") // a short path: sockets have 108 bytes for it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	ntp, near, far := freePort(t), freePort(t), freePort(t)
	daemon(t, bin, "reference", dir, fmt.Sprintf(
		"local stratum 4\nport %d\nbindaddress 127.0.0.1\nallow 127.0.0.1\ncmdport 0\nbindcmdaddress %s/reference.sock\npidfile %s/reference.pid\n", ntp, dir, dir))
	conf := func(name, option string, cmdport int) string {
		return fmt.Sprintf("server 127.0.0.1 port %d minpoll 0 maxpoll 0 iburst %s\nport 0\nmaxclockerror 50\ncombinelimit 0\n"+
			"cmdport %d\nbindcmdaddress 127.0.0.1\nbindcmdaddress %s/%s.sock\npidfile %s/%s.pid\n", ntp, option, cmdport, dir, name, dir, name)
	}
	node := daemon(t, bin, "near", dir, conf("near", "", near))
	daemon(t, bin, "far", dir, conf("far", "offset 0.02", far))

	start := func(spec string) *Clock {
		src, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		c := New(src, Options{PollInterval: 20 * time.Millisecond})
		c.Start()
		t.Cleanup(c.Stop)
		for limit := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if _, err := c.Now(); err == nil {
				return c
			}
			if time.Now().After(limit) {
				t.Fatalf("never synchronised: %s", c.Status())
			}
		}
	}
	inside := func(c *Clock) Interval {
		t.Helper()
		iv := must(t, c)
		if n := Instant(time.Now().UnixNano()); n < iv.Earliest || n > iv.Latest {
			t.Fatalf("%d is not in %s", n, iv)
		}
		return iv
	}
	udp := start(fmt.Sprintf("chrony:127.0.0.1:%d,slew=0", near))
	unix := start("chrony:" + filepath.Join(dir, "near.sock"))
	away := start(fmt.Sprintf("chrony:127.0.0.1:%d,slew=0", far))
	t.Logf("over UDP:         %s", udp.Status())
	t.Logf("over unix socket: %s", unix.Status())
	t.Logf("20 ms away:       %s", away.Status())
	inside(udp)
	inside(unix)
	if w := inside(away).Width(); w < 20*time.Millisecond || w > 25*time.Millisecond {
		t.Errorf("20 ms from its server, the clock claims to be %s wide", w)
	}
	// The daemon with `local` itself must not be believed: its bound is a microsecond, and means nothing.
	src, err := Parse("chrony:" + filepath.Join(dir, "reference.sock"))
	if err != nil {
		t.Fatal(err)
	}
	local := New(src, Options{})
	defer local.Stop()
	if err := local.Poll(); err == nil || !strings.Contains(err.Error(), "`local`") {
		t.Errorf("a daemon with `local`: %v", err)
	}
	_ = node.Process.Kill()
	_ = node.Wait()
	for limit := time.Now().Add(5 * time.Second); udp.Status().LastError == "" || udp.Status().Age < 100*time.Millisecond; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("nobody noticed that the daemon died: %s", udp.Status())
		}
	}
	a := inside(udp).Width()
	time.Sleep(200 * time.Millisecond)
	if b := inside(udp).Width(); b <= a {
		t.Errorf("the daemon is dead, but the interval went from %s to %s", a, b)
	}
	t.Logf("after its death:  %s", udp.Status())
}
