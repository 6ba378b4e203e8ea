package expr

import (
	"fmt"
	"time"
)

// Mode is the part of sql_mode that expressions heed.
type Mode uint32

const (
	StrictTables Mode = 1 << iota // STRICT_TRANS_TABLES or STRICT_ALL_TABLES
	NoZeroDate
	NoZeroInDate
	AllowInvalidDates
	ErrorForDivisionByZero
	NoUnsignedSubtraction
	PipesAsConcat
	HighNotPrecedence
	PadCharToFullLength
	NoBackslashEscapes
	TimeTruncateFractional
)

// Env is what a session and a statement decide about the evaluation of expressions.
type Env struct {
	Mode Mode
	// Zone is the session's time zone.
	Zone *time.Location
	// Now is the time of the statement (NOW()); Clock gives the present (SYSDATE()).
	Now   time.Time
	Clock func() time.Time
	// MaxPacket is max_allowed_packet in bytes: no text becomes longer.
	MaxPacket int
	// DivPrecision is div_precision_increment.
	DivPrecision int
	// GroupConcatMax is group_concat_max_len.
	GroupConcatMax int
	// Collation is collation_connection, DefaultWeekFormat default_week_format, Locale lc_time_names.
	Collation         uint16
	DefaultWeekFormat int
	Locale            string
	// BlockMode is block_encryption_mode.
	BlockMode string
	// Change is true while a statement evaluates what it stores (INSERT, UPDATE, DELETE, LOAD): in strict mode some
	// warnings are errors then. Ignore is true for INSERT IGNORE and UPDATE IGNORE.
	Change, Ignore bool
	// Warn records a warning. Never nil in a session's Env; a nil Env.Warn drops them. Note records what MySQL gives the level Note; nil: Warn does.
	Warn, Note func(code uint16, message string)
	// Interrupted is asked by long loops: an error ends the evaluation. May be nil.
	Interrupted func() error
	// Host is for leaves: the row that is evaluated, and what else the host needs.
	Host any

	failed *Error // see Failed
}

// Strict reports whether what goes wrong while a statement stores something is an error.
func (e *Env) Strict() bool { return e.Change && !e.Ignore && e.Mode&StrictTables != 0 }

// strictStates are the warnings that fail a statement which stores something in strict mode, with their SQLSTATEs.
var strictStates = map[uint16]string{1260: "HY000", 1264: "22003", 1265: "01000", 1292: "22007", 1365: "22012", 1366: "HY000", 1406: "22001",
	1411: "HY000", 1441: "22008", 3020: "2201E", 3156: "22018", 6527: "22008"}

// Warning records a warning. In a statement that stores something in strict mode some warnings are errors: Failed gives the first.
func (e *Env) Warning(code uint16, format string, args ...any) {
	if state, fails := strictStates[code]; fails && e.Strict() {
		if e.failed == nil {
			e.failed = Errorf(code, state, format, args...)
		}
		return
	}
	if e.Warn != nil {
		e.Warn(code, fmt.Sprintf(format, args...))
	}
}

// Failed is the error, if any, that strict mode makes of what the evaluation since the last call warned of. A host asks after each
// evaluation: UPDATE t SET n = '12abc' + 0 fails with 1292, and so does one with WHERE '12abc' = n.
func (e *Env) Failed() error {
	if e.failed == nil {
		return nil
	}
	err := e.failed
	e.failed = nil
	return err
}

// note records a warning that is none in strict mode either.
func (e *Env) note(code uint16, format string, args ...any) {
	if e.Warn != nil {
		e.Warn(code, fmt.Sprintf(format, args...))
	}
}

// remark records what has the level Note, in strict mode, too.
func (e *Env) remark(code uint16, format string, args ...any) {
	if e.Note == nil {
		e.note(code, format, args...)
		return
	}
	e.Note(code, fmt.Sprintf(format, args...))
}

// Poll is to be called in long loops (X4).
func (e *Env) Poll() error {
	if e.Interrupted != nil {
		return e.Interrupted()
	}
	return nil
}

// Error is an error with MySQL's code.
type Error struct {
	Code    uint16
	State   string // SQLSTATE
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Errorf makes an error with MySQL's code and SQLSTATE.
func Errorf(code uint16, state, format string, args ...any) *Error {
	return &Error{Code: code, State: state, Message: fmt.Sprintf(format, args...)}
}

// ErrOutOfRange is 1690: an operation on numbers gave one that its type does not hold. kind is BIGINT, BIGINT UNSIGNED,
// DECIMAL or DOUBLE; text is the expression.
func ErrOutOfRange(kind, text string) *Error {
	return Errorf(1690, "22003", "%s value is out of range in '%s'", kind, text)
}

// StrictOrWarn is a warning, or an error while a statement stores something in strict mode.
func (e *Env) StrictOrWarn(code uint16, state, format string, args ...any) error {
	if e.Strict() {
		return Errorf(code, state, format, args...)
	}
	e.Warning(code, format, args...)
	return nil
}
