package txn

import (
	"context"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// Kinds of commit, for counting.
const (
	kindReadOnly = "read-only"
	kindOnePhase = "one-phase"
	kindParallel = "parallel" // over several ranges, and decided by one round
	kindIntents  = "intents"  // over several ranges, and decided by a round of its own
)

// staleAge is when a transaction that has been open for long takes a new age for its commit. Ranges refuse a commit whose
// age is beyond what they keep records for, and its id is unknown to them before the commit.
const staleAge = time.Minute

// Commit makes the writes permanent and returns once that may be known (X2). A read-only transaction sends nothing.
func (t *Txn) Commit(ctx context.Context) error {
	ctx, err := t.ready(ctx)
	if err != nil {
		return err
	}
	puts, err := t.beginCommit()
	if err != nil {
		t.Rollback(ctx)
		return err
	}
	kind := kindReadOnly
	if len(puts) > 0 {
		t.account.committing()
		kind, err = t.commitWrites(ctx, puts)
		t.account.committed()
		if err != nil {
			t.endCommit(aborted)
			return t.owe(ctx, err)
		}
	}
	t.endCommit(committed)
	t.db.countCommit(kind)
	if err := t.releaseCommit(ctx); err != nil {
		if kind == kindReadOnly {
			return err
		}
		return kv.Errorf(kv.ErrAmbiguous, "the transaction is committed, but that may not be told yet: %v", err)
	}
	return nil
}

func (t *Txn) beginCommit() ([]kv.Put, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.misuse != nil:
		return nil, t.misuse
	case t.writes.bytes > t.db.o.MaxBytes:
		return nil, kv.Errorf(kv.ErrInternal, "the transaction writes %d MiB, more than the %d MiB that one may: write it in several transactions",
			t.writes.bytes>>20, t.db.o.MaxBytes>>20)
	}
	t.state = committing
	return t.writes.puts(), nil
}

// endCommit settles the state, unless a restart has done so: then the locks are for the next attempt.
func (t *Txn) endCommit(s state) {
	t.mu.Lock()
	over := t.state == aborted
	if !over {
		t.state = s
	}
	t.mu.Unlock()
	if s == aborted && !over {
		t.db.countAbort()
	}
	if !over {
		t.endLocks()
	}
}

// owe pays rule 2 for an error that tells of a version: that a key exists is something read.
func (t *Txn) owe(ctx context.Context, err error) error {
	if e, ok := err.(*kv.Error); ok && e.Code == kv.ErrCondition {
		t.mu.Lock()
		t.newest, t.owed = t.newest.Forward(e.TS), t.owed.Forward(e.TS)
		t.mu.Unlock()
		if werr := t.Release(ctx); werr != nil {
			return werr
		}
	}
	return err
}

// commitWrites commits writes: in one phase if one range holds them all, else with intents and a record.
func (t *Txn) commitWrites(ctx context.Context, puts []kv.Put) (kind string, err error) {
	now, err := t.db.reading()
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	if now.Earliest.Sub(clock.Instant(t.age.Wall)) > staleAge {
		t.age = now.Start()
	}
	t.mu.Unlock()
	c, done, err := t.onePhase(ctx, puts)
	kind = kindOnePhase
	if err == nil && !done {
		c, kind, err = t.overRanges(ctx, puts)
	}
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.committedAt(c, kind) {
		panic(fmt.Sprintf("txn: X3: committed at %s, below the read timestamp %s", c, t.ord.r))
	}
	return kind, nil
}

// writeRequest asks for the writes at r: X3 allows no less, and more is not needed.
func (t *Txn) writeRequest(puts []kv.Put, anchor kv.Key) *kv.WriteRequest {
	t.mu.Lock()
	defer t.mu.Unlock()
	req := &kv.WriteRequest{Txn: t.id, Start: t.age, Anchor: anchor, ReadTS: t.ord.r, CommitTS: t.ord.r, Puts: puts,
		Coord: t.db.o.Process, Wait: t.wait}
	if t.locks != nil {
		req.Owner = &t.locks.owner
	}
	return req
}

// stampLaid marks a write with the time of its sending, from which an intent counts as abandoned some seconds later.
func (t *Txn) stampLaid(_ kv.NodeID, q *kv.Request) {
	now, err := t.db.o.Now()
	if err != nil {
		return // an old mark: others may take it for abandoned, which is safe
	}
	w := *q.Write
	w.Laid = now.Earliest
	q.Write = &w
}
