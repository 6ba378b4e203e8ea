package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// TestThreeProcesses makes a table through one node and reads it through the others: with Go's driver, with Debian's
// mariadb client, and with longitude's own shell.
func TestThreeProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes; not with -short")
	}
	nodes := startCluster(t)
	nodes[0].exec(`CREATE DATABASE shop`,
		`CREATE TABLE shop.items(id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, price DECIMAL(8,2), UNIQUE(name))`)
	nodes[1].exec(`INSERT INTO shop.items VALUES (1, 'sextant', 120.50), (2, 'chronometer', NULL)`)

	t.Run("driver", func(t *testing.T) {
		for _, n := range nodes {
			if got := one[int](n, `SELECT COUNT(*) FROM shop.items`); got != 2 {
				t.Errorf("node %d counts %d rows, want 2", n.id, got)
			}
			if got := one[string](n, `SELECT name FROM shop.items WHERE id = ?`, 2); got != "chronometer" {
				t.Errorf("node %d: name of item 2 is %q", n.id, got)
			}
		}
	})
	t.Run("mariadb", func(t *testing.T) {
		mariadb, err := exec.LookPath("mariadb")
		if err != nil {
			t.Skip("the mariadb client is not installed: apt-get install mariadb-client")
		}
		for _, n := range nodes {
			host, port, _ := strings.Cut(n.sql, ":")
			out, err := exec.Command(mariadb, "-h", host, "-P", port, "-u", "root", "-N", "-B",
				"-e", "USE shop; SELECT id, name, price FROM items ORDER BY id; SHOW TABLES").CombinedOutput()
			if err != nil {
				t.Fatalf("node %d: %v\n%s", n.id, err, out)
			}
			if got, want := string(out), "1\tsextant\t120.50\n2\tchronometer\tNULL\nitems\n"; got != want {
				t.Errorf("node %d:\n%s\nwant:\n%s", n.id, got, want)
			}
		}
	})
	t.Run("shell", func(t *testing.T) {
		cmd := exec.Command(longitude(t), "sql", "--url", nodes[2].sql+"/shop")
		cmd.Stdin = strings.NewReader("SELECT id, name\nFROM items ORDER BY id;")
		out, err := cmd.CombinedOutput()
		if got, want := string(out), "id\tname\n1\tsextant\n2\tchronometer\n"; err != nil || got != want {
			t.Errorf("%v\n%s\nwant:\n%s", err, got, want)
		}
	})
	t.Run("duplicate key", func(t *testing.T) {
		_, err := nodes[2].db.Exec(`INSERT INTO shop.items VALUES (3, 'sextant', 1)`)
		if err == nil || !strings.Contains(err.Error(), "1062") {
			t.Errorf("got %v, want error 1062", err)
		}
	})
	t.Run("system tables", func(t *testing.T) {
		for _, n := range nodes {
			for table, atLeast := range map[string]int{"nodes": 3, "clock": 1, "ranges": 1} {
				if got := one[int](n, `SELECT COUNT(*) FROM longitude.`+table); got < atLeast {
					t.Errorf("node %d: longitude.%s has %d rows, want at least %d", n.id, table, got, atLeast)
				}
			}
		}
	})
	t.Run("an address in use", func(t *testing.T) {
		for flag, addr := range map[string]string{"--sql-addr": nodes[0].sql, "--rpc-addr": nodes[0].rpc, "--http-addr": nodes[0].http} {
			other := newNode(t, 4, "")
			args := append(other.args(), flag, addr)
			expectFailure(t, args, addr, "in use", flag)
		}
	})
	t.Run("a store in use", func(t *testing.T) {
		other := newNode(t, 4, "")
		other.store = nodes[0].store
		expectFailure(t, other.args(), nodes[0].store, "in use by another process")
	})
	t.Run("the store of another cluster", func(t *testing.T) {
		other := newNode(t, 4, "")
		other.start()
		other.healthy()
		other.exec(`CREATE DATABASE theirs`)
		other.kill()
		other.join = nodes[0].rpc
		expectFailure(t, other.args(), "another cluster", other.store)
		other.join = ""
		other.start()
		other.healthy()
		if got := one[int](other, `SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'theirs'`); got != 1 {
			t.Errorf("the store lost its database by being refused")
		}
	})
}

// expectFailure runs the binary, which must end by itself with exit code 1 and an error that holds all the parts.
func expectFailure(t *testing.T, args []string, parts ...string) {
	t.Helper()
	cmd := exec.Command("timeout", append([]string{"60", longitude(t)}, args...)...)
	out, _ := cmd.CombinedOutput() // the exit code is looked at below
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, p := range parts {
		if !strings.Contains(string(out), p) {
			t.Errorf("the error does not say %q", p)
		}
	}
	if t.Failed() {
		t.Logf("longitude %s\n%s", strings.Join(args, " "), out)
	}
}
