package main

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// bytesFlag is a number of bytes with an optional unit.
type bytesFlag int64

// units from the longest name to the shortest, so that "KiB" is not taken for "B".
var units = []struct {
	name string
	size int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

func (b *bytesFlag) Set(s string) error {
	for _, u := range units {
		num, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
		if err != nil || !(f >= 0 && f*float64(u.size) < 1<<62) {
			break
		}
		*b = bytesFlag(f * float64(u.size))
		return nil
	}
	return fmt.Errorf("wanted: a size like 256MiB or 1GB")
}

func (b *bytesFlag) String() string {
	for i := 2; i >= 0; i-- {
		if u := units[i]; *b != 0 && int64(*b)%u.size == 0 {
			return fmt.Sprintf("%d%s", int64(*b)/u.size, u.name)
		}
	}
	return fmt.Sprintf("%dB", int64(*b))
}

func (b *bytesFlag) Type() string { return "size" }

// checkAddr refuses what cannot be listened on or dialled. An empty host is every interface, port 0 any free one.
func checkAddr(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		var n int
		if n, err = strconv.Atoi(port); err == nil && (n < 0 || n > 65535) {
			err = fmt.Errorf("port %d is not in 0 to 65535", n)
		}
	}
	if err != nil {
		return fmt.Errorf("--%s %q: %w\nwanted: host:port, like 127.0.0.1:26258", flag, addr, err)
	}
	return nil
}

// mysqlArgs writes host:port as the mysql command line client takes it.
func mysqlArgs(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	return host + " -P " + port + " -u root"
}
