package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// GET_LOCK holds in the whole cluster. (go-mysql-server's locks are in the memory of one process.) A lock is a record in the
// key-value store that names the session and ends by itself:
//
//	N1  At most one session has a record for a name: it is taken in a transaction that reads what is there.
//	N2  A record holds until a time that its node moves on every namedRenew. Another session takes the name only when the
//	    earliest that its clock says is past that time.
//	N3  A node that cannot renew records closes the connections of their sessions before the latest that its clock says
//	    reaches that time. A process that stood still may be too late for that, so a statement of a session whose
//	    time has passed is not executed either.
//
// So a session that still has its connection has its locks, and what it sends to the cluster it sends as the only holder. What has
// been sent to somewhere else may still be on its way: no lock with a lease can prevent that.
//
// HAZARD: if the bound of a clock is broken, two sessions may hold a name for as long as it is. Transactions do not depend on names.
const (
	namedLease = 10 * time.Second
	namedRenew = 2 * time.Second
	namedPoll  = 20 * time.Millisecond // at first, and up to 10 times of it
	// namedMargin is how long before the end of a record's time its session is ended.
	namedMargin = time.Second
)

// namedRecord is what a lock's key holds.
type namedRecord struct {
	Session    string        `json:"session"`
	Connection uint32        `json:"connection"`
	Until      clock.Instant `json:"until"`
}

// namedLocks are those of one session.
type namedLocks struct {
	mu    sync.Mutex
	id    string
	held  map[string]*namedHold // by key
	stop  rt.Signal             // of the task that renews them; nil: there is none
	ended bool
}

type namedHold struct {
	count int
	until clock.Instant
}

// errLockTaken ends a transaction that has found another holder.
var errLockTaken = errors.New("another session holds the lock")

// namedTxn runs fn with the record of a name, or nil if nobody holds it, and writes what fn returns.
func (s *Session) namedTxn(ctx context.Context, key kv.Key, fn func(now clock.Interval, have *namedRecord) (*namedRecord, error)) error {
	return s.e.o.DB.Run(ctx, txn.Options{Name: "named lock"}, func(ctx context.Context, t *txn.Txn) error {
		now, err := s.e.o.Clock.Now()
		if err != nil {
			return err
		}
		v, err := t.Get(ctx, key)
		if err != nil {
			return err
		}
		var have *namedRecord
		if len(v) > 0 {
			have = &namedRecord{}
			if err := json.Unmarshal(v, have); err != nil {
				return fmt.Errorf("the record of a named lock cannot be read: %w", err)
			}
			if now.Earliest > have.Until {
				have = nil // N2
			}
		}
		want, err := fn(now, have)
		switch {
		case err != nil || want == have:
			return err
		case want == nil:
			t.Delete(key)
			return nil
		}
		if v, err = json.Marshal(want); err == nil {
			t.Put(key, v)
		}
		return err
	})
}

// getLock is GET_LOCK: whether the session has the lock now. A negative timeout means that it waits as long as it takes.
func (s *Session) getLock(ctx context.Context, name string, timeout time.Duration) (bool, error) {
	key := catalog.NamedLockKey(name)
	n := &s.named
	n.mu.Lock()
	if h := n.held[string(key)]; h != nil {
		h.count++
		n.mu.Unlock()
		return true, nil
	}
	if n.id == "" {
		n.id = fmt.Sprintf("%d-%016x", s.e.o.NodeID, s.e.o.RT.Uint64())
	}
	id := n.id
	n.mu.Unlock()
	deadline := s.e.now().Add(timeout)
	for pause := namedPoll; ; pause = min(2*pause, 10*namedPoll) {
		var until clock.Instant
		err := s.namedTxn(ctx, key, func(now clock.Interval, have *namedRecord) (*namedRecord, error) {
			if have != nil && have.Session != id {
				return have, errLockTaken
			}
			until = now.Latest.Add(namedLease)
			return &namedRecord{Session: id, Connection: s.ID(), Until: until}, nil
		})
		if err == nil {
			s.holds(string(key), until)
			return true, nil
		}
		if !errors.Is(err, errLockTaken) {
			return false, err
		}
		left := deadline.Sub(s.e.now())
		if timeout >= 0 && left <= 0 {
			return false, nil
		}
		if timeout >= 0 {
			pause = min(pause, left)
		}
		s.e.o.RT.Sleep(rt.Jitter(s.e.o.RT, pause))
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
	}
}

// holds notes a lock, and has it renewed.
func (s *Session) holds(key string, until clock.Instant) {
	n := &s.named
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held == nil {
		n.held = map[string]*namedHold{}
	}
	n.held[key] = &namedHold{count: 1, until: until}
	if n.stop == nil && !n.ended {
		stop := s.e.o.RT.NewSignal()
		n.stop = stop
		s.e.o.RT.Go("named locks", func() { s.renewLocks(stop) })
	}
}

// renewLocks moves the times of the session's records on until there are none (N2, N3).
func (s *Session) renewLocks(stop rt.Signal) {
	for !stop.Wait(namedRenew) {
		n := &s.named
		n.mu.Lock()
		held := map[string]clock.Instant{}
		for k, h := range n.held {
			held[k] = h.until
		}
		id := n.id
		n.mu.Unlock()
		ctx, cancel := s.e.within(namedRenew) // for all of them
		for k, until := range held {
			err := s.renewLock(ctx, k, id)
			if err == nil {
				continue
			}
			now, cerr := s.e.o.Clock.Now()
			if errors.Is(err, errLockTaken) || cerr != nil || now.Latest.Add(2*namedRenew+namedMargin) >= until {
				s.e.log.Warn("a session ends because its lock could not be renewed", "connection", s.ID(), "error", err)
				cancel()
				s.dropConnection()
				return
			}
		}
		cancel()
	}
}

// within is the context of work in the background that may take so long, by the runtime's clock.
func (e *Engine) within(limit time.Duration) (ctx context.Context, cancel func()) {
	ctx, end := context.WithCancel(e.background)
	stop := e.o.RT.After(limit, end)
	return route.WithDeadline(ctx, e.o.RT.Now()+limit), func() { stop(); end() }
}

func (s *Session) renewLock(ctx context.Context, key, id string) error {
	var until clock.Instant
	err := s.namedTxn(ctx, kv.Key(key), func(now clock.Interval, have *namedRecord) (*namedRecord, error) {
		if have == nil || have.Session != id {
			return have, errLockTaken
		}
		until = now.Latest.Add(namedLease)
		next := *have
		next.Until = until
		return &next, nil
	})
	s.named.mu.Lock()
	defer s.named.mu.Unlock()
	h := s.named.held[key]
	if h == nil {
		return nil // released meanwhile
	}
	if err == nil {
		h.until = until
	}
	return err
}

// locksLapsed is N3 when a statement begins: an error if a lock's time has passed. The connection ends when the client has been told.
func (s *Session) locksLapsed() error {
	n := &s.named
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.held) == 0 || s.e.o.Unsafe.LapsedLocks {
		return nil
	}
	now, err := s.e.o.Clock.Now()
	for _, h := range n.held {
		if err != nil || now.Latest >= h.until {
			if own := s.counted(); own != nil {
				own.endAfterAnswer()
			}
			return mysql.NewSQLError(errSessionKilled, "HY000", "The session was killed: the node could not renew the session's locks (GET_LOCK) "+
				"in time, so another session may have them now. The statement was not executed")
		}
	}
	return nil
}

// counted is the session's connection; nil: it is a local session.
func (s *Session) counted() *countedConn {
	if s.conn == nil {
		return nil
	}
	c, _ := s.conn.Conn.(*countedConn)
	return c
}

// errSessionKilled is ER_SESSION_WAS_KILLED.
const errSessionKilled = 3169

// dropConnection ends the session's connection.
func (s *Session) dropConnection() {
	if s.conn != nil {
		s.conn.Conn.Close()
	}
}

// releaseLock is RELEASE_LOCK: 1, or 0 if another session has the lock, or nil if none has.
func (s *Session) releaseLock(ctx context.Context, name string) (any, error) {
	key := catalog.NamedLockKey(name)
	n := &s.named
	n.mu.Lock()
	h := n.held[string(key)]
	if h == nil {
		n.mu.Unlock()
		r, err := s.lockHolder(ctx, key)
		if r == nil || err != nil {
			return nil, err
		}
		return int64(0), nil
	}
	if h.count--; h.count > 0 {
		n.mu.Unlock()
		return int64(1), nil
	}
	n.mu.Unlock()
	if err := s.freeLock(ctx, string(key)); err != nil {
		return nil, err
	}
	return int64(1), nil
}

// freeLock deletes the record of a lock that the session has.
func (s *Session) freeLock(ctx context.Context, key string) error {
	n := &s.named
	n.mu.Lock()
	id := n.id
	delete(n.held, key)
	if len(n.held) == 0 && n.stop != nil {
		n.stop.Fire()
		n.stop = nil
	}
	n.mu.Unlock()
	return s.namedTxn(ctx, kv.Key(key), func(_ clock.Interval, have *namedRecord) (*namedRecord, error) {
		if have == nil || have.Session != id {
			return have, nil
		}
		return nil, nil
	})
}

// releaseAllLocks is RELEASE_ALL_LOCKS: how many holds there were.
func (s *Session) releaseAllLocks(ctx context.Context) (int64, error) {
	n := &s.named
	n.mu.Lock()
	var keys []string
	var count int64
	for k, h := range n.held {
		keys, count = append(keys, k), count+int64(h.count)
	}
	n.mu.Unlock()
	for _, k := range keys {
		if err := s.freeLock(ctx, k); err != nil {
			return 0, err
		}
	}
	return count, nil
}

// endNamedLocks releases what the session has when it ends. What cannot be released ends with its time.
func (s *Session) endNamedLocks() {
	n := &s.named
	n.mu.Lock()
	some := len(n.held) > 0
	n.ended = true
	n.mu.Unlock()
	if !some {
		return
	}
	s.e.o.RT.Go("end named locks", func() {
		ctx, cancel := s.e.within(namedLease)
		defer cancel()
		if _, err := s.releaseAllLocks(ctx); err != nil {
			s.e.log.Debug("named locks of a session that is over are left to end by themselves", "error", err)
		}
	})
}

// lockHolder is the record of a name; nil: nobody has the lock.
func (s *Session) lockHolder(ctx context.Context, key kv.Key) (r *namedRecord, err error) {
	err = s.namedTxn(ctx, key, func(_ clock.Interval, have *namedRecord) (*namedRecord, error) {
		r = have
		return have, nil
	})
	return r, err
}

// lockName checks the name of a lock.
func lockName(v any) (string, error) {
	text, err := textOf(v)
	if err != nil {
		return "", err
	}
	if v == nil || text == "" || utf8.RuneCountInString(text) > 64 {
		if v == nil {
			text = "NULL"
		}
		return "", mysql.NewSQLError(3057, "42000", "Incorrect user-level lock name '%s'.", text)
	}
	return text, nil
}

func textOf(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	return fmt.Sprint(v), nil
}

var _ sql.NonDeterministicExpression = (*lockFunction)(nil)

func namedKey(name string) kv.Key { return catalog.NamedLockKey(name) }
