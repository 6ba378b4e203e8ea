package rpc

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// slowLink stands between the nodes of a test: a link of so many bytes a second, which its connections share as they would a
// cable: each gets its turn.
type slowLink struct {
	l      net.Listener
	to     func() (string, bool)
	perSec float64

	mu   sync.Mutex // FIFO enough: who waits gets it within a turn or two
	free time.Time  // when the cable is free again

	connsMu sync.Mutex
	conns   []net.Conn
	closed  bool
	wg      sync.WaitGroup
	damage  func(b []byte) // changes bytes on their way to the node
}

// slowly makes calls to a node go through a link of so many bytes a second; 0: as fast as it can.
func slowly(t testing.TB, to func() (string, bool), perSec float64) *slowLink {
	t.Helper()
	s := &slowLink{l: listen(t), to: to, perSec: perSec}
	s.wg.Go(func() {
		for {
			c, err := s.l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.join(c) })
		}
	})
	t.Cleanup(s.close)
	return s
}

func (s *slowLink) addr() string { return s.l.Addr().String() }

func (s *slowLink) close() {
	s.l.Close()
	s.connsMu.Lock()
	s.closed = true
	for _, c := range s.conns {
		c.Close()
	}
	s.connsMu.Unlock()
	s.wg.Wait()
}

func (s *slowLink) keep(c net.Conn) bool {
	s.connsMu.Lock()
	defer s.connsMu.Unlock()
	s.conns = append(s.conns, c)
	if s.closed {
		c.Close()
	}
	_ = c.(*net.TCPConn).SetReadBuffer(64 << 10) // or the kernel would be a link of its own
	_ = c.(*net.TCPConn).SetWriteBuffer(64 << 10)
	return !s.closed
}

func (s *slowLink) join(a net.Conn) {
	defer a.Close()
	at, ok := s.to()
	if !ok {
		return
	}
	b, err := net.Dial("tcp", at)
	if err != nil || !s.keep(a) || !s.keep(b) {
		return
	}
	defer b.Close()
	var back sync.WaitGroup
	back.Go(func() { s.copy(a, b, nil) })
	s.copy(b, a, s.damage)
	back.Wait()
}

func (s *slowLink) copy(to, from net.Conn, damage func([]byte)) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 16<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			s.pass(n)
			if damage != nil {
				damage(b[:n])
			}
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				return
			}
			return
		}
	}
}

// pass waits until the cable has carried n bytes.
func (s *slowLink) pass(n int) {
	if s.perSec == 0 {
		return
	}
	s.mu.Lock()
	now := time.Now()
	if s.free.Before(now) {
		s.free = now
	}
	s.free = s.free.Add(time.Duration(float64(n) / s.perSec * float64(time.Second)))
	until := s.free
	s.mu.Unlock()
	time.Sleep(time.Until(until))
}
