package txn

import (
	"context"
	"errors"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// Ordering chooses how a transaction takes its timestamps from its first clock reading (rule 1). Both orderings may run
// side by side.
type Ordering uint8

const (
	// Wait reads and commits at the reading's latest end: strictly serializable.
	Wait Ordering = iota
	// Uncertainty reads at the earliest end and is pulled up by versions that might be past already: serializable, and
	// linearizable per key, but the order of timestamps need not be the order in which disjoint transactions ended.
	Uncertainty
)

func (o Ordering) String() string {
	if o == Uncertainty {
		return "uncertainty"
	}
	return "wait"
}

// ParseOrdering reads what String writes.
func ParseOrdering(s string) (Ordering, error) {
	switch s {
	case "wait":
		return Wait, nil
	case "uncertainty":
		return Uncertainty, nil
	}
	return Wait, errors.New("unknown ordering " + s + ": it is `wait` or `uncertainty`")
}

// Options of one transaction. The zero value is a transaction of `wait` ordering that may write.
type Options struct {
	Ordering Ordering
	// ReadOnly refuses writes, and needs no record of what was read where nothing can ask for a refresh.
	ReadOnly bool
	// Past has the transaction read in the past; it is ReadOnly then.
	Past Past
	// OwnReading: leaseholders do not place the transaction (fresh.go), however poor this node's clock is. It is for
	// comparison.
	OwnReading bool
	// Name appears in logs.
	Name string
	// AgeOf is the Age of the attempt that this transaction repeats. An older transaction wins conflicts, so keeping
	// the age is what lets a retried transaction finish. Zero: a new one.
	AgeOf clock.Timestamp
	// Locks of the attempt that this transaction repeats (Txn.HandOver): it has kept its turn.
	Locks *Locks
	// StatsOf the attempt that this transaction repeats: they are counted on.
	StatsOf TxnStats
}

// KeyValue is a row that was read.
type KeyValue struct {
	Key   kv.Key
	Value []byte
}

// ScanOptions of a Scanner.
type ScanOptions struct {
	Limit   int  // at most so many rows; 0: all
	Reverse bool // from the span's end to its start
	// Page is how many rows are read at first; 0: some hundred. Where few of the rows may be wanted, few should be locked.
	Page int
	Lock Lock
}

// Savepoint is a moment between two writes of a transaction.
type Savepoint struct{ seq uint64 }

// Retryable reports whether the transaction that returned the error must be repeated from its beginning, and may be. The
// transaction is finished then.
func Retryable(err error) bool {
	var e *kv.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case kv.ErrUncertain, kv.ErrRetryAt, kv.ErrRefresh, kv.ErrAborted, kv.ErrConflict, kv.ErrTooOld, kv.ErrWaited:
		return true
	}
	return false
}

// Func is the body of a transaction that Run may have to repeat.
type Func = func(ctx context.Context, t *Txn) error
