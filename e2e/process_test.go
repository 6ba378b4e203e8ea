package e2e

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/longitude-db/longitude/internal/client"
)

// patience is how long a condition may take to come true before a test gives up. It is far above what is promised,
// because machines that run tests are busy; what is promised is measured and logged.
const patience = 90 * time.Second

var binary struct {
	once sync.Once
	path string
	err  error
}

// longitude is the binary under test: the one that LONGITUDE_BIN names (make e2e), or one built now.
func longitude(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		if binary.path = os.Getenv("LONGITUDE_BIN"); binary.path != "" {
			return
		}
		dir, err := os.MkdirTemp("", "longitude-e2e-")
		if err != nil {
			binary.err = err
			return
		}
		binary.path = filepath.Join(dir, "longitude")
		cmd := exec.Command("go", "build", "-tags", "gms_pure_go", "-o", binary.path, "../cmd/longitude")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("building: %w\n%s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return binary.path
}

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("LONGITUDE_BIN") == "" && binary.path != "" {
		os.RemoveAll(filepath.Dir(binary.path))
	}
	os.Exit(code)
}

// node is one process of a cluster.
type node struct {
	t              *testing.T
	id             int
	store          string
	rpc, sql, http string
	join           string
	clock          string   // --clock
	more           []string // flags
	log            string
	cmd            *exec.Cmd
	ended          chan struct{} // closed when the process is gone
	db             *sql.DB
}

// freeAddrs finds n loopback addresses that nobody listens on.
func freeAddrs(t *testing.T, n int) []string {
	t.Helper()
	var out []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().String())
	}
	return out
}

// newNode prepares a process; start starts it.
func newNode(t *testing.T, id int, join string) *node {
	t.Helper()
	a := freeAddrs(t, 3)
	n := &node{t: t, id: id, store: filepath.Join(t.TempDir(), "store"), rpc: a[0], sql: a[1], http: a[2], join: join, clock: "sim:eps=1ms"}
	n.log = filepath.Join(t.TempDir(), fmt.Sprintf("node%d.log", id))
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.Timeout = "root", "tcp", n.sql, 5*time.Second
	c.Logger = &mysql.NopLogger{}
	conn, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	n.db = sql.OpenDB(conn)
	t.Cleanup(func() {
		n.db.Close()
		n.kill()
		if t.Failed() {
			n.tellLog()
		}
	})
	return n
}

// args is the command line of the node.
func (n *node) args() []string {
	args := []string{"start", "--store", n.store, "--rpc-addr", n.rpc, "--sql-addr", n.sql, "--http-addr", n.http,
		"--clock", n.clock}
	if n.join != "" {
		args = append(args, "--join", n.join)
	}
	return append(args, n.more...)
}

func (n *node) start() {
	n.t.Helper()
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		n.t.Fatal(err)
	}
	n.cmd = exec.Command(longitude(n.t), n.args()...)
	n.cmd.Stdout, n.cmd.Stderr = log, log
	if err := n.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	log.Close()
	n.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait() // it was killed, or its exit is looked at by the test
		close(ended)
	}(n.cmd, n.ended)
}

// kill ends the process as a power failure would, as far as the process can tell.
func (n *node) kill() { n.signal(syscall.SIGKILL) }

// signal sends a signal and waits until the process is gone.
func (n *node) signal(s syscall.Signal) {
	if n.cmd == nil {
		return
	}
	if err := n.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		n.t.Errorf("node %d: %v", n.id, err)
	}
	select {
	case <-n.ended:
	case <-time.After(patience):
		n.t.Errorf("node %d did not end after %v", n.id, s)
		_ = n.cmd.Process.Kill()
		<-n.ended
	}
}

// healthy waits until the node says that it is.
func (n *node) healthy() {
	n.t.Helper()
	last := "nothing"
	eventually(n.t, fmt.Sprintf("node %d is healthy", n.id), func() error {
		select {
		case <-n.ended:
			n.t.Fatalf("node %d ended: %v", n.id, n.cmd.ProcessState)
		default:
		}
		resp, err := http.Get("http://" + n.http + "/healthz")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		var b bytes.Buffer
		_, _ = b.ReadFrom(resp.Body)
		last = b.String()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", resp.Status, last)
		}
		return nil
	})
}

// tellLog prints the end of the process's log.
func (n *node) tellLog() {
	b, err := os.ReadFile(n.log)
	if err != nil {
		return
	}
	const most = 6000
	if len(b) > most {
		b = b[len(b)-most:]
	}
	n.t.Logf("end of the log of node %d:\n%s", n.id, b)
}

// eventually waits until the condition gives no error.
func eventually(t *testing.T, what string, cond func() error) {
	t.Helper()
	start := time.Now()
	for {
		err := cond()
		if err == nil {
			return
		}
		if time.Since(start) > patience {
			t.Fatalf("not within %s: %s: %v", patience, what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// startCluster starts three nodes that form a cluster, and waits until each is healthy.
func startCluster(t *testing.T) []*node {
	t.Helper()
	first := newNode(t, 1, "")
	first.start()
	first.healthy()
	nodes := []*node{first}
	for id := 2; id <= 3; id++ {
		n := newNode(t, id, first.rpc)
		n.start()
		n.healthy()
		nodes = append(nodes, n)
	}
	return nodes
}

// exec carries out statements on a node, which must succeed; what a busy cluster refuses for a moment is sent again.
func (n *node) exec(statements ...string) {
	n.t.Helper()
	for _, q := range statements {
		eventually(n.t, q, func() error {
			_, err := n.db.Exec(q)
			return err
		})
	}
}

// one reads a single value.
func one[T any](n *node, query string, args ...any) T {
	n.t.Helper()
	var v T
	eventually(n.t, query, func() error { return n.db.QueryRow(query, args...).Scan(&v) })
	return v
}

// terminate is what an operator's service manager sends.
const terminate = syscall.SIGTERM

// replicated waits until each range has three voting replicas, in the view of every node: before that the loss of one
// node can be too much.
func replicated(t *testing.T, nodes []*node) {
	t.Helper()
	for _, n := range nodes {
		eventually(t, fmt.Sprintf("node %d sees three voters everywhere", n.id), func() error {
			voters, err := client.FewestVoters(t.Context(), n.db)
			if err == nil && voters < 3 {
				err = fmt.Errorf("some range has %d", voters)
			}
			return err
		})
	}
}
