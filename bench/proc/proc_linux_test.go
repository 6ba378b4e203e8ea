package proc

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// What a child has worked is counted for it and not for us.
func TestCPUOfAnother(t *testing.T) {
	c := exec.Command("sh", "-c", "while :; do :; done")
	if err := c.Start(); err != nil {
		t.Skipf("there is no shell to keep a processor busy: %v; install one as sh (Debian: dash)", err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	own, err := Own()
	if err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; {
		d, err := Set{c.Process.Pid}.CPU()
		if err != nil {
			t.Fatal(err)
		}
		if d > 20*time.Millisecond {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("a process that only works has used %s in a minute", d)
		}
		time.Sleep(time.Millisecond)
	}
	if now, err := Own(); err != nil || now < own {
		t.Errorf("our own time went from %s to %s, %v", own, now, err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if d, err := (Set{c.Process.Pid}).CPU(); err == nil {
		t.Errorf("a process that has ended has used %s; want an error (P1)", d)
	}
}

func TestListener(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Logf("%s: %v", at, err)
			continue
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		for _, host := range []string{"127.0.0.1", "localhost"} {
			if s, err := Listeners([]string{net.JoinHostPort(host, port)}); err != nil || len(s) != 1 || s[0] != os.Getpid() {
				t.Errorf("%s on %s: process %v, want %d; %v", host, at, s, os.Getpid(), err)
			}
		}
	}
	for addr, want := range map[string]string{"192.0.2.1:3306": "not a loopback address", "db.example:3306": "not an address of this machine", "127.0.0.1:1": "nothing on this machine"} {
		if pid, err := Listener(addr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: process %d, %v; want an error with %q", addr, pid, err, want)
		}
	}
}

func TestMachine(t *testing.T) {
	a, err := Machine()
	if err != nil {
		t.Fatal(err)
	}
	if a.Used <= 0 || a.All < a.Used {
		t.Errorf("%+v", a)
	}
	if s := (Busy{30, 40}).Sub(Busy{15, 20}).Share(); s != 0.75 {
		t.Errorf("15 of 20 is %g", s)
	}
}
