package client

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, user, addr, db, err string }{
		{in: "127.0.0.1", user: "root", addr: "127.0.0.1:26257"},
		{in: "127.0.0.1:4000", user: "root", addr: "127.0.0.1:4000"},
		{in: "[::1]:4000", user: "root", addr: "[::1]:4000"},
		{in: "mysql://ann@db1:4000/shop", user: "ann", addr: "db1:4000", db: "shop"},
		{in: "postgres://db1", err: "postgres:// is not spoken here"},
		{in: "mysql:///shop", err: "it names no host"},
		{in: "db1:x", err: "wanted: mysql://user@host:port/database"},
	} {
		got, err := Parse(c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v does not say %q", c.in, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got.User != c.user || got.Addr != c.addr || got.DBName != c.db {
			t.Errorf("%s: %s %s %s", c.in, got.User, got.Addr, got.DBName)
		}
	}
}

func TestOptionsAreSessionVariables(t *testing.T) {
	c, err := Parse("mysql://h/db?longitude_ordering=wait")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Params["longitude_ordering"]; got != "'wait'" {
		t.Errorf("longitude_ordering = %s", got)
	}
}
