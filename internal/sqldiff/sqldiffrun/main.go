// Command sqldiffrun runs generated statements on a reference server and on a Longitude node, and prints what differs by cause.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/longitude-db/longitude/internal/sqldiff"
)

type flags struct {
	families, mode, reference, node, binary, out, page, counts, record, learn string
	first                                                                     uint64
	seeds, count, reduce, perCause                                            int
	limit, atMost                                                             time.Duration
	excused, list                                                             bool
}

func main() {
	var f flags
	flag.StringVar(&f.families, "family", "", "families to run, with commas (default: all)")
	flag.StringVar(&f.mode, "mode", "",
		"compare two ways of asking Longitude instead of asking a reference: tlp, norec, index, prepared, compiled, transaction, inplace, cluster")
	flag.Uint64Var(&f.first, "first", 1, "first seed")
	flag.IntVar(&f.seeds, "seeds", 5, "number of seeds")
	flag.IntVar(&f.count, "count", 0, "statements for each seed and family (default: the family's)")
	flag.IntVar(&f.reduce, "reduce", 120, "executions that making one case smaller may take")
	flag.IntVar(&f.perCause, "per-cause", 2, "cases of the same outer form that are made smaller")
	flag.DurationVar(&f.limit, "limit", 10*time.Second, "limit for one answer")
	flag.DurationVar(&f.atMost, "at-most", 0, "begin no seed after this time (default: no limit)")
	flag.StringVar(&f.reference, "reference", "",
		"the reference: an address with a port, or a mysqld or mariadbd to start (default: the one installed)")
	flag.StringVar(&f.node, "node", "", "address of a node that runs (default: start -binary)")
	flag.StringVar(&f.binary, "binary", "bin/longitude", "the longitude to start")
	flag.StringVar(&f.out, "out", "", "file for the report (default: standard output)")
	flag.StringVar(&f.page, "page", "", "write docs/mysql-compatibility.md to this file from what is known, and run nothing")
	flag.StringVar(&f.counts, "counts", "", "testdata/counts.txt: replace what it says of the families or of the mode that are run")
	flag.StringVar(&f.record, "record", "",
		"write the reference's answers to the statements of the families into this directory, and ask no node")
	flag.StringVar(&f.learn, "learn", "",
		"append an entry for each unexplained cause to this file, to be read and moved to testdata/known.txt")
	flag.BoolVar(&f.list, "list", false, "print the statements, and execute nothing")
	flag.BoolVar(&f.excused, "excused", false, "print the causes that the lists excuse, too")
	flag.Parse()
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "sqldiffrun:", err)
		os.Exit(1)
	}
}

func run(f flags) error {
	if f.page != "" {
		return writePage(f.page)
	}
	o := sqldiff.Options{First: f.first, Seeds: f.seeds, Count: f.count, Reduce: f.reduce, PerCause: f.perCause, Progress: os.Stderr}
	if f.atMost > 0 {
		o.Until = time.Now().Add(f.atMost)
	}
	if f.mode != "" {
		if o.Mode = sqldiff.ModeNamed(f.mode); o.Mode == nil {
			return fmt.Errorf("there is no mode %q", f.mode)
		}
		if f.families == "" {
			f.families = strings.Join(o.Mode.Families, ",")
		}
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
	if f.list {
		return sqldiff.List(os.Stdout, o)
	}
	dir, err := os.MkdirTemp(memory(), "sqldiff-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if f.record != "" {
		return record(f, o, dir)
	}
	reference, node, stop, err := servers(f, o.Mode, dir)
	defer stop()
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
		for _, e := range report.Lists.Unmet() {
			if f.families == "" && f.mode == "" {
				fmt.Fprintf(os.Stderr, "met by nothing in this run: %s\n", e.Pattern)
			}
		}
		if f.learn != "" && err == nil {
			err = learn(f.learn, report)
		}
		if f.counts != "" && err == nil {
			err = writeCounts(f.counts, f.mode, report)
		}
		if n := report.Unexplained(); err == nil && n > 0 {
			err = fmt.Errorf("%d statements differ without an explanation", n)
		}
	}
	return err
}

// record writes a file of answers for each family.
func record(f flags, o sqldiff.Options, dir string) error {
	var reference *sqldiff.Server
	if strings.Contains(f.reference, ":") {
		reference = sqldiff.Running(f.reference, f.limit)
	} else {
		var err error
		if reference, err = sqldiff.StartReference(f.reference, dir, f.limit); err != nil {
			return err
		}
		defer reference.Stop()
	}
	for _, fam := range o.Families {
		rec, err := sqldiff.RecordFamily(reference, fam, f.first, f.seeds, max(f.count, 1))
		if err != nil {
			return fmt.Errorf("%s: %w", fam.Name, err)
		}
		file, err := os.Create(filepath.Join(f.record, fam.Name+".json.gz"))
		if err != nil {
			return err
		}
		if err := errors.Join(rec.Write(file), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func writePage(file string) error {
	lists, err := sqldiff.ReadLists()
	if err != nil {
		return err
	}
	counts, err := sqldiff.ReadCounts()
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(sqldiff.Page(counts, lists)), 0o644)
}

func writeCounts(file, mode string, r *sqldiff.Report) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	c, err := sqldiff.ParseCounts(string(old))
	if err != nil {
		return err
	}
	if mode == "" {
		c.Reference = r.Reference
		c.Set(false, sqldiff.CountsOf(r))
	} else {
		sum := sqldiff.FamilyCount{Name: mode}
		for _, f := range sqldiff.CountsOf(r) {
			sum.Statements, sum.Differ, sum.Excused = sum.Statements+f.Statements, sum.Differ+f.Differ, sum.Excused+f.Excused
		}
		c.Set(true, []sqldiff.FamilyCount{sum})
	}
	return os.WriteFile(file, []byte(c.Text()), 0o644)
}

func learn(name string, r *sqldiff.Report) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(r.Learn())
	return errors.Join(err, file.Close())
}

// memory is where data that are thrown away may lie.
func memory() string {
	if _, err := os.Stat("/dev/shm"); err == nil {
		return "/dev/shm"
	}
	return ""
}

// servers starts what is not there yet: the two sides of the comparison.
func servers(f flags, mode *sqldiff.Mode, dir string) (reference, node *sqldiff.Server, stop func(), err error) {
	var started []*sqldiff.Server
	stop = func() {
		for _, s := range started {
			s.Stop()
		}
	}
	switch {
	case mode != nil && !mode.Cluster: // one node is both sides
	case strings.Contains(f.reference, ":"):
		reference = sqldiff.Running(f.reference, f.limit)
	case mode != nil:
		if reference, err = sqldiff.StartNode(f.binary, dir+"/alone", f.limit); err != nil {
			return nil, nil, stop, err
		}
		started = append(started, reference)
	default:
		if reference, err = sqldiff.StartReference(f.reference, dir, f.limit); err != nil {
			return nil, nil, stop, err
		}
		started = append(started, reference)
	}
	if f.node != "" {
		node = sqldiff.Running(f.node, f.limit)
	} else {
		if _, err := os.Stat(f.binary); err != nil {
			return nil, nil, stop, errors.Join(err, errors.New("make build, or name one with -binary"))
		}
		nodes := 1
		if mode != nil && mode.Cluster {
			nodes = 3
		}
		cluster, err := sqldiff.StartCluster(f.binary, dir, nodes, f.limit)
		started = append(started, cluster...)
		if err != nil {
			return nil, nil, stop, err
		}
		node = cluster[0]
	}
	if reference == nil {
		reference = node
	}
	return reference, node, stop, nil
}
