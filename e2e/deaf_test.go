//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longitude-db/longitude/internal/rpc/rpctest"
)

// linked is three nodes that reach each other through links.
func linked(t *testing.T) (nodes []*node, links []*rpctest.Link) {
	t.Helper()
	join := ""
	for id := 1; id <= 3; id++ {
		n := newNode(t, id, join)
		l, err := rpctest.New(n.rpc)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		n.more = append(n.more, "--advertise-addr", l.Addr())
		n.start()
		n.healthy()
		nodes, links = append(nodes, n), append(links, l)
		join = nodes[0].rpc
	}
	replicated(t, nodes)
	return nodes, links
}

// agree waits until all nodes know the same leaseholder: one that did not hear the others may tell of the past for a while.
func (f *failover) agree() {
	f.t.Helper()
	eventually(f.t, "all know the same leaseholder", func() error {
		n := f.leaseholder()
		for _, seen := range f.nodes {
			if o := f.leaseholderOf(seen); o != n {
				return fmt.Errorf("node %d says %d, node %d says %d", f.nodes[0].id, n.id, seen.id, o.id)
			}
		}
		return nil
	})
}

// TestDeafLeaseholder makes the leaseholder of all data unreachable at the level of connections: what it dials works, so the others hear
// it, and what they dial does not. Others must come to serve, and statements through them must not fail.
func TestDeafLeaseholder(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes; not with -short")
	}
	nodes, links := linked(t)
	f := &failover{t: t, nodes: nodes, load: openInserts(t, nodes, 3)}
	set := func(m rpctest.Mode, broken bool) func(*failover, *node) {
		return func(f *failover, n *node) {
			if err := links[n.id-1].Set(m, nil); err != nil {
				t.Error(err)
			}
			if broken {
				links[n.id-1].Break()
			}
		}
	}
	limits := map[int]unix.Rlimit{}
	for _, b := range []blow{
		{name: "deaf: acknowledged, lost", strike: set(rpctest.Swallow, false)},
		{name: "deaf: nothing is read", strike: set(rpctest.Stall, false)},
		{name: "deaf: no descriptors", strike: set(rpctest.Hang, true)},
		{name: "deaf: descriptors used up", strike: func(_ *failover, n *node) {
			// No more than it has: the connections that break are the last that it accepted from its peers.
			limits[n.id] = limitFiles(t, n.cmd.Process.Pid)
			links[n.id-1].Break()
		}},
		{name: "deaf: wrong address", strike: set(rpctest.Refuse, true)},
		{name: "deaf: one link of three", strike: func(f *failover, n *node) {
			other := uint32(n.id%3 + 1)
			if err := links[n.id-1].Set(rpctest.Swallow, func(from uint32) bool { return from == other }); err != nil {
				t.Error(err)
			}
		}},
	} {
		if only := os.Getenv("BLOW"); only == "" || strings.Contains(b.name, only) {
			b.mend = func(f *failover, n *node) {
				set(rpctest.Pass, false)(f, n)
				if old, ok := limits[n.id]; ok {
					if err := unix.Prlimit(n.cmd.Process.Pid, unix.RLIMIT_NOFILE, &old, nil); err != nil {
						t.Error(err)
					}
					delete(limits, n.id)
				}
				f.agree()
			}
			f.run(b, 1)
		}
	}
	f.load.close()
}

// limitFiles takes a process the right to open another file, and returns what it had.
func limitFiles(t *testing.T, pid int) (old unix.Rlimit) {
	t.Helper()
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: old.Max}, nil); err != nil {
		t.Fatal(err)
	}
	return old
}

// TestLargeValuesKeepLeases writes values that take seconds on the links between the nodes, several at a time: the lease must
// stay where it is. (Before heartbeats had a lane of their own they waited behind the values, and it was lost.)
func TestLargeValuesKeepLeases(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes; not with -short")
	}
	nodes, links := linked(t)
	nodes[0].exec(`CREATE DATABASE large`, `CREATE TABLE large.t(id BIGINT PRIMARY KEY, v LONGBLOB NOT NULL)`)
	f := &failover{t: t, nodes: nodes}
	was := f.leaseholder()
	marks := f.markLogs()
	for _, l := range links {
		l.Slow(8 << 20)
	}
	value := bytes.Repeat([]byte("x"), 12<<20)
	began := time.Now()
	var wg sync.WaitGroup
	for id := range 4 {
		wg.Go(func() {
			if _, err := was.db.Exec("INSERT INTO large.t VALUES (?, ?)", id, value); err != nil {
				t.Logf("value %d: %v", id, err) // it may take too long; the lease is what this is about
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	for _, l := range links {
		l.Slow(0)
	}
	parts := f.parts(marks, began)
	fmt.Printf("4 values of 12 MB over links of 8 MB/s: %s, changes of the lease: %v\n", took.Round(time.Millisecond), parts)
	if len(parts) > 0 || f.leaseholder() != was {
		t.Errorf("the lease was lost: %v", parts)
	}
}
