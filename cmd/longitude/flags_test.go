package main

import "testing"

func TestBytesFlag(t *testing.T) {
	for in, want := range map[string]int64{"256MiB": 256 << 20, "1GB": 1e9, "1.5KiB": 1536, "12": 12, "12 B": 12, "0": 0} {
		var b bytesFlag
		if err := b.Set(in); err != nil || int64(b) != want {
			t.Errorf("%q: %d, %v; want %d", in, b, err, want)
		}
	}
	for _, in := range []string{"", "MiB", "-1", "many", "1TiB", "NaN", "1e40"} {
		var b bytesFlag
		if err := b.Set(in); err == nil {
			t.Errorf("%q: taken as %d", in, b)
		}
	}
	for n, want := range map[bytesFlag]string{256 << 20: "256MiB", 1 << 30: "1GiB", 1000: "1000B", 0: "0B"} {
		if got := n.String(); got != want {
			t.Errorf("%d: %s, want %s", int64(n), got, want)
		}
	}
}

func TestCheckAddr(t *testing.T) {
	for in, ok := range map[string]bool{"127.0.0.1:1": true, ":0": true, "[::1]:26258": true, "host": false, "host:http": false, "host:70000": false} {
		if err := checkAddr("rpc-addr", in); (err == nil) != ok {
			t.Errorf("%q: %v", in, err)
		}
	}
}
