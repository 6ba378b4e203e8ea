package proc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time that a process has used so far. The kernel keeps a clock for each process that any other one
// may read, to the nanosecond; /proc/PID/stat counts in hundredths of a second, too coarse for a slice of a second.
func CPU(pid int) (time.Duration, error) {
	// The number of that clock: clock_getcpuclockid(3), as glibc and musl make it.
	const scheduler = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduler), &t); err != nil {
		return 0, fmt.Errorf("processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// Own is the processor time that this process has used so far.
func Own() (time.Duration, error) { return CPU(os.Getpid()) }

// Machine is what all processors have done so far.
func Machine() (Busy, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Busy{}, err
	}
	line, _, _ := strings.Cut(string(b), "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return Busy{}, fmt.Errorf("/proc/stat begins with %q, wanted: cpu and eight numbers", line)
	}
	var out Busy
	for i, s := range f[1:9] { // user nice system idle iowait irq softirq steal; guests are in user already
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return Busy{}, fmt.Errorf("/proc/stat: %w", err)
		}
		d := time.Duration(n) * (time.Second / 100) // USER_HZ is 100 wherever Go runs
		out.All += d
		if i != 3 && i != 4 {
			out.Used += d
		}
	}
	return out, nil
}

// Listener finds the process of this user that listens on a loopback address. HAZARD: a proxy in front of the server (a
// container's, for one) is what listens, and its time is not the server's.
func Listener(addr string) (pid int, err error) {
	port, err := loopback(addr)
	if err != nil {
		return 0, err
	}
	inodes := map[string]bool{}
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		listening(b, port, inodes)
	}
	if len(inodes) == 0 {
		return 0, fmt.Errorf("nothing on this machine listens on port %d", port)
	}
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, dir := range procs {
		st, err := os.Stat(dir)
		if err != nil {
			continue // it has ended
		}
		if s, ok := st.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Getuid() {
			continue // P2
		}
		fds, err := os.ReadDir(filepath.Join(dir, "fd"))
		if err != nil {
			continue
		}
		for _, fd := range fds {
			to, err := os.Readlink(filepath.Join(dir, "fd", fd.Name()))
			if err != nil {
				continue
			}
			if inode, ok := strings.CutPrefix(to, "socket:["); ok && inodes[strings.TrimSuffix(inode, "]")] {
				return strconv.Atoi(filepath.Base(dir))
			}
		}
	}
	return 0, fmt.Errorf("the process that listens on port %d belongs to another user, or is not visible from here", port)
}

// listening collects the inodes of sockets that listen on a port, from a table as /proc/net/tcp.
func listening(table []byte, port uint16, inodes map[string]bool) {
	const listen = "0A"
	want := fmt.Sprintf(":%04X", port)
	for s := bufio.NewScanner(bytes.NewReader(table)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) > 9 && f[3] == listen && strings.HasSuffix(f[1], want) {
			inodes[f[9]] = true
		}
	}
}
