package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// rawClient speaks the protocol byte by byte, so that what packets say can be looked at.
type rawClient struct {
	t   testing.TB
	c   net.Conn
	eof bool // the client does not know CLIENT_DEPRECATE_EOF: results have EOF packets
}

const (
	rawCapabilities = 1 | 4 | 8 | 0x200 | 0x2000 | 0x8000 | 0x10000 | 0x20000 | 0x80000 // long password, long flag, database, 4.1, transactions, secure, multi, plugin
	rawDeprecateEOF = 0x1000000

	inTrans, autocommit, moreResults, noBackslash, inTransReadOnly, cursorExists, lastRowSent = 1, 2, 8, 0x200, 0x2000, 0x40, 0x80
)

// dialRaw connects, and returns what the handshake says.
func dialRaw(t testing.TB, addr, database string, eof bool) (*rawClient, uint16) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	x := &rawClient{t: t, c: c, eof: eof}
	hello, _ := x.read()
	if hello[0] != 10 {
		t.Fatalf("handshake of protocol %d", hello[0])
	}
	at := 1 + bytes.IndexByte(hello[1:], 0) + 1 + 4 + 8 + 1 + 2 + 1
	status := binary.LittleEndian.Uint16(hello[at:])
	caps := uint32(rawCapabilities)
	if !eof {
		caps |= rawDeprecateEOF
	}
	body := binary.LittleEndian.AppendUint32(nil, caps)
	body = binary.LittleEndian.AppendUint32(body, 1<<24)
	body = append(body, 255)
	body = append(body, make([]byte, 23)...)
	body = append(body, "root\x00\x00"...)
	body = append(body, database+"\x00mysql_native_password\x00"...)
	x.write(1, body)
	return x, status
}

func (x *rawClient) read() (body []byte, sequence byte) {
	x.t.Helper()
	var header [4]byte
	if _, err := io.ReadFull(x.c, header[:]); err != nil {
		x.t.Fatal(err)
	}
	body = make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	if _, err := io.ReadFull(x.c, body); err != nil {
		x.t.Fatal(err)
	}
	return body, header[3]
}

func (x *rawClient) write(sequence byte, body []byte) {
	x.t.Helper()
	p := append([]byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), sequence}, body...)
	if _, err := x.c.Write(p); err != nil {
		x.t.Fatal(err)
	}
}

// lenenc reads a length-encoded integer.
func lenenc(b []byte) (uint64, []byte) {
	switch b[0] {
	case 0xfc:
		return uint64(binary.LittleEndian.Uint16(b[1:])), b[3:]
	case 0xfd:
		return uint64(b[1]) | uint64(b[2])<<8 | uint64(b[3])<<16, b[4:]
	case 0xfe:
		return binary.LittleEndian.Uint64(b[1:]), b[9:]
	}
	return uint64(b[0]), b[1:]
}

// okStatus is the status of an OK packet, or of one that stands for EOF.
func okStatus(b []byte) uint16 {
	_, b = lenenc(b[1:])
	_, b = lenenc(b)
	return binary.LittleEndian.Uint16(b)
}

// end is how one answer ended: the status it said at last, or the error's number. first is the status that stood before the rows.
type end struct {
	status, first uint16
	err           int
	rows          int
}

// answer reads the answers to a command, until one says that no more come.
func (x *rawClient) answer() (out []end) {
	x.t.Helper()
	for {
		e := x.one(false)
		out = append(out, e)
		if e.err != 0 || e.status&moreResults == 0 {
			return out
		}
	}
}

// one reads one answer; fetched: only rows are expected, of a cursor.
func (x *rawClient) one(fetched bool) (e end) {
	x.t.Helper()
	if !fetched {
		b, _ := x.read()
		switch b[0] {
		case 0:
			return end{status: okStatus(b)}
		case 0xff:
			return end{err: int(binary.LittleEndian.Uint16(b[1:]))}
		}
		columns, _ := lenenc(b)
		for range columns {
			x.read()
		}
		if x.eof {
			b, _ := x.read()
			if e.first = binary.LittleEndian.Uint16(b[3:]); e.first&cursorExists != 0 {
				return end{status: e.first}
			}
		}
	}
	for {
		b, _ := x.read()
		switch {
		case b[0] == 0xff:
			e.err = int(binary.LittleEndian.Uint16(b[1:]))
			return e
		case b[0] == 0xfe && len(b) < 9 && x.eof:
			e.status = binary.LittleEndian.Uint16(b[3:])
			return e
		case b[0] == 0xfe && !x.eof:
			e.status = okStatus(b)
			return e
		}
		e.rows++
	}
}

// query sends COM_QUERY.
func (x *rawClient) query(q string) []end {
	x.t.Helper()
	x.write(0, append([]byte{3}, q...))
	return x.answer()
}

// expect runs statements and compares how they end: "QUERY", "status[+status]".
func (x *rawClient) expect(pairs ...string) {
	x.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		var got []string
		for _, e := range x.query(pairs[i]) {
			got = append(got, e.String())
		}
		if strings.Join(got, ", ") != pairs[i+1] {
			x.t.Errorf("%s: %s, want %s", pairs[i], strings.Join(got, ", "), pairs[i+1])
		}
	}
}

func (e end) String() string {
	if e.err != 0 {
		return fmt.Sprint("error ", e.err)
	}
	return statusText(e.status)
}

func statusText(status uint16) string {
	var out []string
	for _, f := range []struct {
		bit  uint16
		name string
	}{{autocommit, "auto"}, {inTrans, "trans"}, {inTransReadOnly, "readonly"}, {moreResults, "more"}, {noBackslash, "nobackslash"}, {cursorExists, "cursor"}, {lastRowSent, "last"}} {
		if status&f.bit != 0 {
			out = append(out, f.name)
			status &^= f.bit
		}
	}
	if status != 0 {
		out = append(out, fmt.Sprintf("%#x", status))
	}
	if out == nil {
		return "-"
	}
	return strings.Join(out, "+")
}

// W1: what MySQL's packets say of the session, which drivers believe. PyMySQL took the first one's word and ran without transactions.
func TestStatusFlags(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "INSERT INTO d.t VALUES (1, 1), (2, 2)")
	for _, eof := range []bool{true, false} {
		t.Run(fmt.Sprintf("eof=%t", eof), func(t *testing.T) {
			x, hello := dialRaw(t, s.addr, "d", eof)
			if statusText(hello) != "auto" {
				t.Errorf("the handshake says %s", statusText(hello))
			}
			x.first("auto")
			for range 3 { // the ordinary path, then a plan
				x.expect("SELECT n FROM t WHERE id = 1", "auto", "SELECT 1", "auto", "UPDATE t SET n = n + 1 WHERE id = 2", "auto")
				x.expect("BEGIN", "auto+trans", "SELECT n FROM t WHERE id = 1", "auto+trans", "UPDATE t SET n = n + 1 WHERE id = 1", "auto+trans",
					"SELECT nothing", "error 1054", "SELECT 1", "auto+trans", "COMMIT", "auto", "START TRANSACTION", "auto+trans", "ROLLBACK", "auto")
			}
			x.expect("START TRANSACTION READ ONLY", "auto+trans+readonly", "SELECT * FROM t", "auto+trans+readonly", "UPDATE t SET n = 0", "error 1792", "ROLLBACK", "auto")
			x.expect("BEGIN", "auto+trans", "CREATE TABLE u (id INT PRIMARY KEY)", "auto", "BEGIN", "auto+trans", "DROP TABLE u", "auto")
			x.expect("BEGIN", "auto+trans", "BEGIN", "auto+trans", "SET autocommit = 0", "trans", "COMMIT", "-")
			x.expect("SELECT 1", "-", "SELECT n FROM t", "trans", "COMMIT", "-", "UPDATE t SET n = 5", "trans", "ROLLBACK", "-")
			x.expect("INSERT INTO t VALUES (1, 1)", "error 1062", "SELECT 1", "trans", "SET autocommit = 1", "auto")
			x.expect("SELECT 1; BEGIN; SELECT n FROM t; ROLLBACK", "auto+more, auto+trans+more, auto+trans+more, auto",
				"BEGIN; SELECT nothing; COMMIT", "auto+trans+more, error 1054", "ROLLBACK", "auto")
			x.expect("SAVEPOINT a", "auto", "BEGIN", "auto+trans", "SAVEPOINT a", "auto+trans", "ROLLBACK TO a", "auto+trans", "COMMIT", "auto")
			x.expect("SET autocommit = 0", "-", "UPDATE t SET n = 7", "trans")
			x.write(0, []byte{0x1f}) // COM_RESET_CONNECTION: rolled back, autocommit is on again, the database stays
			if got := x.answer(); statusText(got[0].status) != "auto" {
				t.Errorf("COM_RESET_CONNECTION: %v", got)
			}
			x.expect("SELECT n FROM t WHERE n = 7", "auto", "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "auto+nobackslash", "SELECT n FROM t", "auto+nobackslash", "SET sql_mode = ''", "auto")
			for _, ping := range [][]byte{{0x0e}, {0x02, 'd'}} {
				x.expect("BEGIN", "auto+trans")
				x.write(0, ping)
				if got := x.answer(); statusText(got[0].status) != "auto+trans" {
					t.Errorf("command %d in a transaction: %v", ping[0], got)
				}
				x.expect("COMMIT", "auto")
			}
		})
	}
	s.exec("SET GLOBAL autocommit = 0")
	defer s.exec("SET GLOBAL autocommit = 1")
	x, hello := dialRaw(t, s.addr, "d", true)
	if statusText(hello) != "-" {
		t.Errorf("with autocommit off for new sessions the handshake says %s", statusText(hello))
	}
	x.first("-")
}

// first reads the answer to the login.
func (x *rawClient) first(want string) {
	x.t.Helper()
	if got := x.answer(); got[0].err != 0 || statusText(got[0].status) != want {
		x.t.Errorf("the login is answered with %v, want %s", got, want)
	}
}

// Results that leave while they are read say in their first packets what is so then: no transaction, if the statement is one by itself.
func TestStatusOfStreamedResult(t *testing.T) {
	c := startCluster(t, 1, func(o *Options) { o.ResultBuffer = 1024 })
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, pad VARCHAR(100))",
		"INSERT INTO d.t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, REPEAT('x', 100) FROM n")
	x, _ := dialRaw(t, s.addr, "d", true)
	x.first("auto")
	for _, test := range []struct{ before, want string }{{"SELECT 1", "auto"}, {"BEGIN", "auto+trans"}, {"SET autocommit = 0", "trans"}} {
		x.query(test.before)
		if got := x.query("SELECT * FROM t")[0]; statusText(got.first) != test.want || statusText(got.status) != test.want || got.rows != 500 {
			t.Errorf("after %s: %s, then %s, %d rows", test.before, statusText(got.first), statusText(got.status), got.rows)
		}
	}
}

// COM_STMT_EXECUTE, with and without a cursor.
func TestStatusOfPrepared(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2), (3)")
	x, _ := dialRaw(t, s.addr, "d", true)
	x.first("auto")
	get, put := x.prepare("SELECT id FROM t", 1), x.prepare("INSERT INTO t VALUES (1)", 0)
	for _, test := range []struct{ before, want string }{{"SELECT 1", "auto"}, {"BEGIN", "auto+trans"}, {"SET autocommit = 0", "trans"}} {
		x.query(test.before)
		if got := x.executePrepared(get, 0); got.String() != test.want || got.rows != 3 {
			t.Errorf("after %s: %v, %d rows", test.before, got, got.rows)
		}
		if got := x.executePrepared(put, 0); got.err != 1062 {
			t.Errorf("a duplicate: %v", got)
		}
		if got := x.executePrepared(get, 1); got.String() != test.want+"+cursor" {
			t.Errorf("after %s, a cursor: %v", test.before, got)
		}
		x.write(0, append([]byte{0x1c}, binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, get), 10)...))
		if got := x.one(true); got.rows != 3 || !strings.HasSuffix(got.String(), "+last") {
			t.Errorf("after %s, the rows of a cursor: %v, %d of them", test.before, got, got.rows)
		}
		if got := x.executePrepared(put, 1); got.err != 1062 {
			t.Errorf("a duplicate where a cursor was asked for: %v", got)
		}
	}
}

// prepare sends COM_STMT_PREPARE for a statement without parameters.
func (x *rawClient) prepare(q string, columns int) uint32 {
	x.t.Helper()
	x.write(0, append([]byte{0x16}, q...))
	b, _ := x.read()
	if b[0] != 0 {
		x.t.Fatalf("%s: %q", q, b)
	}
	if columns > 0 {
		for range columns + 1 {
			x.read()
		}
	}
	return binary.LittleEndian.Uint32(b[1:])
}

// executePrepared sends COM_STMT_EXECUTE; cursor: 1 asks for one.
func (x *rawClient) executePrepared(id uint32, cursor byte) end {
	x.t.Helper()
	body := append(binary.LittleEndian.AppendUint32([]byte{0x17}, id), cursor, 1, 0, 0, 0)
	x.write(0, body)
	return x.one(false)
}

// COM_CHANGE_USER makes the session new (vitess does not know it), COM_STATISTICS says a line.
func TestChangeUser(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE DATABASE e", "CREATE TABLE d.t (id INT PRIMARY KEY)", "CREATE TABLE e.u (id INT PRIMARY KEY)")
	x, _ := dialRaw(t, s.addr, "d", true)
	x.first("auto")
	x.expect("SET autocommit = 0", "-", "SET @a = 1", "-", "INSERT INTO t VALUES (1)", "trans")
	change := func(user, response, database string) end {
		body := append([]byte{0x11}, user+"\x00"...)
		body = append(append(body, byte(len(response))), response+database+"\x00\xff\x00mysql_native_password\x00"...)
		x.write(0, body)
		b, sequence := x.read()
		if b[0] == 0xfe { // asked for the password anew: there is none
			x.write(sequence+1, nil)
			b, _ = x.read()
		}
		if b[0] == 0xff {
			return end{err: int(binary.LittleEndian.Uint16(b[1:]))}
		}
		return end{status: okStatus(b)}
	}
	for _, response := range []string{"", "12345678901234567890"} {
		if got := change("root", response, "e"); got.String() != "auto" {
			t.Fatalf("COM_CHANGE_USER: %v", got)
		}
		x.expect("SELECT * FROM u", "auto", "SELECT * FROM t", "error 1146", "SELECT IF(@a IS NULL, 1, NOTHING())", "error 1305")
	}
	if got := s.query("SELECT COUNT(*) FROM d.t"); got[0] != "0" {
		t.Errorf("the open transaction was not rolled back: %s rows", got[0])
	}
	if got := change("root", "", ""); got.String() != "auto" {
		t.Fatalf("COM_CHANGE_USER without a database: %v", got)
	}
	x.expect("SELECT * FROM u", "error 1046")
	if got := change("root", "", "nothing"); got.err != 1049 {
		t.Errorf("COM_CHANGE_USER to an unknown database: %v", got)
	}
	x.write(0, []byte{9})
	if b, _ := x.read(); !strings.HasPrefix(string(b), "Uptime: ") {
		t.Errorf("COM_STATISTICS: %q", b)
	}
	// A command in two parts: the header alone, then the rest.
	_, _ = x.c.Write([]byte{1, 0, 0, 0})
	_, _ = x.c.Write([]byte{0x1f})
	if got := x.answer(); got[0].String() != "auto" {
		t.Errorf("COM_RESET_CONNECTION in two parts: %v", got)
	}
	if got := change("stranger", "", "d"); got.err != 1045 {
		t.Errorf("COM_CHANGE_USER to an unknown user: %v", got)
	}
	if _, err := x.c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("after a login that failed: %v, want the end of the connection", err)
	}
}

// Under NO_BACKSLASH_ESCAPES, which the session's packets announce, clients send backslashes as they are: they must arrive so (W2).
func TestNoBackslashEscapes(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(50))", "SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
	s.exec(`INSERT INTO t VALUES (1, 'a\b'), (2, 'it''s\'), (3, 'a\\n') -- it's \`, `INSERT INTO t VALUES (4, 'x\'); INSERT INTO t VALUES (5, '\');`)
	for range 3 {
		if got := s.query(`SELECT id FROM t WHERE s IN ('a\b', 'it''s\', 'a\\n', 'x\', '\') ORDER BY id`); strings.Join(got, " ") != "1 2 3 4 5" {
			t.Errorf("ids %v", got)
		}
	}
	s.exec("SET sql_mode = ''")
	if got := s.query(`SELECT CONCAT(s, LENGTH(s)) FROM t ORDER BY id`); strings.Join(got, " ") != `a\b3 it's\5 a\\n4 x\2 \1` {
		t.Errorf("%s", got)
	}
}

func TestEachBackslash(t *testing.T) {
	for _, q := range []string{`SELECT 'a\b'`, `'\'`, `'it''s\' "\" -- '\' ` + "\n" + ` '\'`, "`\\`", `/* '\' */ '\\' `, `/*! '\' */`, `'`, `'\`} {
		d := doubleBackslashes(q)
		if got := halveBackslashes(d); got != q {
			t.Errorf("%s: doubled %s, halved %s", q, d, got)
		}
	}
	if got := doubleBackslashes(`'a\b\'\`); got != `'a\\b\\'\` {
		t.Error(got)
	}
}

func TestPlainComments(t *testing.T) {
	for q, want := range map[string]string{
		`/*M!999999\- enable the sandbox mode */ SELECT 1`: `/*999999\- enable the sandbox mode */ SELECT 1`,
		`SELECT '/*M! 1 */', /*M! 2 */ 3`:                  `SELECT '/*M! 1 */', /* 2 */ 3`,
		`/* /*M! */ SELECT 1`:                              `/* /*M! */ SELECT 1`,
		"SELECT 5--1, '--x', `--y` -- z --1":               "SELECT 5- -1, '--x', `--y` -- z --1",
		"SELECT ---1 /* --1 */ --\n--":                     "SELECT - - -1 /* --1 */ --\n--",
	} {
		if got := plainComments(q); got != want {
			t.Errorf("%s: %s", q, got)
		}
	}
	c := startCluster(t, 1)
	if got := c.nodes[0].query("/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump\nSELECT /*M! 1, */ 2"); got[0] != "2" {
		t.Error(got)
	}
}

// Statements behind one that fails are not executed. (vitess did, and sent their answers, which the client took for those to come.)
func TestStatementsAfterAnError(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	x, _ := dialRaw(t, s.addr, "d", true)
	x.first("auto")
	x.expect("BEGIN; INSERT INTO t VALUES (1); SELECT nothing; COMMIT; DROP TABLE t", "auto+trans+more, auto+trans+more, error 1054",
		"SELECT 1", "auto+trans", "ROLLBACK", "auto")
	if got := s.query("SELECT COUNT(*) FROM d.t"); got[0] != "0" {
		t.Errorf("%s rows", got[0])
	}
}

// The text of an OK packet stands behind its length. (vitess wrote a # there: libmariadb took shorter texts for malformed packets.)
func TestInfoOfOKPackets(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "INSERT INTO d.t VALUES (1, 1), (2, 2)")
	x, _ := dialRaw(t, s.addr, "d", true)
	x.first("auto")
	info := func() string {
		for {
			b, _ := x.read()
			if b[0] != 0 {
				t.Fatalf("packet %q", b)
			}
			more := okStatus(b)&moreResults != 0
			_, rest := lenenc(b[1:])
			_, rest = lenenc(rest)
			if rest = rest[4:]; more {
				continue
			} else if len(rest) == 0 {
				return ""
			}
			n, text := lenenc(rest)
			if int(n) != len(text) {
				t.Errorf("a text of %d bytes: %q", n, text)
			}
			return string(text)
		}
	}
	const matched = "Rows matched: 2  Changed: 2  Warnings: 0"
	for q, want := range map[string]string{"PREPARE p FROM 'SELECT 1'": "Statement prepared", "UPDATE t SET n = n + 1": matched, "INSERT INTO t VALUES (3, 3); DELETE FROM t WHERE id = 3; UPDATE t SET n = n + 1": matched,
		"UPDATE t SET n = n + 1; UPDATE t SET n = n + 1; SET @a = 1": ""} {
		for range 3 {
			x.write(0, append([]byte{3}, q...))
			if got := info(); got != want {
				t.Errorf("%s: %q", q, got)
			}
		}
	}
}

// A savepoint that stands before the first statement is there when the node has repeated that statement.
func TestSavepointOfARepeatedTransaction(t *testing.T) {
	c := startCluster(t, 1)
	e := c.nodes[0].e
	first := &tx{e: e, explicit: true}
	first.setSavepoint("a")
	first.setSavepoint("b")
	again := first.again()
	first.rollback(t.Context())
	for _, name := range []string{"b", "a", "A"} {
		if err := again.rollbackTo(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := again.rollbackTo("b"); err == nil {
		t.Error("b is there after a rollback to a")
	}
	again.rollback(t.Context())
}

// Reading a view is no change of the schema: it does not commit.
func TestViewsDoNotCommit(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	x, _ := dialRaw(t, s.addr, "d", true)
	x.first("auto")
	x.expect("CREATE VIEW v AS SELECT id FROM t", "auto")
	for _, q := range []string{"SELECT * FROM v", "DESCRIBE v", "SHOW CREATE TABLE v", "SHOW CREATE VIEW v", "INSERT INTO t SELECT id + 10 FROM v", "EXPLAIN SELECT * FROM v"} {
		x.expect("BEGIN", "auto+trans", "SAVEPOINT s", "auto+trans", "INSERT INTO t VALUES (1)", "auto+trans", q, "auto+trans", "ROLLBACK TO s", "auto+trans", "ROLLBACK", "auto")
		if got := s.query("SELECT COUNT(*) FROM d.t"); got[0] != "0" {
			t.Fatalf("%s has committed: %s rows", q, got[0])
		}
	}
	x.expect("SET autocommit = 0", "-", "INSERT INTO t VALUES (1)", "trans", "SELECT * FROM v", "trans", "ROLLBACK", "-")
}

// Columns of numbers, dates and bits have the character set binary (63), as in MySQL.
func TestCharacterSetsOfColumns(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "CREATE TABLE d.t (i INT PRIMARY KEY, m DECIMAL(5,2), d DATE, ts TIMESTAMP NULL, b BIT(8), v VARBINARY(5), s VARCHAR(5), e ENUM('a'))")
	x, _ := dialRaw(t, s.addr, "d", true)
	x.first("auto")
	const want = "i 63, m 63, d 63, ts 63, b 63, v 63, s 255, e 255, c 255, n 63"
	for range 3 {
		x.write(0, append([]byte{3}, "SELECT i, m, d, ts, b, v, s, e, CONCAT(s) AS c, i + 1 AS n FROM t"...))
		n, _ := x.read()
		var got []string
		for range n[0] {
			b, _ := x.read()
			var fields []string
			for range 6 { // catalog, database, table, its name, name, its name
				length, rest := lenenc(b)
				fields, b = append(fields, string(rest[:length])), rest[length:]
			}
			got = append(got, fmt.Sprint(fields[4], " ", binary.LittleEndian.Uint16(b[1:])))
		}
		x.read()
		if x.one(true); strings.Join(got, ", ") != want {
			t.Errorf("%s, want %s", strings.Join(got, ", "), want)
		}
	}
}
