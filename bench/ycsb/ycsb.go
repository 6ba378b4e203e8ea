// Package ycsb is the Yahoo! Cloud Serving Benchmark (Cooper et al., SoCC 2010), core workloads A to F as YCSB's own files
// define them: records of 10 fields of 100 bytes under hashed keys; zipfian requests (0.99, scrambled; D: the latest);
// updates of one field; scans of 1 to 100 records; a read-modify-write (F) is one transaction.
//
//	Y1  Every value that is read is whole, and belongs to the record and field that it is found in.
//	Y2  A record whose insert was acknowledged is found by every later read; a scan is in key order and begins where asked.
//	Y3  At the end each field holds an update that nothing acknowledged has certainly overwritten (history.go), so none is
//	    lost; all acknowledged records are there, and none that nobody inserted.
//
// What differs from YCSB, because it must: values carry their version, so that they can be verified, and the rest of them
// is letters that follow from it; a run has a length and not a number of operations, so the number of inserts that the
// zipfian generator of E is prepared for is that of the loaded records.
package ycsb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/longitude-db/longitude/bench/harness"
)

// Options of the workload.
type Options struct {
	Letter  string // a to f
	Records int    // to load
}

// mix is a core workload: shares of operations, and what the requests are for.
type mix struct {
	read, update, insert, scan, rmw float64
	latest                          bool
}

// mixes are the files workloads/workloada to workloadf of YCSB.
var mixes = map[string]mix{
	"a": {read: 0.5, update: 0.5},
	"b": {read: 0.95, update: 0.05},
	"c": {read: 1},
	"d": {read: 0.95, insert: 0.05, latest: true},
	"e": {scan: 0.95, insert: 0.05},
	"f": {read: 0.5, rmw: 0.5},
}

const maxScan = 100

// Letters are the core workloads.
const Letters = "abcdef"

// Check reports all that is wrong with the options.
func (o Options) Check() error {
	var faults []error
	if _, ok := mixes[o.Letter]; !ok {
		faults = append(faults, fmt.Errorf("there is no core workload %q; there are a to f", o.Letter))
	}
	if o.Records < 2 {
		faults = append(faults, fmt.Errorf("records is %d, wanted: 2 or more", o.Records))
	}
	return errors.Join(faults...)
}

// Classes of operations.
const (
	opRead = iota
	opUpdate
	opInsert
	opScan
	opRMW
)

var classNames = [...]string{"read", "update", "insert", "scan", "rmw"}

// Workload is one core workload on one target.
type Workload struct {
	o       Options
	mix     mix
	kinds   []int // operations that occur, in the order of classes
	history history
	inserts *inserts
	wrong   harness.Violations
}

// New makes one.
func New(o Options) (*Workload, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	w := &Workload{o: o, mix: mixes[o.Letter], inserts: newInserts(int64(o.Records))}
	for kind := range classNames {
		if w.share(kind) > 0 {
			w.kinds = append(w.kinds, kind)
		}
	}
	return w, nil
}

func (w *Workload) share(kind int) float64 {
	return [...]float64{w.mix.read, w.mix.update, w.mix.insert, w.mix.scan, w.mix.rmw}[kind]
}

// Name implements harness.Workload.
func (w *Workload) Name() string { return "ycsb-" + w.o.Letter }

// Classes implements harness.Workload.
func (w *Workload) Classes() (names []string) {
	for _, k := range w.kinds {
		names = append(names, classNames[k])
	}
	return names
}

// The statements of YCSB's JDBC binding.
var (
	create    = "CREATE TABLE usertable(YCSB_KEY VARCHAR(255) PRIMARY KEY" + eachField(", FIELD%d TEXT") + ")"
	readOne   = "SELECT * FROM usertable WHERE YCSB_KEY = ?"
	insertOne = "INSERT INTO usertable VALUES (?" + strings.Repeat(", ?", fields) + ")"
	scanFrom  = "SELECT * FROM usertable WHERE YCSB_KEY >= ? ORDER BY YCSB_KEY LIMIT ?"
	updateOf  [fields]string
)

func init() {
	for i := range updateOf {
		updateOf[i] = fmt.Sprintf("UPDATE usertable SET FIELD%d = ? WHERE YCSB_KEY = ?", i)
	}
}

func eachField(format string) string {
	var b strings.Builder
	for i := range fields {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Setup implements harness.Workload.
func (w *Workload) Setup(ctx context.Context, t *harness.Target, say harness.Say) error {
	if err := t.Fresh(ctx, "usertable"); err != nil {
		return err
	}
	if _, err := t.Nodes[0].ExecContext(ctx, create); err != nil {
		return fmt.Errorf("%s: %w", create, err)
	}
	say("loading %d records", w.o.Records)
	tuple := strings.TrimPrefix(insertOne, "INSERT INTO usertable VALUES ")
	return harness.Insert(ctx, t.Nodes[0], "INSERT INTO usertable VALUES ", tuple, 0, w.o.Records, func(i int) []any { return record(int64(i)) })
}

// record is a new record's row.
func record(number int64) []any {
	row := []any{key(number)}
	for f := range fields {
		row = append(row, content(number, f, 0))
	}
	return row
}

// Client implements harness.Workload.
func (w *Workload) Client(rnd *rand.Rand) harness.Client {
	c := &client{w: w, rnd: rnd}
	if w.mix.latest {
		c.latest = newLatest(int64(w.o.Records))
		return c
	}
	n := int64(w.o.Records)
	if w.mix.insert > 0 {
		n *= 2 // those that may be inserted; draws of records that are not there yet are repeated
	}
	c.popular = newScrambled(n)
	return c
}

type client struct {
	w       *Workload
	rnd     *rand.Rand
	popular scrambled
	latest  latest
}

// Next implements harness.Client.
func (c *client) Next() harness.Op {
	u := c.rnd.Float64()
	for class, kind := range c.w.kinds {
		if u -= c.w.share(kind); u < 0 || class == len(c.w.kinds)-1 {
			return harness.Op{Class: class, Do: c.operation(kind)}
		}
	}
	panic("a workload without operations")
}

// existing chooses a record that is there.
func (c *client) existing() int64 {
	last := c.w.inserts.last()
	if c.w.mix.latest {
		return c.latest.next(c.rnd, last)
	}
	for {
		if n := c.popular.next(c.rnd); n <= last {
			return n
		}
	}
}

// operation is one of a kind; all its choices are made now, so that a retry does the same again.
func (c *client) operation(kind int) func(context.Context, *harness.Conn) error {
	if kind == opInsert {
		number := c.w.inserts.begin()
		return func(ctx context.Context, conn *harness.Conn) error {
			_, err := conn.Exec(ctx, insertOne, record(number)...)
			if err == nil {
				c.w.inserts.done(number)
			}
			return err
		}
	}
	number, field := c.existing(), c.rnd.IntN(fields)
	switch kind {
	case opRead:
		return func(ctx context.Context, conn *harness.Conn) error { return c.w.read(ctx, conn, number) }
	case opScan:
		length := c.rnd.IntN(maxScan) + 1
		return func(ctx context.Context, conn *harness.Conn) error { return c.w.scan(ctx, conn, number, length) }
	case opUpdate:
		return func(ctx context.Context, conn *harness.Conn) error {
			return c.w.update(number, field, func(value string) error {
				_, err := conn.Exec(ctx, updateOf[field], value, key(number))
				return err
			})
		}
	}
	return func(ctx context.Context, conn *harness.Conn) error {
		return c.w.update(number, field, func(value string) error {
			return conn.Tx(ctx, func() error {
				if err := c.w.read(ctx, conn, number); err != nil {
					return err
				}
				_, err := conn.Exec(ctx, updateOf[field], value, key(number))
				return err
			})
		})
	}
}

func (w *Workload) update(number int64, field int, write func(value string) error) error {
	return w.history.update(number, field, func(v uint64) error { return write(content(number, field, v)) }, harness.Refused)
}
