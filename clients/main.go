// Command clients runs what applications do through the drivers, frameworks and tools that they do it with, against a node of this build,
// and prints one table: client, version, passed, failed, known.
//
//	go run ./clients            the quick part
//	go run ./clients -all       all suites
//	go run ./clients NAME ...   these suites
//
// Each suite is a program in its client's own language that prints a line for each test: "ok NAME" or "not ok NAME: why". Failures that
// known.txt lists are known; a test that passes although it is listed there fails the run, so that the list can only shrink. A suite whose
// tools or packages cannot be had says so in the table: as "not run", and with CLIENTS_REQUIRED=1 that fails the run.
//
// Versions are pinned in requirements.txt, package-lock.json, pom.xml and go.sum beside the programs. Packages are installed into
// $CLIENTS_CACHE (default: longitude-clients in the user's cache directory), once.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

func main() {
	all := flag.Bool("all", false, "run all suites, not only the quick ones")
	bin := flag.String("bin", "bin/longitude", "the build under test")
	port := flag.Int("port", 23350, "the first of three ports on the loopback that the node may use")
	url := flag.String("at", "", "host:port of a server to run against, in place of a node of this build")
	keep := flag.Bool("v", false, "print what the suites print")
	flag.Parse()
	if err := run(options{all: *all, bin: *bin, port: *port, at: *url, verbose: *keep, only: flag.Args()}); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

type options struct {
	all, verbose bool
	bin, at      string
	port         int
	only         []string
}

func run(o options) error {
	dir := sourceDir()
	known, err := readKnown(filepath.Join(dir, "known.txt"))
	if err != nil {
		return err
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	e := &environment{dir: dir, cache: cache, verbose: o.verbose, all: o.all, host: "127.0.0.1"}
	if o.at != "" {
		e.host, e.port = split(o.at)
	} else {
		n, err := startNode(o.bin, o.port)
		if err != nil {
			return err
		}
		defer n.stop()
		e.port = strconv.Itoa(o.port)
	}
	var results []result
	for _, s := range suites {
		if len(o.only) > 0 && !slices.Contains(o.only, s.name) || len(o.only) == 0 && !o.all && !s.quick {
			continue
		}
		began := time.Now()
		r := e.runSuite(s)
		r.took = time.Since(began)
		results = append(results, r)
		fmt.Fprintf(os.Stderr, "clients: %s: %d passed, %d failed in %s\n", s.name, len(r.passed), len(r.failed), r.took.Round(time.Second/10))
	}
	return report(os.Stdout, results, known, os.Getenv("CLIENTS_REQUIRED") != "")
}
