// Package sqlsim puts the SQL engine into simulated clusters: the production engine, planner included, on the simulated runtime, disks,
// network and clocks of package sim. Each process has an engine of its own; clients are local sessions of it.
//
//	Q1  One seed decides everything, as in package sim: the same seed gives the same trace, byte for byte.
//	Q2  A statement runs on the task of its client. So the statements are of kinds for which go-mysql-server starts no goroutines:
//	    it does for aggregates without groups, and for what comes over its network server.
//	Q3  At the end of a run each index equals the rows of its table, foreign keys hold, generated ids are given out once, and what was
//	    acknowledged is there.
package sqlsim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
	"github.com/longitude-db/longitude/internal/sim"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/engine"
)

// The kinds of anomalies that only this package knows.
const (
	brokenIndex check.Kind = "index differs from rows"
	orphan      check.Kind = "foreign key without its row"
	sameID      check.Kind = "generated id given out twice"
)

func init() {
	sim.Register("sql", func() sim.Workload { return newWorkload(engine.Unsafe{}) })
	sim.Register("locks", func() sim.Workload { return newNamedLocks(engine.Unsafe{}) })
}

// Config is the run of a seed.
func Config(seed uint64) sim.Config {
	c := sim.Draw(seed)
	c.Workloads = []string{"sql"}
	c.Clients = 2
	c.Think = min(c.Think, 200*time.Millisecond)
	c.MaxSteps *= 2
	c.Idle, c.Lie = 0, sim.Lie{}                                                        // the engine relies on real time, which a lie takes away
	c.Faults = slices.DeleteFunc(c.Faults, func(f string) bool { return f == "split" }) // clients do that, at keys of tables
	return c
}

// workload is clients that write to tables with indexes and foreign keys, while others change the schema.
type workload struct {
	unsafe  engine.Unsafe
	engines map[*node.Node]*process
	ops     []*check.Op
	notes   []*note
	faults  []check.Anomaly
	seen    map[string]bool // faults that Final has told
	final   map[int64]string
}

// process is the engine of one process.
type process struct {
	e      *engine.Engine
	locals *engine.Locals
}

// note is a row of table note that a client has inserted.
type note struct {
	check.Op
	text string
	id   int64
}

func newWorkload(u engine.Unsafe) *workload {
	return &workload{unsafe: u, engines: map[*node.Node]*process{}, seen: map[string]bool{}}
}

// Splits implements sim.Workload: the catalog is in another range than the tables, which clients split further (operate). What
// is done to "a range of the workload's" is done to that of the tables.
func (w *workload) Splits() []kv.Key { return []kv.Key{catalog.IndexSpan(1, 0).Start} }

// session opens a session on the engine of the client's process.
func (w *workload) session(c *sim.Client) (*engine.Local, error) {
	p := w.engines[c.Node]
	if p == nil {
		e := engine.New(engine.Options{DB: c.Node.DB, Router: c.Node.Router, Clock: c.Clock, NodeID: c.Node.Self().ID, RT: c.RT,
			DefaultOrdering: c.Orderings[0], RetryLimit: 5 * time.Second, IDBlock: 8, Fatal: eventloop.Killed, Unsafe: w.unsafe})
		locals, err := e.Locals()
		if err != nil {
			return nil, err
		}
		p = &process{e, locals}
		w.engines[c.Node] = p
	}
	return p.locals.Open()
}

var tables = []string{
	"CREATE DATABASE IF NOT EXISTS d",
	"CREATE TABLE IF NOT EXISTS d.parent (id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL, UNIQUE KEY (name))",
	"CREATE TABLE IF NOT EXISTS d.child (id BIGINT PRIMARY KEY, parent BIGINT NOT NULL, v INT NOT NULL, u INT, KEY byv (v), UNIQUE KEY (u), FOREIGN KEY (parent) REFERENCES d.parent (id))",
	"CREATE TABLE IF NOT EXISTS d.note (id BIGINT AUTO_INCREMENT PRIMARY KEY, txt VARCHAR(40) NOT NULL, KEY (txt))",
}

// Setup implements sim.Workload.
func (w *workload) Setup(c *sim.Client) error {
	s, err := w.session(c)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, q := range tables {
		if _, err := s.Exec(context.Background(), q); err != nil {
			return err
		}
	}
	return nil
}

// Step implements sim.Workload: one statement, or a transaction of some.
func (w *workload) Step(c *sim.Client) {
	s, err := w.session(c)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	switch n := c.Rand.IntN(20); {
	case n < 5:
		w.insertNote(c, s)
	case n < 15:
		w.run(c, s, w.statement(c))
	case n < 18:
		qs := []string{"BEGIN"}
		for range 2 + c.Rand.IntN(3) {
			qs = append(qs, w.statement(c))
		}
		w.run(c, s, append(qs, []string{"COMMIT", "COMMIT", "ROLLBACK"}[c.Rand.IntN(3)])...)
	case n < 19:
		w.run(c, s, w.change(c))
	default:
		w.run(c, s, "USE d", w.operate(c))
	}
}

// operate draws what an operator does: ranges are split within tables, and led elsewhere.
func (w *workload) operate(c *sim.Client) string {
	at := []string{"'child', 'PRIMARY', 12", "'child', 'byv', 4", "'parent', 'PRIMARY', 3", "'note', 'PRIMARY', 20"}[c.Rand.IntN(4)]
	if c.Rand.IntN(3) == 0 {
		return fmt.Sprintf("CALL longitude_split(%s)", at)
	}
	return fmt.Sprintf("CALL longitude_move_lease(%s, %d)", at, 1+c.Rand.IntN(3))
}

// statement draws a statement on rows. Many of them meet a duplicate, or a missing row.
func (w *workload) statement(c *sim.Client) string {
	p, r, v := c.Rand.IntN(6), c.Rand.IntN(24), c.Rand.IntN(50)
	switch c.Rand.IntN(10) {
	case 0, 1:
		return fmt.Sprintf("INSERT INTO d.parent VALUES (%d, 'name %d')", p, v%8)
	case 2:
		return fmt.Sprintf("DELETE FROM d.parent WHERE id = %d", p)
	case 3, 4, 5:
		return fmt.Sprintf("INSERT INTO d.child VALUES (%d, %d, %d, %d)", r, p, v%7, v)
	case 6:
		return fmt.Sprintf("UPDATE d.child SET v = %d, u = %d WHERE id = %d", v%7, v, r)
	case 7:
		return fmt.Sprintf("UPDATE d.child SET v = v + 1 WHERE v = %d", v%7)
	case 8:
		return fmt.Sprintf("DELETE FROM d.child WHERE id = %d", r)
	}
	return fmt.Sprintf("SELECT id, v FROM d.child WHERE v = %d ORDER BY id", v%7)
}

// change draws a change of the schema, beside which rows are written.
func (w *workload) change(c *sim.Client) string {
	n := c.Rand.IntN(3)
	switch c.Rand.IntN(8) {
	case 0, 1, 2:
		return fmt.Sprintf("CREATE INDEX extra%d ON d.child (%s)", n, []string{"v", "parent, v", "u, v"}[n])
	case 3, 4:
		return fmt.Sprintf("DROP INDEX extra%d ON d.child", n)
	case 5:
		return fmt.Sprintf("CREATE TABLE d.other%d (id INT PRIMARY KEY, parent BIGINT, FOREIGN KEY (parent) REFERENCES d.parent (id))", n)
	case 6:
		return fmt.Sprintf("DROP TABLE d.other%d", n)
	}
	return "CREATE UNIQUE INDEX uniq ON d.child (id, v)"
}

// run executes statements until one fails.
func (w *workload) run(c *sim.Client, s *engine.Local, queries ...string) {
	o := &check.Op{}
	c.Begin(o, func() string {
		w.ops = append(w.ops, o)
		return strings.Join(queries, "; ")
	})
	var err error
	var rows [][]string
	for _, q := range queries {
		var a *engine.Answer
		if a, err = s.Exec(context.Background(), q); err != nil {
			break
		}
		rows = append(rows, a.Rows...)
	}
	c.End(o, outcome(err), err, func() string { return fmt.Sprintf(" %v", rows) })
}

// insertNote inserts a row of which its client knows later whether it has to be there.
func (w *workload) insertNote(c *sim.Client, s *engine.Local) {
	o := &note{}
	c.Begin(&o.Op, func() string {
		w.ops, w.notes = append(w.ops, &o.Op), append(w.notes, o)
		o.text = fmt.Sprintf("note %d", len(w.notes))
		return "insert " + o.text
	})
	a, err := s.Exec(context.Background(), fmt.Sprintf("INSERT INTO d.note (txt) VALUES ('%s')", o.text))
	c.End(&o.Op, outcome(err), err, func() string {
		if err != nil {
			return ""
		}
		o.id = int64(a.InsertID)
		return fmt.Sprintf(" as %d", o.id)
	})
}

// outcome is what an error says about its statement.
func outcome(err error) check.Outcome {
	switch n := engine.ErrorNumber(err); {
	case err == nil:
		return check.OK
	case n == 0, n == 1180, n == 1105, n == 2013:
		return check.Unknown
	}
	return check.Failed
}

// Final implements sim.Workload: it reads the tables through SQL, and compares indexes with rows below it.
func (w *workload) Final(c *sim.Client) error {
	s, err := w.session(c)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx := context.Background()
	var parents, children, notes [][]string
	if _, err := s.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	for _, r := range []struct {
		rows *[][]string
		q    string
	}{{&parents, "SELECT id FROM d.parent"}, {&children, "SELECT id, parent FROM d.child"}, {&notes, "SELECT id, txt FROM d.note"}} {
		a, err := s.Exec(ctx, r.q)
		if err != nil {
			return err
		}
		*r.rows = a.Rows
	}
	if _, err := s.Exec(ctx, "COMMIT"); err != nil {
		return err
	}
	has := map[string]bool{}
	for _, p := range parents {
		has[p[0]] = true
	}
	for _, r := range children {
		if !has[r[1]] {
			w.fault(orphan, fmt.Sprintf("child %s refers to parent %s, which is not there", r[0], r[1]))
		}
	}
	w.final = map[int64]string{}
	for _, n := range notes {
		id, err := strconv.ParseInt(n[0], 10, 64)
		if err != nil {
			return err
		}
		w.final[id] = n[1]
	}
	err = engine.CheckIndexes(ctx, c.DB)
	if broken := (*engine.BrokenIndex)(nil); errors.As(err, &broken) {
		w.fault(brokenIndex, broken.Error())
		return nil
	}
	return err
}

func (w *workload) fault(kind check.Kind, text string) {
	if !w.seen[text] {
		w.seen[text] = true
		w.faults = append(w.faults, check.Anomaly{Kind: kind, Text: text})
	}
}

// Check implements sim.Workload.
func (w *workload) Check() []check.Anomaly {
	as := slices.Clone(w.faults)
	byID := map[int64]*note{}
	texts := map[string]bool{}
	for _, t := range w.final {
		texts[t] = true
	}
	for _, n := range w.notes {
		switch {
		case n.Outcome == check.OK && w.final[n.id] != n.text:
			as = append(as, check.Anomaly{Kind: check.LostWrite, Text: fmt.Sprintf("%s inserted %q as %d, where %q is", &n.Op, n.text, n.id, w.final[n.id])})
		case n.Outcome == check.Failed && texts[n.text]:
			as = append(as, check.Anomaly{Kind: check.AbortedRead, Text: fmt.Sprintf("%s did not insert %q, which is there", &n.Op, n.text)})
		}
		if n.Outcome != check.OK {
			continue
		}
		if other := byID[n.id]; other != nil {
			as = append(as, check.Anomaly{Kind: sameID, Text: fmt.Sprintf("%s and %s both got %d", &other.Op, &n.Op, n.id)})
		}
		byID[n.id] = n
	}
	sort.Slice(as, func(i, j int) bool { return as[i].Text < as[j].Text })
	return as[:min(len(as), 10)]
}

// Ops implements sim.Workload.
func (w *workload) Ops() map[check.Outcome]int {
	n := map[check.Outcome]int{}
	for _, o := range w.ops {
		n[o.Outcome]++
	}
	return n
}
