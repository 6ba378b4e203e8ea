// Package rpctest puts faults between nodes at the level of connections, where a firewall, an address translator, a listener
// without descriptors or a bad cable put them: a node is given the address of a Link in place of another node's.
//
//	A link belongs to one node, which is reached through it; what that node dials itself does not pass. So the faults are those of
//	one direction of dialling: it is heard, and does not hear but for answers.
package rpctest

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// Mode is how a link treats what the dialling side says.
type Mode int

const (
	// Pass lets it through.
	Pass Mode = iota
	// Swallow takes it, so that TCP acknowledges it, and throws it away.
	Swallow
	// Stall takes nothing more: buffers fill up.
	Stall
	// Hang leaves new connections to the system, as a process without free descriptors does: they are made, and nobody accepts
	// them. Those that there are go on.
	Hang
	// Refuse makes the system refuse new connections, as at a wrong address. Those that there are go on.
	Refuse
)

// Link is a way to one node.
type Link struct {
	to  string
	at  string
	wg  sync.WaitGroup
	cut chan struct{} // closed when the link ends

	mu     sync.Mutex
	l      net.Listener // nil while connections are refused
	mode   Mode
	only   func(from uint32) bool
	change chan struct{} // closed when mode changes
	conns  []net.Conn
	ended  bool
	rate   float64
	free   time.Time // when the cable is free again
	damage func([]byte)
}

// New makes a link to an address.
func New(to string) (*Link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	k := &Link{to: to, at: l.Addr().String(), l: l, cut: make(chan struct{}), change: make(chan struct{})}
	k.wg.Go(func() { k.accept(l) })
	return k, nil
}

// Addr is where the link is dialled.
func (k *Link) Addr() string { return k.at }

// Set changes the mode, for connections that there are as well. Only, if not nil, says for which dialling nodes; the others pass
// (Swallow and Stall only).
func (k *Link) Set(m Mode, only func(from uint32) bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mode, k.only = m, only
	close(k.change)
	k.change = make(chan struct{})
	switch {
	case m == Refuse && k.l != nil:
		err := k.l.Close()
		k.l = nil
		return err
	case m != Refuse && k.l == nil && !k.ended:
		l, err := net.Listen("tcp", k.at)
		if err != nil {
			return err
		}
		k.l = l
		k.wg.Go(func() { k.accept(l) })
	}
	return nil
}

// Break ends the connections that there are, so that Hang and Refuse concern all that is said.
func (k *Link) Break() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.conns {
		c.Close()
	}
	k.conns = nil
}

// Slow makes it a cable of so many bytes a second, which all connections share, each getting its turn. 0: as fast as it can.
func (k *Link) Slow(bytesPerSecond float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rate = bytesPerSecond
}

// Damage has what the dialling side says changed on its way. fn is called by one goroutine at a time; nil: nothing is.
func (k *Link) Damage(fn func([]byte)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.damage = fn
}

// Close ends the link and all that passes through it.
func (k *Link) Close() {
	k.mu.Lock()
	if !k.ended {
		k.ended = true
		close(k.cut)
	}
	if k.l != nil {
		k.l.Close()
		k.l = nil
	}
	for _, c := range k.conns {
		c.Close()
	}
	k.mu.Unlock()
	k.wg.Wait()
}

func (k *Link) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		k.wg.Go(func() { k.join(c) })
	}
}

// keep notes a connection, so that Close ends it.
func (k *Link) keep(c net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return false
	}
	k.conns = append(k.conns, c)
	t := c.(*net.TCPConn)
	_ = t.SetReadBuffer(64 << 10) // or the system's buffers would be a link of their own
	_ = t.SetWriteBuffer(64 << 10)
	return true
}

// helloFrom is where the greeting of package rpc says who dials.
const (
	helloFrom  = 5 + 16
	helloLeast = helloFrom + 4
)

func (k *Link) join(a net.Conn) {
	defer a.Close()
	if !k.keep(a) || !k.wait(0, func(m Mode) bool { return m != Hang }) {
		return
	}
	hello := make([]byte, helloLeast)
	if _, err := io.ReadFull(a, hello); err != nil {
		return
	}
	from := binary.BigEndian.Uint32(hello[helloFrom:])
	b, err := net.Dial("tcp", k.to)
	if err != nil || !k.keep(b) {
		return
	}
	defer b.Close()
	if !k.forward(b, from, hello) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		buf := make([]byte, 16<<10)
		for {
			n, err := b.Read(buf)
			k.carry(n)
			_, werr := a.Write(buf[:n])
			if err == io.EOF && werr == nil {
				_ = a.(*net.TCPConn).CloseWrite() // and what it has said must not be lost by a reset
				return
			}
			if err != nil || werr != nil {
				a.Close()
				b.Close()
				return
			}
		}
	})
	buf := make([]byte, 16<<10)
	flows := func(m Mode) bool { return m != Stall }
	for k.wait(from, flows) {
		n, err := a.Read(buf)
		if n > 0 && !(k.wait(from, flows) && k.forward(b, from, buf[:n])) || err != nil {
			break
		}
	}
	a.Close()
	b.Close()
	back.Wait()
}

// forward passes on what the dialling side has said.
func (k *Link) forward(to net.Conn, from uint32, b []byte) bool {
	k.carry(len(b))
	k.mu.Lock()
	mode := k.modeOf(from)
	if k.damage != nil {
		k.damage(b)
	}
	k.mu.Unlock()
	if mode == Swallow {
		return true
	}
	_, err := to.Write(b)
	return err == nil
}

func (k *Link) modeOf(from uint32) Mode {
	if k.only != nil && from != 0 && !k.only(from) {
		return Pass
	}
	return k.mode
}

// wait waits until the mode allows it to go on; false: the link has ended.
func (k *Link) wait(from uint32, ok func(Mode) bool) bool {
	for {
		k.mu.Lock()
		m, change := k.modeOf(from), k.change
		k.mu.Unlock()
		if ok(m) {
			return true
		}
		select {
		case <-change:
		case <-k.cut:
			return false
		}
	}
}

// carry takes the time that n bytes take.
func (k *Link) carry(n int) {
	k.mu.Lock()
	if k.rate == 0 {
		k.mu.Unlock()
		return
	}
	if now := time.Now(); k.free.Before(now) {
		k.free = now
	}
	k.free = k.free.Add(time.Duration(float64(n) / k.rate * float64(time.Second)))
	until := k.free
	k.mu.Unlock()
	time.Sleep(time.Until(until))
}
