package engine

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/routine"
)

// Triggers in SHOW and in information_schema. (go-mysql-server parses their bodies for that, of which it knows less than MySQL.)

// showCreateTrigger is SHOW CREATE TRIGGER.
func showCreateTrigger(t ownText) *ownStatement {
	if t.word(1) != "create" || t.word(2) != "trigger" {
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
		found := false
		err = x.s.eachTrigger(sc, func(db *catalog.Database, kept catalog.Trigger, prog *routine.Program, _ int) error {
			if found || !strings.EqualFold(db.Name, database) || !strings.EqualFold(kept.Name, name) {
				return nil
			}
			found = true
			text := "CREATE DEFINER=" + quotedDefiner(triggerDefiner(prog)) + " TRIGGER `" + prog.Name + "` " + prog.Time + " " + prog.Event + " ON `" + prog.Table +
				"` FOR EACH ROW " + prog.BodyText
			stamp := &sql.Column{Name: "Created", Type: types.MustCreateDatetimeType(sqltypes.Timestamp, 2), Nullable: true}
			return x.rowsOf(sc, sql.Schema{textColumn("Trigger"), textColumn("sql_mode"), textColumn("SQL Original Statement"), textColumn("character_set_client"),
				textColumn("collation_connection"), textColumn("Database Collation"), stamp},
				[]sql.Row{{prog.Name, kept.SQLMode, text, routineClient, routineConnection, db.Collation, time.Unix(0, kept.Created).UTC()}})
		})
		if err == nil && !found {
			err = mysql.NewSQLError(1360, "HY000", "Trigger does not exist")
		}
		return err
	}}
}

func triggerDefiner(prog *routine.Program) string {
	if prog.Definer == "" {
		return "root@localhost"
	}
	return definerOf(nil, prog.Definer)
}

// shownTriggers is SHOW TRIGGERS as a query; "": the text is none.
func shownTriggers(query string) string {
	words := wordsOf(query)
	is := func(i int, w string) bool { return i < len(words) && words[i].is(query, w) }
	at := 1
	if is(at, "full") {
		at++
	}
	if !is(0, "show") || !is(at, "triggers") {
		return ""
	}
	end := endOfStatement(query)
	rest, behind := strings.TrimSpace(query[words[at].to:end]), query[end:]
	database := "DATABASE()"
	if is(at+1, "from") || is(at+1, "in") {
		var name string
		if name, rest = cutName(strings.TrimSpace(query[words[at+1].to:end])); name == "" {
			return ""
		}
		_, name = splitName(name)
		database = quoteText(name)
	}
	where := ""
	switch w := firstWord(rest); {
	case w.is(rest, "like"):
		where = " WHERE `Table` " + rest
	case w.is(rest, "where"):
		where = " " + rest
	case rest != "":
		return ""
	}
	return "SELECT * FROM (SELECT TRIGGER_NAME AS `Trigger`, EVENT_MANIPULATION AS `Event`, EVENT_OBJECT_TABLE AS `Table`, ACTION_STATEMENT AS `Statement`, " +
		"ACTION_TIMING AS `Timing`, CREATED AS `Created`, SQL_MODE AS sql_mode, DEFINER AS `Definer`, CHARACTER_SET_CLIENT AS character_set_client, " +
		"COLLATION_CONNECTION AS collation_connection, DATABASE_COLLATION AS `Database Collation` FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = " +
		database + " ORDER BY EVENT_OBJECT_TABLE, EVENT_MANIPULATION, ACTION_TIMING DESC, ACTION_ORDER) t" + where + behind
}

// triggerRowsShown are information_schema.TRIGGERS.
func triggerRowsShown(sc *sql.Context) (out []sql.Row, err error) {
	s, err := sessionOf(sc)
	if err != nil {
		return nil, err
	}
	err = s.eachTrigger(sc, func(db *catalog.Database, kept catalog.Trigger, prog *routine.Program, order int) error {
		out = append(out, sql.Row{"def", db.Name, prog.Name, prog.Event, "def", db.Name, prog.Table, uint32(order), nil, prog.BodyText, "ROW", prog.Time, nil, nil,
			"OLD", "NEW", time.Unix(0, kept.Created).UTC(), kept.SQLMode, triggerDefiner(prog), routineClient, routineConnection, db.Collation})
		return nil
	})
	return out, err
}

// eachTrigger calls fn for all triggers, with their places among those of the same table, time and event.
func (s *Session) eachTrigger(sc *sql.Context, fn func(db *catalog.Database, kept catalog.Trigger, prog *routine.Program, order int) error) error {
	s.e.used(sc, (*uses).everything)
	now, err := s.schema(sc)
	if err != nil {
		return err
	}
	for _, db := range now.snap.Databases() {
		for _, kept := range db.Triggers {
			prog, err := routine.Parse(plainComments(kept.Create), sql.NewSqlModeFromString(kept.SQLMode).AnsiQuotes())
			if err != nil {
				return clientSide(err)
			}
			order := 1
			if t := now.snap.Base(db.ID, prog.Table); t != nil {
				l, err := now.layout(db, t)
				if err != nil {
					return err
				}
				all, err := s.rowTriggers(sc, db.Name, l, prog.Time, prog.Event)
				if err != nil {
					return err
				}
				for i, o := range all {
					if o.prog.kept.Name == kept.Name {
						order = i + 1
					}
				}
			}
			if err := fn(db, kept, prog, order); err != nil {
				return err
			}
		}
	}
	return nil
}
