package txn

import (
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// Info is what an attempt of a transaction is about, for whoever watches it from outside.
type Info struct {
	ID    kv.TxnID
	State string          // "open", "locking": a locking read is under way, "committing", "committed", "aborted"
	Read  clock.Timestamp // r, so far; zero before the first access
	// Keys and Bytes are written and not sent yet.
	Keys, Bytes int
	// Locked is how many keys its locking reads have found, Ranges how many ranges may have locks of it.
	Locked, Ranges int
	// Locking is the time in locking reads, waiting for others included; Waited that of rule 2, for rows and the commit.
	Locking, Waited time.Duration
}

// watched is what Info needs and nothing else.
type watched struct {
	lockers int           // locking reads under way
	since   time.Duration // when the first of them began
	locking time.Duration // of those before
	locked  int
	waited  time.Duration
}

// Info may be asked for at any time, from any task.
func (t *Txn) Info() Info {
	t.mu.Lock()
	i := Info{ID: t.id, State: t.state.String(), Read: t.ord.r, Keys: t.writes.keys(), Bytes: t.writes.bytes,
		Locked: t.watched.locked, Locking: t.watched.locking, Waited: t.watched.waited}
	if t.watched.lockers > 0 {
		i.Locking += t.db.o.RT.Now() - t.watched.since
		if t.state == open {
			i.State = "locking"
		}
	}
	l := t.locks
	t.mu.Unlock()
	if l != nil { // its mutex comes before t.mu: Locks.living
		l.mu.Lock()
		i.Ranges = len(l.ranges)
		l.mu.Unlock()
	}
	return i
}

// watchLocking accounts for a locking read; the func returned is called at its end.
func (t *Txn) watchLocking() (done func(found int)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched.lockers == 0 {
		t.watched.since = t.db.o.RT.Now()
	}
	t.watched.lockers++
	return func(found int) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.watched.locked += found
		if t.watched.lockers--; t.watched.lockers == 0 {
			t.watched.locking += t.db.o.RT.Now() - t.watched.since
		}
	}
}

// found counts the keys that a locking read has found, and locked unless too many were.
func (f *fetching) found() (n int) {
	for _, p := range f.parts {
		n += len(p.req.Keys) - len(p.resp.Skipped)
		for i := range p.resp.Rows {
			n += len(p.resp.Rows[i].Keys)
		}
	}
	return max(n, 0)
}

func (t *Txn) watchWait(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watched.waited += d
}

// keys counts the keys that are written.
func (b *buffer) keys() int {
	if b.tree == nil {
		return 0
	}
	return b.tree.Len()
}
