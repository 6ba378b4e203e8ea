package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// suite is one client's tests.
type suite struct {
	name  string
	quick bool
	needs []string // commands that must be there
	// prepare installs what it uses, once, and returns its version.
	prepare func(e *environment) (version string, err error)
	command func(e *environment) *exec.Cmd
	limit   time.Duration // default: 3 minutes
	// read takes what it prints, unless that is a line for each test.
	read func(r *result, out io.Reader)
}

// result is what came out.
type result struct {
	suite   suite
	version string
	passed  []string
	failed  map[string]string // test to reason
	missing string            // why it was not run
	took    time.Duration
}

// environment is what the suites run in.
type environment struct {
	dir, cache, host, port string
	verbose, all           bool
	javaCompiled           bool
}

// sourceDir is the folder of this file.
func sourceDir() string {
	_, file, _, _ := runtime.Caller(0)
	if filepath.IsAbs(file) {
		return filepath.Dir(file)
	}
	return "clients" // built with -trimpath: run from the module's root
}

func cacheDir() (string, error) {
	if d := os.Getenv("CLIENTS_CACHE"); d != "" {
		return d, os.MkdirAll(d, 0o755)
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	d = filepath.Join(d, "longitude-clients")
	return d, os.MkdirAll(d, 0o755)
}

// runSuite runs one suite to its end.
func (e *environment) runSuite(s suite) (r result) {
	r = result{suite: s, failed: map[string]string{}}
	for _, tool := range s.needs {
		if _, err := exec.LookPath(tool); err != nil {
			r.missing = "no " + tool + " on this machine"
			return r
		}
	}
	if s.prepare != nil {
		var err error
		if r.version, err = s.prepare(e); err != nil {
			r.missing = err.Error()
			return r
		}
	}
	cmd := s.command(e)
	if cmd.Dir == "" {
		cmd.Dir = e.dir
	}
	cmd.Env = append(cmd.Environ(), "LONGITUDE_HOST="+e.host, "LONGITUDE_PORT="+e.port, "CLIENTS_CACHE="+e.cache)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	limit := s.limit
	if limit == 0 {
		limit = 3 * time.Minute
	}
	err := runWithin(cmd, limit)
	if e.verbose {
		_, _ = os.Stderr.Write(append(out.Bytes(), errs.Bytes()...))
	}
	if s.read != nil {
		s.read(&r, &out)
	} else {
		r.read(&out)
	}
	// A test program that ends with 1 because tests failed has said which.
	var exit *exec.ExitError
	if s.read != nil && errors.As(err, &exit) && exit.ExitCode() == 1 && len(r.failed) > 0 {
		err = nil
	}
	if err != nil {
		r.failed[s.name+"/ended"] = lastLine(errs.String(), err)
	} else if len(r.passed)+len(r.failed) == 0 {
		r.failed[s.name+"/ended"] = "no test ran"
	}
	return r
}

// read takes the lines of a suite.
func (r *result) read(out *bytes.Buffer) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "ok "); ok {
			r.passed = append(r.passed, strings.TrimSpace(name))
		} else if rest, ok := strings.CutPrefix(lines.Text(), "not ok "); ok {
			name, why, _ := strings.Cut(rest, ": ")
			r.failed[strings.TrimSpace(name)] = why
		} else if v, ok := strings.CutPrefix(lines.Text(), "version "); ok {
			r.version = strings.TrimSpace(v)
		}
	}
}

// runWithin runs a command, and ends it with its children when the time is up.
func runWithin(cmd *exec.Cmd, limit time.Duration) error {
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	select {
	case err := <-over:
		return err
	case <-time.After(limit):
		killGroup(cmd)
		<-over
		return fmt.Errorf("not at its end after %s", limit)
	}
}

func lastLine(text string, err error) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Sprintf("%v: %s", err, last)
	}
	return err.Error()
}

// install runs commands that fetch packages, unless they have done so for the same lock file: stamp is what they depend on.
func (e *environment) install(name string, lock string, commands ...*exec.Cmd) (string, error) {
	dir := filepath.Join(e.cache, name)
	want, err := os.ReadFile(filepath.Join(e.dir, lock))
	if err != nil {
		return "", err
	}
	stamp := filepath.Join(dir, "installed")
	if have, err := os.ReadFile(stamp); err == nil && bytes.Equal(have, want) {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, c := range commands {
		if c.Dir == "" {
			c.Dir = dir
		}
		c.Env = append(c.Environ(), "PIP_DISABLE_PIP_VERSION_CHECK=1", "npm_config_update_notifier=false")
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := runWithin(c, 5*time.Minute); err != nil {
			return "", errors.New("its packages cannot be had: " + lastLine(out.String(), err))
		}
	}
	return dir, os.WriteFile(stamp, want, 0o644)
}
