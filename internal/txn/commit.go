package txn

import (
	"context"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// Kinds of commit, for counting.
const (
	kindReadOnly = "read-only"
	kindOnePhase = "one-phase"
	kindIntents  = "intents"
)

// maxPushes is how often one commit may be told to land higher before the attempt is given up. Each time something
// overtook it; a transaction that is overtaken for ever should start again at a later timestamp.
const maxPushes = 16

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
		kind, err = t.commitWrites(ctx, puts)
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

// endCommit settles the state, unless a restart has done so.
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
}

// owe pays rule 2 for an error that tells of a version: that a key exists is something read.
func (t *Txn) owe(ctx context.Context, err error) error {
	if e, ok := err.(*kv.Error); ok && e.Code == kv.ErrCondition {
		t.mu.Lock()
		t.newest = t.newest.Forward(e.TS)
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
		c, err = t.twoPhase(ctx, puts)
		kind = kindIntents
	}
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Less(t.ord.r) {
		panic(fmt.Sprintf("txn: X3: committed at %s, below the read timestamp %s", c, t.ord.r))
	}
	t.commitTS = c
	return kind, nil
}

// intents is a commit over several ranges under way.
type intents struct {
	t      *Txn
	anchor kv.Key
	keys   []kv.Key
	c      clock.Timestamp
	laid   []route.Result // one for each range; some may have landed below c
}

// twoPhase lays intents on all ranges at once, moves everything read up to the highest place where one landed, and then
// decides in the record at the anchor. From that moment the transaction is committed; resolving the intents is left to the
// background.
func (t *Txn) twoPhase(ctx context.Context, puts []kv.Put) (clock.Timestamp, error) {
	n := &intents{t: t, anchor: puts[0].Key, keys: make([]kv.Key, len(puts))}
	for i := range puts {
		n.keys[i] = puts[i].Key
	}
	stop := t.keepAlive(n.anchor)
	defer stop()
	err := n.lay(ctx, puts)
	if err == nil {
		err = n.decide(ctx)
	}
	if err != nil {
		// Whatever has become of it, asking for an abort in the background settles the record one way, and then the intents.
		t.db.cleanup.add(job{txn: t.id, age: t.age, anchor: n.anchor, keys: n.keys})
		return clock.Timestamp{}, err
	}
	t.db.cleanup.add(job{txn: t.id, age: t.age, anchor: n.anchor, keys: n.keys, status: kv.TxnStatus{State: kv.Committed, CommitTS: n.c}})
	return n.c, nil
}

func (n *intents) lay(ctx context.Context, puts []kv.Put) error {
	t := n.t
	req := t.writeRequest(puts, n.anchor)
	n.laid = t.db.o.Router.Spread(ctx, []route.Addressed{{Request: kv.Request{Write: req}, Prepare: t.stampLaid}})
	n.c = req.CommitTS
	var failure *kv.Error
	for i := range n.laid {
		res := &n.laid[i]
		switch {
		case res.Err == nil:
			n.c = n.c.Forward(res.Response.Write.CommitTS)
		case failure == nil || (res.Err.Code == kv.ErrCondition && failure.Code != kv.ErrCondition):
			failure = res.Err // that a key exists is the answer; all others are about this attempt only
		}
	}
	if failure == nil {
		return nil
	}
	if failure.Code == kv.ErrAmbiguous { // of an intent that does not matter: without a record it is nothing
		failure = kv.Errorf(kv.ErrUnavailable, "the writes could not be laid: %s", failure.Msg)
	}
	return t.failed(failure)
}

// decide refreshes and writes the record, until it lands or the attempt is over.
func (n *intents) decide(ctx context.Context) error {
	t := n.t
	for push := 0; ; push++ {
		if err := t.refreshTo(ctx, n.c); err != nil {
			return err
		}
		if _, err := t.allowed(ctx, n.c); err != nil {
			return err
		}
		results := t.db.o.Router.DoMany(ctx, n.decision())
		res := &results[0]
		switch {
		case res.Err != nil && res.Err.Code == kv.ErrRetryAt && push < maxPushes:
			if !n.c.Less(res.Err.TS) {
				return kv.Errorf(kv.ErrInternal, "transaction %s was told to commit at %s instead of %s", t.id, res.Err.TS, n.c)
			}
			n.c = res.Err.TS // a reader has passed it
			continue
		case res.Err != nil:
			return t.failed(res.Err)
		case res.Response.EndTxn == nil || res.Response.EndTxn.State != kv.Committed || res.Response.EndTxn.CommitTS != n.c:
			return kv.Errorf(kv.ErrInternal, "transaction %s asked for a commit at %s and its record says %v", t.id, n.c, res.Response.EndTxn)
		}
		for _, r := range results[1:] {
			if r.Err != nil {
				return kv.Errorf(kv.ErrAmbiguous, "the transaction is committed, but a range that it wrote to cannot be told: %s", r.Err.Msg)
			}
		}
		return nil
	}
}

// decision is the commit record, and beside it a word to every range whose intent landed below c. Such a range has not
// heard of a write at c; if it led a later transaction to believe that nothing on its node is as new as c, that one could
// lower its limit below c and miss a commit that was acknowledged before it began (X5). So the range is told before we
// acknowledge, in the time that the record takes anyway.
func (n *intents) decision() []route.Addressed {
	t := n.t
	now, _ := t.db.o.Now() // without a reading: the record's time of writing is unknown, and counts as very old
	out := []route.Addressed{{Key: n.anchor, Request: kv.Request{EndTxn: &kv.EndTxnRequest{
		Txn: t.id, Start: t.age, Anchor: n.anchor, Commit: true, CommitTS: n.c, Intents: n.keys, Now: now.Earliest}}}}
	for i := range n.laid {
		if w := n.laid[i].Response.Write; w.CommitTS.Less(n.c) {
			note := t.refreshRequest(nil, w.CommitTS, n.c)
			note.Key = n.laid[i].Request.Write.Puts[0].Key
			out = append(out, note)
		}
	}
	return out
}

// writeRequest asks for the writes at r: X3 allows no less, and more is not needed.
func (t *Txn) writeRequest(puts []kv.Put, anchor kv.Key) *kv.WriteRequest {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &kv.WriteRequest{Txn: t.id, Start: t.age, Anchor: anchor, ReadTS: t.ord.r, CommitTS: t.ord.r, Puts: puts}
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
