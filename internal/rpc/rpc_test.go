package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

var home = kv.ClusterID{1}

// addresses is where the nodes of a test listen.
type addresses struct {
	mu sync.Mutex
	m  map[kv.NodeID]string
}

func (a *addresses) get(id kv.NodeID) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.m[id]
	return s, ok
}

func (a *addresses) set(id kv.NodeID, s string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.m == nil {
		a.m = make(map[kv.NodeID]string)
	}
	a.m[id] = s
}

// node starts a transport that ends with the test.
func node(t testing.TB, net *addresses, id kv.NodeID, h kv.Handler, change func(*Options)) *Transport {
	t.Helper()
	o := Options{
		Node: func() kv.NodeID { return id }, Cluster: func() kv.ClusterID { return home },
		Clock: newClock(clock.Conditions{Bound: 100 * time.Microsecond}), Listen: listen(t), Handler: h, Addr: net.get,
	}
	if change != nil {
		change(&o)
	}
	net.set(id, o.Listen.Addr().String())
	tr := New(o)
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return tr
}

func newClock(c clock.Conditions) *clock.Clock {
	k := clock.New(clock.NewSim(c, nil), clock.Options{})
	if err := k.Poll(); err != nil {
		panic(err)
	}
	return k
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := listenLoopback()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func listenLoopback() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

func ask(s string) *kv.Message {
	return &kv.Message{Control: &kv.ControlRequest{Kind: s}}
}

// echo answers a Control with its kind.
func echo(m *kv.Message) *kv.Message {
	return &kv.Message{Control: &kv.ControlRequest{Kind: m.Control.Kind, Reply: []byte(m.Control.Kind)}}
}

// value is what a counter or a gauge says.
func value(m prometheus.Metric) float64 {
	var d dto.Metric
	if err := m.Write(&d); err != nil {
		panic(err)
	}
	return d.GetCounter().GetValue() + d.GetGauge().GetValue()
}

func dropped(m *Metrics) (n float64) {
	for _, reason := range []string{"unreachable", "queue", "urgent-queue", "overload", "refused"} {
		n += value(m.Dropped.WithLabelValues(reason))
	}
	return n
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("never: %s", what)
		}
	}
}

// noLeaks checks that the test leaves no goroutine behind. It is called first, so that it looks last.
func noLeaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for limit := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			n := runtime.NumGoroutine()
			if n <= before {
				return
			}
			if time.Now().After(limit) {
				var b bytes.Buffer
				stack := make([]byte, 1<<20)
				b.Write(stack[:runtime.Stack(stack, true)])
				t.Errorf("%d goroutines, %d before:\n%s", n, before, b.String())
				return
			}
		}
	})
}

func TestCallsAndAnswers(t *testing.T) {
	noLeaks(t)
	var net addresses
	seen := make(chan *kv.Message, 1)
	a := node(t, &net, 1, echo, nil)
	node(t, &net, 2, func(m *kv.Message) *kv.Message {
		if m.Control.Kind == "look" {
			seen <- m
		}
		return echo(m)
	}, nil)
	m := ask("look")
	answer, err := a.Call(2, m, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if string(answer.Control.Reply) != "look" || answer.From != 2 || answer.To != 1 || answer.Cluster != home || answer.Latest <= answer.Earliest {
		t.Errorf("answer: %+v", answer)
	}
	if got := <-seen; got.From != 1 || got.To != 2 || got.Cluster != home || got.Latest <= got.Earliest {
		t.Errorf("call: %+v", got)
	}
	if m.From != 0 || m.Latest != 0 {
		t.Errorf("the caller's message was changed: %+v", m)
	}

	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 100 {
				want := strings.Repeat(fmt.Sprintf("%d/%d.", i, j), j*10)
				answer, err := a.Call(2, ask(want), 10*time.Second)
				if err != nil || string(answer.Control.Reply) != want {
					t.Errorf("call %d/%d: %v", i, j, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestSend(t *testing.T) {
	noLeaks(t)
	var net addresses
	var got atomic.Int64
	a := node(t, &net, 1, echo, nil)
	node(t, &net, 2, func(m *kv.Message) *kv.Message { got.Add(1); return nil }, nil)
	for range 1000 {
		a.Send(2, ask("x"))
	}
	eventually(t, "1000 messages arrive", func() bool { return got.Load() == 1000 })
	a.Send(3, ask("nobody"))
	a.Send(1, ask("myself"))
	if d := dropped(a.m); d != 2 {
		t.Errorf("%v dropped", d)
	}
}

// Slow calls up to the bound hold up neither one-way messages nor the refusal of further calls (N5).
func TestSlowCallsHoldUpNothing(t *testing.T) {
	noLeaks(t)
	var net addresses
	var entered atomic.Int64
	gate, past := make(chan struct{}), make(chan struct{})
	a := node(t, &net, 1, echo, nil)
	node(t, &net, 2, func(m *kv.Message) *kv.Message {
		switch m.Control.Kind {
		case "slow":
			entered.Add(1)
			<-gate
		case "past":
			close(past)
		}
		return echo(m)
	}, func(o *Options) { o.MaxHandled = 4 })
	var slow sync.WaitGroup
	for range 4 {
		slow.Go(func() {
			if _, err := a.Call(2, ask("slow"), 20*time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "the bound is reached", func() bool { return entered.Load() == 4 })
	if _, err := a.Call(2, ask("quick"), 5*time.Second); err == nil || !strings.Contains(err.Error(), "node 2 handles 4 calls of this node already") {
		t.Errorf("got %v", err)
	}
	a.Send(2, ask("past"))
	<-past
	close(gate)
	slow.Wait()
	eventually(t, "calls go through again", func() bool {
		_, err := a.Call(2, ask(strings.Repeat("x", 10<<20)), 20*time.Second)
		return err == nil
	})
}

func TestLimits(t *testing.T) {
	noLeaks(t)
	var net addresses
	gate := make(chan struct{})
	a := node(t, &net, 1, echo, func(o *Options) { o.MaxMessage = 1 << 20 })
	node(t, &net, 2, func(m *kv.Message) *kv.Message {
		switch m.Control.Kind {
		case "nothing":
			return nil
		case "much":
			return ask(strings.Repeat("x", 2<<20))
		case "wait":
			<-gate
		}
		return echo(m)
	}, func(o *Options) { o.MaxMessage = 1 << 20 })
	defer close(gate)
	for _, tc := range []struct {
		m     *kv.Message
		limit time.Duration
		want  string
	}{
		{ask("wait"), 20 * time.Millisecond, "call to node 2: no answer in time (20ms)"},
		{ask("nothing"), time.Second, "node 2 has no answer"},
		{ask("much"), time.Second, "above the limit of 1048576"},
		{ask(strings.Repeat("x", 2<<20)), time.Second, "above the limit of 1048576"},
		{ask("fine"), time.Second, ""},
	} {
		_, err := a.Call(2, tc.m, tc.limit)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
	}
	if _, err := a.Call(9, ask("x"), time.Second); err == nil || !strings.Contains(err.Error(), "call to node 9: its address is not known") {
		t.Errorf("unknown node: %v", err)
	}
	if _, err := a.Call(1, ask("x"), time.Second); err == nil {
		t.Error("a node called itself")
	}
}

// When the peer dies its calls fail at once; while it is away calls fail at once; when it is back they go through.
func TestBrokenConnection(t *testing.T) {
	noLeaks(t)
	var net addresses
	gate := make(chan struct{})
	a := node(t, &net, 1, echo, nil)
	entered := make(chan struct{}, 1)
	b := node(t, &net, 2, func(m *kv.Message) *kv.Message { entered <- struct{}{}; <-gate; return nil }, nil)
	failed := make(chan error, 1)
	go func() {
		_, err := a.Call(2, ask("x"), time.Hour)
		failed <- err
	}()
	<-entered
	b.killConnections()
	if err := <-failed; err == nil || errors.Is(err, ErrTimeout) {
		t.Fatalf("got %v", err)
	}
	close(gate)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "calls fail because nobody is there", func() bool {
		_, err := a.Call(2, ask("x"), time.Second)
		return err != nil && strings.Contains(err.Error(), "refused")
	})
	start := time.Now()
	for range 1000 {
		if _, err := a.Call(2, ask("x"), time.Hour); err == nil {
			t.Fatal("an answer of the dead")
		}
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("1000 calls to a dead node took %s", d)
	}
	node(t, &net, 2, echo, nil)
	eventually(t, "the new node answers", func() bool {
		_, err := a.Call(2, ask("x"), time.Second)
		return err == nil
	})
}

// killConnections breaks what peers have dialled, as a crash would.
func (t *Transport) killConnections() { t.eachServed(func(a *accepted) { a.conn.Close() }) }

func (t *Transport) eachServed(f func(*accepted)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for a := range t.served {
		f(a)
	}
}

// A peer that is there but says nothing, like one behind a cut cable, is found out by its silence.
func TestSilentPeer(t *testing.T) {
	noLeaks(t)
	var net addresses
	l := listen(t)
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := answerGreeting(c, identity{2, home}); err != nil {
			t.Error(err)
		}
		_, _ = c.Read(make([]byte, 1)) // the first byte of what follows, and no more
		time.Sleep(2 * time.Second)
	}()
	a := node(t, &net, 1, echo, func(o *Options) { o.Keepalive = 50 * time.Millisecond })
	net.set(2, l.Addr().String())
	start := time.Now()
	_, err := a.Call(2, ask("x"), time.Hour)
	if err == nil || !strings.Contains(err.Error(), "nothing heard for 300ms") {
		t.Fatalf("got %v", err)
	}
	if d := time.Since(start); d > 20*time.Second { // the call itself would wait for an hour
		t.Errorf("it took %s", d)
	}
}

func TestIdleConnectionLives(t *testing.T) {
	noLeaks(t)
	var net addresses
	fast := func(o *Options) { o.Keepalive = 20 * time.Millisecond }
	a := node(t, &net, 1, echo, fast)
	b := node(t, &net, 2, echo, fast)
	if _, err := a.Call(2, ask("x"), time.Second); err != nil {
		t.Fatal(err)
	}
	time.Sleep(400 * time.Millisecond) // three times the silence that means death
	if n := value(b.m.Connections.WithLabelValues("accepted")); n != 1 {
		t.Fatalf("%v connections", n)
	}
	if value(a.m.Received) < 5 {
		t.Error("no pongs")
	}
}

func TestQueueBound(t *testing.T) {
	noLeaks(t)
	var net addresses
	l := listen(t) // nobody accepts, so nothing leaves
	defer l.Close()
	a := node(t, &net, 1, echo, func(o *Options) { o.MaxQueue = 10; o.DialTimeout = 200 * time.Millisecond })
	net.set(2, l.Addr().String())
	for range 100 {
		a.Send(2, ask("x"))
	}
	if d := dropped(a.m); d != 90 {
		t.Errorf("%v of 100 were dropped, want 90", d)
	}
	if _, err := a.Call(2, ask("x"), time.Second); err == nil || !strings.Contains(err.Error(), "queue to it is full") {
		t.Errorf("got %v", err)
	}
	eventually(t, "all are dropped", func() bool { return dropped(a.m) == 100 })
}

// Latency delays each message, not the messages behind each other.
func TestLatencyIsPipelined(t *testing.T) {
	noLeaks(t)
	var net addresses
	far := func(o *Options) { o.Latency = 30 * time.Millisecond }
	a := node(t, &net, 1, echo, far)
	node(t, &net, 2, echo, far)
	if _, err := a.Call(2, ask("x"), 5*time.Second); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if _, err := a.Call(2, ask("x"), 5*time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if d := time.Since(start); d < 60*time.Millisecond || d > 3*time.Second { // one after the other they take 6 s
		t.Errorf("100 calls at once over 2 x 30 ms took %s", d)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	noLeaks(t)
	var net addresses
	a := node(t, &net, 1, echo, nil)
	node(t, &net, 2, echo, func(o *Options) { o.Cluster = func() kv.ClusterID { return kv.ClusterID{2} } })
	node(t, &net, 3, echo, nil)
	for _, tc := range []struct {
		name string
		set  func()
		to   kv.NodeID
		want string
	}{
		{"another cluster", func() {}, 2, "node 1 of cluster 01000000000000000000000000000000 called node 2 of cluster 02"},
		{"another node's address", func() { s, _ := net.get(3); net.set(4, s) }, 4, "node 4 was called, but node 3 listens here"},
		{"ourselves", func() { s, _ := net.get(1); net.set(5, s) }, 5, "node 5 was called, but node 1 listens here"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.set()
			if _, err := a.Call(tc.to, ask("x"), 5*time.Second); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// Whatever else listens or calls is told apart from a node, and a newer node from an older one.
func TestOtherProtocols(t *testing.T) {
	noLeaks(t)
	var net0 addresses
	a := node(t, &net0, 1, echo, func(o *Options) { o.DialTimeout = 300 * time.Millisecond })
	for i, tc := range []struct{ says, want string }{
		{"HTTP/1.1 400 Bad Request\r\n\r\n", "is not a Longitude node"},
		{"LNGT\x03" + strings.Repeat("\x00", replyBytes), "it speaks version 3 of the protocol between nodes, this binary version 2"},
		{"LNGT\x01" + strings.Repeat("\x00", replyBytes), "it speaks version 1 of the protocol between nodes, this binary version 2"},
		{"LNGT\x02" + strings.Repeat("\x00", replyBytes) + "\x00\x00\x00\x01", "damaged frame: the greeting"},
		{"", "is not a Longitude node"},
	} {
		l := listen(t)
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, _ = c.Write([]byte(tc.says))
				time.Sleep(50 * time.Millisecond)
				c.Close()
			}
		}()
		id := kv.NodeID(10 + i)
		net0.set(id, l.Addr().String())
		if _, err := a.Call(id, ask("x"), 5*time.Second); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: got %v", tc.says, err)
		}
		l.Close()
	}
	addr, _ := net0.get(1)
	hello := string(appendSum(append([]byte("LNGT\x02"), make([]byte, helloBytes)...)))
	strange := getBuffer()
	strange.begin(99, 0)
	_ = strange.finish(100)
	for _, says := range []string{
		"GET / HTTP/1.1\r\n\r\n", "LNGT\x01" + strings.Repeat("\x00", leastHello), "LNGT\x03" + strings.Repeat("\x00", 100),
		"LNGT\x02" + strings.Repeat("\x00", helloBytes) + "\x01\x02\x03\x04", hello + strings.Repeat("\xff", kindAt), hello + string(strange.b),
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := c.Write([]byte(says)); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_, _ = b.ReadFrom(c)
		var ne net.Error
		if _, err := c.Read(make([]byte, 1)); errors.As(err, &ne) && ne.Timeout() {
			t.Errorf("%q: the connection was left open", says)
		}
		if (strings.HasPrefix(says, "LNGT\x01") || strings.HasPrefix(says, "LNGT\x03")) && !strings.Contains(b.String(), "this binary version 2") {
			t.Errorf("%q was answered %q", says, b.String())
		}
		c.Close()
	}
}

// A node that has no id and no cluster yet may ask to join, and nothing else.
func TestJoining(t *testing.T) {
	noLeaks(t)
	var net addresses
	node(t, &net, 1, func(m *kv.Message) *kv.Message {
		if m.Join == nil {
			return echo(m)
		}
		return &kv.Message{Join: &kv.Join{ID: 7}}
	}, nil)
	addr, _ := net.get(1)
	n := New(Options{
		Node: func() kv.NodeID { return 0 }, Cluster: func() kv.ClusterID { return kv.ClusterID{} },
		Clock: newClock(clock.Conditions{Bound: time.Millisecond}), Addr: net.get,
	})
	defer n.Close()
	answer, err := n.CallAddr(addr, &kv.Message{Join: &kv.Join{}}, 5*time.Second)
	if err != nil || answer.Join.ID != 7 || answer.Cluster != home || answer.From != 1 {
		t.Fatalf("%+v, %v", answer, err)
	}
	if _, err := n.CallAddr(addr, ask("x"), 5*time.Second); err == nil || !strings.Contains(err.Error(), "belongs to cluster 01") {
		t.Errorf("got %v", err)
	}
	if _, err := n.CallAddr("127.0.0.1:1", ask("x"), 5*time.Second); err == nil || !strings.Contains(err.Error(), "call to 127.0.0.1:1: ") {
		t.Errorf("got %v", err)
	}
}

// The stamps reach the clocks of both sides: a clock that lies is found out by calls, answers, and pings alone.
func TestStampsReachTheClocks(t *testing.T) {
	for _, tc := range []struct {
		name   string
		offset time.Duration
		use    func(a, b *Transport)
	}{
		{"a call from one that is ahead", time.Second, func(a, b *Transport) { _, _ = a.Call(2, ask("x"), time.Second) }},
		{"a message from one that is ahead", time.Second, func(a, b *Transport) { a.Send(2, ask("x")) }},
		{"a call to one that is ahead", time.Second, func(a, b *Transport) { _, _ = b.Call(1, ask("x"), time.Second) }},
		{"a call to one that is behind", -time.Second, func(a, b *Transport) { _, _ = b.Call(1, ask("x"), time.Second) }},
		{"a connection without messages", -time.Second, func(a, b *Transport) { a.Send(2, ask("x")) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			noLeaks(t)
			var net addresses
			fast := func(o *Options) { o.Keepalive = 20 * time.Millisecond }
			a := node(t, &net, 1, echo, func(o *Options) {
				fast(o)
				o.Clock = newClock(clock.Conditions{Bound: time.Millisecond, Lying: true, Offset: tc.offset})
			})
			b := node(t, &net, 2, echo, fast)
			tc.use(a, b)
			eventually(t, "disjoint readings", func() bool {
				return value(a.m.DisjointReadings)+value(b.m.DisjointReadings) > 0
			})
			ds := append(a.o.Clock.DisjointReadings(), b.o.Clock.DisjointReadings()...)
			if len(ds) == 0 || ds[0].Apart().Abs() < 900*time.Millisecond {
				t.Errorf("%+v", ds)
			}
		})
	}
	t.Run("honest clocks, however slow the network", func(t *testing.T) {
		noLeaks(t)
		var net addresses
		slow := func(o *Options) { o.Keepalive = 20 * time.Millisecond; o.Latency = 10 * time.Millisecond }
		a := node(t, &net, 1, echo, slow)
		b := node(t, &net, 2, echo, slow)
		for range 20 {
			for from, to := range map[*Transport]kv.NodeID{a: 2, b: 1} {
				if _, err := from.Call(to, ask("x"), time.Second); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := value(a.m.DisjointReadings) + value(b.m.DisjointReadings); n != 0 {
			t.Errorf("%v disjoint readings of honest clocks", n)
		}
	})
}

// Close lets the calls that are being handled be answered.
func TestCloseAnswers(t *testing.T) {
	noLeaks(t)
	var net addresses
	entered, gate := make(chan struct{}), make(chan struct{})
	a := node(t, &net, 1, echo, nil)
	b := node(t, &net, 2, func(m *kv.Message) *kv.Message { close(entered); <-gate; return echo(m) }, nil)
	answered := make(chan error, 1)
	go func() {
		_, err := a.Call(2, ask("x"), 10*time.Second)
		answered <- err
	}()
	<-entered
	closed := make(chan error, 1)
	go func() { closed <- b.Close() }()
	eventually(t, "closing has begun", func() bool { return b.quit.Err() != nil })
	close(gate)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := b.Call(1, ask("x"), time.Second); err == nil || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("a call after Close: %v", err)
	}
}

// Many nodes come, go, call and send at the same time; nothing hangs, and what is answered is answered rightly.
func TestTurmoil(t *testing.T) {
	noLeaks(t)
	var net addresses
	a := node(t, &net, 1, echo, nil)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var good atomic.Int64
	for i := range 8 {
		wg.Go(func() {
			for j := 0; ; j++ {
				select {
				case <-stop:
					return
				default:
				}
				want := fmt.Sprintf("%d/%d", i, j)
				if m, err := a.Call(2, ask(want), time.Second); err == nil {
					if string(m.Control.Reply) != want {
						t.Errorf("asked %s, was told %s", want, m.Control.Reply)
					}
					good.Add(1)
				} else {
					time.Sleep(time.Millisecond)
				}
				a.Send(2, ask("x"))
			}
		})
	}
	for range 10 {
		b := node(t, &net, 2, echo, nil)
		was := good.Load()
		eventually(t, "calls go through", func() bool { return good.Load() > was+20 })
		b.killConnections()
		eventually(t, "calls go through again", func() bool { return good.Load() > was+40 })
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
}
