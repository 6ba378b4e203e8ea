package engine

import (
	"cmp"
	"hash/crc32"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/routine"
)

// Statements of MySQL's that the parser does not know. Some are other words for what it knows; the others are answered here.

// ownStatement is one of them.
type ownStatement struct {
	instead string // the statement to execute in its place
	discard bool   // its rows are not sent (DO)
	json    bool   // its plan is sent as JSON (EXPLAIN FORMAT=JSON)
	// answer answers without go-mysql-server; nil: it executes instead.
	answer func(x *execution, sc *sql.Context) error
	// changes: it changes the catalog. whole: it is a stored program, which may contain semicolons.
	changes, whole bool
	// keepsConditions: the statement tells of the errors and warnings of the one before.
	keepsConditions bool
	text            string // of one that is whole
	trigger         string // the CREATE TRIGGER that instead stands for
}

// findOwn recognizes the first statement of a text, and returns what is behind it. Nil: it is none of these.
func findOwn(query string) (own *ownStatement, rest string) {
	if strings.HasPrefix(strings.TrimLeft(query, " \t\r\n"), "/*!") {
		query = executedComments(query)
	}
	w := firstWord(query)
	if w.to == 0 {
		return nil, ""
	}
	parse := ownVerbs[strings.ToLower(w.text(query))]
	if parse == nil {
		return nil, ""
	}
	end := endOfStatement(query)
	one := ownText{text: query[:end], whole: query}
	one.words = wordsOf(one.text)
	if own = parse(one); own == nil {
		return nil, ""
	}
	if own.whole {
		end = routine.End(query)
		own.text = query[:end]
	}
	return own, strings.TrimPrefix(query[end:], ";")
}

// executedComments puts spaces in the place of the marks of comments that MySQL executes: /*!50003 and */. Dumps write programs so.
func executedComments(q string) string {
	b := []byte(q)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			b[i] = ' '
		}
	}
	open := false
	for i := 0; i < len(q); {
		switch c := q[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = afterQuote(q, i)
		case c == '#' || strings.HasPrefix(q[i:], "-- "):
			i = after(q, i, "\n")
		case strings.HasPrefix(q[i:], "/*!"):
			from := i
			for i += 3; i < len(q) && '0' <= q[i] && q[i] <= '9'; i++ {
			}
			blank(from, i)
			open = true
		case open && strings.HasPrefix(q[i:], "*/"):
			blank(i, i+2)
			i, open = i+2, false
		case strings.HasPrefix(q[i:], "/*"):
			i = after(q, i+2, "*/")
		default:
			i++
		}
	}
	return string(b)
}

// ownText is a statement and its words.
type ownText struct {
	text  string
	whole string // with what stands behind it
	words []word
}

// word is the nth word in lower case, or "".
func (t ownText) word(n int) string {
	if n >= len(t.words) {
		return ""
	}
	return strings.ToLower(t.words[n].text(t.text))
}

// behind is what follows the nth word.
func (t ownText) behind(n int) string { return strings.TrimSpace(t.text[t.words[n].to:]) }

var ownVerbs = map[string]func(ownText) *ownStatement{
	"do": func(t ownText) *ownStatement {
		return &ownStatement{instead: "SELECT " + t.behind(0), discard: true}
	},
	"explain": explainStatement, "describe": explainStatement, "desc": explainStatement,
	"flush":    flushStatement,
	"check":    tableStatement,
	"optimize": tableStatement,
	"repair":   tableStatement,
	"checksum": tableStatement,
	"lock": func(t ownText) *ownStatement {
		if t.word(1) != "table" && t.word(1) != "tables" {
			return nil
		}
		return &ownStatement{answer: (*execution).lockTables}
	},
	"unlock": func(t ownText) *ownStatement {
		if t.word(1) != "table" && t.word(1) != "tables" {
			return nil
		}
		return &ownStatement{answer: (*execution).unlockTables}
	},
	"show": func(t ownText) *ownStatement {
		if own := cmp.Or(showCreateRoutine(t), showCreateTrigger(t), showCreateViewOf(t), showConditions(t)); own != nil {
			return own
		}
		switch {
		case t.word(1) == "engine" && t.word(2) == "innodb" && t.word(3) == "status":
			return &ownStatement{answer: func(x *execution, sc *sql.Context) error {
				return x.rowsOf(sc, sql.Schema{textColumn("Type"), textColumn("Name"), textColumn("Status")},
					[]sql.Row{{"InnoDB", "", "Longitude keeps the rows; see longitude.transactions, longitude.statements and longitude.ranges"}})
			}}
		case t.word(1) != "open" || t.word(2) != "tables":
			return nil
		}
		return &ownStatement{answer: func(x *execution, sc *sql.Context) error {
			return x.rowsOf(sc, sql.Schema{textColumn("Database"), textColumn("Table"), {Name: "In_use", Type: types.Int64}, {Name: "Name_locked", Type: types.Int64}}, nil)
		}}
	},
}

// explainStatement is what the parser lacks of EXPLAIN: FORMAT=JSON and TRADITIONAL, and DESCRIBE of one column.
func explainStatement(t ownText) *ownStatement {
	if t.word(1) == "format" && strings.HasPrefix(t.behind(1), "=") {
		switch t.word(2) {
		case "json":
			return &ownStatement{instead: "EXPLAIN FORMAT=TREE " + t.behind(2), json: true}
		case "traditional":
			return &ownStatement{instead: "EXPLAIN " + t.behind(2)}
		}
		return nil
	}
	table, rest := cutName(t.behind(0))
	switch strings.ToLower(strings.Trim(table, "`")) {
	case "", "select", "insert", "update", "delete", "replace", "with", "table", "values", "format", "analyze", "extended", "partitions", "plan", "for":
		if !strings.HasPrefix(table, "`") {
			return nil
		}
	}
	if rest == "" || strings.HasPrefix(strings.ToLower(rest), "as of") || strings.HasPrefix(rest, "(") {
		return nil
	}
	switch {
	case strings.HasPrefix(rest, "'"), strings.HasPrefix(rest, `"`):
	case strings.HasPrefix(rest, "`"):
		rest = quoteText(strings.ReplaceAll(strings.Trim(rest, "`"), "``", "`"))
	default:
		rest = quoteText(rest)
	}
	return &ownStatement{instead: "SHOW COLUMNS FROM " + table + " LIKE " + rest}
}

// flushStatement is FLUSH: nothing here has caches or logs that it could be about. What promises that nothing is written meanwhile is
// refused.
func flushStatement(t ownText) *ownStatement {
	lower := strings.ToLower(t.text)
	if strings.Contains(lower, "with read lock") || strings.Contains(lower, "for export") {
		return &ownStatement{answer: func(*execution, *sql.Context) error {
			return mysql.NewSQLError(1235, "42000", "This version of Longitude doesn't yet support 'FLUSH TABLES WITH READ LOCK'; "+
				"a transaction reads all tables as of one time (mysqldump --single-transaction)")
		}}
	}
	return &ownStatement{answer: func(x *execution, _ *sql.Context) error {
		x.out.ok(types.OkResult{})
		return nil
	}}
}

// lockTables is LOCK TABLES: it commits, as in MySQL, and locks nothing: transactions are serializable without. go-mysql-server's own
// refuses databases that are only read, so that mysqldump --all-databases could not go on.
func (x *execution) lockTables(sc *sql.Context) error {
	if err := x.implicitCommit(sc); err != nil {
		return err
	}
	x.s.lockedTables = true
	x.out.ok(types.OkResult{})
	return nil
}

// unlockTables is UNLOCK TABLES, which commits only what LOCK TABLES has begun.
func (x *execution) unlockTables(sc *sql.Context) error {
	if x.s.lockedTables {
		if err := x.implicitCommit(sc); err != nil {
			return err
		}
	}
	x.s.lockedTables = false
	x.out.ok(types.OkResult{})
	return nil
}

// tableStatement is CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE.
func tableStatement(t ownText) *ownStatement {
	at, verb := 1, t.word(0)
	if t.word(at) == "local" || t.word(at) == "no_write_to_binlog" {
		at++
	}
	if t.word(at) != "table" && t.word(at) != "tables" {
		return nil
	}
	var names []string
	for rest := t.behind(at); ; {
		var name string
		if name, rest = cutName(rest); name == "" {
			return nil
		}
		names = append(names, name)
		var more bool
		if rest, more = strings.CutPrefix(strings.TrimSpace(rest), ","); !more {
			break
		}
		rest = strings.TrimSpace(rest)
	}
	return &ownStatement{answer: func(x *execution, sc *sql.Context) error { return x.aboutTables(sc, verb, names) }}
}

// cutName takes a name, perhaps qualified and quoted, off the beginning of a text.
func cutName(s string) (name, rest string) {
	i := 0
	for i < len(s) {
		switch {
		case s[i] == '`':
			i = afterQuote(s, i)
		case isWord(s[i]):
			for i < len(s) && isWord(s[i]) {
				i++
			}
		default:
			return s[:i], strings.TrimSpace(s[i:])
		}
		if i >= len(s) || s[i] != '.' {
			break
		}
		i++
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// splitName takes a qualified name apart.
func splitName(name string) (database, table string) {
	plain := func(s string) string {
		if strings.HasPrefix(s, "`") {
			s = strings.ReplaceAll(strings.Trim(s, "`"), "``", "`")
		}
		return s
	}
	end := 0
	if strings.HasPrefix(name, "`") {
		end = afterQuote(name, 0)
	} else {
		end = strings.IndexByte(name, '.')
	}
	if end < 0 || end >= len(name) {
		return "", plain(name)
	}
	return plain(name[:end]), plain(name[end+1:])
}

// firstWord is the first word of a statement, if it begins with one.
func firstWord(q string) word {
	for i := 0; i < len(q); {
		switch {
		case q[i] == ' ' || q[i] == '\n' || q[i] == '\t' || q[i] == '\r':
			i++
		case q[i] == '#' || strings.HasPrefix(q[i:], "-- "):
			i = after(q, i, "\n")
		case strings.HasPrefix(q[i:], "/*") && !strings.HasPrefix(q[i:], "/*!"):
			i = after(q, i+2, "*/")
		case isWord(q[i]):
			from := i
			for i < len(q) && isWord(q[i]) {
				i++
			}
			return word{from, i}
		default:
			return word{}
		}
	}
	return word{}
}

// endOfStatement is where the first statement of a text ends: at a semicolon, or at the end.
func endOfStatement(q string) int {
	for i := 0; i < len(q); {
		switch c := q[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = afterQuote(q, i)
		case c == '#' || strings.HasPrefix(q[i:], "-- "):
			i = after(q, i, "\n")
		case strings.HasPrefix(q[i:], "/*"):
			i = after(q, i+2, "*/")
		case c == ';':
			return i
		default:
			i++
		}
	}
	return len(q)
}

// attemptOwn answers a statement without go-mysql-server, once.
func (x *execution) attemptOwn(sc *sql.Context, answer func(*execution, *sql.Context) error) (err error) {
	defer x.h.recovered(x.query, &err)
	s := x.s
	s.stmt = &statement{query: x.query, lockUntil: x.lockUntil, kind: x.kind, deferred: true, by: x}
	if s.latest = s.transaction(); s.latest != nil {
		s.latest.startStatement(x.lockUntil)
	}
	if x.own == nil || !x.own.keepsConditions {
		s.ClearWarnings()
	}
	if x.kind == changingCatalog {
		if err := x.lockCatalog(sc); err != nil {
			return err
		}
	}
	if err := answer(x, sc); err != nil {
		return err
	}
	if t := s.transaction(); t != nil && (x.autocommit(sc) || x.kind == changingCatalog) {
		if err := s.CommitTransaction(sc, t); err != nil {
			return err
		}
		s.SetTransaction(nil)
	}
	return x.statementOver()
}

func textColumn(name string) *sql.Column {
	return &sql.Column{Name: name, Type: textType, Nullable: true}
}

// rowsOf answers with rows.
func (x *execution) rowsOf(sc *sql.Context, schema sql.Schema, rows []sql.Row) error {
	x.out.begin(resultFields(sc, schema))
	sending := newRowSender(sc, schema)
	for _, r := range rows {
		values, err := sending.values(sc, r)
		if err != nil {
			return err
		}
		if err := x.out.row(sc, values, x.more); err != nil {
			return err
		}
	}
	return nil
}

// aboutTables answers CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE.
func (x *execution) aboutTables(sc *sql.Context, verb string, names []string) error {
	var out []sql.Row
	for _, name := range names {
		database, table := splitName(name)
		if database == "" {
			database = sc.GetCurrentDatabase()
		}
		if database == "" {
			return sql.ErrNoDatabaseSelected.New()
		}
		full := database + "." + table
		t, ok, err := x.tableNamed(sc, database, table)
		if err != nil {
			return err
		}
		say := func(kind, text string) { out = append(out, sql.Row{full, verb, kind, text}) }
		switch {
		case verb == "checksum" && !ok:
			out = append(out, sql.Row{full, nil})
		case verb == "checksum":
			sum, err := checksum(sc, t)
			if err != nil {
				return err
			}
			out = append(out, sql.Row{full, sum})
		case !ok:
			say("Error", "Table '"+full+"' doesn't exist")
			say("status", "Operation failed")
		case verb == "optimize":
			say("note", "Table does not support optimize, and needs none: what is stored is kept in order")
			say("status", "OK")
		case verb == "repair":
			say("note", "The storage engine for the table doesn't support repair")
		default:
			if err := x.check(sc, t); err != nil {
				say("error", err.Error())
				say("error", "Corrupt")
				continue
			}
			say("status", "OK")
		}
	}
	if verb == "checksum" {
		return x.rowsOf(sc, sql.Schema{textColumn("Table"), {Name: "Checksum", Type: types.Int64, Nullable: true}}, out)
	}
	return x.rowsOf(sc, sql.Schema{textColumn("Table"), textColumn("Op"), textColumn("Msg_type"), textColumn("Msg_text")}, out)
}

// tableNamed finds a table that rows are kept of.
func (x *execution) tableNamed(sc *sql.Context, in, name string) (*table, bool, error) {
	if _, err := x.s.current(sc); err != nil {
		return nil, false, err
	}
	s, err := x.s.schema(sc)
	if err != nil {
		return nil, false, err
	}
	db := s.snap.Database(in)
	if db == nil {
		return nil, false, nil
	}
	d := s.snap.Table(db.ID, name)
	if d == nil {
		return nil, false, nil
	}
	l, err := s.layout(db, d)
	if err != nil {
		return nil, false, err
	}
	return newTable(&database{e: x.h.e, id: db.ID, name: db.Name, collation: db.Collation}, l), true, nil
}

// check compares the indexes of a table with its rows.
func (x *execution) check(sc *sql.Context, t *table) error {
	return checkTable(sc, x.s.transaction().attempt(), t.db.name, t.l.desc)
}

// checksum is a number that is the same for the same rows in any order. It is not MySQL's, which is of its own format of rows.
func checksum(sc *sql.Context, t *table) (int64, error) {
	it, err := t.allRows(sc)
	if err != nil {
		return 0, err
	}
	defer it.Close(sc)
	var sum uint32
	schema := t.Schema(sc)
	for {
		row, err := it.Next(sc)
		if err == io.EOF {
			return int64(sum), nil
		}
		if err != nil {
			return 0, err
		}
		h := crc32.NewIEEE()
		for i, v := range row {
			if v == nil {
				_, _ = h.Write([]byte{0})
				continue
			}
			text, err := schema[i].Type.SQL(sc, nil, v)
			if err != nil {
				return 0, err
			}
			_, _ = h.Write(append([]byte{1}, text.ToBytes()...))
			_, _ = h.Write([]byte{0xff})
		}
		sum += h.Sum32()
	}
}
