//go:build linux

package clock

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// findClockBound returns the real daemon: $LONGITUDE_CLOCKBOUND, or what the path has, or "".
func findClockBound() string {
	if p := os.Getenv("LONGITUDE_CLOCKBOUND"); p != "" {
		return p
	}
	p, _ := exec.LookPath("clockbound")
	return p
}

// cage is where the ClockBound daemon runs: its paths are fixed, below /run, so it gets a /run of its own, in a mount namespace
// of an ordinary user. From outside it is /proc/PID/root/run. The shell in it starts what it is told to.
type cage struct {
	t    *testing.T
	dir  string // of logs and configurations, outside
	run  string // /run, seen from outside
	in   io.WriteCloser
	out  *bufio.Reader
	pids map[string]int
}

const cageScript = `mount -t tmpfs tmpfs /run && mkdir -m 750 /run/chrony /run/clockbound || exit 1
echo $$
while read -r name command; do
	eval "$command" >>"$1/$name.log" 2>&1 </dev/null &
	echo $!
done
kill $(jobs -p) 2>/dev/null
wait`

func newCage(t *testing.T) *cage {
	t.Helper()
	c := &cage{t: t, dir: t.TempDir(), pids: map[string]int{}}
	// The shell's process ids are those outside: only mounts and users are its own.
	cmd := exec.Command("unshare", "-Urm", "sh", "-c", cageScript, "cage", c.dir)
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Skipf("no mount namespace to run the daemon in: %v", err)
	}
	t.Cleanup(func() {
		for name := range c.pids {
			c.signal(name, syscall.SIGKILL)
		}
		_ = c.in.Close()
		_ = cmd.Wait()
		if t.Failed() {
			logs, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
			for _, l := range logs {
				b, _ := os.ReadFile(l)
				t.Logf("%s:\n%s", filepath.Base(l), b)
			}
		}
	})
	pid := c.pid()
	if pid == 0 {
		t.Skipf("no mount namespace to run the daemon in: %s", said.String())
	}
	c.run = fmt.Sprintf("/proc/%d/root/run", pid)
	return c
}

func (c *cage) pid() (pid int) {
	_, _ = fmt.Fscanln(c.out, &pid)
	return pid
}

// start runs a command in the cage, under a name.
func (c *cage) start(name, command string) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, "%s exec %s\n", name, command); err != nil {
		c.t.Fatal(err)
	}
	pid := c.pid()
	if pid == 0 {
		c.t.Fatalf("%s did not start", name)
	}
	c.pids[name] = pid
}

func (c *cage) signal(name string, s syscall.Signal) {
	_ = syscall.Kill(c.pids[name], s)
	if s == syscall.SIGKILL {
		delete(c.pids, name)
	}
}

// chronyd starts a chronyd in the cage, which never touches the system clock.
func (c *cage) chronyd(bin, name, conf string) {
	c.t.Helper()
	file := filepath.Join(c.dir, name+".conf")
	if err := os.WriteFile(file, []byte(conf), 0o644); err != nil {
		c.t.Fatal(err)
	}
	c.start(name, fmt.Sprintf("%s -U -u root -x -d -f %s", bin, file))
}

// The real ClockBound daemon beside a real chronyd: what it writes is understood, in each state that it goes through.
func TestRealClockBound(t *testing.T) {
	bound, chronyd := findClockBound(), findChronyd(t)
	if bound == "" || chronyd == "" {
		t.Skip("no ClockBound daemon: `cargo install clock-bound-d --version 2.0.3 --locked`, and set LONGITUDE_CLOCKBOUND to the program clockbound, to run this; it needs chronyd, too")
	}
	k, ntp := newCage(t), freePort(t)
	k.chronyd(chronyd, "reference", fmt.Sprintf("local stratum 4\nport %d\nbindaddress 127.0.0.1\nallow 127.0.0.1\ncmdport 0\n"+
		"bindcmdaddress /run/reference.sock\npidfile /run/reference.pid\n", ntp))
	follow := func() {
		k.chronyd(chronyd, "node", fmt.Sprintf("server 127.0.0.1 port %d minpoll 0 maxpoll 0 iburst\nport 0\nmaxclockerror 50\ncombinelimit 0\n"+
			"cmdport 0\nbindcmdaddress /run/chrony/chronyd.sock\npidfile /run/node.pid\n", ntp))
	}
	daemon := func() { k.start("clockbound", bound+" --max-drift-rate 50 --disable-clock-disruption-support") }
	c := running(t, "clockbound:"+k.run+"/clockbound/shm0,vmclock=off")
	if st := await(t, c, "no daemon", func(st Status) bool { return st.Failures > 0 }); st.Err == nil || !strings.Contains(st.LastError, "no such file") {
		t.Errorf("without a daemon: %s", st)
	}

	daemon()
	st := await(t, c, "no chronyd", func(st Status) bool { return strings.Contains(st.Why, "ClockBound does not know the time") })
	refuses(t, c, ErrUnknown)
	t.Logf("no chronyd:         %s", st)

	follow()
	st = await(t, c, "synchronisation", synchronized)
	if !strings.Contains(st.Why, "layout version 2") {
		t.Errorf("%s", st)
	}
	holds(t, c)
	t.Logf("synchronised:       %s", st)

	k.signal("node", syscall.SIGKILL)
	st = await(t, c, "chronyd killed", func(st Status) bool { return st.State == FreeRunning })
	holds(t, c)
	t.Logf("chronyd killed:     %s", st)
	st = await(t, c, "chronyd away", func(st Status) bool { return st.State == Unknown })
	refuses(t, c, ErrUnknown)
	t.Logf("chronyd stays away: %s", st)

	if err := os.Remove(k.run + "/chrony/chronyd.sock"); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	follow()
	st = await(t, c, "chronyd back", synchronized)
	holds(t, c)
	t.Logf("chronyd back:       %s", st)

	// The daemon dies: its segment stays as it was, and is aged here.
	k.signal("clockbound", syscall.SIGKILL)
	st = await(t, c, "daemon killed", func(st Status) bool {
		return st.State == FreeRunning && strings.Contains(st.Why, "has not been renewed for")
	})
	wide := holds(t, c).Width()
	t.Logf("daemon killed:      %s", st)
	daemon()
	st = await(t, c, "daemon back", func(st Status) bool { return synchronized(st) && st.DataAge < time.Second })
	if w := holds(t, c).Width(); w >= wide {
		t.Errorf("the daemon is back, but the interval is %s wide, and was %s", w, wide)
	}
	t.Logf("daemon back:        %s", st)
	if st.Disruptions != 0 {
		t.Errorf("nothing of this is a disruption: %s", st.LastDisruption)
	}
}
