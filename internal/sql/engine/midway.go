package engine

import (
	"context"
	"errors"
	"runtime"
	"strings"
	_ "unsafe" // for linkname

	"github.com/dolthub/vitess/go/mysql"
)

// An error after rows have been sent. MySQL's protocol has it: an error packet in the place of the next row. vitess does not
// send one and closes the connection, so the client reads that its server is gone, and not that its transaction is to be
// repeated, or how that is avoided. It has what is needed, for itself only; hence the linknames. To vitess the result is then
// complete, and the packet with which it would end it is swallowed.

//go:linkname writeErrorPacket github.com/dolthub/vitess/go/mysql.(*Conn).writeErrorPacketFromError
func writeErrorPacket(c *mysql.Conn, err error) error

//go:linkname flushConn github.com/dolthub/vitess/go/mysql.(*Conn).flush
func flushConn(c *mysql.Conn, ctx context.Context) error

// tellMidway sends the error that ends a result of which rows have left. It reports whether it could; otherwise the
// connection has to be closed.
func (x *execution) tellMidway(err *mysql.SQLError) bool {
	own, ok := x.c.Conn.(*countedConn)
	if !ok || !onConnection() { // rows that go to a cursor: it passes errors on by itself
		return false
	}
	if werr := writeErrorPacket(x.c, err); werr != nil {
		return false
	}
	if werr := flushConn(x.c, x.ctx); werr != nil {
		return false
	}
	own.swallow = true
	return true
}

// swallowed takes what is written of the packet that is not to be sent.
func (c *countedConn) swallowed(p []byte) (int, error) {
	c.packet = append(c.packet, p...)
	if len(c.packet) < 4 {
		return len(p), nil
	}
	length := 4 + (int(c.packet[0]) | int(c.packet[1])<<8 | int(c.packet[2])<<16)
	if len(c.packet) > length || len(c.packet) > 4 && c.packet[4] != mysql.EOFPacket {
		return 0, errors.New("something other than the end of a result follows an error")
	}
	if len(c.packet) == length {
		c.packet, c.swallow = nil, false
	}
	return len(p), nil
}

// onConnection reports whether the statement runs on the goroutine that writes to the connection: with a cursor it does
// not, and must not write.
func onConnection() bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "mysql.(*Conn).handleNextCommand") {
			return true
		}
		if !more {
			return false
		}
	}
}
