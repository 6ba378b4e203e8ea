//go:build linux

package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sys/unix"
)

// lab is a network of its own: a namespace for each node, with an interface that leads to a bridge in a namespace between
// them. Nothing of the machine's own network is touched. Clients talk to each node over the loopback interface of its
// namespace, so that what cuts nodes off from each other does not cut clients off.
type lab struct {
	t    *testing.T
	name string // of the namespace with the bridge, and what those of the nodes begin with
}

// newLab makes the network, or skips the test where the machine does not allow it. Afterwards the namespaces are deleted by
// name, and with them all that is in them.
func newLab(t *testing.T, nodes int) *lab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("network namespaces need the ip command: apt-get install iproute2")
	}
	l := &lab{t: t, name: fmt.Sprintf("lgt%d", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", l.name).CombinedOutput(); err != nil {
		t.Skipf("this machine does not allow network namespaces: %v: %s", err, out)
	}
	t.Cleanup(func() { l.try("netns", "delete", l.name) })
	l.must("-n", l.name, "link", "add", "name", "bridge0", "type", "bridge")
	l.must("-n", l.name, "link", "set", "bridge0", "up")
	for i := 1; i <= nodes; i++ {
		ns := l.ns(i)
		l.must("netns", "add", ns)
		t.Cleanup(func() { l.try("netns", "delete", ns) })
		l.must("-n", l.name, "link", "add", l.port(i), "type", "veth", "peer", "name", "eth0", "netns", ns)
		l.must("-n", l.name, "link", "set", l.port(i), "master", "bridge0", "up")
		l.must("-n", ns, "addr", "add", l.ip(i)+"/24", "dev", "eth0")
		l.must("-n", ns, "link", "set", "eth0", "up")
		l.must("-n", ns, "link", "set", "lo", "up")
	}
	return l
}

func (l *lab) ns(i int) string   { return fmt.Sprintf("%s-%d", l.name, i) }
func (l *lab) port(i int) string { return fmt.Sprintf("port%d", i) }
func (l *lab) ip(i int) string   { return fmt.Sprintf("10.77.0.%d", i) }

func (l *lab) try(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (l *lab) must(args ...string) {
	l.t.Helper()
	if err := l.try(args...); err != nil {
		l.t.Fatal(err)
	}
}

// dial connects from inside a node's namespace. A socket stays in the namespace in which it was made; the thread goes back.
func (l *lab) dial(ctx context.Context, i int, addr string) (net.Conn, error) {
	type result struct {
		c   net.Conn
		err error
	}
	done := make(chan result, 1)
	go func() {
		// The thread is not unlocked: it ends with this goroutine, and its namespace with it.
		runtime.LockOSThread()
		f, err := os.Open(filepath.Join("/var/run/netns", l.ns(i)))
		if err == nil {
			err = unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
			f.Close()
		}
		var r result
		if r.err = err; err == nil {
			r.c, r.err = (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "tcp4", addr)
		}
		done <- r
	}()
	r := <-done
	return r.c, r.err
}

const (
	labSQL  = "127.0.0.1:26257"
	labHTTP = "127.0.0.1:26259"
)

// node prepares the ith process, which runs in the ith namespace.
func (l *lab) node(i int) (*node, *mysql.Config) {
	l.t.Helper()
	join := ""
	if i > 1 {
		join = l.ip(1) + ":26258"
	}
	n := newNode(l.t, i, join)
	n.rpc, n.sql, n.http = l.ip(i)+":26258", labSQL, labHTTP
	network := l.ns(i)
	mysql.RegisterDialContext(network, func(ctx context.Context, addr string) (net.Conn, error) { return l.dial(ctx, i, addr) })
	l.t.Cleanup(func() { mysql.DeregisterDialContext(network) })
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.Logger = "root", network, labSQL, &mysql.NopLogger{}
	conn, err := mysql.NewConnector(c)
	if err != nil {
		l.t.Fatal(err)
	}
	n.db.Close()
	n.db = sql.OpenDB(conn)
	return n, c
}

// start starts the process in its namespace and waits until it is healthy.
func (l *lab) start(n *node) {
	l.t.Helper()
	log, err := os.Create(n.log)
	if err != nil {
		l.t.Fatal(err)
	}
	defer log.Close()
	// ip becomes the process that it starts, so signals reach that.
	n.cmd = exec.Command("ip", append([]string{"netns", "exec", l.ns(n.id), longitude(l.t)}, n.args()...)...)
	n.cmd.Stdout, n.cmd.Stderr = log, log
	if err := n.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	n.ended = make(chan struct{})
	go func() {
		_ = n.cmd.Wait() // it is killed at the end of the test
		close(n.ended)
	}()
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) { return l.dial(ctx, n.id, addr) }}}
	eventually(l.t, fmt.Sprintf("node %d is healthy", n.id), func() error {
		resp, err := web.Get("http://" + labHTTP + "/healthz")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("it says %s", resp.Status)
		}
		return nil
	})
}

// cut takes a node's cable out; mend puts it back.
func (l *lab) cut(i int)  { l.t.Helper(); l.must("-n", l.name, "link", "set", l.port(i), "down") }
func (l *lab) mend(i int) { l.t.Helper(); l.must("-n", l.name, "link", "set", l.port(i), "up") }

// deafen loses what one node sends to another; hear ends that.
func (l *lab) deafen(from, to int) {
	l.t.Helper()
	l.must("-n", l.ns(from), "route", "add", "blackhole", l.ip(to)+"/32")
}

func (l *lab) hear(from, to int) {
	l.t.Helper()
	l.must("-n", l.ns(from), "route", "delete", "blackhole", l.ip(to)+"/32")
}

// TestVerifyAcrossPartitions lets all workloads run through three processes while the network between them is cut in
// several ways.
func TestVerifyAcrossPartitions(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes; not with -short")
	}
	l := newLab(t, 3)
	var nodes []*node
	var cfgs []*mysql.Config
	for i := 1; i <= 3; i++ {
		n, c := l.node(i)
		l.start(n)
		nodes, cfgs = append(nodes, n), append(cfgs, c)
	}
	replicated(t, nodes)
	tr := try(t, cfgs, "wait")

	for _, i := range []int{1, 3} {
		l.cut(i)
		tr.serves(fmt.Sprintf("node %d cut off", i))
		tr.holds(3*time.Second, fmt.Sprintf("node %d cut off", i))
		l.mend(i)
		tr.serves(fmt.Sprintf("node %d can be reached again", i))
	}

	// Node 1 reaches 2 only one way, and 3 both ways.
	l.deafen(2, 1)
	tr.holds(4*time.Second, "node 2 loses what it sends to node 1")
	l.hear(2, 1)
	tr.serves("node 2 is heard again")

	// All three ways between nodes are cut: nobody has a majority.
	for i := 1; i <= 3; i++ {
		l.cut(i)
	}
	tr.holds(3*time.Second, "no node reaches another")
	for i := 1; i <= 3; i++ {
		l.mend(i)
	}
	tr.serves("all nodes reach each other again")

	if out, err := exec.Command("tc", "-n", l.ns(2), "qdisc", "add", "dev", "eth0", "root", "netem", "delay", "20ms", "15ms", "loss", "5%").CombinedOutput(); err != nil {
		t.Logf("delay and loss are left out, this machine cannot make them: %v: %s", err, out)
	} else {
		tr.holds(4*time.Second, "node 2 sends late, and 5% not at all")
		if out, err := exec.Command("tc", "-n", l.ns(2), "qdisc", "delete", "dev", "eth0", "root").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		tr.serves("node 2 sends well again")
	}
	tr.judge()
}
