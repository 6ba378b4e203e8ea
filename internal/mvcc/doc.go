// Package mvcc lays versions and intents out in the state instance, and reads them at a timestamp. It has no clock, no
// tasks and no state of its own: what it does depends on its arguments and on what is stored.
//
//	M1  A version is committed. Its timestamp is never zero, and versions of a key have different timestamps.
//	M2  A version is written above all others of its key and never changed, moved or removed afterwards. It may name the
//	    transaction that wrote it: then it stands for its record (package eval, V4).
//	M3  A key has at most one intent, kept apart in the lock table with the value it would get.
//	M4  A value is never empty; a deleted key has a tombstone for a version.
//	M5  A read at r with limit g sees the newest version at or below r of each key. It reports, instead of an answer, a
//	    version in (r, g] (rule 1), and foreign intents at or below g that have not been pushed above r.
//	M6  The newest version that an answer depends on is reported with it, tombstones included (rule 2).
//
// Keys are laid out by package storage: the versions of a key lie together, the newest first, so that one seek to the
// limit finds either an uncertain version or the one to read.
package mvcc

import (
	"errors"
	"fmt"
)

// ErrAssertion marks what must never happen: a bug here or above, or a broken store. Nothing has been written then.
var ErrAssertion = errors.New("mvcc: assertion failed")

func assertionf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrAssertion, fmt.Sprintf(format, args...))
}
