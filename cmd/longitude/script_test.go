package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"longitude": main})
}

// TestScripts runs the command lines under testdata. Beside testscript's own commands there are:
//
//	exitcode N CMD...    carry out a command, which must end with that code
//	freeaddr NAME...     set each variable to a loopback address that nobody listens on
//	listen ADDR          listen on an address until the script ends
//	exists-soon FILE     wait until there is such a file or directory, and a moment of work behind it
//	healthy ADDR         wait until the node with this HTTP address is healthy
//	unhealthy ADDR TEXT  wait until it says that it is not, with this text among the reasons
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir) // the shell's history
			self, err := exec.LookPath("longitude")
			e.Setenv("LONGITUDE", self)
			// What scripts start by themselves.
			return errors.Join(err, filepath.WalkDir(e.WorkDir, func(name string, d fs.DirEntry, err error) error {
				if err != nil || filepath.Ext(name) != ".sh" {
					return err
				}
				return os.Chmod(name, 0o700)
			}))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitCode, "freeaddr": freeAddr, "listen": listenOn, "healthy": healthy, "unhealthy": unhealthy,
			"exists-soon": existsSoon,
		},
	})
}

func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = fmt.Sprint(exit.ExitCode())
	} else {
		ts.Check(err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

func freeAddr(ts *testscript.TestScript, _ bool, names []string) {
	for _, n := range names {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		defer l.Close()
		ts.Setenv(n, l.Addr().String())
	}
}

func listenOn(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", args[0])
	ts.Check(err)
	ts.Defer(func() { l.Close() })
}

// existsSoon waits until a command that runs in the background has begun its work.
func existsSoon(ts *testscript.TestScript, _ bool, args []string) {
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			time.Sleep(300 * time.Millisecond)
			return
		}
	}
	ts.Fatalf("%s is not there after a minute", args[0])
}

func healthy(ts *testscript.TestScript, _ bool, args []string) {
	awaitHealth(ts, args[0], http.StatusOK, "")
}

func unhealthy(ts *testscript.TestScript, _ bool, args []string) {
	awaitHealth(ts, args[0], http.StatusServiceUnavailable, args[1])
}

// awaitHealth waits until a node answers with a status and a text.
func awaitHealth(ts *testscript.TestScript, addr string, status int, text string) {
	var last string
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get("http://" + addr + "/healthz")
		if err != nil {
			last = err.Error()
			continue
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		ts.Check(err)
		last = resp.Status + "\n" + string(b)
		if resp.StatusCode == status && strings.Contains(last, text) {
			return
		}
	}
	ts.Fatalf("health did not become %d with %q within a minute: %s", status, text, last)
}
