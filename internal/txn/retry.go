package txn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
)

const (
	firstRetry = time.Millisecond
	lastRetry  = 100 * time.Millisecond
)

// Run begins a transaction, calls fn with it and commits. An attempt that fails for a reason that a repetition can cure is
// repeated, with the age of the first one, until DBOptions.Limit has passed; so fn may be called several times and keeps
// nothing of an earlier call. After Txn.SentRows the error is returned instead: only the client can repeat then.
//
// When Run returns, rule 2 is paid, also for an error: it may tell of what was read.
func (db *DB) Run(ctx context.Context, o Options, fn Func) error {
	deadline := db.o.RT.Now() + db.o.Limit
	ctx = route.WithDeadline(ctx, deadline)
	for try := 0; ; try++ {
		t, began := db.Begin(o), db.o.RT.Now()
		err := fn(ctx, t)
		again := err != nil && t.lost()
		if err == nil {
			// What the commit says counts, and not why it came to say so: that the outcome is unknown often begins with
			// something that a repetition would have cured.
			if err = t.Commit(ctx); err == nil {
				return nil
			}
		}
		again = (again || Retryable(err)) && !t.sentRows()
		if again {
			o.AgeOf, o.Locks, o.StatsOf = t.Age(), t.HandOver(), t.Stats()
		}
		t.Rollback(ctx)
		if !again {
			if werr := t.Release(ctx); werr != nil {
				return werr
			}
			return err
		}
		if ctx.Err() != nil {
			o.Locks.End()
			return kv.Errorf(kv.ErrUnavailable, "cancelled by the caller after %d attempts; last: %v", try+1, err)
		}
		if db.o.RT.Now() >= deadline {
			o.Locks.End()
			return exhausted{attempts: try + 1, limit: db.o.Limit, last: err}
		}
		db.o.RT.Sleep(rt.Jitter(db.o.RT, min(firstRetry<<min(try, 10), lastRetry)))
		o.StatsOf.Repeats.Add(t.lostTo(err), db.o.RT.Now()-began)
	}
}

// exhausted is a retryable error at the end of the time for retries.
type exhausted struct {
	attempts int
	limit    time.Duration
	last     error
}

func (e exhausted) Error() string {
	return fmt.Sprintf("the transaction was repeated %d times in %s and always met others; nothing was written; last: %v", e.attempts, e.limit, e.last)
}

func (e exhausted) Unwrap() error { return e.last }

// lost reports whether the attempt ended with a retryable error, even if fn has returned another one for it.
func (t *Txn) lost() bool { return Retryable(t.Failure()) }

// lostTo says why the attempt has to be repeated: what it failed with itself, else the error.
func (t *Txn) lostTo(err error) string {
	var k *kv.Error
	if !errors.As(t.Failure(), &k) && !errors.As(err, &k) {
		return "other"
	}
	return reason(k)
}

func (t *Txn) sentRows() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent
}
