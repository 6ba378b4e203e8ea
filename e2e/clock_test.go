package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// clockedCluster starts three nodes with a clock each.
func clockedCluster(t *testing.T, clocks ...string) []*node {
	t.Helper()
	var nodes []*node
	for i, c := range clocks {
		join := ""
		if i > 0 {
			join = nodes[0].rpc
		}
		n := newNode(t, i+1, join)
		n.clock = c
		n.start()
		n.healthy()
		nodes = append(nodes, n)
	}
	return nodes
}

// TestUnequalBounds: bounds of 0.05, 1 and 50 ms are a normal state. Counters that all nodes increment lose nothing, what
// one node has acknowledged the others see at once, and only the clock with the wide bound makes its clients wait.
func TestUnequalBounds(t *testing.T) {
	nodes := clockedCluster(t, "sim:eps=0.05ms", "sim:eps=1ms,offset=1ms", "sim:eps=50ms,offset=-20ms")
	replicated(t, nodes)
	nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.c (id INT PRIMARY KEY, n INT NOT NULL, last INT NOT NULL)", "INSERT INTO d.c VALUES (1, 0, 0)")
	const each = 40
	var took [3]time.Duration
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() {
			began := time.Now()
			for range each {
				n.exec("UPDATE d.c SET n = n + 1 WHERE id = 1")
			}
			took[i] = time.Since(began) / each
		})
	}
	wg.Wait()
	for _, n := range nodes {
		if got := one[int](n, "SELECT n FROM d.c WHERE id = 1"); got != 3*each {
			t.Errorf("node %d counts %d of %d increments", n.id, got, 3*each)
		}
	}
	// Recency, from every node to every other: whoever acknowledges first, whoever reads next.
	for i := range 3 * 3 * 5 {
		w, r := nodes[i%3], nodes[i/3%3]
		w.exec(fmt.Sprintf("UPDATE d.c SET last = %d WHERE id = 1", i+1))
		if got := one[int](r, "SELECT last FROM d.c WHERE id = 1"); got != i+1 {
			t.Fatalf("node %d acknowledged %d, then node %d read %d", w.id, i+1, r.id, got)
		}
	}
	var alone [3]time.Duration
	for i, n := range nodes {
		n.exec(fmt.Sprintf("INSERT INTO d.c VALUES (%d, 0, 0)", n.id+10))
		began := time.Now()
		for range 10 {
			n.exec(fmt.Sprintf("UPDATE d.c SET n = n + 1 WHERE id = %d", n.id+10))
		}
		alone[i] = time.Since(began) / 10
	}
	t.Logf("an increment, contended: %s; a transaction without contention: %s (bounds 0.05, 1 and 50 ms)", took, alone)
	for _, n := range nodes {
		if sick := one[int](n, "SELECT COUNT(*) FROM longitude.clock WHERE interval_conflicts > 0 OR disjoint_readings > 0 "+
			"OR fenced IS NOT NULL OR state <> 'synchronized'"); sick != 0 {
			t.Errorf("node %d takes %d honest clocks for sick", n.id, sick)
		}
	}
}

// TestLyingNode: the third node's clock is 200 ms ahead and reports ±1 ms. The others contradict it; it fences itself, leads
// nothing, tells its clients why, and is named by SHOW CLOCK everywhere. When its clock is changed for a good one it serves
// again by itself.
func TestLyingNode(t *testing.T) {
	nodes := clockedCluster(t, "sim:eps=1ms", "sim:eps=1ms")
	nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
	liar := newNode(t, 3, nodes[0].rpc)
	liar.clock = "sim:eps=1ms,offset=200ms,lying"
	began := time.Now()
	liar.start()
	fenced := func(n *node) error {
		var state, why string
		err := n.db.QueryRow("SELECT state, fenced FROM longitude.clock WHERE node_id = 3 AND fenced IS NOT NULL").Scan(&state, &why)
		if err == nil && (state != "fenced" || !strings.Contains(why, "contradict the clock of node 3: node 1, node 2")) {
			err = fmt.Errorf("state %q, fenced %q", state, why)
		}
		return err
	}
	for _, n := range nodes {
		eventually(t, fmt.Sprintf("node %d names the liar", n.id), func() error { return fenced(n) })
	}
	t.Logf("named %s after its process was started", time.Since(began).Round(time.Millisecond))

	// Its clients are told; the other nodes' clients notice nothing.
	var refusal *mysql.MySQLError
	eventually(t, "the liar refuses", func() error {
		_, err := liar.db.Exec("INSERT INTO d.t VALUES (2)")
		if !errors.As(err, &refusal) || refusal.Number != 1290 {
			return fmt.Errorf("answered %w", err)
		}
		return nil
	})
	t.Logf("what its clients read:\n%s", refusal.Message)
	for _, part := range []string{"node fenced: 2 of the 3 nodes that are heard of contradict the clock of node 3", "gave up its leases and refuses transactions", "hint: "} {
		if !strings.Contains(refusal.Message, part) {
			t.Errorf("the refusal does not say %q:\n%s", part, refusal.Message)
		}
	}
	if err := fenced(liar); err != nil {
		t.Errorf("a fenced node must still show its own clock: %v", err)
	}
	for _, n := range nodes {
		n.exec(fmt.Sprintf("INSERT INTO d.t VALUES (%d)", 10+n.id))
		if led := one[int](n, "SELECT COUNT(*) FROM longitude.ranges WHERE leaseholder = 3"); led != 0 {
			t.Errorf("the liar leads %d ranges", led)
		}
	}
	resp, err := http.Get("http://" + liar.http + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "contradict the clock of node 3") {
		t.Errorf("health of the liar: %s\n%s", resp.Status, body)
	}

	// A good clock, set through another node.
	out, err := exec.Command(longitude(t), "clock", "set", "--url", nodes[1].sql, "--clock", "sim:eps=2ms", "--node", "3").CombinedOutput()
	if err != nil {
		t.Fatalf("clock set: %v\n%s", err, out)
	}
	set := time.Now()
	liar.healthy()
	liar.exec("INSERT INTO d.t VALUES (3)")
	t.Logf("it serves again %s after its clock was changed", time.Since(set).Round(time.Millisecond))
	if n := one[int](liar, "SELECT COUNT(*) FROM d.t"); n != 4 {
		t.Errorf("%d rows, want 4", n)
	}
	// Over a restart with the same command line it keeps the clock that was set.
	liar.signal(terminate)
	liar.start()
	liar.healthy()
	if src := one[string](liar, "SELECT source FROM longitude.clock WHERE node_id = 3"); src != "sim:eps=2ms" {
		t.Errorf("after a restart the clock is %s", src)
	}
}

// TestLeasesLeaveALiar: a node that leads ranges is fenced; its leases are elsewhere at once, and writes go on.
func TestLeasesLeaveALiar(t *testing.T) {
	nodes := clockedCluster(t, "sim:eps=1ms", "sim:eps=1ms", "sim:eps=1ms")
	replicated(t, nodes)
	nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "INSERT INTO d.t VALUES (1, 0)")
	leads := func() int { return one[int](nodes[1], "SELECT COUNT(*) FROM longitude.ranges WHERE leaseholder = 1") }
	if leads() == 0 {
		t.Fatal("the first node leads nothing")
	}
	// Its source begins to lie, as when somebody sets the machine's clock: the node is told so by hand.
	longest := time.Duration(0)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			nodes[1].exec("UPDATE d.t SET n = n + 1 WHERE id = 1")
			longest = max(longest, time.Since(began))
		}
	})
	nodes[0].exec("CALL longitude_set_clock('sim:eps=150ms', 1)", "CALL longitude_set_clock('sim:eps=1ms,offset=140ms,lying', 1)")
	began := time.Now()
	eventually(t, "its leases are elsewhere", func() error {
		if n := leads(); n > 0 {
			return fmt.Errorf("it leads %d ranges", n)
		}
		return nil
	})
	moved := time.Since(began)
	time.Sleep(time.Second)
	stop()
	wg.Wait()
	t.Logf("all leases moved within %s; the slowest write took %s", moved.Round(time.Millisecond), longest.Round(time.Millisecond))
}

// TestRestartWithClockBehind: the clock was 6 s ahead of where it is after the restart. The node says for how many seconds
// it still waits, waits, and then has all that it acknowledged.
func TestRestartWithClockBehind(t *testing.T) {
	n := newNode(t, 1, "")
	n.clock = "sim:eps=1ms,offset=6s,lying"
	n.start()
	n.healthy()
	n.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
	n.kill()
	n.clock = "sim:eps=1ms"
	n.start()
	waits := regexp.MustCompile(`"reason": "the clock is ([0-9.]+) seconds behind timestamps that this node may have given out`)
	said := ""
	eventually(t, "it says for how long it waits", func() error {
		resp, err := http.Get("http://" + n.http + "/healthz")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		m := waits.FindSubmatch(b)
		if resp.StatusCode != http.StatusServiceUnavailable || m == nil || !strings.Contains(string(b), `"wait_seconds"`) {
			return fmt.Errorf("%s: %s", resp.Status, b)
		}
		said = string(m[1])
		return nil
	})
	began := time.Now()
	n.healthy()
	t.Logf("it said %s s, and was healthy after %s", said, time.Since(began).Round(time.Millisecond))
	n.exec("INSERT INTO d.t VALUES (2)")
	if got := one[int](n, "SELECT COUNT(*) FROM d.t"); got != 2 {
		t.Errorf("%d rows, want 2", got)
	}
}

// TestClockAskedForByName: a node that is to join a cluster and has no bounded source does not start; one alone does,
// loudly, and takes nobody in. On a machine with a clock daemon there is nothing to see.
func TestClockAskedForByName(t *testing.T) {
	if out, err := exec.Command(longitude(t), "clock", "now").CombinedOutput(); err == nil {
		t.Skipf("this machine has a bounded clock: %s", out)
	}
	alone := newNode(t, 1, "")
	alone.clock = "auto"
	alone.start()
	alone.healthy()
	if log, _ := os.ReadFile(alone.log); !strings.Contains(string(log), "THIS NODE RUNS ALONE") {
		t.Errorf("not loud:\n%s", log)
	}
	second := newNode(t, 2, alone.rpc)
	second.clock = "auto"
	second.start()
	<-second.ended
	if log, _ := os.ReadFile(second.log); second.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(log), "no bounded clock source") ||
		!strings.Contains(string(log), "--clock=static:500ms") {
		t.Errorf("%s:\n%s", second.cmd.ProcessState, log)
	}
	third := newNode(t, 3, alone.rpc)
	third.clock = "static:5ms"
	third.start()
	eventually(t, "it is not taken in", func() error {
		if log, _ := os.ReadFile(third.log); !strings.Contains(string(log), "runs alone") {
			return errors.New("nothing in its log")
		}
		return nil
	})
	if n := one[int](alone, "SELECT COUNT(*) FROM longitude.nodes"); n != 1 {
		t.Errorf("%d nodes", n)
	}
}

// TestChangingEverything: a cluster on assumed bounds changes to measured ones and back, while counters are incremented on
// all nodes; nothing is lost and nothing is refused.
func TestChangingEverything(t *testing.T) {
	nodes := clockedCluster(t, "static:20ms", "static:20ms,offset=4ms", "static:20ms")
	replicated(t, nodes)
	nodes[0].exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "INSERT INTO d.t VALUES (1, 0), (2, 0), (3, 0)")
	ctx, stop := context.WithCancel(t.Context())
	var done [3]int
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := n.db.Exec("UPDATE d.t SET n = n + 1 WHERE id = ?", i+1); err != nil {
					t.Errorf("node %d: %v", n.id, err)
					return
				}
				done[i]++
			}
		})
	}
	set := func(args ...string) (string, error) {
		out, err := exec.Command(longitude(t), append([]string{"clock", "set", "--url", nodes[0].sql}, args...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := set("--clock", "sim:eps=2ms", "--node", "2"); err == nil || !strings.Contains(out, "takes true time to be") {
		t.Errorf("one node alone changed the meaning of true time: %v\n%s", err, out)
	}
	for _, spec := range []string{"sim:eps=10ms", "sim:eps=2ms", "static:30ms"} {
		out, err := set("--clock", spec)
		if err != nil {
			t.Fatalf("to %s: %v\n%s", spec, err, out)
		}
		t.Logf("to %s:\n%s", spec, out)
		for _, n := range nodes {
			if got := one[string](n, fmt.Sprintf("SELECT source FROM longitude.clock WHERE node_id = %d", n.id)); got != spec {
				t.Errorf("node %d has %s", n.id, got)
			}
		}
	}
	stop()
	wg.Wait()
	for i, n := range done {
		if got := one[int](nodes[(i+1)%3], fmt.Sprintf("SELECT n FROM d.t WHERE id = %d", i+1)); got != n || n == 0 {
			t.Errorf("counter %d is %d, %d increments were acknowledged", i+1, got, n)
		}
	}
	t.Logf("increments meanwhile: %v", done)
}
