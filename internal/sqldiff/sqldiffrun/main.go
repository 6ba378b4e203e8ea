// Command sqldiffrun runs generated statements on a reference server and on a Longitude node, and prints what differs by cause.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/longitude-db/longitude/internal/sqldiff"
)

type flags struct {
	families, reference, node, binary, out string
	first                                  uint64
	seeds, count, reduce, perCause         int
	limit, atMost                          time.Duration
	excused                                bool
}

func main() {
	var f flags
	flag.StringVar(&f.families, "family", "", "families to run, with commas (default: all)")
	flag.Uint64Var(&f.first, "first", 1, "first seed")
	flag.IntVar(&f.seeds, "seeds", 5, "number of seeds")
	flag.IntVar(&f.count, "count", 0, "statements for each seed and family (default: the family's)")
	flag.IntVar(&f.reduce, "reduce", 120, "executions that making one case smaller may take")
	flag.IntVar(&f.perCause, "per-cause", 2, "cases of the same outer form that are made smaller")
	flag.DurationVar(&f.limit, "limit", 10*time.Second, "limit for one answer")
	flag.DurationVar(&f.atMost, "at-most", 0, "begin no seed after this time (default: no limit)")
	flag.StringVar(&f.reference, "reference", "", "the reference: an address with a port, or a mysqld or mariadbd to start (default: the one installed)")
	flag.StringVar(&f.node, "node", "", "address of a node that runs (default: start -binary)")
	flag.StringVar(&f.binary, "binary", "bin/longitude", "the longitude to start")
	flag.StringVar(&f.out, "out", "", "file for the report (default: standard output)")
	flag.BoolVar(&f.excused, "excused", false, "print the causes that the lists excuse, too")
	flag.Parse()
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "sqldiffrun:", err)
		os.Exit(1)
	}
}

func run(f flags) error {
	o := sqldiff.Options{First: f.first, Seeds: f.seeds, Count: f.count, Reduce: f.reduce, PerCause: f.perCause, Progress: os.Stderr}
	if f.atMost > 0 {
		o.Until = time.Now().Add(f.atMost)
	}
	for name := range strings.SplitSeq(f.families, ",") {
		if name == "" {
			o.Families = sqldiff.Families
			break
		}
		fam := sqldiff.FamilyNamed(name)
		if fam == nil {
			return fmt.Errorf("there is no family %q", name)
		}
		o.Families = append(o.Families, fam)
	}
	dir, err := os.MkdirTemp(memory(), "sqldiff-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	reference, node, err := servers(f, dir)
	defer reference.Stop()
	defer node.Stop()
	if err != nil {
		return err
	}
	report, err := sqldiff.Run(reference, node, o)
	if report != nil {
		text := report.Text(f.excused)
		if f.out == "" {
			fmt.Print(text)
		} else if err := os.WriteFile(f.out, []byte(text), 0o644); err != nil {
			return err
		}
		if n := report.Unexplained(); err == nil && n > 0 {
			err = fmt.Errorf("%d statements differ without an explanation", n)
		}
	}
	return err
}

// memory is where data that are thrown away may lie.
func memory() string {
	if _, err := os.Stat("/dev/shm"); err == nil {
		return "/dev/shm"
	}
	return ""
}

func servers(f flags, dir string) (reference, node *sqldiff.Server, err error) {
	if strings.Contains(f.reference, ":") {
		reference = sqldiff.Running(f.reference, f.limit)
	} else {
		port, err := sqldiff.FreePort()
		if err != nil {
			return nil, nil, err
		}
		if reference, err = sqldiff.StartReference(f.reference, dir, fmt.Sprint(port), f.limit); err != nil {
			return reference, nil, err
		}
	}
	if f.node != "" {
		return reference, sqldiff.Running(f.node, f.limit), nil
	}
	if _, err := os.Stat(f.binary); err != nil {
		return reference, nil, errors.Join(err, errors.New("make build, or name one with -binary"))
	}
	port, err := sqldiff.FreePort()
	if err != nil {
		return reference, nil, err
	}
	node, err = sqldiff.StartNode(f.binary, dir, port, f.limit)
	return reference, node, err
}
