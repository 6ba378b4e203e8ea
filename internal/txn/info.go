package txn

import (
	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// Info is what an attempt of a transaction is about, for whoever watches it from outside.
type Info struct {
	ID    kv.TxnID
	State string          // "open", "locking": a locking read is under way, "committing", "committed", "aborted"
	Read  clock.Timestamp // r, so far; zero before the first access
	// Keys and Bytes have been written; a key may count more than once in a large transaction.
	Keys, Bytes int
	// Locked is how many keys its locking reads have found, Ranges how many ranges may have locks of it.
	Locked, Ranges int
	// Cost is that of the transaction, over all its attempts.
	Cost TxnStats
}

// Info may be asked for at any time, from any task.
func (t *Txn) Info() Info {
	cost, locked, locking := t.account.read(t.db.o.RT.Now())
	t.mu.Lock()
	i := Info{ID: t.id, State: t.state.String(), Read: t.ord.r, Keys: t.spill.keys + t.writes.keys(), Bytes: int(t.total), Locked: locked, Cost: cost}
	if locking && t.state == open {
		i.State = "locking"
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

// keys counts the keys that are written.
func (b *buffer) keys() int {
	if b.tree == nil {
		return 0
	}
	return b.tree.Len()
}
