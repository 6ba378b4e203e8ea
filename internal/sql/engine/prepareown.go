package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Vitess parses a statement that a client prepares before it asks the handler, to count the parameters, and sends error 1105 if that
// fails. So what is mended here before the parser sees it (DO, CHECK TABLE, names that MySQL does not reserve, comments) could be executed,
// but not prepared. In the place of that error the statement is prepared here; if it cannot be, the error is MySQL's 1064.

// syntaxError begins the body of what vitess sends then.
var syntaxError = append(binary.LittleEndian.AppendUint16([]byte{mysql.ErrPacket}, 1105), "#HY000unknown error: Code: INVALID_ARGUMENT\nsyntax error"...)

// notePrepare keeps the text of a COM_STMT_PREPARE, of which p is the packet, or forgets the last one.
func (c *countedConn) notePrepare(p []byte) {
	c.preparing, c.header = c.preparing[:0], c.header[:0]
	if len(p) > 5 && p[4] == mysql.ComPrepare && len(p) == firstLength(p) {
		c.preparing = append(c.preparing, p[5:]...)
	}
}

// prepared is what vitess writes while a statement is prepared: a header, and behind it the body of a packet. If that says that the statement
// could not be parsed it is prepared here.
func (c *countedConn) prepared(p []byte) error {
	if c.header = append(c.header, p...); len(c.header) <= 4 {
		return nil
	}
	answer, query := c.header, bytes.Clone(c.preparing)
	c.header, c.preparing = c.header[:0], c.preparing[:0]
	if !bytes.HasPrefix(answer[4:], syntaxError) {
		_, err := c.Conn.Write(answer)
		return err
	}
	x := &command{c: c, conn: c.turn.conn, h: c.h, body: query, sequence: answer[3]}
	return x.execute((*command).prepareOwn)
}

// ownAlone is the statement that a text consists of, if the parser does not know it.
func ownAlone(query string) *ownStatement {
	own, behind := findOwn(query)
	if own == nil || strings.TrimSpace(behind) != "" {
		return nil
	}
	return own
}

// prepareOwn prepares a statement that vitess cannot parse as it is. It tells no columns, as MySQL does of statements like SHOW: clients
// take them from the result.
func (x *command) prepareOwn() error {
	query, ctx := string(x.body), context.Background()
	p := &mysql.PrepareData{PrepareStmt: query}
	own := ownAlone(rewrite(query))
	if own == nil || own.answer == nil {
		text := rewrite(query)
		if own != nil {
			text = own.instead
		}
		options, err := x.h.ParserOptionsForConnection(x.conn)
		if err != nil {
			return err
		}
		stmt, err := sqlparser.ParseWithOptions(ctx, text, options)
		for n := 0; err != nil && n < mostQuoted; n++ {
			quoted, ok := quoteNear(text, err.Error())
			if !ok {
				break
			}
			text = quoted
			stmt, err = sqlparser.ParseWithOptions(ctx, text, options)
		}
		if err != nil && own == nil { // in the syntax that queries are parsed with
			if q, rest, qerr := parseQuery(rewrite(query), options); qerr == nil && rest == "" {
				stmt, text, err = q, rewrite(query), nil
			}
		}
		if err != nil {
			_, text, _ := strings.Cut(err.Error(), "syntax error")
			return mysql.NewSQLError(1064, "42000", "%s", strings.TrimSpace("syntax error"+text))
		}
		n := parameters(stmt)
		if n > mostParameters {
			return errTooManyParameters
		}
		if n > 0 {
			p.ParamsCount = uint16(n)
			p.ParamsType = make([]int32, p.ParamsCount)
			p.BindVars = make(map[string]*querypb.BindVariable, p.ParamsCount)
		}
		if own == nil {
			query = text
		}
	}
	if _, err := x.h.ComPrepare(ctx, x.conn, query, p); err != nil {
		return err
	}
	x.conn.StatementID++
	p.StatementID = x.conn.StatementID
	x.conn.PrepareData[p.StatementID] = p
	const noColumns, noWarnings = 0, 0
	head := binary.LittleEndian.AppendUint32([]byte{mysql.OKPacket}, p.StatementID)
	head = binary.LittleEndian.AppendUint16(head, noColumns)
	head = append(binary.LittleEndian.AppendUint16(head, p.ParamsCount), 0)
	if err := x.packet(binary.LittleEndian.AppendUint16(head, noWarnings)); err != nil {
		return err
	}
	for range p.ParamsCount {
		if err := x.packet(parameterDefinition); err != nil {
			return err
		}
	}
	if p.ParamsCount > 0 && x.conn.Capabilities&mysql.CapabilityClientDeprecateEOF == 0 {
		end := binary.LittleEndian.AppendUint16([]byte{mysql.EOFPacket}, noWarnings)
		return x.packet(binary.LittleEndian.AppendUint16(end, x.conn.StatusFlags))
	}
	return nil
}

// parameters counts the parameters of a statement.
func parameters(stmt sqlparser.Statement) (n int) {
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
		if v, ok := node.(*sqlparser.SQLVal); ok && v.Type == sqlparser.ValArg {
			n++
		}
		return true, nil
	}, stmt)
	return n
}

// parameterDefinition describes a parameter as vitess does: named ?, a VARBINARY. The twelve bytes at its end are: collation (2 bytes),
// length (4), type, flags (2), decimals, and two of filling.
var parameterDefinition = []byte("\x03def\x00\x00\x00\x01?\x00" + "\x0c" + "\x3f\x00" + "\x00\x00\x00\x00" + "\xfd" + "\x80\x00" + "\x00" + "\x00\x00")

// mostParameters is how many parameters a statement may have: 65,535 in MySQL. Vitess counts them in 16 bits, adds 7, and loses the
// connection of a client that executes a statement with more than this.
const mostParameters = 65528

var errTooManyParameters = mysql.NewSQLError(1390, "HY000", "Prepared statement contains too many placeholders")

func tooManyParameters(query string) bool {
	if strings.Count(query, "?") <= mostParameters {
		return false
	}
	stmt, err := sqlparser.ParseWithOptions(context.Background(), query, sqlparser.ParserOptions{})
	return err == nil && parameters(stmt) > mostParameters
}
