package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
	_ "unsafe" // for linkname

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// Commands that vitess does not know, or answers wrongly, are executed here, before vitess reads them. The goroutine of the connection
// is in Read then: nothing else of the connection is under way.
//
//	COM_CHANGE_USER       vitess: error 1047. Pools (mysql2's changeUser, PHP's persistent connections, proxies) make a used
//	                      connection new with it.
//	COM_RESET_CONNECTION  vitess answers with status flags 0, "autocommit is off", whatever is so; and an error by an OK after it.
//	COM_STATISTICS        vitess: error 1047.
var ownCommands = [256]func(x *command) error{
	comStatistics:      (*command).statistics,
	comChangeUser:      (*command).changeUser,
	comResetConnection: (*command).resetConnection,
}

const (
	comStatistics      = 0x09
	comChangeUser      = 0x11
	comResetConnection = 0x1f
)

// maxOwnCommand limits the body of such a command, in bytes.
const maxOwnCommand = 1 << 16

// command is one of them under way.
type command struct {
	c        *countedConn
	conn     *mysql.Conn
	h        *handler
	body     []byte // behind the byte that says which one it is
	sequence byte   // of the next packet
	rest     []byte // what the client has sent behind it
}

//go:linkname discardCursor github.com/dolthub/vitess/go/mysql.(*Conn).discardCursor
func discardCursor(c *mysql.Conn)

// own executes the command with which p[:n] begins. What has come behind it stands in p then, n bytes.
func (c *countedConn) own(p []byte, n int) (int, error) {
	c.turn.mu.Lock()
	x := &command{c: c, conn: c.turn.conn, h: c.h, sequence: p[3] + 1, rest: bytes.Clone(p[4:n])}
	c.turn.mu.Unlock()
	length := int(p[0]) | int(p[1])<<8 | int(p[2])<<16
	body, err := x.take(length)
	if err != nil {
		return 0, err
	}
	x.body = body[1:]
	if err := x.execute(ownCommands[body[0]]); err != nil {
		return 0, err
	}
	n = copy(p, x.rest)
	if n < len(x.rest) {
		return 0, errors.New("more commands at once than fit into the buffer")
	}
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	c.turn.frame.take(p[:n])
	return n, nil
}

// take returns the next bytes that the client has sent or sends.
func (x *command) take(n int) ([]byte, error) {
	if n > maxOwnCommand {
		return nil, fmt.Errorf("a command of %d bytes is larger than it can be", n)
	}
	for len(x.rest) < n {
		var room [4096]byte
		m, err := x.c.Conn.Read(room[:])
		x.rest = append(x.rest, room[:m]...)
		if err != nil && len(x.rest) < n {
			return nil, err
		}
	}
	out := x.rest[:n:n]
	x.rest = x.rest[n:]
	return out, nil
}

// execute answers the command. An error of it is for the client; one that is returned ends the connection.
func (x *command) execute(f func(*command) error) (err error) {
	own := x.h.refuse(x.conn)
	if own == nil {
		own = func() (err error) {
			defer x.h.recovered("command", &err)
			return f(x)
		}()
	}
	var fatal *lostConnection
	if errors.As(own, &fatal) {
		return fatal.error
	}
	if own != nil {
		return x.fail(own)
	}
	return nil
}

// lostConnection is that the client is gone.
type lostConnection struct{ error }

// packet writes one packet.
func (x *command) packet(body []byte) error {
	out := packet(x.sequence, body)
	x.sequence++
	if _, err := x.c.Conn.Write(out); err != nil {
		return &lostConnection{err}
	}
	return nil
}

// packet puts the header before a packet's body, which is smaller than 16 MiB.
func packet(sequence byte, body []byte) []byte {
	return append([]byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), sequence}, body...)
}

// errorBody is the body of an error packet.
func errorBody(err *mysql.SQLError) []byte {
	body := binary.LittleEndian.AppendUint16([]byte{mysql.ErrPacket}, uint16(err.Num))
	return append(append(body, '#'), err.State+err.Message...)
}

// ok answers with an OK packet that has the session's status.
func (x *command) ok() error {
	if s := x.h.e.sessions.of(x.conn); s != nil {
		s.setStatus(x.h.e.context(context.Background(), s), x.conn)
	}
	const noWarnings = 0
	body := binary.LittleEndian.AppendUint16([]byte{mysql.OKPacket, 0, 0}, x.conn.StatusFlags)
	return x.packet(binary.LittleEndian.AppendUint16(body, noWarnings))
}

// fail answers with an error packet.
func (x *command) fail(err error) error {
	werr := x.packet(errorBody(x.h.e.clientError(context.Background(), err, nil)))
	var fatal *lostConnection
	if errors.As(werr, &fatal) {
		return fatal.error
	}
	return nil
}

// resetConnection makes the session new; its user and database stay.
func (x *command) resetConnection() error {
	discardCursor(x.conn)
	x.conn.PrepareData = map[uint32]*mysql.PrepareData{}
	if err := x.h.ComResetConnection(x.conn); err != nil {
		return err
	}
	return x.ok()
}

// changeUser logs another user in on the connection, whose session begins anew. If that fails the connection ends, as MySQL's does.
func (x *command) changeUser() error {
	r := bytes.NewReader(x.body)
	user, err := untilZero(r)
	if err != nil {
		return err
	}
	length, err := r.ReadByte()
	if err != nil {
		return errMalformed
	}
	response := make([]byte, length)
	if _, err := io.ReadFull(r, response); err != nil {
		return errMalformed
	}
	database, err := untilZero(r)
	if err != nil {
		return err
	}
	var charset [2]byte
	if _, err := io.ReadFull(r, charset[:]); err == nil { // older clients end before it
		x.conn.CharacterSet = charset[0]
	}
	data, err := x.login(user, response)
	if err != nil {
		if werr := x.fail(err); werr != nil {
			return &lostConnection{werr}
		}
		return &lostConnection{io.EOF}
	}
	discardCursor(x.conn)
	x.conn.PrepareData = map[uint32]*mysql.PrepareData{}
	x.conn.User, x.conn.UserData = user, data
	if err := x.h.ComResetConnection(x.conn); err != nil {
		return err
	}
	if s := x.h.e.sessions.of(x.conn); s != nil {
		s.SetCurrentDatabase("")
	}
	if database != "" {
		if err := x.h.ComInitDB(x.conn, database); err != nil {
			return err
		}
	}
	return x.ok()
}

var errMalformed = mysql.NewSQLError(1835, "HY000", "Malformed communication packet.")

func untilZero(r *bytes.Reader) (string, error) {
	var out []byte
	for {
		b, err := r.ReadByte()
		if err != nil {
			return "", errMalformed
		}
		if b == 0 {
			return string(out), nil
		}
		out = append(out, b)
	}
}

// login authenticates a user. A client that has a password is asked for it anew: what its command brought was scrambled with a salt
// that vitess has thrown away.
func (x *command) login(user string, response []byte) (mysql.Getter, error) {
	var method mysql.AuthMethod
	for _, m := range x.h.e.gms.Analyzer.Catalog.MySQLDb.AuthMethods() {
		if m.Name() == mysql.MysqlNativePassword && m.HandleUser(x.conn, user) {
			method = m
		}
	}
	denied := mysql.NewSQLError(1045, "28000", "Access denied for user '%s'", user)
	if method == nil {
		return nil, denied
	}
	salt, err := method.AuthPluginData()
	if err != nil {
		return nil, err
	}
	if len(response) > 0 {
		ask := append([]byte{mysql.AuthSwitchRequestPacket}, string(mysql.MysqlNativePassword)+"\x00"...)
		if err := x.packet(append(ask, salt...)); err != nil {
			return nil, err
		}
		header, err := x.take(4)
		if err != nil {
			return nil, &lostConnection{err}
		}
		x.sequence = header[3] + 1
		if response, err = x.take(int(header[0]) | int(header[1])<<8 | int(header[2])<<16); err != nil {
			return nil, &lostConnection{err}
		}
	}
	data, err := method.HandleAuthPluginData(x.conn, user, salt, response, x.c.RemoteAddr())
	if err != nil {
		return nil, denied
	}
	return data, nil
}

// statistics answers with one line for people, as MySQL does: it is neither OK nor a result.
func (x *command) statistics() error {
	up := max(1, int(time.Since(x.h.e.started).Seconds()))
	var questions uint64
	if _, v, ok := sql.StatusVariables.GetGlobal("Questions"); ok {
		questions, _ = v.(uint64)
	}
	return x.packet(fmt.Appendf(nil, "Uptime: %d  Threads: %d  Questions: %d  Slow queries: 0  Opens: 0  Flush tables: 0  Open tables: 0  Queries per second avg: %.3f",
		up, x.h.e.openConns(), questions, float64(questions)/float64(up)))
}
