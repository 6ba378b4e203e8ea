package engine

import (
	"context"
	"runtime"
	"strings"
	_ "unsafe" // for linkname

	"github.com/dolthub/vitess/go/mysql"
)

// An error after rows have been sent. MySQL's protocol has it: an error packet in the place of the next row. vitess does not
// send one and closes the connection, so the client reads that its server is gone, and not that its transaction is to be
// repeated, or how that is avoided. It has what is needed, for itself only; hence the linknames. The connection is closed
// afterwards all the same.

//go:linkname writeErrorPacket github.com/dolthub/vitess/go/mysql.(*Conn).writeErrorPacketFromError
func writeErrorPacket(c *mysql.Conn, err error) error

//go:linkname flushConn github.com/dolthub/vitess/go/mysql.(*Conn).flush
func flushConn(c *mysql.Conn, ctx context.Context) error

// tellMidway sends the error that ends a result of which rows have left.
func (x *execution) tellMidway(err *mysql.SQLError) {
	if !onConnection() {
		return // rows went to a cursor, which passes errors on by itself
	}
	if werr := writeErrorPacket(x.c, err); werr == nil {
		werr = flushConn(x.c, x.ctx)
		if werr != nil {
			x.h.e.log.Debug("an error could not be sent", "error", err, "why", werr)
		}
	}
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
