package sqlsim

import (
	"context"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/sim"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/engine"
)

// lateHolder is a statement that was executed for a session although another one had got its lock before the statement began (N3 of the
// engine's named locks).
const lateHolder check.Kind = "statement of a session whose lock another one has"

// namedLocks is clients of which each takes one lock of GET_LOCK, executes statements as its holder, and releases it. Machines stand still
// for longer than a lock holds without being renewed.
type namedLocks struct {
	workload
	turns []*turn
}

// turn is one session's time with the lock.
type turn struct {
	grant   check.Op
	did     []*check.Op // what it executed as the holder
	release check.Op    // Invoke 0: it never began to release it
}

func newNamedLocks(u engine.Unsafe) *namedLocks {
	return &namedLocks{workload: workload{unsafe: u, engines: map[*node.Node]*process{}, seen: map[string]bool{}}}
}

// Splits implements sim.Workload.
func (w *namedLocks) Splits() []kv.Key { return []kv.Key{catalog.IndexSpan(1, 0).Start} }

// Setup implements sim.Workload.
func (w *namedLocks) Setup(c *sim.Client) error {
	s, err := w.session(c)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, q := range []string{"CREATE DATABASE IF NOT EXISTS d", "CREATE TABLE IF NOT EXISTS d.work (id BIGINT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL)"} {
		if _, err := s.Exec(context.Background(), q); err != nil {
			return err
		}
	}
	return nil
}

// Step implements sim.Workload: one turn, if the client gets it.
func (w *namedLocks) Step(c *sim.Client) {
	s, err := w.session(c)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	t := &turn{}
	a, err := w.exec(c, s, &t.grant, "SELECT GET_LOCK('work', 20)")
	if err != nil || a.Rows[0][0] != "1" {
		return
	}
	w.turns = append(w.turns, t)
	for n := range 2 + c.Rand.IntN(6) {
		c.RT.Sleep(time.Duration(c.Rand.IntN(500)) * time.Millisecond)
		o := &check.Op{}
		t.did = append(t.did, o)
		if _, err := w.exec(c, s, o, fmt.Sprintf("INSERT INTO d.work (n) VALUES (%d)", n)); err != nil {
			break
		}
	}
	_, _ = w.exec(c, s, &t.release, "SELECT RELEASE_LOCK('work')")
}

// exec executes one statement and notes what became of it.
func (w *namedLocks) exec(c *sim.Client, s *engine.Local, o *check.Op, query string) (a *engine.Answer, err error) {
	c.Begin(o, func() string {
		w.ops = append(w.ops, o)
		return query
	})
	a, err = s.Exec(context.Background(), query)
	c.End(o, outcome(err), err, func() string {
		if err != nil {
			return ""
		}
		return fmt.Sprintf(" %v", a.Rows)
	})
	return a, err
}

// Final implements sim.Workload.
func (w *namedLocks) Final(*sim.Client) error { return nil }

// Check implements sim.Workload: once a client has been told that it has the lock, no statement is executed for a session that had it
// before. A session that is releasing the lock has no part in that.
func (w *namedLocks) Check() (as []check.Anomaly) {
	for _, old := range w.turns {
		for _, next := range w.turns {
			if next.grant.Return <= old.grant.Return {
				continue
			}
			for _, o := range old.did {
				if o.Outcome == check.OK && o.Invoke > next.grant.Return {
					as = append(as, check.Anomaly{Kind: lateHolder, Text: fmt.Sprintf("%s was executed, after the lock of %s was given to %s", o, &old.grant, &next.grant)})
				}
			}
		}
	}
	return as[:min(len(as), 10)]
}
