package txn

import (
	"context"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// This file is rule 2 (X2): the only place that waits for a timestamp to be past.

// waitPast returns once the timestamp is certainly past. The clock is read again after every sleep: neither the length of
// a sleep nor an earlier reading proves anything. A reading tells how long the wait is only while Earliest moves: if the ratchet
// holds it, after a step of the source, waitPast reads again when Earliest has stood still for a fifth longer, so that a wait
// takes at most that much longer and a few dozen readings, not one each microsecond.
//
// HAZARD: if true time is below Earliest, what depends on ts leaves before it is past, and a transaction that begins
// afterwards with a sound reading may have a limit below ts.
func (db *DB) waitPast(ctx context.Context, ts clock.Timestamp) error {
	if ts.IsZero() {
		return nil
	}
	deadline := db.o.RT.Now() + db.o.Limit
	var at clock.Instant    // where Earliest was last read
	var since time.Duration // when it was first read there
	for {
		now, err := db.o.Now()
		if err == nil && now.Past(ts) {
			return nil
		}
		if ctx.Err() != nil {
			return kv.Errorf(kv.ErrUnavailable, "cancelled by the caller while waiting for %s to be past", ts)
		}
		if db.o.RT.Now() >= deadline {
			if err != nil {
				return kv.Errorf(kv.ErrFenced, "cannot tell whether %s is past: %v", ts, err)
			}
			return kv.Errorf(kv.ErrUnavailable, "%s is not past after %s of waiting: the clock reads %s, so it or another node's is wrong", ts, db.o.Limit, now)
		}
		wait := 10 * time.Millisecond // without a reading
		if err == nil {
			if now.Earliest != at {
				at, since = now.Earliest, db.o.RT.Now()
			}
			wait = max(clock.Instant(ts.Wall).Sub(now.Earliest)+1, (db.o.RT.Now()-since)/5)
		}
		db.o.RT.Sleep(min(max(wait, time.Microsecond), time.Second, deadline-db.o.RT.Now()+1))
	}
}

// Release waits until everything read so far is certainly past. It is called before rows leave the system. If it fails they
// must not: then the transaction may be over, and have read what it should not.
func (t *Txn) Release(ctx context.Context) error {
	if err := t.notAborted(ctx); err != nil {
		return err
	}
	if t.db.o.Unsafe.NoReadWait {
		return nil
	}
	t.mu.Lock()
	owed, reading, paid := t.owed, t.ord.reading, t.takePaid()
	t.mu.Unlock()
	return t.finishPast(ctx, owed, reading, paid, false)
}

// releaseCommit waits for the commit's own timestamp and for what was read. The transaction is decided, so the caller's
// going away does not end the wait: it is short, and an error would have to be an ambiguous one.
func (t *Txn) releaseCommit(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	t.mu.Lock()
	c, owed, reading, paid := t.commitTS, t.owed, t.ord.reading, t.takePaid()
	past := t.past
	t.mu.Unlock()
	if t.db.o.Unsafe.NoCommitWait || past { // some node's clock has passed it: that is as good as ours
		c = clock.Timestamp{}
	}
	if !t.db.o.Unsafe.NoReadWait {
		c = c.Forward(owed)
	}
	return t.finishPast(ctx, c, reading, paid, true)
}

// finishPast waits, and accounts for it: needed is what the wait would have been right at the start of the transaction,
// actual what is left of it now that everything else was done meanwhile. What a leaseholder has waited in our place counts too.
func (t *Txn) finishPast(ctx context.Context, ts clock.Timestamp, start clock.Interval, elsewhere paid, commit bool) error {
	db := t.db
	m, c := &db.m.ReadWait, &db.stats.readWait
	if commit {
		m, c = &db.m.CommitWait, &db.stats.commitWait
	}
	began := db.o.RT.Now()
	err := db.waitPast(ctx, ts)
	needed := elsewhere.needed
	if !ts.IsZero() {
		needed = max(needed, clock.Instant(ts.Wall).Sub(start.Earliest))
	}
	actual := elsewhere.waited + db.o.RT.Now() - began
	m.Needed.Observe(needed.Seconds())
	m.Actual.Observe(actual.Seconds())
	c.add(needed, actual)
	t.account.waited(commit, needed, actual)
	return err
}
