package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/routine"
)

// Procedures and functions in the catalog: CREATE, ALTER, DROP and SHOW CREATE. go-mysql-server knows nothing of them.

func init() {
	ownVerbs["create"] = createRoutine
	ownVerbs["alter"] = alterRoutine
}

// createRoutine is CREATE PROCEDURE and CREATE FUNCTION.
func createRoutine(t ownText) *ownStatement {
	kind, _ := routineWord(t)
	switch kind {
	case "":
		return nil
	case "trigger":
		return createTrigger(t.whole)
	}
	return &ownStatement{changes: true, whole: true, answer: (*execution).createRoutine}
}

// routineWord is PROCEDURE or FUNCTION in lower case and its place, if the statement is about one.
func routineWord(t ownText) (kind string, at int) {
	for i := 1; i < len(t.words); i++ {
		switch w := t.word(i); w {
		case "procedure", "function", "trigger":
			return w, i
		case "definer", "aggregate":
		case "table", "view", "index", "unique", "database", "schema", "user", "role", "event", "temporary", "or", "fulltext", "spatial",
			"server", "tablespace", "undo", "logfile", "resource", "as", "begin", "select", "sql", "algorithm":
			return "", 0
		}
		if i > 6 {
			return "", 0
		}
	}
	return "", 0
}

func routineKind(function bool) routine.Kind {
	if function {
		return routine.Function
	}
	return routine.Procedure
}

// createRoutine creates a procedure or function. What cannot be parsed now is refused now.
func (x *execution) createRoutine(sc *sql.Context) error {
	prog, err := routine.Parse(strings.TrimSpace(x.own.text), sql.LoadSqlMode(sc).AnsiQuotes())
	if err != nil {
		if own, ok := err.(*expr.Error); ok && own.Code == 1320 && sc.GetCurrentDatabase() != "" && !strings.Contains(own.Message, ".") {
			at := strings.LastIndexByte(own.Message, ' ') + 1
			err = expr.Errorf(1320, "42000", "%s%s.%s", own.Message[:at], sc.GetCurrentDatabase(), own.Message[at:])
		}
		return clientSide(err)
	}
	if err := x.checkRoutine(sc, prog); err != nil {
		return err
	}
	now := x.h.e.now().UnixNano()
	kept := catalog.Procedure{Function: prog.Kind == routine.Function, Name: prog.Name, Definer: definerOf(sc, prog.Definer), Create: routineText(prog),
		Created: now, Modified: now, SQLMode: x.s.settings(sc).sqlMode}
	database, err := x.routineDatabase(sc, prog.Database)
	if err != nil {
		return err
	}
	taken := false
	err = x.changeRoutines(sc, database, func(desc *catalog.Database) error {
		if findRoutine(desc, prog.Name, kept.Function) < 0 {
			desc.Procedures = append(desc.Procedures, kept)
			return nil
		}
		if taken = true; prog.IfNotExists {
			return nil
		}
		return mysql.NewSQLError(1304, "42000", "%s %s already exists", kindNames[prog.Kind], prog.Name)
	})
	if err != nil {
		return err
	}
	if taken {
		x.s.Warn(&sql.Warning{Level: "Note", Code: 1304, Message: fmt.Sprintf("%s %s already exists", kindNames[prog.Kind], prog.Name)})
	}
	x.out.ok(types.OkResult{})
	return nil
}

// checkRoutine refuses types that variables cannot have.
func (x *execution) checkRoutine(sc *sql.Context, prog *routine.Program) error {
	for _, a := range prog.Params {
		if _, err := x.typeNamed(sc, a.Type); err != nil {
			return err
		}
	}
	if prog.Kind != routine.Function {
		return nil
	}
	_, err := x.typeNamed(sc, prog.Returns)
	return err
}

// routineText is a program as it is kept: without its DEFINER, and with its characteristics in MySQL's order.
func routineText(p *routine.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE %s `%s`(%s)", kindNames[p.Kind], strings.ReplaceAll(p.Name, "`", "``"), p.ParamText)
	if p.Kind == routine.Function {
		b.WriteString(" RETURNS " + p.Returns)
	}
	b.WriteString("\n")
	if p.Deterministic {
		b.WriteString("    DETERMINISTIC\n")
	}
	if p.Access != "" && p.Access != "CONTAINS SQL" {
		b.WriteString("    " + p.Access + "\n")
	}
	if p.Invoker {
		b.WriteString("    SQL SECURITY INVOKER\n")
	}
	if p.Comment != "" {
		b.WriteString("    COMMENT " + quoteText(p.Comment) + "\n")
	}
	b.WriteString(p.BodyText)
	return b.String()
}

// definerOf is user@host: as it is written, or the session's.
func definerOf(sc *sql.Context, written string) string {
	if written == "" || strings.HasPrefix(strings.ToLower(written), "current_user") {
		c := sc.Session.Client()
		return c.User + "@" + c.Address
	}
	return strings.NewReplacer("`", "", "'", "", `"`, "", " ", "").Replace(written)
}

func quotedDefiner(d string) string {
	user, host, _ := strings.Cut(d, "@")
	return "`" + user + "`@`" + host + "`"
}

func findRoutine(desc *catalog.Database, name string, function bool) int {
	return slices.IndexFunc(desc.Procedures, func(p catalog.Procedure) bool { return p.Function == function && strings.EqualFold(p.Name, name) })
}

// routineDatabase is the database that a statement names, or the current one.
func (x *execution) routineDatabase(sc *sql.Context, named string) (string, error) {
	if named == "" {
		named = sc.GetCurrentDatabase()
	}
	if named == "" {
		return "", mysql.NewSQLError(1046, "3D000", "No database selected")
	}
	return named, nil
}

// changeRoutines lets fn change a copy of a database's descriptor.
func (x *execution) changeRoutines(sc *sql.Context, database string, fn func(*catalog.Database) error) error {
	t, err := ddl(sc)
	if err != nil {
		return err
	}
	desc := t.edit.Snapshot().Database(database)
	if desc == nil {
		return mysql.NewSQLError(1049, "42000", "Unknown database '%s'", database)
	}
	desc = catalog.Clone(desc)
	if err := fn(desc); err != nil {
		return err
	}
	return t.edit.PutDatabase(desc)
}

// alterRoutine is ALTER PROCEDURE and ALTER FUNCTION, which change characteristics.
func alterRoutine(t ownText) *ownStatement {
	if w := t.word(1); w != "procedure" && w != "function" {
		return nil
	}
	name, rest := cutName(t.behind(1))
	if name == "" {
		return nil
	}
	function := t.word(1) == "function"
	return &ownStatement{changes: true, answer: func(x *execution, sc *sql.Context) error { return x.alterRoutine(sc, name, function, rest) }}
}

func (x *execution) alterRoutine(sc *sql.Context, qualified string, function bool, characteristics string) error {
	named, name := splitName(qualified)
	database, err := x.routineDatabase(sc, named)
	if err != nil {
		return err
	}
	err = x.changeRoutines(sc, database, func(desc *catalog.Database) error {
		at := findRoutine(desc, name, function)
		if at < 0 {
			return errNoRoutine(routineKind(function), database, name)
		}
		kept := &desc.Procedures[at]
		prog, err := routine.Parse(kept.Create, sql.NewSqlModeFromString(kept.SQLMode).AnsiQuotes())
		if err != nil {
			return clientSide(err)
		}
		if err := prog.Alter(characteristics); err != nil {
			return clientSide(err)
		}
		kept.Create, kept.Modified = routineText(prog), x.h.e.now().UnixNano()
		return nil
	})
	if err == nil {
		x.out.ok(types.OkResult{})
	}
	return err
}

func errNoRoutine(kind routine.Kind, database, name string) error {
	return mysql.NewSQLError(1305, "42000", "%s %s.%s does not exist", kindNames[kind], database, name)
}

// dropRoutine is DROP PROCEDURE and DROP FUNCTION.
func dropRoutine(t ownText) *ownStatement {
	if t.word(1) == "prepare" {
		return deallocateStatement(t)
	}
	if w := t.word(1); w != "procedure" && w != "function" {
		return nil
	}
	function, at := t.word(1) == "function", 1
	ifExists := t.word(2) == "if" && t.word(3) == "exists"
	if ifExists {
		at = 3
	}
	name, rest := cutName(t.behind(at))
	if name == "" || rest != "" {
		return nil
	}
	return &ownStatement{changes: true, answer: func(x *execution, sc *sql.Context) error {
		return x.dropRoutine(sc, name, function, ifExists)
	}}
}

func (x *execution) dropRoutine(sc *sql.Context, qualified string, function, ifExists bool) error {
	named, name := splitName(qualified)
	database, err := x.routineDatabase(sc, named)
	if err != nil {
		return err
	}
	err = x.changeRoutines(sc, database, func(desc *catalog.Database) error {
		at := findRoutine(desc, name, function)
		if at < 0 {
			return errNoRoutine(routineKind(function), database, name)
		}
		desc.Procedures = slices.Delete(desc.Procedures, at, at+1)
		return nil
	})
	if own, ok := err.(*mysql.SQLError); ok && own.Num == 1049 {
		err = errNoRoutine(routineKind(function), database, name)
	}
	if own, ok := err.(*mysql.SQLError); ok && ifExists && own.Num == 1305 {
		x.s.Warn(&sql.Warning{Level: "Note", Code: 1305, Message: own.Message})
		err = nil
	}
	if err == nil {
		x.out.ok(types.OkResult{})
	}
	return err
}

// The columns that SHOW and information_schema end with.
const (
	routineClient     = "utf8mb4"
	routineConnection = "utf8mb4_0900_ai_ci"
)

// showCreateRoutine is SHOW CREATE PROCEDURE and SHOW CREATE FUNCTION.
func showCreateRoutine(t ownText) *ownStatement {
	function := t.word(2) == "function"
	if t.word(1) != "create" || !function && t.word(2) != "procedure" {
		return nil
	}
	qualified, rest := cutName(t.behind(2))
	if qualified == "" || rest != "" {
		return nil
	}
	return &ownStatement{answer: func(x *execution, sc *sql.Context) error {
		named, name := splitName(qualified)
		database, err := x.routineDatabase(sc, named)
		if err != nil {
			return err
		}
		prog, err := x.s.storedProgram(sc, database, name, routineKind(function))
		if err != nil {
			return mysql.NewSQLError(1305, "42000", "%s %s does not exist", kindNames[routineKind(function)], name)
		}
		kind := "Procedure"
		text := strings.Replace(prog.kept.Create, "CREATE ", "CREATE DEFINER="+quotedDefiner(prog.kept.Definer)+" ", 1)
		if function {
			kind = "Function"
			returns, err := x.s.e.typeText(sc, prog.Returns)
			if err != nil {
				return err
			}
			text = strings.Replace(text, ") RETURNS "+prog.Returns+"\n", ") RETURNS "+returnText(returns)+"\n", 1)
		}
		collation := ""
		if s, err := x.s.schema(sc); err == nil && s.snap.Database(prog.database) != nil {
			collation = s.snap.Database(prog.database).Collation
		}
		return x.rowsOf(sc, sql.Schema{textColumn(kind), textColumn("sql_mode"), textColumn("Create " + kind), textColumn("character_set_client"),
			textColumn("collation_connection"), textColumn("Database Collation")},
			[]sql.Row{{prog.Name, prog.kept.SQLMode, text, routineClient, routineConnection, collation}})
	}}
}

// returnText is the type of a function's value as SHOW CREATE FUNCTION has it.
func returnText(t sql.Type) string {
	text := plainTypeText(t)
	if s, ok := t.(sql.StringType); ok && s.Collation() != sql.Collation_binary {
		text += " CHARSET " + s.Collation().CharacterSet().Name()
	}
	return text
}

// statusOfRoutines is SHOW PROCEDURE STATUS and SHOW FUNCTION STATUS as a query; "": the text is none.
func statusOfRoutines(query string) string {
	words := wordsOf(query)
	is := func(i int, w string) bool { return i < len(words) && words[i].is(query, w) }
	if !is(0, "show") || !is(1, "procedure") && !is(1, "function") || !is(2, "status") {
		return ""
	}
	end := endOfStatement(query)
	rest, behind := strings.TrimSpace(query[words[2].to:end]), query[end:]
	kind := strings.ToUpper(words[1].text(query))
	where := ""
	switch {
	case is(3, "like"):
		where = " WHERE Name " + rest
	case is(3, "where"):
		where = " " + rest
	case rest != "":
		return ""
	}
	return "SELECT * FROM (SELECT ROUTINE_SCHEMA AS Db, ROUTINE_NAME AS Name, ROUTINE_TYPE AS Type, 'SQL' AS Language, DEFINER AS Definer, LAST_ALTERED AS Modified, " +
		"CREATED AS Created, SECURITY_TYPE AS Security_type, ROUTINE_COMMENT AS Comment, CHARACTER_SET_CLIENT AS character_set_client, " +
		"COLLATION_CONNECTION AS collation_connection, DATABASE_COLLATION AS `Database Collation` FROM information_schema.ROUTINES " +
		"WHERE ROUTINE_TYPE = '" + kind + "') r" + where + " ORDER BY Db, Name" + behind
}

// routineRows are information_schema.ROUTINES.
func routineRows(sc *sql.Context) (out []sql.Row, err error) {
	err = eachRoutine(sc, func(p *storedProgram, collation string) error {
		access, deterministic, security := p.Access, "NO", "DEFINER"
		if access == "" {
			access = "CONTAINS SQL"
		}
		if p.Deterministic {
			deterministic = "YES"
		}
		if p.Invoker {
			security = "INVOKER"
		}
		described := []any{"", nil, nil, nil, nil, nil, nil, nil, nil}
		if p.Kind == routine.Function {
			if described, err = routineType(sc, p.Returns); err != nil {
				return err
			}
		}
		row := sql.Row{p.Name, "def", p.database, p.Name, kindNames[p.Kind]}
		row = append(row, described...)
		out = append(out, append(row, "SQL", p.BodyText, nil, "SQL", "SQL", deterministic, access, nil, security, time.Unix(0, p.kept.Created).UTC(),
			time.Unix(0, p.kept.Modified).UTC(), p.kept.SQLMode, p.Comment, p.kept.Definer, routineClient, routineConnection, collation))
		return nil
	})
	return out, err
}

// parameterRows are information_schema.PARAMETERS.
func parameterRows(sc *sql.Context) (out []sql.Row, err error) {
	err = eachRoutine(sc, func(p *storedProgram, _ string) error {
		add := func(position uint64, mode, name any, typ string) error {
			described, err := routineType(sc, typ)
			if err == nil {
				out = append(out, append(append(sql.Row{"def", p.database, p.Name, position, mode, name}, described...), kindNames[p.Kind]))
			}
			return err
		}
		if p.Kind == routine.Function {
			if err := add(0, nil, nil, p.Returns); err != nil {
				return err
			}
		}
		for i, a := range p.Params {
			if err := add(uint64(i+1), [...]string{"IN", "OUT", "INOUT"}[a.Mode], a.Name, a.Type); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func eachRoutine(sc *sql.Context, fn func(p *storedProgram, collation string) error) error {
	s, err := sessionOf(sc)
	if err != nil {
		return err
	}
	s.e.used(sc, (*uses).everything)
	now, err := s.schema(sc)
	if err != nil {
		return err
	}
	for _, db := range now.snap.Databases() {
		for _, kept := range db.Procedures {
			p, err := s.e.parsedProgram(sc, db.Name, kept)
			if err != nil {
				return err
			}
			if err := fn(p, db.Collation); err != nil {
				return err
			}
		}
	}
	return nil
}

// routineType is what information_schema says of a type: name, characters, bytes, precision, scale, digits of a second, character set, collation,
// and the type as it is declared.
func routineType(sc *sql.Context, text string) ([]any, error) {
	s, err := sessionOf(sc)
	if err != nil {
		return nil, err
	}
	t, err := s.e.typeText(sc, text)
	if err != nil {
		return nil, err
	}
	full := plainTypeText(t)
	name := full
	if i := strings.IndexAny(name, "( "); i >= 0 {
		name = name[:i]
	}
	out := []any{name, nil, nil, nil, nil, nil, nil, nil, full}
	switch t := t.(type) {
	case sql.StringType:
		out[1], out[2] = t.MaxCharacterLength(), t.MaxByteLength()
		if t.Collation() != sql.Collation_binary {
			out[6], out[7] = t.Collation().CharacterSet().Name(), t.Collation().Name()
		}
	case sql.DecimalType:
		out[3], out[4] = uint32(t.Precision()), int64(t.Scale())
	case sql.DatetimeType:
		if name != "date" {
			out[5] = uint32(t.Precision())
		}
	default:
		switch digits := map[string]uint32{"tinyint": 3, "smallint": 5, "mediumint": 7, "int": 10, "bigint": 19, "float": 12, "double": 22}[name]; {
		case name == "bigint" && strings.HasSuffix(full, "unsigned"):
			out[3], out[4] = uint32(20), int64(0)
		case name == "float" || name == "double":
			out[3] = digits
		case digits > 0:
			out[3], out[4] = digits, int64(0)
		case name == "time":
			out[5] = uint32(0)
		}
	}
	return out, nil
}
