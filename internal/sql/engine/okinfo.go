package engine

import (
	"bytes"
	"context"
	_ "unsafe" // for linkname

	"github.com/dolthub/vitess/go/mysql"
)

// An OK packet may end with a text: "Rows matched: 1  Changed: 1  Warnings: 0". It stands behind its length. vitess writes the letter # in
// the place of the length (conn.go, writeOKPacketWithInfo), for which libmariadb takes packets with shorter texts as malformed, and others
// show the letter. The right byte is put in when the packet is on its way to the network.

//go:linkname startWriterBuffering github.com/dolthub/vitess/go/mysql.(*Conn).startWriterBuffering
func startWriterBuffering(c *mysql.Conn)

// maxInfo is the longest text whose length is one byte.
const maxInfo = 250

// sendInfo sends a result that is an OK packet with a text.
func (o *output) sendInfo(more bool) error {
	if len(o.result.Info) > maxInfo {
		o.result.Info = o.result.Info[:maxInfo]
	}
	var own *countedConn
	if o.s.conn != nil {
		own, _ = o.s.conn.Conn.(*countedConn)
	}
	if own == nil {
		return o.send(o.result, more)
	}
	// The packet has to be the last thing, or the only one, in what is written at once. Of one statement it is.
	alone := more || own.nth > 1
	if alone {
		if err := flushConn(o.s.conn, context.Background()); err != nil {
			return err
		}
	}
	own.info = o.result.Info
	err := o.send(o.result, more)
	if alone {
		own.info = ""
		startWriterBuffering(o.s.conn)
	}
	return err
}

// correctInfo puts the length before the text with which a packet ends.
func (c *countedConn) correctInfo(p []byte) []byte {
	at := len(p) - len(c.info) - 1
	if at < 0 || p[at] != '#' || string(p[at+1:]) != c.info {
		return p
	}
	p = bytes.Clone(p)
	p[at] = byte(len(c.info))
	c.info = ""
	return p
}
