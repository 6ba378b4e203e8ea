package rpc

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// childEnv makes this test binary a node of its own: it calls node 1 at that address (or none), says where it listens,
// and waits to be killed.
const childEnv = "LONGITUDE_RPC_TEST_CHILD"

func TestMain(m *testing.M) {
	if caller := os.Getenv(childEnv); caller != "" {
		runChild(caller)
	}
	os.Exit(m.Run())
}

func runChild(caller string) {
	l, err := listenLoopback()
	if err != nil {
		panic(err)
	}
	tr := New(Options{
		Node: func() kv.NodeID { return 2 }, Cluster: func() kv.ClusterID { return home },
		Clock: newClock(clock.Conditions{Bound: time.Millisecond}), Listen: l, Handler: echo,
		Addr: func(kv.NodeID) (string, bool) { return caller, true },
	})
	if caller != "none" {
		if _, err := tr.Call(1, ask("x"), 10*time.Second); err != nil {
			panic(err)
		}
	}
	fmt.Println(l.Addr())
	select {}
}

// listener collects what Options.Lost is told.
type losses struct{ c chan kv.NodeID }

func newLosses() losses { return losses{make(chan kv.NodeID, 1000)} }

func (l losses) tell(id kv.NodeID) { l.c <- id }

func (l losses) expect(t *testing.T, want kv.NodeID, within time.Duration) {
	t.Helper()
	select {
	case id := <-l.c:
		if id != want {
			t.Errorf("node %d is said to be lost, want node %d", id, want)
		}
	case <-time.After(within):
		t.Errorf("not told of the loss of node %d within %s", want, within)
	}
}

// N6: when a process is killed, its peers are told at once: by the connection that it dialled, by the one that they dialled, and
// by the refusal of the next.
func TestKilledProcessIsLost(t *testing.T) {
	for _, dials := range []string{"both", "it", "we"} {
		t.Run(dials, func(t *testing.T) {
			noLeaks(t)
			var net addresses
			lost := newLosses()
			a := node(t, &net, 1, echo, func(o *Options) { o.Lost = lost.tell })
			addr, _ := net.get(1)
			if dials == "we" {
				addr = "none"
			}
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), childEnv+"="+addr)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			at, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			net.set(2, strings.TrimSpace(at))
			if dials != "it" {
				if _, err := a.Call(2, ask("x"), 10*time.Second); err != nil {
					t.Fatal(err)
				}
			}
			if n := len(lost.c); n != 0 {
				t.Fatalf("%d losses while it lives", n)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			lost.expect(t, 2, time.Second)
			if dials == "both" {
				lost.expect(t, 2, time.Second)
			}
			if dials == "we" {
				lost.expect(t, 2, time.Second) // refused, by the redial that nobody asked for
			}
		})
	}
}

// N6: whoever ends a connection on purpose says so: nobody is lost by it.
func TestPartingIsNoLoss(t *testing.T) {
	noLeaks(t)
	var net addresses
	lost := newLosses()
	tell := func(o *Options) { o.Lost = lost.tell }
	a := node(t, &net, 1, echo, tell)
	b := node(t, &net, 2, echo, tell)
	for from, to := range map[*Transport]kv.NodeID{a: 2, b: 1} {
		if _, err := from.Call(to, ask("x"), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	addr, _ := net.get(1)
	if _, err := b.CallAddr(addr, ask("x"), time.Second); err != nil { // a connection for one call
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both connections have ended", func() bool {
		return value(a.m.Connections.WithLabelValues("accepted"))+value(a.m.Connections.WithLabelValues("dialled")) == 0
	})
	if n := len(lost.c); n != 0 {
		t.Errorf("%d losses", n)
	}
	a.Send(2, ask("x")) // nobody listens there: that is a sign
	lost.expect(t, 2, time.Second)
}

// The first try after a break comes at once, so that a short interruption costs no call.
func TestRedialAtOnce(t *testing.T) {
	noLeaks(t)
	var net addresses
	lost := newLosses()
	a := node(t, &net, 1, echo, func(o *Options) { o.Lost = lost.tell })
	b := node(t, &net, 2, echo, nil)
	if _, err := a.Call(2, ask("x"), time.Second); err != nil {
		t.Fatal(err)
	}
	b.killConnections()
	lost.expect(t, 2, time.Second)
	if _, err := a.Call(2, ask("x"), time.Second); err != nil {
		t.Errorf("a call after the break: %v", err)
	}
	if n := value(a.m.DialErrors); n != 0 {
		t.Errorf("%v failed dials", n)
	}
}

// Silence is no loss: the peer may be paused, or cut off.
func TestSilenceIsNoLoss(t *testing.T) {
	noLeaks(t)
	var net addresses
	l := listen(t)
	defer l.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := answerGreeting(c, identity{2, home}); err != nil {
			t.Error(err)
		}
		r, last := bufio.NewReader(c), kind(0)
		for {
			f, err := readFrame(r, 1<<20)
			if err != nil {
				break
			}
			last = f.kind()
		}
		if last != kindBye {
			t.Errorf("the last frame is of kind %d", last)
		}
	}()
	lost := newLosses()
	a := node(t, &net, 1, echo, func(o *Options) { o.Keepalive = 20 * time.Millisecond; o.Lost = lost.tell })
	net.set(2, l.Addr().String())
	if _, err := a.Call(2, ask("x"), time.Hour); err == nil || !strings.Contains(err.Error(), "nothing heard") {
		t.Errorf("got %v", err)
	}
	<-ended
	if n := len(lost.c); n != 0 {
		t.Errorf("%d losses", n)
	}
}
