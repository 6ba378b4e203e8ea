package txn

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
)

const (
	// lockBeat is well below the time (3 s) after which locks of a silent owner expire.
	lockBeat = time.Second
	// lostBeats is after how many beats the locks of an attempt that has ended, and that nobody repeats, are ended.
	lostBeats = 3
	// maxReleases is how many releases may wait to be sent. What does not fit expires.
	maxReleases = 1 << 14
	// releaseLimit is how long a release is tried; later it would have expired.
	releaseLimit = 3 * time.Second
)

// lockKeeper tells ranges that the owners of locks live, and that they have ended: many transactions in one message for each
// node.
type lockKeeper struct {
	db       *DB
	releases *rt.Queue[kv.LocksRequest]
	tasks    *rt.Group
	rounds   atomic.Int64

	mu      sync.Mutex
	all     *list.List // of *Locks, oldest first
	at      map[*Locks]*list.Element
	started bool // the task that sends releases
	beating bool
	closed  bool
}

func newLockKeeper(db *DB) *lockKeeper {
	return &lockKeeper{db: db, releases: rt.NewQueue[kv.LocksRequest](db.o.RT, maxReleases), tasks: rt.NewGroup(db.o.RT),
		all: list.New(), at: map[*Locks]*list.Element{}}
}

func (k *lockKeeper) add(l *Locks) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at[l] = k.all.PushBack(l)
	if !k.started && !k.closed {
		k.started = true
		k.tasks.Go("txn-unlock", k.sendReleases)
	}
	if !k.beating && !k.closed {
		k.beating = true
		k.db.o.RT.After(lockBeat, k.beat)
	}
}

func (k *lockKeeper) remove(l *Locks) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.at[l]; e != nil {
		k.all.Remove(e)
		delete(k.at, l)
	}
}

func (k *lockKeeper) close(limit time.Duration) {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.releases.Close()
	k.tasks.Wait(limit)
}

func (k *lockKeeper) release(q kv.LocksRequest) {
	k.db.m.Unlocking.Inc()
	if !k.releases.Push(q) {
		k.db.m.Unlocking.Dec()
		k.db.m.Unlocks.WithLabelValues("left").Inc()
	}
}

// sendReleases sends what has gathered while the last of it was being sent.
func (k *lockKeeper) sendReleases() {
	for {
		batch, open := k.releases.Take(rt.Forever)
		if !open {
			return
		}
		if len(batch) == 0 {
			continue
		}
		if k.rounds.Load() >= maxRounds {
			k.told(batch)
			continue
		}
		k.rounds.Add(1)
		k.tasks.Go("txn-unlock-round", func() {
			defer k.rounds.Add(-1)
			k.told(batch)
		})
	}
}

// told sends releases.
func (k *lockKeeper) told(batch []kv.LocksRequest) {
	for _, err := range k.tell(batch, releaseLimit) {
		outcome := "told"
		if err != nil {
			outcome = "left"
		}
		k.db.m.Unlocks.WithLabelValues(outcome).Inc()
	}
	k.db.m.Unlocking.Sub(float64(len(batch)))
}

func (k *lockKeeper) tell(batch []kv.LocksRequest, limit time.Duration) []*kv.Error {
	reqs := make([]route.Addressed, len(batch))
	for i := range batch {
		reqs[i] = route.Addressed{Key: batch[i].Key, Request: kv.Request{Locks: &batch[i]}}
	}
	errs := make([]*kv.Error, len(batch))
	ctx := route.WithDeadline(context.Background(), k.db.o.RT.Now()+limit)
	for _, res := range k.db.o.Router.DoMany(ctx, reqs) {
		errs[res.Index] = res.Err
	}
	return errs
}

// beat gives the sign of life of all that have had locks for longer than a beat, and ends those that nobody will end.
func (k *lockKeeper) beat() {
	now := k.db.o.RT.Now()
	var batch []kv.LocksRequest
	var lost []*Locks
	k.mu.Lock()
	for e := k.all.Front(); e != nil; e = e.Next() {
		l := e.Value.(*Locks)
		if now-l.begun < lockBeat {
			break
		}
		rs, alive := l.living()
		if !alive {
			lost = append(lost, l)
			continue
		}
		for _, r := range rs {
			batch = append(batch, kv.LocksRequest{Key: r.key, Owner: l.owner.ID})
		}
	}
	k.beating = k.all.Len() > len(lost) && !k.closed
	again := k.beating
	k.mu.Unlock()
	for _, l := range lost {
		k.db.log.Warn("a transaction that failed was neither repeated nor rolled back; its locks are released", "txn", l.owner.ID.String())
		l.End()
	}
	if again {
		k.db.o.RT.After(lockBeat, k.beat)
	}
	if len(batch) > 0 {
		k.tell(batch, lockBeat) // those that are not reached now may be at the next beats
	}
}

// living returns the ranges to tell, unless the attempt that has the locks ended some beats ago.
func (l *Locks) living() (rs []lockedRange, alive bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.idle++; !l.holder.Finished() {
		l.idle = 0
	}
	return append(rs, l.ranges...), l.idle < lostBeats
}
