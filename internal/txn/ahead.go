package txn

import (
	"context"
	"errors"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
)

// This file is for layers above that plan transactions with what they have read earlier, in another transaction: a schema.
// They read it at a timestamp to come (ReadAt): every later change of it must then land above that timestamp, because the
// timestamp caches of its ranges remember the read. Until there what was read may be relied on without reading it again;
// Guard is asked when a commit is about to land beyond.

// Guard is asked before a transaction that writes commits at c. It returns up to where the transaction may land, at or
// above c; or an error, and then the transaction is aborted with it.
type Guard func(ctx context.Context, c clock.Timestamp) (until clock.Timestamp, err error)

// SetGuard sets the guard of this transaction.
func (t *Txn) SetGuard(g Guard) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.guard = g
}

// allowed asks the guard about a commit at c. Without a guard the bound is zero: none.
func (t *Txn) allowed(ctx context.Context, c clock.Timestamp) (clock.Timestamp, error) {
	t.mu.Lock()
	guard := t.guard
	t.mu.Unlock()
	if guard == nil {
		return clock.Timestamp{}, nil
	}
	until, err := guard(ctx, c)
	if err != nil {
		if e, ok := err.(*kv.Error); ok {
			return until, t.failed(e)
		}
		return until, err
	}
	if until.Less(c) {
		return until, kv.Errorf(kv.ErrInternal, "the guard allows a commit until %s when asked about %s", until, c)
	}
	return until, nil
}

// ReadAt calls fn with a read-only transaction that reads at ts, which may lie in the future. It returns the timestamp of
// the newest version that fn has read: from there to ts everything that fn read was as it is at ts. Nothing is waited for
// (rule 2): a transaction that uses what was read says so (ReadElsewhere), and so owes what it would owe had it read it itself.
//
// Nothing can be uncertain, since r = g = ts: a version that matters is at or below ts wherever true time is.
func (db *DB) ReadAt(ctx context.Context, ts clock.Timestamp, fn Func) (newest clock.Timestamp, err error) {
	deadline := db.o.RT.Now() + db.o.Limit
	for try := 0; ; try++ {
		now, err := db.reading()
		if err != nil {
			return clock.Timestamp{}, err
		}
		if db.o.Stamp != nil {
			if err := db.o.Stamp(clock.Instant(ts.Wall)); err != nil {
				return clock.Timestamp{}, err
			}
		}
		t := db.Begin(Options{ReadOnly: true, Name: "read ahead"})
		t.started, t.age, t.ord, t.standing.told = true, now.Start(), order{reading: now, r: ts, g: ts}, true
		err = fn(ctx, t)
		t.mu.Lock()
		newest, t.state = t.newest, aborted
		t.mu.Unlock()
		if !Retryable(err) || db.o.RT.Now() >= deadline || ctx.Err() != nil {
			return newest, err
		}
		db.o.RT.Sleep(rt.Jitter(db.o.RT, min(firstRetry<<min(try, 10), lastRetry)))
	}
}

// shortestLead is from when on ReadAhead reads at the latest that it can be now, and waits if it must.
const shortestLead = 10 * time.Millisecond

// ReadAhead is ReadAt at this node's latest plus lead. A lease serves only what lies before its end, which is support for some
// hundred milliseconds ahead of the leaseholder's clock. Where that is not enough, because the clock here is poor or the lease is
// about to be renewed, the read is made again with half the lead: a copy that holds for a shorter time and is there now is
// better than one that has to be waited for. What was read is the same from from to until.
func (db *DB) ReadAhead(ctx context.Context, lead time.Duration, fn Func) (from, until clock.Timestamp, err error) {
	for {
		now, err := db.reading()
		if err != nil {
			return from, until, err
		}
		at := ctx
		if lead < shortestLead {
			lead = 0
		} else {
			at = route.WithoutWaiting(ctx)
		}
		until = clock.Timestamp{Wall: int64(now.Latest.Add(lead))}
		from, err = db.ReadAt(at, until, fn)
		var refused *kv.Error
		if lead == 0 || !errors.As(err, &refused) || refused.Code != kv.ErrTooEarly {
			return from, until, err
		}
		lead /= 2
	}
}

// Window is [r, g]: the transaction reads at r, or above it up to g where it meets something uncertain. Neither is lowered any
// more (fresh.go), unless NotBelow says from where on that is no matter.
func (t *Txn) Window(ctx context.Context) (r, g clock.Timestamp, err error) {
	ord, err := t.window(ctx, func(s *standing) { s.shown = true })
	return ord.r, ord.g, err
}

// ReadElsewhere says that the transaction uses what another one has read (ReadAt), and that the newest version of that has the
// timestamp ts. Rule 2 is owed for it: before rows, a count or an error leave that depend on it, ts is past.
func (t *Txn) ReadElsewhere(ts clock.Timestamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.newest = t.newest.Forward(ts)
	if !t.db.o.Unsafe.NoElsewhereWait {
		t.owed = t.owed.Forward(ts)
	}
}

// AwaitPast is rule 2 for a reader that has no transaction: it returns once ts is certainly past.
func (db *DB) AwaitPast(ctx context.Context, ts clock.Timestamp) error {
	if db.o.Unsafe.NoElsewhereWait {
		return nil
	}
	return db.waitPast(ctx, ts)
}

// MoveUp moves r to ts, at most to g, before anything else is read: what was read in another transaction (a schema) is
// of that timestamp, and is observed as rule 1 demands.
func (t *Txn) MoveUp(ctx context.Context, ts clock.Timestamp) error {
	if _, err := t.window(ctx, func(s *standing) { s.floor = s.floor.Forward(ts) }); err != nil {
		return err
	}
	return t.refreshTo(ctx, ts)
}
