package engine

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// LOAD DATA, read as the manual says (Reference Manual 8.0, 15.2.9). go-mysql-server's reader (sql/rowexec/ddl_iters.go) cuts lines before
// it looks at quotes, keeps doubled quotes as two, and takes the text NULL for NULL wherever it stands.

// loadReader reads lines of fields.
type loadReader struct {
	in                *bufio.Reader
	fieldEnd, lineEnd string
	lineStart         string
	enclosed, escape  int // -1: none
}

// loadField is one field. enclosed: it was in quotes.
type loadField struct {
	text     []byte
	enclosed bool
	escapedN bool // it is \N, if that is all
}

func newLoadReader(in io.Reader, n *plan.LoadData) *loadReader {
	r := &loadReader{in: bufio.NewReaderSize(in, 1<<16), fieldEnd: n.FieldsTerminatedBy, lineEnd: n.LinesTerminatedBy, lineStart: n.LinesStartingBy, enclosed: -1, escape: -1}
	if n.FieldsEnclosedBy != "" {
		r.enclosed = int(n.FieldsEnclosedBy[0])
	}
	if n.FieldsEscapedBy != "" {
		r.escape = int(n.FieldsEscapedBy[0])
	}
	return r
}

// next reads a byte; -1: there is none.
func (r *loadReader) next() (int, error) {
	b, err := r.in.ReadByte()
	if err == io.EOF {
		return -1, nil
	}
	return int(b), err
}

// follows reports whether mark comes next, c being its first byte, which was read already; then it takes the rest.
func (r *loadReader) follows(c int, mark string) bool {
	if mark == "" || c != int(mark[0]) {
		return false
	}
	rest, err := r.in.Peek(len(mark) - 1)
	if err != nil || string(rest) != mark[1:] {
		return false
	}
	_, _ = r.in.Discard(len(mark) - 1)
	return true
}

// skipTo reads until behind a mark.
func (r *loadReader) skipTo(mark string) error {
	for {
		c, err := r.next()
		if err != nil {
			return err
		}
		if c < 0 {
			return io.EOF
		}
		if r.follows(c, mark) {
			return nil
		}
	}
}

// line reads the fields of the next line; io.EOF: there is none.
func (r *loadReader) line() (fields []loadField, err error) {
	if r.lineStart != "" {
		if err := r.skipTo(r.lineStart); err != nil {
			return nil, err
		}
	}
	if _, err := r.in.Peek(1); err != nil {
		return nil, err
	}
	for {
		f, over, err := r.field()
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
		if over {
			return fields, nil
		}
	}
}

// field reads one field; over: it is the last one of its line.
func (r *loadReader) field() (f loadField, over bool, err error) {
	quote := -1
	for first := true; ; first = false {
		c, err := r.next()
		if err != nil {
			return f, false, err
		}
		if c < 0 {
			if quote >= 0 { // it was none, for it does not end
				f.text = append([]byte{byte(quote)}, f.text...)
			}
			return f, true, nil
		}
		if first && c == r.enclosed {
			quote = c
			continue
		}
		if c == r.escape && (r.escape != r.enclosed || r.doubled()) {
			d, err := r.next()
			if err != nil {
				return f, false, err
			}
			if d < 0 {
				f.text = append(f.text, byte(c))
				continue
			}
			f.escapedN = f.escapedN || d == 'N'
			f.text = append(f.text, unescaped(byte(d)))
			continue
		}
		switch {
		case c == quote:
			d, err := r.next()
			switch {
			case err != nil:
				return f, false, err
			case d == quote:
				f.text = append(f.text, byte(d))
				continue
			case d < 0 || r.follows(d, r.lineEnd):
				f.enclosed = true
				return f, true, nil
			case r.follows(d, r.fieldEnd):
				f.enclosed = true
				return f, false, nil
			}
			_ = r.in.UnreadByte()
		case quote < 0 && r.follows(c, r.lineEnd):
			return f, true, nil
		case quote < 0 && r.follows(c, r.fieldEnd):
			return f, false, nil
		}
		f.text = append(f.text, byte(c))
	}
}

// doubled reports whether the escape character, which is also what fields are enclosed by, comes once more.
func (r *loadReader) doubled() bool {
	b, err := r.in.Peek(1)
	return err == nil && int(b[0]) == r.escape
}

func unescaped(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	}
	return c
}

// isNull is how NULL is written: \N, or the word without quotes if there could be some.
func (r *loadReader) isNull(f loadField) bool {
	return f.escapedN && len(f.text) == 1 || !f.enclosed && r.enclosed >= 0 && string(f.text) == "NULL"
}

// loadRows is a plan node's rows: of each line the values of the listed columns.
type loadRows struct {
	n       *plan.LoadData
	r       *loadReader
	file    io.Closer
	targets []int // by field: the column's place in the table; -1: none
	decode  func([]byte) ([]byte, bool)
	skip    int64
}

// loadData executes plan.LoadData.
func loadData(ctx *sql.Context, n *plan.LoadData) (sql.RowIter, error) {
	file, err := openLoadFile(ctx, n)
	if err != nil {
		return nil, err
	}
	s := n.Schema(ctx)
	names := n.ColNames
	if len(names) == 0 {
		for _, c := range s {
			names = append(names, c.Name)
		}
	}
	x := &loadRows{n: n, r: newLoadReader(file, n), file: file, skip: n.IgnoreNum}
	for i, next := 0, 0; i < len(n.UserVars); i++ {
		target := -1
		if n.UserVars[i] == nil && next < len(names) {
			target = s.IndexOf(names[next], s[0].Source)
			next++
		}
		x.targets = append(x.targets, target)
	}
	if n.Charset != "" && !strings.EqualFold(n.Charset, "binary") {
		cs, err := sql.ParseCharacterSet(n.Charset)
		if err != nil {
			_ = file.Close()
			return nil, mysql.NewSQLError(1115, "42000", "Unknown character set: '%s'", n.Charset)
		}
		if cs != sql.CharacterSet_utf8mb4 && cs != sql.CharacterSet_utf8mb3 {
			x.decode = cs.Encoder().Decode
		}
	}
	return x, nil
}

// openLoadFile opens the client's file, or one of the node's in the directory secure_file_priv.
func openLoadFile(ctx *sql.Context, n *plan.LoadData) (io.ReadCloser, error) {
	if n.Local {
		if _, v, ok := sql.SystemVariables.GetGlobal("local_infile"); !ok || !isOn(v) {
			return nil, mysql.NewSQLError(3948, "42000", "Loading local data is disabled; this must be enabled on both the client and server sides")
		}
		if s, err := sessionOf(ctx); err == nil {
			s.stmt.tookFile = true
		}
		return ctx.LoadInfile(n.File)
	}
	_, v, _ := sql.SystemVariables.GetGlobal("secure_file_priv")
	dir, ok := v.(string)
	if !ok {
		return nil, errSecureFile
	}
	path, err := filepath.EvalSymlinks(n.File)
	if err != nil {
		return nil, mysql.NewSQLError(29, "HY000", "File '%s' not found (%v)", n.File, err)
	}
	if dir != "" {
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return nil, errSecureFile
		}
		if in, err := filepath.Rel(dir, path); err != nil || in == ".." || strings.HasPrefix(in, "../") {
			return nil, errSecureFile
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, mysql.NewSQLError(29, "HY000", "File '%s' not found (%v)", n.File, err)
	}
	return f, nil
}

var errSecureFile = mysql.NewSQLError(1290, "HY000", "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement")

// Close implements sql.RowIter.
func (x *loadRows) Close(*sql.Context) error { return x.file.Close() }

// Next implements sql.RowIter.
func (x *loadRows) Next(ctx *sql.Context) (sql.Row, error) {
	for ; x.skip > 0; x.skip-- {
		if err := x.r.skipTo(x.r.lineEnd); err != nil {
			return nil, err
		}
	}
	fields, err := x.r.line()
	if err != nil {
		return nil, err
	}
	values := make([]any, len(fields))
	for i, f := range fields {
		if x.r.isNull(f) {
			continue
		}
		if x.decode != nil {
			text, ok := x.decode(f.text)
			if !ok {
				return nil, mysql.NewSQLError(1300, "HY000", "Invalid %s character string: '%s'", x.n.Charset, f.text)
			}
			f.text = text
		}
		values[i] = string(f.text)
	}
	return x.row(ctx, values)
}

// row assigns a line's values.
func (x *loadRows) row(ctx *sql.Context, values []any) (sql.Row, error) {
	s := x.n.DestSch
	out, whole := make(sql.Row, len(s)), make(sql.Row, len(s))
	at, used := 0, 0
	type later struct{ at, target int }
	var computed []later
	for i, target := range x.targets {
		given := i < len(values)
		var v any
		if given {
			v = values[i]
		}
		if set, ok := x.n.UserVars[i].(*expression.SetField); ok {
			used = i + 1
			typ := sql.Type(types.LongText)
			if v == nil {
				typ = types.Null
			}
			if err := ctx.SetUserVariable(ctx, set.LeftChild.(*expression.UserVar).Name, v, typ); err != nil {
				return nil, err
			}
			continue
		}
		if target < 0 || at >= len(out) {
			continue
		}
		switch {
		case x.n.SetExprs != nil && x.n.SetExprs[target] != nil:
			if whole[target] = v; given {
				used = i + 1
			}
			computed = append(computed, later{at, target})
		case given:
			used = i + 1
			out[at], whole[target] = v, v
		default: // the line is too short
			used = i + 1
			missing, err := missingValue(ctx, s[target])
			if err != nil {
				return nil, err
			}
			out[at], whole[target] = missing, missing
		}
		at++
	}
	for _, l := range computed {
		v, err := x.n.SetExprs[l.target].Eval(ctx, whole)
		if err != nil {
			return nil, err
		}
		out[l.at], whole[l.target] = v, v
	}
	return out, x.complain(ctx, len(values), used)
}

// missingValue is what a column has of which a line says nothing.
func missingValue(ctx *sql.Context, c *sql.Column) (any, error) {
	if c.Default != nil && (c.Nullable || c.AutoIncrement) {
		return c.Default.Eval(ctx, nil)
	}
	if c.Nullable || c.AutoIncrement {
		return nil, nil
	}
	return c.Type.Zero(), nil
}

// complain warns of lines with other numbers of fields than columns; without IGNORE and LOCAL, in strict mode, they are errors.
func (x *loadRows) complain(ctx *sql.Context, have, want int) error {
	code, text := 0, ""
	switch {
	case have < want:
		code, text = 1261, "Row doesn't contain data for all columns"
	case have > want && want > 0:
		code, text = 1262, "Row was truncated; it contained more data than there were input columns"
	default:
		return nil
	}
	if !x.n.IsIgnore && sql.LoadSqlMode(ctx).Strict() {
		return mysql.NewSQLError(code, "01000", "%s", text)
	}
	ctx.Warn(code, "%s", text)
	return nil
}
