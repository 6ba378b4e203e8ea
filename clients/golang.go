package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql" // to make the databases that the suites in Go use
)

// goTests is a suite of tests in Go: a package of the module in the folder go, or of one that this module requires, whose versions its
// go.mod and go.sum pin. The version shown is that of module. env is what the tests read: HOST, PORT and DB stand for the server and a
// database that is made for them. Tests that skip matches are left out.
func goTests(name string, quick bool, module, pkg, skip string, env ...string) suite {
	return suite{name: name, quick: quick, needs: []string{"go"},
		prepare: func(e *environment) (string, error) {
			return e.buildTests(name, filepath.Join(absolute(e.dir), "go"), module, pkg)
		},
		command: func(e *environment) *exec.Cmd {
			c := e.runTests(name, strings.ReplaceAll("go_"+name, "-", "_"), skip, env)
			c.Dir, _ = output(goCommand(filepath.Join(absolute(e.dir), "go"), "list", "-f", "{{.Dir}}", pkg))
			return c
		},
		read: readTests}
}

// gormTests is GORM's own suite. The Go module proxy does not have it, a module beside the library's; Debian unstable's package of the
// library has both. It connects with one of five drivers: the other four are empty here, which halves what is compiled.
func gormTests() suite {
	const name = "gorm"
	pkg := "golang-gorm-gorm-dev"
	return suite{name: name, quick: true, needs: []string{"go", "apt-get", "dpkg-deb"}, limit: 5 * time.Minute,
		prepare: func(e *environment) (string, error) {
			lock := filepath.Join("go", name, "go.mod")
			script := filepath.Join(absolute(e.dir), "..", "internal", "sqldiff", "unstable.sh")
			dir, err := e.install(name, lock, exec.Command("sh", script, ".", "download", pkg))
			if err != nil {
				return "", err
			}
			tests := filepath.Join(dir, "root", "usr", "share", "gocode", "src", "gorm.io", "gorm", "tests")
			for _, f := range []string{"go.mod", "go.sum"} {
				if err := copyFile(filepath.Join(e.dir, "go", name, f), filepath.Join(tests, f)); err != nil {
					return "", err
				}
			}
			for _, driver := range []string{"gaussdb", "postgres", "sqlite", "sqlserver"} {
				if err := emptyDriver(filepath.Join(tests, "drivers", driver), driver); err != nil {
					return "", err
				}
			}
			if _, err := e.buildTests(name, tests, "gorm.io/driver/mysql", "."); err != nil {
				return "", err
			}
			v, err := os.ReadFile(filepath.Join(dir, "root", pkg+".version"))
			return strings.TrimSpace(string(v)), err
		},
		command: func(e *environment) *exec.Cmd {
			// Left out: tests of a cache in memory, by the clock; and one that sleeps for 40 seconds from the quick part.
			skip := "^(TestLRU|TestLoadingExpired$"
			if !e.all {
				skip += "|TestPreparedStmtLruFromTransaction$"
			}
			return e.runTests(name, "gorm", skip+")", []string{"GORM_DIALECT=mysql", "DEBUG=false",
				"GORM_DSN=root@tcp(HOST:PORT)/DB?charset=utf8mb4&parseTime=True&loc=Local"})
		},
		read: readTests}
}

// entTests does with ent what applications do. Ent generates 15,000 lines from the schema in the folder go/ent; they are made here.
func entTests() suite {
	const name = "ent"
	return suite{name: name, needs: []string{"go"},
		prepare: func(e *environment) (string, error) {
			dir := filepath.Join(absolute(e.cache), name)
			for _, f := range []string{"go.mod", "go.sum", "ent_test.go", filepath.Join("ent", "schema", "schema.go")} {
				if err := copyFile(filepath.Join(e.dir, "go", name, f), filepath.Join(dir, f)); err != nil {
					return "", err
				}
			}
			generate := goCommand(dir, "run", "-mod=mod", "entgo.io/ent/cmd/ent", "generate",
				"--feature", "sql/upsert,sql/lock,sql/modifier,sql/execquery,intercept", "./ent/schema")
			if _, err := e.install(name, filepath.Join("go", name, "ent", "schema", "schema.go"), generate); err != nil {
				return "", err
			}
			return e.buildTests(name, dir, "entgo.io/ent", ".")
		},
		command: func(e *environment) *exec.Cmd {
			return e.runTests(name, "go_ent", "", []string{"ENT_DSN=root@tcp(HOST:PORT)/DB?charset=utf8mb4&parseTime=True"})
		},
		read: readTests}
}

// emptyDriver writes a module in place of one of GORM's drivers that no test here connects with.
func emptyDriver(dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	module := "module gorm.io/driver/" + name + "\n\ngo 1.24.0\n"
	source := "package " + name + "\n\nimport \"gorm.io/gorm\"\n\ntype Config struct {\n\tDSN string\n\tPreferSimpleProtocol bool\n}\n\n" +
		"func Open(string) gorm.Dialector { return nil }\n\nfunc New(Config) gorm.Dialector { return nil }\n"
	return errors.Join(os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644),
		os.WriteFile(filepath.Join(dir, name+".go"), []byte(source), 0o644))
}

// buildTests compiles a package's tests in a module's folder, and returns the version of another module that it requires.
func (e *environment) buildTests(name, dir, module, pkg string) (string, error) {
	build := goCommand(dir, "test", "-c", "-o", e.testBinary(name), pkg)
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.New("its packages cannot be had: " + lastLine(string(out), err))
	}
	return output(goCommand(dir, "list", "-m", "-f", "{{.Version}}", module))
}

func (e *environment) testBinary(name string) string {
	return filepath.Join(absolute(e.cache), "go", name+".test")
}

// runTests is the command that runs a suite's compiled tests but those that skip matches: its output is test2json's. The database is made
// anew.
func (e *environment) runTests(name, db, skip string, env []string) *exec.Cmd {
	c := exec.Command("go", "tool", "test2json", "-p", name, e.testBinary(name), "-test.v=test2json", "-test.skip="+skip)
	c.Dir = filepath.Join(absolute(e.cache), "go")
	if err := e.makeDatabase(db); err != nil {
		c.Err = err
	}
	replace := strings.NewReplacer("HOST", e.host, "PORT", e.port, "DB", db)
	c.Env = os.Environ()
	for _, v := range env {
		key, value, _ := strings.Cut(v, "=")
		c.Env = append(c.Env, key+"="+replace.Replace(value))
	}
	return c
}

// makeDatabase drops and creates a database, and allows LOAD DATA LOCAL, which drivers' tests expect.
func (e *environment) makeDatabase(name string) error {
	db, err := sql.Open("mysql", "root@tcp("+net.JoinHostPort(e.host, e.port)+")/")
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec("DROP DATABASE IF EXISTS " + name); err != nil {
		return err
	}
	if _, err = db.Exec("SET GLOBAL local_infile = 1"); err != nil {
		return err
	}
	_, err = db.Exec("CREATE DATABASE " + name)
	return err
}

func goCommand(dir string, args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	return c
}

func output(c *exec.Cmd) (string, error) {
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}

// readTests takes what test2json prints. Tests below a test are part of it: they tell why it failed. A test that was skipped counts for
// nothing. A run that ends early (a panic, or log.Fatal) has not run what is left, which is a failure too.
func readTests(r *result, out io.Reader) {
	said, over := map[string][]string{}, false
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		test, _, _ := strings.Cut(e.Test, "/")
		switch {
		case e.Action == "output":
			said[test] = append(said[test], strings.TrimSpace(e.Output))
		case e.Test == "":
			over = over || e.Action == "pass" || e.Action == "fail"
		case e.Test != test:
		case e.Action == "pass":
			r.passed = append(r.passed, r.suite.name+"/"+test)
		case e.Action == "fail":
			r.failed[r.suite.name+"/"+test] = reason(said[test])
		}
	}
	for _, lines := range said {
		for _, l := range lines {
			if strings.HasPrefix(l, "panic: ") && strings.Contains(strings.Join(lines, "\n"), "goroutine ") {
				r.failed[r.suite.name+"/ended"] = l
				return
			}
		}
	}
	if !over {
		r.failed[r.suite.name+"/ended"] = "its tests did not come to their end: " + reason(said[""])
	}
}

// reason picks the lines that tell why a test failed.
func reason(said []string) string {
	var why []string
	for _, l := range said {
		if l != "" && !strings.HasPrefix(l, "=== ") && !strings.HasPrefix(l, "--- ") {
			why = append(why, l)
		}
	}
	text := strings.Join(why, " ")
	return text[:min(len(text), 400)]
}
