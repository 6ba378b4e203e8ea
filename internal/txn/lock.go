package txn

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// A locking read takes locks at the leaseholders (package replica/lock), so that transactions which read a key in order to
// write it take turns. It reads the newest versions, and r moves up to them: with the lock held nothing can come in
// between, so the commit is certain to land. Correctness is elsewhere: a lock may be lost at any time, and then the commit
// finds out by its refresh whether that mattered.
//
//	Y1  What a locking read returns is of one timestamp with everything else that was read (X4).
//	Y2  A range where there may be locks is remembered before it is asked, until its release is on its way.
//	Y3  Locks belong to the transaction, not to the attempt: one that is repeated has kept its turn.
//	Y4  Every transaction with locks ends them: committed, rolled back, or given up by whoever was to repeat it.

// Lock says how a read locks what it finds. The zero value: not at all. In a read-only transaction no read locks.
type Lock struct {
	Mode   kv.LockMode
	Policy kv.LockPolicy
	// Wait bounds the waiting for locks of one read (LockQueue); then it fails with kv.ErrLockWait, and the transaction can
	// go on. 0: DBOptions.Limit.
	Wait time.Duration
}

// GetLocked is GetMany that locks its keys, whether they have values or not. With LockSkip skipped says which keys others
// hold: they count as not read. Keys that the transaction has written itself are neither read nor locked.
func (t *Txn) GetLocked(ctx context.Context, ks []kv.Key, l Lock) (values [][]byte, skipped []bool, err error) {
	return t.getMany(ctx, ks, l)
}

// ScanManyLocked is ScanMany that locks the rows that it returns. With LockSkip those that others hold are left out.
func (t *Txn) ScanManyLocked(ctx context.Context, spans []kv.Span, l Lock) ([][]KeyValue, error) {
	return t.scanMany(ctx, spans, l)
}

// Unread takes keys out of what was read: what the caller knows of them has no part in what it does. It is for entries of
// an index whose rows were skipped.
func (t *Txn) Unread(ks []kv.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range ks {
		t.reads.remove(k)
	}
}

// readLock is the template of a read's requests; nil for a plain read.
func (t *Txn) readLock(l Lock) *kv.ReadLock {
	if l.Mode == kv.NoLock || t.o.ReadOnly {
		return nil
	}
	if l.Wait <= 0 {
		l.Wait = t.db.o.Limit
	}
	return &kv.ReadLock{Mode: l.Mode, Policy: l.Policy, Wait: l.Wait}
}

// Locks are those of one transaction over all its attempts. A transaction that is to be repeated hands them over
// (Txn.HandOver, Options.Locks); whoever was handed them and does not repeat it ends them.
type Locks struct {
	db    *DB
	owner kv.LockOwner
	begun time.Duration

	mu     sync.Mutex
	holder *Txn
	ranges []lockedRange // Y2
	ended  bool
	idle   int // beats since the holder was seen alive
}

// lockedRange is a range that may have locks, and a key of it.
type lockedRange struct {
	id  kv.RangeID
	key kv.Key
}

// HandOver returns the locks for the attempt that repeats this one; nil if there are none. They are not ended here any
// more.
func (t *Txn) HandOver() *Locks {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.locks
	t.locks = nil
	return l
}

// lockOwner is in whose name the transaction locks, from its first locking read on.
func (t *Txn) lockOwner() *Locks {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.locks == nil {
		t.locks = &Locks{db: t.db, owner: kv.LockOwner{ID: t.id, Start: t.age, Coord: t.db.o.Process}, begun: t.db.o.RT.Now(), holder: t}
		t.db.locks.add(t.locks)
	}
	return t.locks
}

// endLocks is Y4.
func (t *Txn) endLocks() { t.HandOver().End() }

// End releases the locks, in the background. Nil is fine.
func (l *Locks) End() {
	if l == nil {
		return
	}
	l.mu.Lock()
	ranges := l.ranges
	l.ranges, l.ended = nil, true
	l.mu.Unlock()
	l.db.locks.remove(l)
	for _, r := range ranges {
		l.db.locks.release(kv.LocksRequest{Key: r.key, Owner: l.owner.ID, Release: true})
	}
}

// note remembers a range that is about to be asked for locks (Y2). If they have been ended meanwhile, what the range gives
// will expire.
func (l *Locks) note(id kv.RangeID, key kv.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(l.ranges, func(r lockedRange) bool { return r.id == id }) {
		l.ranges = append(l.ranges, lockedRange{id, key})
	}
}

// heldBy says which attempt the locks belong to now.
func (l *Locks) heldBy(t *Txn) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder, l.idle = t, 0
}

// unlocked forgets a range in which the commit itself has ended the locks.
func (t *Txn) unlocked(id kv.RangeID) {
	t.mu.Lock()
	l := t.locks
	t.mu.Unlock()
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ranges = slices.DeleteFunc(l.ranges, func(r lockedRange) bool { return r.id == id })
}

// lockAt completes a request of a locking read for the node that it is about to be sent to.
func (f *fetching) lockAt(q *kv.Request) {
	rd := *q.Read
	if len(rd.Keys) > 0 {
		f.locks.note(q.Range, rd.Keys[0])
	} else {
		f.locks.note(q.Range, rd.Spans[0].Start)
	}
	k := *f.lock
	k.Owner, k.Wait = f.locks.owner, max(time.Millisecond, f.until-f.t.db.o.RT.Now())
	rd.Lock = &k
	q.Read = &rd
}

// lockAgain reports whether a range that has let the read wait as long as it lets anybody is to be asked once more. The read
// gets back to its place: queues are in order of age.
func (f *fetching) lockAgain(err *kv.Error) bool {
	return err.Code == kv.ErrLockWait && f.lock != nil && f.t.db.o.RT.Now() < f.until
}

// lockContext gives a locking read the time that it may wait for locks beside that of any read.
func (t *Txn) lockContext(ctx context.Context, l *kv.ReadLock) context.Context {
	at := t.db.o.RT.Now() + t.db.o.Limit + l.Wait
	if t.Spilled() {
		ctx = route.WithNewDeadline(ctx, at)
	}
	return t.within(ctx, at)
}

// without cuts keys out of spans.
func without(spans []kv.Span, ks []kv.Key) []kv.Span {
	for _, k := range ks {
		var out []kv.Span
		for _, s := range spans {
			out = append(out, cutOut(s, k)...)
		}
		spans = out
	}
	return spans
}

// cutOut is a span without a key.
func cutOut(s kv.Span, k kv.Key) []kv.Span {
	if !s.Contains(k) {
		return []kv.Span{s}
	}
	p := kv.Point(k)
	var out []kv.Span
	for _, part := range []kv.Span{{Start: s.Start, End: p.Start}, {Start: p.End, End: s.End}} {
		if !part.Empty() {
			out = append(out, part)
		}
	}
	return out
}
