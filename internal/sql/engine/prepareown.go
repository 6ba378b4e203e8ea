package engine

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// preparesOwn reports whether a command, which stands in p with its header, prepares a statement that the parser does not know
// (ownstatement.go). Vitess counts the parameters of what it prepares with the parser, and so refuses it.
func preparesOwn(p []byte) bool {
	if len(p) < 5 || p[4] != mysql.ComPrepare || len(p) != 4+(int(p[0])|int(p[1])<<8|int(p[2])<<16) {
		return false
	}
	return ownAlone(string(p[5:])) != nil
}

// ownAlone is the statement that a text consists of, if the parser does not know it.
func ownAlone(query string) *ownStatement {
	own, behind := findOwn(query)
	if own == nil || strings.TrimSpace(behind) != "" {
		return nil
	}
	return own
}

// prepareOwn prepares such a statement. It tells no columns, as MySQL does of statements like SHOW: clients take them from the result.
func (x *command) prepareOwn() error {
	query := string(x.body)
	own := ownAlone(query)
	p := &mysql.PrepareData{PrepareStmt: query}
	if own.answer == nil {
		stmt, err := sqlparser.ParseWithOptions(context.Background(), own.instead, sqlparser.ParserOptions{})
		if err != nil {
			return err
		}
		if n := parameters(stmt); n > mostParameters {
			return mysql.NewSQLError(1390, "HY000", "Prepared statement contains too many placeholders")
		} else if n > 0 {
			p.ParamsCount = uint16(n)
			p.ParamsType = make([]int32, p.ParamsCount)
			p.BindVars = make(map[string]*querypb.BindVariable, p.ParamsCount)
		}
	}
	if _, err := x.h.ComPrepare(context.Background(), x.conn, query, p); err != nil {
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

func tooManyParameters(query string) bool {
	if strings.Count(query, "?") <= mostParameters {
		return false
	}
	stmt, err := sqlparser.ParseWithOptions(context.Background(), query, sqlparser.ParserOptions{})
	return err == nil && parameters(stmt) > mostParameters
}
