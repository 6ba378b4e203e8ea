package engine

import (
	"math"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/txn"
)

// settings are the session's variables that every statement asks for, looked up once after a change of any.
type settings struct {
	autocommit bool
	readOnly   bool
	ordering   txn.Ordering
	asOf       string
	staleness  string
	lockWait   time.Duration
	maxTime    time.Duration // of a SELECT; 0: none
	idle       time.Duration // wait_timeout or interactive_timeout
	idleTx     time.Duration
	// compilable: nothing is set that only the ordinary path heeds.
	compilable bool
	ownPlanner bool // queries are planned by our own packages (query.go)
	// selectLimit is how many rows a SELECT of the client that has no LIMIT gives at most (sql_select_limit).
	selectLimit uint64
	inPlace     bool // rows may be counted where they are (inplace.go)
	plainText   bool // texts are quoted as usual: constants can be taken out of statements
	// noBackslash: NO_BACKSLASH_ESCAPES; a backslash in a text stands for itself.
	noBackslash bool
	zeroIsID    bool // NO_AUTO_VALUE_ON_ZERO
	denseIDs    bool // of new tables
	sqlMode     string
	results     sql.CharacterSetID
}

// compiledVariable says whether the session's statements may be executed by compiled plans.
const compiledVariable = "longitude_compiled"

// settings returns them as they are now.
func (s *Session) settings(ctx *sql.Context) *settings {
	if s.known == nil {
		s.known = s.look(ctx)
	}
	return s.known
}

func (s *Session) look(ctx *sql.Context) *settings {
	value := func(name string) any {
		v, err := s.GetSessionVariable(ctx, name)
		if err != nil {
			return nil
		}
		return v
	}
	text := func(name string) string { t, _ := value(name).(string); return t }
	on := func(name string) bool {
		b, err := sql.ConvertToBool(ctx, value(name))
		return err == nil && b
	}
	k := &settings{autocommit: on(sql.AutoCommitSessionVar), readOnly: isOn(value(readOnlyVariable)), ordering: s.e.o.DefaultOrdering,
		asOf: text(asOfVariable), staleness: text(stalenessVariable), lockWait: lockWait(ctx), sqlMode: text(sql.SqlModeSessionVar),
		results: s.GetCharacterSetResults()}
	if o, err := txn.ParseOrdering(strings.ToLower(text(orderingVariable))); err == nil {
		k.ordering = o
	}
	mode := sql.NewSqlModeFromString(k.sqlMode)
	k.noBackslash = strings.Contains(strings.ToUpper(k.sqlMode), "NO_BACKSLASH_ESCAPES")
	k.plainText = !mode.AnsiQuotes() && !k.noBackslash
	k.denseIDs = !strings.EqualFold(text(idsVariable), idsSpread)
	k.zeroIsID = mode.ModeEnabled(sql.NoAutoValueOnZero)
	whole := func(name string, unit time.Duration) time.Duration {
		n, _, err := types.Int64.Convert(ctx, value(name))
		if v, ok := n.(int64); err == nil && ok && v > 0 && v < int64(math.MaxInt64/unit) {
			return time.Duration(v) * unit
		}
		return 0
	}
	k.maxTime = whole(executionTimeVariable, time.Millisecond)
	k.idle, k.idleTx = whole(waitVariable, time.Second), whole(idleTxVariable, time.Second)
	usual := func(name string) bool { yes, _ := sql.HasDefaultValue(ctx, s, name); return yes }
	k.ownPlanner, k.selectLimit = on(ownPlannerVariable), math.MaxUint64
	if n, _, err := types.Uint64.Convert(ctx, value("sql_select_limit")); err == nil {
		k.selectLimit, _ = n.(uint64)
	}
	k.inPlace = on(inPlaceVariable)
	k.compilable = on(compiledVariable) && on("foreign_key_checks") && on("unique_checks") && usual("sql_select_limit") && usual("time_zone") &&
		k.asOf == "" && k.staleness == "" && !k.noBackslash && strings.HasPrefix(s.GetCollation().Name(), "utf8mb4")
	return k
}

// The variables below change with every commit, and are asked for rarely: they are kept as what they stand for.

// setTimestamp sets such a variable; ok is false if it is another one.
func (s *Session) setTimestamp(name string, value any) (ok bool, err error) {
	at := s.timestamp(name)
	if at == nil {
		return false, nil
	}
	text, isText := value.(string)
	if value == nil {
		isText = true
	}
	if !isText {
		return true, mysql.NewSQLError(1232, "42000", "Incorrect argument type to variable '%s': it is text", name)
	}
	var ts clock.Timestamp
	if text != "" {
		if ts, err = clock.ParseTimestamp(text); err != nil {
			return true, mysql.NewSQLError(1231, "42000", "Variable '%s' can't be set to the value of '%s': %v", name, text, err)
		}
	}
	*at = ts
	return true, nil
}

func (s *Session) timestamp(name string) *clock.Timestamp {
	switch name {
	case tokenVariable:
		return &s.token
	case commitVariable:
		return &s.committed
	}
	return nil
}

func timestampText(ts clock.Timestamp) string {
	if ts.IsZero() {
		return ""
	}
	return ts.String()
}

// GetAllSessionVariables implements sql.Session.
func (s *Session) GetAllSessionVariables() map[string]any {
	all := s.BaseSession.GetAllSessionVariables()
	for _, name := range []string{tokenVariable, commitVariable} {
		all[name] = timestampText(*s.timestamp(name))
	}
	return all
}

// InitSessionVariable implements sql.Session.
func (s *Session) InitSessionVariable(ctx *sql.Context, name string, value any) error {
	s.known = nil
	return s.BaseSession.InitSessionVariable(ctx, name, value)
}

// InitSessionVariableDefault implements sql.Session.
func (s *Session) InitSessionVariableDefault(ctx *sql.Context, name string, value any) error {
	s.known = nil
	return s.BaseSession.InitSessionVariableDefault(ctx, name, value)
}
