package distance

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// echo answers what it is sent, until the sender ends.
func echo(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

// TestLine sends pieces of all sizes there and back: all arrive, in order, and none before two delays.
func TestLine(t *testing.T) {
	const delay, pieces = 30 * time.Millisecond, 200
	d, err := Listen(echo(t), delay)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c, err := net.Dial("tcp", d.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rnd := rand.New(rand.NewPCG(1, 1))
	var all [][]byte
	for range pieces {
		b := make([]byte, 1+rnd.IntN(1<<(1+rnd.IntN(16))))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		all = append(all, b)
	}
	begun := time.Now()
	go func() {
		for _, b := range all {
			if _, err := c.Write(b); err != nil {
				t.Error(err)
				return
			}
		}
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < 2*delay {
		t.Errorf("T1: there and back in %s, over a line of %s", took, delay)
	}
	rest, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	sent := bytes.Join(all, nil)
	if got := append(first, rest...); !bytes.Equal(got, sent) {
		t.Errorf("T1: %d bytes came back of %d, or others", len(got), len(sent))
	}
}

// TestEnds: a server that is not there ends the connection, and Close ends those that are open.
func TestEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	nobody, err := Listen(l.Addr().String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	c, err := net.Dial("tcp", nobody.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes from a server that is not there", n)
	}
	d, err := Listen(echo(t), time.Hour) // nothing arrives
	if err != nil {
		t.Fatal(err)
	}
	open, err := net.Dial("tcp", d.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if n, err := open.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes from a line that has ended", n)
	}
}
