package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// readKnown reads the failures that are known: a line each, "NAME: why"; # begins a comment.
func readKnown(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	for lines, n := bufio.NewScanner(f), 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, why, ok := strings.Cut(line, ": ")
		if !ok || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("%s:%d: a known failure needs a reason: NAME: why", file, n)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%s:%d: %s is listed twice", file, n, name)
		}
		out[name] = why
	}
	return out, nil
}

// report prints the table, and below it each test that did not end as it should. Its error is that there are such tests.
func report(w io.Writer, results []result, known map[string]string, required bool) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "client\tversion\tpassed\tfailed\tknown\ttime")
	var details []string
	passed, failed := 0, 0
	for _, r := range results {
		if r.missing != "" {
			fmt.Fprintf(t, "%s\t\tnot run: %s\n", r.suite.name, r.missing)
			if required {
				failed++
				details = append(details, r.suite.name+": not run: "+r.missing)
			}
			continue
		}
		expected, bad := 0, 0
		for _, name := range slices.Sorted(maps.Keys(r.failed)) {
			if _, ok := known[name]; ok {
				expected++
				continue
			}
			bad++
			details = append(details, "failed: "+name+": "+r.failed[name])
		}
		for _, name := range r.passed {
			if _, ok := known[name]; ok {
				bad++
				details = append(details, "passed, but listed as a known failure: "+name)
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%s\n", r.suite.name, r.version, len(r.passed), bad, expected, r.took.Round(time.Second/10))
		passed, failed = passed+len(r.passed), failed+bad
	}
	_ = t.Flush()
	for _, d := range details {
		fmt.Fprintln(w, d)
	}
	fmt.Fprintf(w, "clients: %d passed, %d failed\n", passed, failed)
	if failed > 0 {
		return errors.New("not all went as it should")
	}
	return nil
}
