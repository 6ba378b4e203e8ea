package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/go-sql-driver/mysql"
	dto "github.com/prometheus/client_model/go"

	"github.com/longitude-db/longitude/clock"
)

// TestScripts runs testdata/*. A command is
//
//	sql [conn=NAME] [node=N] [sort]
//	SELECT ...
//	----
//	the rows, columns by tabs; or "ok", with the number of rows affected if there were any; or the error
//
// With later the statements go on by themselves: the answer is "waits" once they wait for a lock, and
//
//	collect conn=NAME
//
// gives what has become of them.
//
//	spread TABLE [index=NAME] VALUE ...
//
// begins a range at each of the values, the first led by node 2, and so on. With one node all stays in one range.
//
//	settle
//
// waits until what has happened is certainly past on all nodes.
//
// A connection is made when it is first named, to node 1 unless it says otherwise. Each script has a database of its own.
// Statements end with a semicolon at the end of a line. Scripts under cluster/ run on three nodes.
func TestScripts(t *testing.T) {
	for dir, nodes := range map[string]int{"testdata": 1, "testdata/cluster": 3} {
		files, _ := filepath.Glob(dir + "/*.txt")
		if len(files) == 0 {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			c := startCluster(t, nodes)
			c.waitReplicated()
			for _, f := range files {
				name := strings.TrimSuffix(filepath.Base(f), ".txt")
				t.Run(name, func(t *testing.T) { runScript(t, c, f, stage{db: "d_" + name}) })
			}
		})
	}
}

// keyText is a key of the key-value store, which depends on what was created before.
var keyText = regexp.MustCompile(`\\x04\\x01(?:[^\t\n",)]|\)\\x)*`)

// stage is where a script runs, and how.
type stage struct {
	db     string
	setup  []string       // of each connection
	nodeOf map[string]int // by the connection's name; else 1
	// apart: as much time passes before each command as clocks may differ. What a command does is then certainly later than
	// what the one before did, in both orderings.
	apart bool
}

func runScript(t *testing.T, c *cluster, file string, p stage) {
	conns := map[string]*sql.Conn{}
	if _, err := c.nodes[0].root.Exec("CREATE DATABASE " + p.db); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, x := range conns {
			_ = x.Close()
		}
	}()
	later := map[string]chan string{}
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		name, node := "a", 1
		if d.Cmd == "collect" {
			d.ScanArgs(t, "conn", &name)
			return <-later[name]
		}
		if d.Cmd == "spread" {
			c.spread(p.db, d)
			return "ok\n"
		}
		if d.Cmd == "settle" {
			c.settle()
			return "ok\n"
		}
		if d.Cmd != "sql" {
			d.Fatalf(t, "unknown command %s", d.Cmd)
		}
		d.MaybeScanArgs(t, "conn", &name)
		if n := p.nodeOf[name]; n > 0 {
			node = n
		}
		d.MaybeScanArgs(t, "node", &node)
		conn := conns[name]
		if conn == nil {
			var err error
			if conn, err = c.nodes[node-1].root.Conn(context.Background()); err != nil {
				t.Fatal(err)
			}
			conns[name] = conn
			for _, q := range append([]string{"ROLLBACK", "SET autocommit = 1", "USE " + p.db}, p.setup...) {
				if _, err := conn.ExecContext(context.Background(), q); err != nil {
					t.Fatal(err)
				}
			}
		}
		if p.apart {
			c.settle()
		}
		run := func() string {
			var out strings.Builder
			for _, q := range splitStatements(d.Input) {
				if text := strings.ToUpper(q); strings.Contains(text, "SKIP LOCKED") || strings.Contains(text, "NOWAIT") {
					c.unlocked(t)
				}
				out.WriteString(keyText.ReplaceAllString(runStatement(conn, q, d.HasArg("sort")), "KEY"))
			}
			return out.String()
		}
		if !d.HasArg("later") {
			return run()
		}
		before := c.lockWaiters()
		out := make(chan string, 1)
		go func() { out <- run() }()
		for c.lockWaiters() <= before {
			select {
			case s := <-out:
				return s
			case <-time.After(time.Millisecond):
			}
		}
		later[name] = out
		return "waits\n"
	})
}

// spread cuts a table into ranges that are led by different nodes.
func (c *cluster) spread(db string, d *datadriven.TestData) {
	index, n := "PRIMARY", 0
	for _, a := range d.CmdArgs[1:] {
		if a.Key == "index" {
			index = a.Vals[0]
			continue
		}
		n++
		if len(c.nodes) > 1 {
			at := fmt.Sprintf("'%s.%s', '%s', '%s'", db, d.CmdArgs[0].Key, index, a.Key)
			c.nodes[0].exec(fmt.Sprintf("CALL longitude_split(%s)", at), fmt.Sprintf("CALL longitude_move_lease(%s, %d)", at, c.nodes[n%len(c.nodes)].id))
		}
	}
}

// settle waits until every node's earliest has passed what any node's latest is now.
func (c *cluster) settle() {
	c.t.Helper()
	var latest clock.Instant
	for _, s := range c.nodes {
		iv, err := s.clk.Now()
		if err != nil {
			c.t.Fatal(err)
		}
		latest = max(latest, iv.Latest)
	}
	for _, s := range c.nodes {
		for {
			if iv, err := s.clk.Now(); err != nil {
				c.t.Fatal(err)
			} else if iv.Earliest > latest {
				break
			}
			time.Sleep(100 * time.Microsecond)
		}
	}
}

// lockWaiters counts the requests that wait for locks.
func (c *cluster) lockWaiters() (n int) {
	for _, s := range c.nodes {
		var m dto.Metric
		_ = s.node.Metrics.Replica.LockWaiters.Write(&m)
		n += int(m.GetGauge().GetValue())
	}
	return n
}

// unlocked waits until the transactions that are over have given back their locks, which they do in the background. Who waits
// for a lock need not care; who skips what is locked sees it.
func (c *cluster) unlocked(t *testing.T) {
	for _, s := range c.nodes {
		if !wait(30*time.Second, func() bool {
			var m dto.Metric
			_ = s.node.Metrics.Txn.Unlocking.Write(&m)
			return m.GetGauge().GetValue() == 0
		}) {
			t.Error("locks are not given back")
		}
	}
}

func splitStatements(text string) (out []string) {
	for _, s := range strings.SplitAfter(text+"\n", ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, strings.TrimSuffix(s, ";"))
		}
	}
	return out
}

func runStatement(conn *sql.Conn, q string, sorted bool) string {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(q, "( ")), " ")
	switch first {
	case "select", "show", "explain", "with", "table", "call", "describe", "values", "execute":
		lines, err := rows(conn, q)
		if err != nil {
			return errorText(err)
		}
		if sorted {
			sort.Strings(lines)
		}
		if len(lines) == 0 {
			return "no rows\n"
		}
		return strings.Join(lines, "\n") + "\n"
	}
	r, err := conn.ExecContext(context.Background(), q)
	if err != nil {
		return errorText(err)
	}
	if n, _ := r.RowsAffected(); n > 0 {
		return fmt.Sprintf("ok, %d\n", n)
	}
	return "ok\n"
}

func errorText(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("error %d (%s): %s\n", e.Number, e.SQLState[:], e.Message)
	}
	return "error: " + err.Error() + "\n"
}
