package kv

import (
	"fmt"

	"github.com/longitude-db/longitude/clock"
)

// Code says what a caller can do about an Error.
type Code uint8

// The codes. "Retried by route" means that no caller above route sees it unless its time is up.
const (
	ErrInternal       Code = iota // a bug or a broken store: give up
	ErrNotLeaseholder             // retried by route; Leaseholder is a hint
	ErrRangeMismatch              // retried by route with Descriptors
	ErrUnavailable                // not executed: no lease, no quorum, stopping; retried by route
	ErrAmbiguous                  // may or may not have been executed; the same request may be sent again
	ErrUncertain                  // a version in (r, g]: read again at TS (rule 1)
	ErrRetryAt                    // a write must land at or above TS: refresh to it and send again
	ErrRefresh                    // something changed in (From, To] at Key: restart the transaction
	ErrAborted                    // the transaction's record says aborted: restart it
	ErrCondition                  // MustNotExist failed at Key; TS is the version that exists (rule 2 is owed for it)
	ErrConflict                   // gave way to an older transaction: restart
	ErrTooOld                     // the transaction is older than records are kept for: restart
	ErrFenced                     // the node's clock is not good enough to serve
	ErrLocked                     // another transaction holds a lock on Key, and the request does not wait (LockNoWait)
	ErrLockWait                   // waited long for a lock on Key that another transaction holds: ask again, or give up
	ErrFuture                     // a read was asked for at a time that cannot be read at
	ErrWaited                     // a write waited long at Key for a lock or an older transaction: restart, or give up
	ErrTooLarge                   // the transaction is larger than one may be: split the work
	ErrTooEarly                   // not executed: the leaseholder's lease does not reach TS yet; route asks it again
)

var codeNames = [...]string{"internal", "not leaseholder", "range mismatch", "unavailable", "ambiguous", "uncertain",
	"retry at", "refresh failed", "aborted", "condition failed", "conflict", "too old", "fenced", "locked",
	"lock wait", "no such time", "waited for a lock", "too large", "too early"}

func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// Error is a range's refusal. Callers branch on Code alone.
type Error struct {
	Code        Code              `msg:"c"`
	Msg         string            `msg:"m,omitempty"`
	Key         Key               `msg:"k,omitempty"`
	TS          clock.Timestamp   `msg:"t"`
	Observed    clock.Timestamp   `msg:"o"` // with ErrUncertain, as in ReadResponse
	Node        NodeID            `msg:"n,omitempty"`
	Leaseholder NodeID            `msg:"l,omitempty"`
	Descriptors []RangeDescriptor `msg:"d,omitempty"`
}

func (e *Error) Error() string {
	s := e.Code.String()
	if e.Msg != "" {
		s += ": " + e.Msg
	}
	if len(e.Key) > 0 {
		s += fmt.Sprintf(" (key %s)", e.Key)
	}
	if !e.TS.IsZero() {
		s += fmt.Sprintf(" (at %s)", e.TS)
	}
	return s
}

// Errorf makes an Error.
func Errorf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Msg: fmt.Sprintf(format, args...)}
}
