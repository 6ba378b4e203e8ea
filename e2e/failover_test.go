//go:build linux

package e2e

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// blows are the ways in which the leaseholder of all data is struck, and how it is made well again.
var blows = []blow{
	{name: "SIGKILL", strike: func(f *failover, n *node) { n.kill() }, mend: (*failover).restart},
	{name: "SIGSTOP", strike: func(f *failover, n *node) { f.send(n, syscall.SIGSTOP) }, mend: func(f *failover, n *node) { f.send(n, syscall.SIGCONT) }},
	{name: "cut, both ways", strike: func(f *failover, n *node) { f.lab.cut(n.id) }, mend: func(f *failover, n *node) { f.lab.mend(n.id) }},
	{name: "cut, it hears nobody", strike: func(f *failover, n *node) { f.oneWay(n, true, f.lab.deafen) }, mend: func(f *failover, n *node) { f.oneWay(n, true, f.lab.hear) }},
	{name: "cut, nobody hears it", strike: func(f *failover, n *node) { f.oneWay(n, false, f.lab.deafen) }, mend: func(f *failover, n *node) { f.oneWay(n, false, f.lab.hear) }},
	{name: "SIGTERM", strike: func(f *failover, n *node) { f.send(n, terminate) }, mend: func(f *failover, n *node) { <-n.ended; f.restart(n) }},
	{name: "lease moved", strike: (*failover).moveLease, mend: func(*failover, *node) {}},
	{name: "stands still 500 ms", still: true, strike: func(f *failover, n *node) {
		f.send(n, syscall.SIGSTOP)
		time.Sleep(500 * time.Millisecond)
		f.send(n, syscall.SIGCONT)
	}, mend: func(*failover, *node) {}},
}

type blow struct {
	name         string
	strike, mend func(f *failover, n *node)
	still        bool // it must not lose its lease
}

// TestFailover strikes the leaseholder of all data while clients insert rows through all nodes, and says how long no insert was
// acknowledged through the other nodes, per blow: FAILOVERS=50 of each (make failover), else one. Nothing that was acknowledged
// may be lost, and the clients of the other nodes must see no error. How long it takes is told and not judged, but for a bound
// that is far above it. EXPLAIN=100ms prints what the nodes logged while a failover took longer than that, in detail.
func TestFailover(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes; not with -short")
	}
	times := 1
	if v := os.Getenv("FAILOVERS"); v != "" {
		var err error
		if times, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	f := newFailover(t)
	for _, b := range blows {
		if only := os.Getenv("BLOW"); only == "" || strings.Contains(b.name, only) {
			f.run(b, times)
		}
	}
	f.load.close()
}

// failover is a cluster in namespaces, under load.
type failover struct {
	t     *testing.T
	lab   *lab
	nodes []*node
	load  *inserts
	slow  time.Duration // above which the nodes' logs are printed
}

func newFailover(t *testing.T) *failover {
	f := &failover{t: t, lab: newLab(t, 3), slow: slowFailover}
	explain, err := time.ParseDuration(os.Getenv("EXPLAIN"))
	if err == nil {
		f.slow = explain
	}
	for i := 1; i <= 3; i++ {
		n, _ := f.lab.node(i)
		n.clock = "sim:eps=0.1ms"
		if err == nil {
			n.more = []string{"--log-level", "debug"}
		}
		f.lab.start(n)
		f.nodes = append(f.nodes, n)
	}
	replicated(t, f.nodes)
	f.load = openInserts(t, f.nodes, 3)
	return f
}

func (f *failover) send(n *node, s syscall.Signal) {
	if err := n.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		f.t.Errorf("node %d: %v", n.id, err)
	}
}

func (f *failover) restart(n *node) { f.lab.start(n) }

// oneWay changes what the others send to a node (in), or what it sends to them.
func (f *failover) oneWay(n *node, in bool, change func(from, to int)) {
	for _, p := range f.nodes {
		if p != n && in {
			change(p.id, n.id)
		} else if p != n {
			change(n.id, p.id)
		}
	}
}

func (f *failover) moveLease(n *node) {
	to := f.nodes[n.id%3]
	if _, err := to.db.Exec(`CALL longitude_move_lease('failover.t', 'PRIMARY', '0', ?)`, fmt.Sprint(to.id)); err != nil {
		f.t.Errorf("lease not moved: %v", err)
	}
}

// leaseholder is the node that leads the range of the rows.
func (f *failover) leaseholder() (n *node) { return f.leaseholderOf(f.nodes[0]) }

// leaseholderOf is the same, as another node sees it.
func (f *failover) leaseholderOf(seen *node) (n *node) {
	eventually(f.t, "somebody leads the range", func() error {
		var id int
		err := seen.db.QueryRow("SELECT DISTINCT leaseholder FROM longitude.ranges WHERE range_id = 1").Scan(&id)
		if err == nil && id < 1 {
			err = errors.New("no leaseholder")
		}
		if err == nil {
			n = f.nodes[id-1]
		}
		return err
	})
	return n
}

// run strikes several times, and prints what that cost.
func (f *failover) run(b blow, times int) {
	f.t.Helper()
	var gaps []time.Duration
	errs := map[string]int{}
	var others, moved int
	parts := map[string][]time.Duration{}
	for range times {
		f.load.calm()
		n := f.leaseholder()
		marks := f.markLogs()
		began := time.Now()
		f.load.watch(n.id, began)
		b.strike(f, n)
		f.load.resumes(30)
		time.Sleep(300 * time.Millisecond)
		gap := f.load.gap()
		gaps = append(gaps, gap)
		b.mend(f, n)
		f.load.resumes(30)
		for what, count := range f.load.errors() {
			errs[what] += count
		}
		others += f.load.othersFailed()
		for part, d := range f.parts(marks, began) {
			parts[part] = append(parts[part], d)
		}
		if gap > f.slow {
			f.explain(b, gap, marks, began)
		}
		f.agree()
		if f.leaseholder() != n {
			moved++
		}
		if gap > 30*time.Second {
			f.t.Errorf("%s: nothing was acknowledged for %s", b.name, gap)
		}
		replicated(f.t, f.nodes)
	}
	if others > 0 {
		f.t.Errorf("%s: %d statements failed on nodes that were well: %v", b.name, others, errs)
	}
	if b.still && moved > 0 {
		f.t.Logf("%s: the lease moved %d times of %d", b.name, moved, times)
	}
	fmt.Printf("%-22s n=%d  gap min %s median %s p99 %s max %s  moved %d  errors %v\n", b.name, times, ms(at(gaps, 0)), ms(at(gaps, 0.5)), ms(at(gaps, 0.99)), ms(at(gaps, 1)), moved, errs)
	for _, part := range []string{"suspected", "leads", "lease"} {
		if ds := parts[part]; len(ds) > 0 {
			fmt.Printf("%-22s   %s after: min %s median %s p99 %s\n", "", part, ms(at(ds, 0)), ms(at(ds, 0.5)), ms(at(ds, 0.99)))
		}
	}
}

// slowFailover is above what any kind of failover takes on an idle machine.
const slowFailover = 2 * time.Second

// explain prints what the nodes logged while a slow failover lasted: where its time went.
func (f *failover) explain(b blow, gap time.Duration, marks []int64, began time.Time) {
	fmt.Printf("%s: a gap of %s; the nodes' logs from the blow on:\n", b.name, ms(gap))
	for i, n := range f.nodes {
		text, err := os.ReadFile(n.log)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, line := range strings.Split(string(text[min(marks[i], int64(len(text))):]), "\n") {
			stamp, ok := strings.CutPrefix(strings.Fields(line + " -")[0], "time=")
			when, err := time.Parse(time.RFC3339Nano, stamp)
			if ok && err == nil && when.After(began.Add(-time.Second)) && when.Before(began.Add(gap+200*time.Millisecond)) {
				fmt.Printf("  node %d %+7s %s\n", n.id, ms(when.Sub(began)), strings.TrimPrefix(line, "time="+stamp+" "))
			}
		}
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.0fms", d.Seconds()*1000) }

// at is a quantile.
func at(ds []time.Duration, q float64) time.Duration {
	s := slices.Sorted(slices.Values(ds))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

// markLogs notes how long the logs are.
func (f *failover) markLogs() (at []int64) {
	for _, n := range f.nodes {
		i, err := os.Stat(n.log)
		if err != nil {
			f.t.Fatal(err)
		}
		at = append(at, i.Size())
	}
	return at
}

// parts finds in the logs when what was that a failover is made of.
func (f *failover) parts(marks []int64, began time.Time) map[string]time.Duration {
	out := map[string]time.Duration{}
	for i, n := range f.nodes {
		file, err := os.Open(n.log)
		if err != nil {
			f.t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.Seek(marks[i], 0); err != nil {
			f.t.Fatal(err)
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			line := lines.Text()
			stamp, ok := strings.CutPrefix(strings.Fields(line + " -")[0], "time=")
			when, err := time.Parse(time.RFC3339Nano, stamp)
			if !ok || err != nil {
				continue
			}
			part := ""
			switch {
			case strings.Contains(line, "seems to have stopped"):
				part = "suspected"
			case strings.Contains(line, `msg="leads its range"`) && strings.Contains(line, "range=1 "):
				part = "leads"
			case strings.Contains(line, `msg="lease begins"`) && strings.Contains(line, "range=1 "):
				part = "lease"
			default:
				continue
			}
			if old, had := out[part]; !had || when.Sub(began) < old {
				out[part] = when.Sub(began)
			}
		}
	}
	return out
}

// inserts is a load of single-row inserts through all nodes. Each worker has a connection and ids of its own.
type inserts struct {
	pauses
	nodes []*node
	stop  chan struct{}
	wg    sync.WaitGroup
	ws    []*inserter

	mu     sync.Mutex
	failed map[string]int // since watch
	others int
}

type inserter struct {
	of     *inserts
	n      *node
	first  int64          // its ids begin here
	next   int64          // that it tries
	failed map[int64]bool // ids that were not acknowledged
}

const perWorker = 1_000_000_000

func openInserts(t *testing.T, nodes []*node, each int) *inserts {
	t.Helper()
	nodes[0].exec(`CREATE DATABASE failover`, `CREATE TABLE failover.t(id BIGINT PRIMARY KEY, v INT NOT NULL)`)
	l := &inserts{pauses: pauses{t: t}, nodes: nodes, stop: make(chan struct{}), failed: map[string]int{}}
	for i := range each * len(nodes) {
		w := &inserter{of: l, n: nodes[i%len(nodes)], first: int64(i) * perWorker, failed: map[int64]bool{}}
		l.ws = append(l.ws, w)
		l.wg.Go(w.run)
	}
	return l
}

func (w *inserter) run() {
	var conn *sql.Conn
	for {
		select {
		case <-w.of.stop:
			return
		case <-time.After(2 * time.Millisecond):
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		var err error
		if conn == nil {
			if conn, err = w.n.db.Conn(ctx); err != nil {
				cancel()
				time.Sleep(20 * time.Millisecond) // its node is down
				continue
			}
		}
		_, err = conn.ExecContext(ctx, fmt.Sprintf("INSERT INTO failover.t VALUES (%d, 1)", w.first+w.next))
		cancel()
		w.of.note(w, err)
		if err != nil {
			w.failed[w.next] = true
			var answer *mysql.MySQLError
			if !errors.As(err, &answer) || answer.Number == 1053 {
				conn.Close()
				conn = nil
			}
		}
		w.next++
	}
}

// note takes the outcome of a statement in.
func (l *inserts) note(w *inserter, err error) {
	if err == nil {
		l.acknowledged(w.n.id)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	what := "connection broken"
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		what = fmt.Sprint(answer.Number)
	}
	if l.isStruck(w.n.id) {
		what += " (its own clients)"
	} else {
		l.others++
		what += " (" + err.Error() + ")"
	}
	l.failed[what]++
}

// watch begins to note what is acknowledged through nodes other than one, and what fails.
func (l *inserts) watch(struck int, now time.Time) {
	l.pauses.watch(struck, now)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed, l.others = map[string]int{}, 0
}

// calm waits until statements are acknowledged through every node without a pause.
func (l *inserts) calm() {
	time.Sleep(500 * time.Millisecond)
	l.watch(0, time.Now())
	for _, n := range l.nodes {
		one[int](n, "SELECT 1")
	}
	l.resumes(30)
}

func (l *inserts) errors() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

func (l *inserts) othersFailed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.others
}

// close ends the load, and looks for what was acknowledged in what each node reads.
func (l *inserts) close() {
	l.t.Helper()
	close(l.stop)
	l.wg.Wait()
	acked, lost := int64(0), int64(0)
	for _, w := range l.ws {
		acked += w.next - int64(len(w.failed))
		for _, n := range l.nodes {
			have := one[int64](n, "SELECT COUNT(*) FROM failover.t WHERE id >= ? AND id < ?", w.first, w.first+w.next)
			for id := range w.failed {
				have -= one[int64](n, "SELECT COUNT(*) FROM failover.t WHERE id = ?", w.first+id)
			}
			if missing := w.next - int64(len(w.failed)) - have; missing != 0 {
				l.t.Errorf("node %d lacks %d rows that were acknowledged through node %d", n.id, missing, w.n.id)
				lost += missing
			}
		}
	}
	fmt.Printf("acknowledged %d, lost %d\n", acked, lost)
}
