package foreign_test

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"os/user"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/bank"
	"github.com/longitude-db/longitude/bench/commit"
	"github.com/longitude-db/longitude/bench/counter"
	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/latency"
	"github.com/longitude-db/longitude/bench/readers"
	"github.com/longitude-db/longitude/bench/social"
	"github.com/longitude-db/longitude/bench/tpcc"
	"github.com/longitude-db/longitude/bench/ycsb"
)

// mariadb starts a server of its own with fresh data, and gives its address.
func mariadb(t *testing.T) string {
	t.Helper()
	find := func(name string) string {
		for _, p := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
			if full, err := exec.LookPath(p); err == nil {
				return full
			}
		}
		t.Skipf("%s is not installed (Debian: mariadb-server), so no foreign server can be measured", name)
		return ""
	}
	daemon, install := find("mariadbd"), find("mariadb-install-db")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if out, err := exec.Command(install, "--no-defaults", "--datadir="+data, "--user="+me.Username, "--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput(); err != nil {
		t.Fatalf("making a data directory: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr)
	l.Close()
	var log bytes.Buffer
	cmd := exec.Command(daemon, "--no-defaults", "--datadir="+data, "--user="+me.Username, "--socket="+filepath.Join(dir, "s"), "--pid-file="+filepath.Join(dir, "pid"),
		"--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", addr.Port), "--innodb-buffer-pool-size=64M", "--max-connections=200")
	cmd.Stdout, cmd.Stderr = &log, &log
	// If the test is killed, so is the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	url := fmt.Sprintf("mysql://root@%s/bench", addr)
	for begun := time.Now(); ; {
		tgt, err := harness.Open(t.Context(), harness.TargetOptions{URLs: []string{url}})
		if err == nil {
			tgt.Close()
			return url
		}
		select {
		case <-ended:
			t.Fatalf("the server ended: %s\n%s", cmd.ProcessState, log.String())
		case <-time.After(50 * time.Millisecond): // until it is asked again
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("the server does not answer: %v", err)
		}
	}
}

// TestMariaDB runs every workload against a server that is not ours: nothing in them may depend on Longitude, and what
// their verification asks must hold for any correct server.
func TestMariaDB(t *testing.T) {
	url := mariadb(t)
	must := func(w harness.Workload, err error) harness.Workload {
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	var ws []func() harness.Workload
	ws = append(ws,
		func() harness.Workload {
			w, err := social.New(social.Options{ReadFraction: 0.5, Posts: 10, Likes: 100})
			return must(w, err)
		},
		func() harness.Workload {
			w, err := bank.New(bank.Options{Accounts: 50, Hot: 5, SumFraction: 0.1, Lock: true})
			return must(w, err)
		},
		func() harness.Workload {
			w, err := counter.New(counter.Options{Counters: 1, ReadFraction: 0.1})
			return must(w, err)
		},
		func() harness.Workload { return latency.New() },
		func() harness.Workload { return commit.New() },
		func() harness.Workload { return readers.New() },
		func() harness.Workload {
			w, err := tpcc.New(tpcc.Options{Warehouses: 1, Hot: 0.5})
			return must(w, err)
		})
	for _, l := range ycsb.Letters {
		ws = append(ws, func() harness.Workload {
			w, err := ycsb.New(ycsb.Options{Letter: string(l), Records: 200})
			return must(w, err)
		})
	}
	for _, fresh := range ws {
		t.Run(fresh().Name(), func(t *testing.T) {
			var sides [2]*harness.Side
			for i := range sides {
				tgt, err := harness.Open(t.Context(), harness.TargetOptions{Name: fmt.Sprint("mariadb", i), URLs: []string{url + fmt.Sprint(i)}, Drop: true})
				if err != nil {
					t.Fatal(err)
				}
				defer tgt.Close()
				if tgt.Ours || tgt.Stats != nil {
					t.Error("MariaDB is taken for ours")
				}
				sides[i] = &harness.Side{Target: tgt, Workload: fresh()}
				if err := sides[i].Workload.Setup(t.Context(), tgt, t.Logf); err != nil {
					t.Fatal(err)
				}
			}
			l := harness.Load{Workers: 6, Duration: 200 * time.Millisecond, Seed: 1}
			if err := harness.Turns(t.Context(), sides[:], l, 2, func(string, ...any) {}, nil); err != nil {
				t.Fatal(err)
			}
			for _, s := range sides {
				r := harness.Combine(s.Results)
				if !r.Verified || r.Errors > 0 || r.OpsPerSec == 0 {
					t.Errorf("%s: verified %v, %.0f ops/s, %d errors (%s), %v", s.Target.Name, r.Verified, r.OpsPerSec, r.Errors, r.FirstError, r.Violations)
				}
			}
		})
	}
}
