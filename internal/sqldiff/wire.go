package sqldiff

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// What the client asks for in its handshake, and the commands that it sends (MySQL internals manual, client/server protocol).
const (
	capLongPassword = 1 << 0
	capLongFlag     = 1 << 2
	capWithDB       = 1 << 3
	capProtocol41   = 1 << 9
	capTransactions = 1 << 13
	capSecure       = 1 << 15
	capPluginAuth   = 1 << 19

	comQuery       = 3
	comStmtPrepare = 22
	comStmtExecute = 23
	comStmtClose   = 25
)

// Value is one value of a row as text.
type Value struct {
	Text string
	Null bool
}

// Col is what the server says of a result's column.
type Col struct {
	Name     string
	Type     byte // MYSQL_TYPE_*
	Flags    uint16
	Charset  uint16
	Length   uint32
	Decimals byte
}

// Result is all that a server answers to a statement.
type Result struct {
	Cols     []Col
	Rows     [][]Value
	Affected uint64
	LastID   uint64
	Warnings uint16
	Status   uint16
	Info     string
	Err      *SQLError // the statement was refused
	Lost     error     // no answer: the connection broke, or the time was over
}

// SQLError is what the server says of a refused statement.
type SQLError struct {
	Code  int
	State string
	Text  string
}

func (e *SQLError) Error() string { return fmt.Sprintf("ERROR %d (%s): %s", e.Code, e.State, e.Text) }

// Conn is a connection of a minimal client: it shows what a driver hides or converts (the text of a number, flags of columns, the number of
// warnings, the status), speaks the text and the binary protocol, and knows one account without a password.
type Conn struct {
	Version string // of the server
	ID      uint32 // of the connection
	nc      net.Conn
	r       *bufio.Reader
	seq     byte
	limit   time.Duration
	broken  error
}

// Dial connects as root without a password. Each answer has to come within the limit.
func Dial(addr, database string, limit time.Duration) (*Conn, error) {
	network := "tcp"
	if len(addr) > 0 && addr[0] == '/' {
		network = "unix"
	}
	nc, err := net.DialTimeout(network, addr, limit)
	if err != nil {
		return nil, err
	}
	c := &Conn{nc: nc, r: bufio.NewReaderSize(nc, 1<<16), limit: limit}
	if err := c.greet(database); err != nil {
		nc.Close()
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return c, nil
}

// Close ends the connection without a word.
func (c *Conn) Close() {
	if c != nil {
		c.nc.Close()
	}
}

func (c *Conn) greet(database string) error {
	c.deadline()
	p, err := c.read()
	if err != nil {
		return err
	}
	if len(p) > 0 && p[0] == 0xff {
		return parseError(p)
	}
	end := bytes.IndexByte(p[1:], 0)
	if p[0] != 10 || end < 0 || len(p) < end+6 {
		return errors.New("not a MySQL server")
	}
	c.Version = string(p[1 : 1+end])
	c.ID = binary.LittleEndian.Uint32(p[2+end:])
	caps := uint32(capLongPassword | capLongFlag | capProtocol41 | capTransactions | capSecure | capPluginAuth)
	if database != "" {
		caps |= capWithDB
	}
	var b []byte
	b = binary.LittleEndian.AppendUint32(b, caps)
	b = binary.LittleEndian.AppendUint32(b, 1<<24-1)
	b = append(b, 45) // utf8mb4
	b = append(b, make([]byte, 23)...)
	b = append(b, "root\x00\x00"...) // the answer to the challenge is empty, as the password is
	if database != "" {
		b = append(append(b, database...), 0)
	}
	b = append(b, "mysql_native_password\x00"...)
	if err := c.write(b); err != nil {
		return err
	}
	for {
		p, err := c.read()
		switch {
		case err != nil:
			return err
		case len(p) == 0:
			return io.ErrUnexpectedEOF
		case p[0] == 0:
			return nil
		case p[0] == 0xff:
			return parseError(p)
		case p[0] == 0xfe:
			if err := c.write(nil); err != nil {
				return err
			}
		}
	}
}

func (c *Conn) deadline() { _ = c.nc.SetDeadline(time.Now().Add(c.limit)) }

// read gives the next packet.
func (c *Conn) read() ([]byte, error) {
	var out []byte
	for {
		var h [4]byte
		if _, err := io.ReadFull(c.r, h[:]); err != nil {
			return nil, err
		}
		n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
		c.seq = h[3] + 1
		p := make([]byte, n)
		if _, err := io.ReadFull(c.r, p); err != nil {
			return nil, err
		}
		out = append(out, p...)
		if n < 1<<24-1 {
			return out, nil
		}
	}
}

func (c *Conn) write(p []byte) error {
	h := []byte{byte(len(p)), byte(len(p) >> 8), byte(len(p) >> 16), c.seq}
	c.seq++
	_, err := c.nc.Write(append(h, p...))
	return err
}

// Query executes a statement by the text protocol.
func (c *Conn) Query(sql string) *Result {
	return c.ask(append([]byte{comQuery}, sql...), false)
}

// Prepared executes a statement by the binary protocol, and gives values in the text protocol's form.
func (c *Conn) Prepared(sql string) *Result {
	if c.broken != nil {
		return &Result{Lost: c.broken}
	}
	c.seq = 0
	c.deadline()
	if err := c.write(append([]byte{comStmtPrepare}, sql...)); err != nil {
		return c.lost(err)
	}
	p, err := c.read()
	if err != nil {
		return c.lost(err)
	}
	if p[0] == 0xff {
		return &Result{Err: parseError(p)}
	}
	id := p[1:5]
	for _, n := range []uint16{binary.LittleEndian.Uint16(p[7:]), binary.LittleEndian.Uint16(p[5:])} {
		for i := 0; n > 0 && i <= int(n); i++ { // the descriptions and an end mark
			if _, err := c.read(); err != nil {
				return c.lost(err)
			}
		}
	}
	res := c.ask(append(append([]byte{comStmtExecute}, id...), 0, 1, 0, 0, 0), true)
	if res.Lost == nil {
		c.seq = 0
		if err := c.write(append([]byte{comStmtClose}, id...)); err != nil {
			return c.lost(err)
		}
	}
	return res
}

func (c *Conn) lost(err error) *Result {
	c.broken = err
	return &Result{Lost: err}
}

func (c *Conn) ask(p []byte, binaryRows bool) *Result {
	if c.broken != nil {
		return &Result{Lost: c.broken}
	}
	c.seq = 0
	c.deadline()
	if err := c.write(p); err != nil {
		return c.lost(err)
	}
	res, err := c.answer(binaryRows)
	if err != nil {
		return c.lost(err)
	}
	return res
}

func (c *Conn) answer(binaryRows bool) (*Result, error) {
	p, err := c.read()
	if err != nil {
		return nil, err
	}
	res := &Result{}
	if len(p) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	switch p[0] {
	case 0xff:
		res.Err = parseError(p)
		return res, nil
	case 0:
		d := &decoder{b: p[1:]}
		res.Affected, res.LastID = d.lenenc(), d.lenenc()
		res.Status, res.Warnings = d.u16(), d.u16()
		res.Info = string(d.b)
		return res, d.err
	}
	d := &decoder{b: p}
	n := int(d.lenenc())
	for range n {
		if p, err = c.read(); err != nil {
			return nil, err
		}
		d := &decoder{b: p}
		for range 4 {
			d.bytes()
		}
		var col Col
		col.Name = string(d.bytes())
		d.bytes()
		d.lenenc()
		col.Charset, col.Length = d.u16(), d.u32()
		col.Type, col.Flags, col.Decimals = d.u8(), d.u16(), d.u8()
		if d.err != nil {
			return nil, d.err
		}
		res.Cols = append(res.Cols, col)
	}
	if _, err = c.read(); err != nil { // end of columns
		return nil, err
	}
	for {
		if p, err = c.read(); err != nil {
			return nil, err
		}
		switch {
		case len(p) > 0 && p[0] == 0xff:
			return &Result{Err: parseError(p)}, nil
		case len(p) < 9 && len(p) > 0 && p[0] == 0xfe:
			d := &decoder{b: p[1:]}
			res.Warnings, res.Status = d.u16(), d.u16()
			return res, d.err
		}
		row, err := textRow(p, n)
		if binaryRows {
			row, err = binaryRow(p, res.Cols)
		}
		if err != nil {
			return nil, err
		}
		res.Rows = append(res.Rows, row)
	}
}

func textRow(p []byte, n int) ([]Value, error) {
	d := &decoder{b: p}
	row := make([]Value, n)
	for i := range row {
		if len(d.b) > 0 && d.b[0] == 0xfb {
			d.b = d.b[1:]
			row[i].Null = true
			continue
		}
		row[i].Text = string(d.bytes())
	}
	return row, d.err
}

func parseError(p []byte) *SQLError {
	e := &SQLError{}
	if len(p) >= 3 {
		e.Code = int(binary.LittleEndian.Uint16(p[1:]))
		e.Text = string(p[3:])
	}
	if len(p) >= 9 && p[3] == '#' {
		e.State, e.Text = string(p[4:9]), string(p[9:])
	}
	return e
}

// decoder reads the protocol's integers and strings. The first error stays.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || len(d.b) < n {
		d.err = io.ErrUnexpectedEOF
		return make([]byte, max(0, min(n, 16)))
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) u8() byte    { return d.take(1)[0] }
func (d *decoder) u16() uint16 { return binary.LittleEndian.Uint16(d.take(2)) }
func (d *decoder) u32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *decoder) u64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

func (d *decoder) lenenc() uint64 {
	switch b := d.u8(); b {
	case 0xfc:
		return uint64(d.u16())
	case 0xfd:
		p := d.take(3)
		return uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16
	case 0xfe:
		return d.u64()
	default:
		return uint64(b)
	}
}

func (d *decoder) bytes() []byte { return d.take(int(d.lenenc())) }
