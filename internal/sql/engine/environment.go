package engine

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// environment is what a session decides about the evaluation of expressions. It is the same throughout a statement.
func environment(ctx *sql.Context) *expr.Env {
	s, err := sessionOf(ctx)
	if err != nil {
		return newEnvironment(ctx)
	}
	if s.stmt.env == nil || s.stmt.envOf != ctx {
		s.stmt.env, s.stmt.envOf = newEnvironment(ctx), ctx
	}
	e := *s.stmt.env
	return &e
}

func newEnvironment(ctx *sql.Context) *expr.Env {
	e := &expr.Env{
		Mode:           expressionMode(ctx),
		Zone:           time.UTC,
		Now:            ctx.QueryTime(),
		Clock:          time.Now,
		MaxPacket:      64 << 20,
		DivPrecision:   4,
		GroupConcatMax: 1024,
		Collation:      uint16(ctx.GetCollation()),
		Warn:           func(code uint16, message string) { ctx.Warn(int(code), "%s", message) },
		Note: func(code uint16, message string) {
			ctx.Session.Warn(&sql.Warning{Level: "Note", Code: int(code), Message: message})
		},
		Interrupted: func() error { return interrupted(ctx) },
	}
	if n, ok := integerVariable(ctx, "max_allowed_packet"); ok {
		e.MaxPacket = int(n)
	}
	if n, ok := integerVariable(ctx, "div_precision_increment"); ok {
		e.DivPrecision = int(n)
	}
	if n, ok := integerVariable(ctx, "group_concat_max_len"); ok {
		e.GroupConcatMax = int(n)
	}
	if n, ok := integerVariable(ctx, "default_week_format"); ok {
		e.DefaultWeekFormat = int(n)
	}
	if v, err := ctx.GetSessionVariable(ctx, "block_encryption_mode"); err == nil {
		e.BlockMode, _ = v.(string)
	}
	if v, err := ctx.GetSessionVariable(ctx, "lc_time_names"); err == nil {
		e.Locale, _ = v.(string)
	}
	if z, err := sessionZone(ctx); err == nil {
		e.Zone = z
	}
	if s, err := sessionOf(ctx); err == nil {
		e.Change = s.stmt.kind == writing
	}
	return e
}

func integerVariable(ctx *sql.Context, name string) (int64, bool) {
	v, err := ctx.GetSessionVariable(ctx, name)
	if err != nil {
		return 0, false
	}
	switch n := v.(type) {
	case int64:
		return n, true
	case uint64:
		return int64(min(n, 1<<62)), true
	case int:
		return int64(n), true
	case int32:
		return int64(n), true
	case uint32:
		return int64(n), true
	case int8:
		return int64(n), true
	case int16:
		return int64(n), true
	case uint8:
		return int64(n), true
	}
	return 0, false
}

// sessionZone is the session's time zone.
func sessionZone(ctx *sql.Context) (*time.Location, error) {
	name, err := ctx.GetSessionVariable(ctx, "time_zone")
	if err != nil {
		return nil, err
	}
	s, _ := name.(string)
	if s == "" || s == "SYSTEM" {
		return time.UTC, nil
	}
	if z, ok := offsetZone(s); ok {
		return z, nil
	}
	return time.LoadLocation(s)
}

// offsetZone is a zone written as an offset: +05:30.
func offsetZone(s string) (*time.Location, bool) {
	if len(s) < 5 || s[0] != '+' && s[0] != '-' {
		return nil, false
	}
	t, err := time.Parse("-07:00", s)
	if err != nil {
		return nil, false
	}
	_, seconds := t.Zone()
	return time.FixedZone(s, seconds), true
}

var modeNames = []struct {
	name string
	mode expr.Mode
}{
	{"STRICT_TRANS_TABLES", expr.StrictTables}, {"STRICT_ALL_TABLES", expr.StrictTables}, {"TRADITIONAL", expr.StrictTables | expr.NoZeroDate | expr.NoZeroInDate | expr.ErrorForDivisionByZero},
	{"NO_ZERO_DATE", expr.NoZeroDate}, {"NO_ZERO_IN_DATE", expr.NoZeroInDate}, {"ALLOW_INVALID_DATES", expr.AllowInvalidDates},
	{"ERROR_FOR_DIVISION_BY_ZERO", expr.ErrorForDivisionByZero}, {"NO_UNSIGNED_SUBTRACTION", expr.NoUnsignedSubtraction},
	{"PIPES_AS_CONCAT", expr.PipesAsConcat}, {"HIGH_NOT_PRECEDENCE", expr.HighNotPrecedence}, {"PAD_CHAR_TO_FULL_LENGTH", expr.PadCharToFullLength},
	{"NO_BACKSLASH_ESCAPES", expr.NoBackslashEscapes}, {"TIME_TRUNCATE_FRACTIONAL", expr.TimeTruncateFractional},
}

// expressionMode is the part of sql_mode that expressions heed.
func expressionMode(ctx *sql.Context) (m expr.Mode) {
	set := sql.LoadSqlMode(ctx)
	for _, n := range modeNames {
		if set.ModeEnabled(n.name) {
			m |= n.mode
		}
	}
	return m
}
