//go:build linux

package e2e

import (
	bits "encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// relay stands between a node and those that dial it: the node advertises the relay's address. What the node dials itself does
// not pass it, so a relay can fail connections in one direction, as firewalls, wrong addresses and full descriptor tables do,
// while the system below goes on acknowledging every byte.
type relay struct {
	t      *testing.T
	listen net.Listener
	target string

	mu    sync.Mutex
	conns map[net.Conn]bool
	// swallow says whose bytes are read and thrown away; 0: everybody's.
	swallow map[uint32]bool
	refuse  bool
}

// fromAt is where the hello of a connection says which node dials: behind magic, version and cluster.
const (
	fromAt  = 4 + 1 + 16
	helloTo = fromAt + 4
)

func newRelay(t *testing.T, target string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{t: t, listen: l, target: target, conns: map[net.Conn]bool{}, swallow: map[uint32]bool{}}
	t.Cleanup(func() {
		l.Close()
		r.cutAll()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r
}

func (r *relay) addr() string { return r.listen.Addr().String() }

func (r *relay) serve(in net.Conn) {
	defer in.Close()
	r.mu.Lock()
	refuse := r.refuse
	r.conns[in] = true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.conns, in)
		r.mu.Unlock()
	}()
	if refuse {
		_ = in.(*net.TCPConn).SetLinger(0) // a reset
		return
	}
	hello := make([]byte, helloTo)
	if _, err := io.ReadFull(in, hello); err != nil {
		return
	}
	from := bits.BigEndian.Uint32(hello[fromAt:])
	out, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer out.Close()
	if _, err := out.Write(hello); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(in, out)
		in.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		if err != nil {
			return
		}
		r.mu.Lock()
		lost := r.swallow[0] || r.swallow[from]
		r.mu.Unlock()
		if lost {
			continue
		}
		if _, err := out.Write(buf[:n]); err != nil {
			return
		}
	}
}

// swallows has the bytes of a node (0: all nodes) lost from now on, or not any more. A connection that has lost bytes is no use
// afterwards, so they are ended then.
func (r *relay) swallows(from uint32, on bool) {
	r.mu.Lock()
	r.swallow[from] = on
	r.mu.Unlock()
	if !on {
		r.cutAll()
	}
}

func (r *relay) refuses(on bool) {
	r.mu.Lock()
	r.refuse = on
	r.mu.Unlock()
	r.cutAll()
}

func (r *relay) cutAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		c.Close()
	}
}

// TestUnreachableLeader takes connections to the leaseholder away, and leaves it those that it has made itself. Another node has to
// lead as long as that lasts, without an error for the clients of the others, and nothing acknowledged may be lost. Only if one
// of the others still reaches the leaseholder, it stays: it and that one are a majority.
func TestUnreachableLeader(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes; not with -short")
	}
	var nodes []*node
	var relays []*relay
	for i := 1; i <= 3; i++ {
		join := ""
		if i > 1 {
			join = relays[0].addr()
		}
		n := newNode(t, i, join)
		r := newRelay(t, n.rpc)
		n.more = []string{"--advertise-addr", r.addr()}
		n.start()
		n.healthy()
		nodes, relays = append(nodes, n), append(relays, r)
	}
	replicated(t, nodes)
	f := &failover{t: t, nodes: nodes}
	f.load = openInserts(t, nodes, 2)
	var files unix.Rlimit
	for _, c := range []struct {
		name       string
		stays      bool
		strike     func(n *node, r *relay)
		mend       func(n *node, r *relay)
		unaffected func(leader *node) []*node // whose clients must see no error; nil: those of the others
	}{
		{"system acknowledges, process never sees it", false,
			func(_ *node, r *relay) { r.swallows(0, true) }, func(_ *node, r *relay) { r.swallows(0, false) }, nil},
		{"wrong advertised address: refused", false,
			func(_ *node, r *relay) { r.refuses(true) }, func(_ *node, r *relay) { r.refuses(false) }, nil},
		{"out of file descriptors", false,
			func(n *node, r *relay) {
				pid := n.cmd.Process.Pid
				fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
				if err != nil {
					t.Fatal(err)
				}
				// Two descriptors are freed when the relay ends its connections; they must not come back.
				if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &files); err != nil {
					t.Fatal(err)
				}
				if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(min(len(fds), 10)), Max: files.Max}, nil); err != nil {
					t.Fatal(err)
				}
				r.cutAll()
			},
			func(n *node, r *relay) {
				if err := unix.Prlimit(n.cmd.Process.Pid, unix.RLIMIT_NOFILE, &files, nil); err != nil {
					t.Fatal(err)
				}
				r.cutAll()
			}, nil},
		{"one link of three", true,
			func(n *node, r *relay) { r.swallows(uint32(nodes[n.id%3].id), true) }, func(n *node, r *relay) { r.swallows(uint32(nodes[n.id%3].id), false) },
			func(n *node) []*node { return []*node{nodes[(n.id+1)%3]} }},
	} {
		f.load.calm()
		n := f.leaseholder()
		well := nodes[n.id%3]
		skip := []int{n.id}
		if c.unaffected != nil {
			well = c.unaffected(n)[0]
			skip = append(skip, n.id%3+1)
		}
		began := time.Now()
		f.load.watchBut(skip, began)
		c.strike(n, relays[n.id-1])
		f.load.resumesWithin(3*time.Second, c.name)
		time.Sleep(2 * time.Second)
		gap := f.load.gap()
		now := f.leaseholderOf(well)
		if (now == n) != c.stays {
			t.Errorf("%s: node %d leads, before it was node %d", c.name, now.id, n.id)
		}
		if f.load.othersFailed() > 0 {
			t.Errorf("%s: statements failed on nodes that were well: %v", c.name, f.load.errors())
		}
		t.Logf("%s: node %d led, then node %d; longest pause %s", c.name, n.id, now.id, gap.Round(time.Millisecond))
		c.mend(n, relays[n.id-1])
		eventually(t, "all nodes serve again", func() error {
			for _, n := range nodes {
				if _, err := n.db.Exec("DELETE FROM failover.t WHERE id = -1"); err != nil {
					return err
				}
			}
			return nil
		})
		replicated(t, nodes)
	}
	f.load.close()
}
