package server

import (
	"net"
	"strings"
	"testing"
)

func TestListenSaysWhatToDo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct{ addr, what, hint string }{
		{taken.Addr().String(), "in use by another process", "choose another with --sql-addr"},
		{"203.0.113.7:0", "no interface of this machine", "--advertise-addr"},
	} {
		l, err := listen("SQL", "--sql-addr", c.addr)
		if err == nil {
			l.Close()
			t.Fatalf("%s: listening", c.addr)
		}
		for _, part := range []string{c.addr, c.what, c.hint} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v\ndoes not say %q", err, part)
			}
		}
	}
}

func TestAdvertised(t *testing.T) {
	for _, c := range []struct{ listen, advertise, want string }{
		{"127.0.0.1:0", "", "127.0.0.1"},
		{"127.0.0.1:0", "db1:26258", "127.0.0.1"},
		{":0", "", "127.0.0.1"},
		{":0", "db1:26258", "db1"},
		{":0", "db1", "db1"},
	} {
		l, err := net.Listen("tcp", c.listen)
		if err != nil {
			t.Fatal(err)
		}
		got := advertised(l, c.advertise)
		_, port, _ := net.SplitHostPort(l.Addr().String())
		l.Close()
		if want := c.want + ":" + port; got != want {
			t.Errorf("listening on %s, advertising %q: %s, want %s", c.listen, c.advertise, got, want)
		}
	}
}
