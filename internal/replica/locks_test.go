package replica

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// locker is a transaction that locks keys of range 1 at whoever leads it.
type locker struct {
	c     *client
	name  string
	owner kv.LockOwner
	now   clock.Timestamp
}

func (h *harness) locker(n uint64, name string) *locker {
	l := &locker{c: h.client(n), name: name, now: h.reading().Limit()}
	l.owner = kv.LockOwner{ID: l.c.txn(), Start: l.now}
	return l
}

func (l *locker) request(policy kv.LockPolicy, wait time.Duration, ks ...string) kv.Request {
	q := kv.ReadRequest{Txn: l.owner.ID, Start: l.owner.Start, ReadTS: l.now, Limit: l.now, MaxLimit: l.now, CanBump: true,
		Lock: &kv.ReadLock{Owner: l.owner, Mode: kv.LockExclusive, Policy: policy, Wait: wait}}
	for _, k := range ks {
		q.Keys = append(q.Keys, kv.Key(k))
	}
	return kv.Request{Range: 1, Read: &q}
}

// lock waits for keys and returns their values.
func (l *locker) lock(wait time.Duration, ks ...string) string {
	resp, ok := l.c.do(1, l.request(kv.LockQueue, wait, ks...), 15*time.Second)
	if !ok {
		return resp.Err.Code.String()
	}
	l.now = l.now.Forward(resp.Read.ReadTS)
	return strings.TrimSpace(string(slices.Concat(resp.Read.Values...)))
}

// commit writes a key that the transaction has locked.
func (l *locker) commit(key, value string) string {
	resp, ok := l.c.do(1, kv.Request{Write: &kv.WriteRequest{Txn: l.owner.ID, Start: l.owner.Start, Anchor: kv.Key(key), ReadTS: l.now, CommitTS: l.now,
		OnePhase: true, CanForward: true, Refresh: []kv.Span{kv.Point(kv.Key(key))}, Puts: []kv.Put{{Key: kv.Key(key), Value: []byte(value)}},
		Laid: l.c.h.reading().Earliest, Owner: &l.owner}}, 15*time.Second)
	if !ok {
		return resp.Err.Code.String()
	}
	return "ok"
}

func (l *locker) tell(release bool) int {
	resp, ok := l.c.do(1, kv.Request{Locks: &kv.LocksRequest{Key: kv.Key("k"), Owner: l.owner.ID, Release: release}}, 5*time.Second)
	if !ok {
		return -1
	}
	return resp.Locks.Held
}

// meanwhile runs fn as a task of its own; the returned func waits for what it returns.
func (h *harness) meanwhile(fn func() string) (wait func() string) {
	out := ""
	h.user.Go("meanwhile", func() { out = fn() })
	return func() string {
		for out == "" {
			h.user.Sleep(time.Millisecond)
		}
		return out
	}
}

// Read-modify-writes of one key take turns, in order of age, and none has to be repeated.
func TestLockersTakeTurns(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	h.task(60*time.Second, func() {
		h.client(1).write(1, "k", "0", 10*time.Second)
		var done []func() string
		for i := range 20 {
			l := h.locker(uint64(10+i), "")
			h.user.Sleep(10 * time.Microsecond)
			done = append(done, h.meanwhile(func() string {
				n := 0
				fmt.Sscan(l.lock(0, "k"), &n)
				return l.commit("k", fmt.Sprint(n+1))
			}))
		}
		for i, wait := range done {
			if got := wait(); got != "ok" {
				t.Errorf("locker %d: %s", i, got)
			}
		}
		if v, _, _ := h.client(2).read(1, "k", 10*time.Second); v != "20" {
			t.Errorf("20 increments made %s", v)
		}
		if n := h.leader(1).s.ranges.get(1).locks.table.Stats(); n.Locks != 0 || n.Waiters != 0 || n.Wounds != 0 {
			t.Errorf("left behind: %+v", n)
		}
	})
	h.converge(1)
}

// A write without a lock of its own waits for the one that is held; a plain read does not.
func TestWritesWaitAndReadsDoNot(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	h.task(60*time.Second, func() {
		a, c := h.locker(1, "a"), h.client(3)
		c.write(1, "k", "old", 10*time.Second)
		a.lock(0, "k")
		began := h.loop.Now()
		write := h.meanwhile(func() string { c.write(1, "k", "new", 10*time.Second); return "ok" })
		h.user.Sleep(time.Second)
		if v, _, _ := h.client(4).read(1, "k", time.Second); v != "old" || h.loop.Now()-began > 1100*time.Millisecond {
			t.Errorf("read %q after %s", v, h.loop.Now()-began)
		}
		if n := a.tell(true); n != 1 {
			t.Errorf("%d locks released", n)
		}
		write()
		if took := h.loop.Now() - began; took < time.Second || took > 1500*time.Millisecond {
			t.Errorf("the write took %s", took)
		}
	})
}

// What does not wait says so, or leaves out what others hold; and it looks no further than it has to.
func TestNoWaitAndSkip(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	h.task(60*time.Second, func() {
		for i := range 6 {
			h.client(1).write(1, fmt.Sprint("k", i), fmt.Sprint(i), 10*time.Second)
		}
		a, b, c := h.locker(1, "a"), h.locker(2, "b"), h.locker(3, "c")
		a.lock(0, "k0", "k2")
		if resp, ok := b.c.do(1, b.request(kv.LockNoWait, 0, "k1", "k2"), time.Second); ok || resp.Err.Code != kv.ErrLocked || string(resp.Err.Key) != "k2" {
			t.Errorf("nowait: %+v", resp)
		}
		b.tell(true)
		resp, _ := b.c.do(1, b.request(kv.LockSkip, 0, "k0", "k1", "k2"), time.Second)
		if got := fmt.Sprintf("%q %v", resp.Read.Values, resp.Read.Skipped); got != `["" "1" ""] ["k0" "k2"]` {
			t.Errorf("skip: %s", got)
		}
		q := c.request(kv.LockSkip, 0)
		q.Read.Spans, q.Read.MaxRows = []kv.Span{{Start: kv.Key("k"), End: kv.Key("l")}}, 2
		resp, _ = c.c.do(1, q, time.Second)
		if rows := resp.Read.Rows[0]; fmt.Sprintf("%v %v %s", rows.Keys, rows.More, rows.Resume) != `["k3" "k4"] true ["k5","l")` {
			t.Errorf("two rows that nobody holds: %+v, skipped %v", rows, resp.Read.Skipped)
		}
		if n := c.tell(false); n != 2 {
			t.Errorf("%d rows locked for two", n)
		}
	})
}

// Locks are in the leaseholder's memory: when the lease moves who waits is sent on, and gets the lock there. Whoever held it
// finds out when it commits.
func TestLocksGoWithTheLease(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	h.task(60*time.Second, func() {
		h.client(9).write(1, "k", "0", 10*time.Second)
		a, b := h.locker(1, "a"), h.locker(2, "b")
		a.lock(0, "k")
		got := h.meanwhile(func() string { return "read " + b.lock(0, "k") })
		h.user.Sleep(100 * time.Millisecond)
		from := h.leader(1).id
		h.client(3).do(1, kv.Request{Admin: &kv.AdminRequest{TransferLease: from%3 + 1}}, 10*time.Second)
		if v := got(); v != "read 0" {
			t.Errorf("b: %s", v)
		}
		done := h.meanwhile(func() string { return a.commit("k", "a") }) // behind b, who is younger: not for long
		h.user.Sleep(time.Second)
		if v := done(); v != "ok" {
			t.Errorf("a: %s", v)
		}
		if v := b.commit("k", "b"); v != kv.ErrRefresh.String() {
			t.Errorf("b, who had read before a wrote: %s", v)
		}
	})
}

// A split leaves the locks of the right half behind.
func TestLocksAndSplit(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	h.task(60*time.Second, func() {
		a, b := h.locker(1, "a"), h.locker(2, "b")
		a.lock(0, "k", "x")
		got := h.meanwhile(func() string { return "read " + b.lock(0, "x") })
		h.user.Sleep(100 * time.Millisecond)
		h.client(3).split(t, 1, "m", 2)
		if n := a.tell(false); n != 1 {
			t.Errorf("%d locks are left in the left half", n)
		}
		if v := got(); v != "read ambiguous" { // this client keeps asking range 1
			t.Errorf("b: %s", v)
		}
	})
}

// A coordinator that is gone does not keep a key for ever; one that gives signs of life does. And nobody waits longer than
// he wants to.
func TestLocksExpire(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	h.task(90*time.Second, func() {
		a, b := h.locker(1, "a"), h.locker(2, "b")
		h.client(3).write(1, "k", "v", 10*time.Second)
		a.lock(0, "k")
		began := h.loop.Now()
		for range 8 {
			if v := b.lock(time.Second, "k"); v != kv.ErrLockWait.String() {
				t.Errorf("b: %s", v)
			}
			a.tell(false)
		}
		if took := h.loop.Now() - began; took > 9*time.Second {
			t.Errorf("8 waits of a second took %s", took)
		}
		began = h.loop.Now()
		if v := b.lock(0, "k"); v != "v" {
			t.Errorf("b: %s", v)
		}
		if took := h.loop.Now() - began; took < 2*time.Second || took > 4*time.Second {
			t.Errorf("the lock of the dead expired after %s", took)
		}
	})
}

// K4: a request for whose lock there is no room goes on without it, but not before its turn, and in time: it does not ask again
// for ever. Passing those that hold the key it would undo their work, again and again. (Simulation with ranges that keep 8 locks:
// seed 1790, where writers so kept a transfer from ever ending; seed 9, a task that never let another run.)
func TestNoRoomForTheLock(t *testing.T) {
	h := newHarness(t, 6, 3, func(o *Options) { o.LockLimit = 8 }) // and two of one owner
	h.task(30*time.Second, func() {
		var by [4]*locker
		for i := range by {
			h.user.Sleep(time.Millisecond) // each younger than the one before
			by[i] = h.locker(uint64(1+i), string(rune('a'+i)))
		}
		a, b, c, d := by[0], by[1], by[2], by[3]
		lock := func(l *locker, keys ...string) {
			t.Helper()
			if got := l.lock(time.Second, keys...); got != "" {
				t.Fatalf("%s: %q", l.name, got)
			}
		}
		lock(a, "k")
		lock(b, "x", "y")
		lock(b, "z") // without
		if held := b.tell(false); held != 2 {
			t.Fatalf("b holds %d locks", held)
		}
		began := h.loop.Now()
		order := make(chan string, 3)
		say := func(who, what string) string { order <- who; return what }
		second := h.meanwhile(func() string { return say("b", "b "+b.lock(10*time.Second, "k")) })
		third := h.meanwhile(func() string { return say("c", "c "+c.lock(10*time.Second, "k")) })
		h.user.Sleep(500 * time.Millisecond)
		if len(order) > 0 {
			t.Errorf("%s passed a", <-order)
		}
		if got := a.commit("k", "a's"); got != "ok" {
			t.Errorf("a: %s", got)
		}
		order <- "a"
		if got := second(); got != "b a's" {
			t.Error(got)
		}
		if got := third(); got != "c a's" {
			t.Error(got)
		}
		if took := h.loop.Now() - began; took > time.Second {
			t.Errorf("all that took %s", took)
		}
		if held := b.tell(true); held != 2 {
			t.Errorf("b held %d locks", held)
		}
		fourth := h.meanwhile(func() string { return d.commit("k", "d's") }) // a write the same: it waits for c
		h.user.Sleep(100 * time.Millisecond)
		if got := c.commit("k", "c's"); got != "ok" {
			t.Errorf("c: %s", got)
		}
		if got := fourth(); got != "ok" {
			t.Errorf("d: %s", got)
		}
	})
	h.converge(1)
}

// lay lays an intent of a transaction of its own on a key, and takes it back after a while.
func (c *client) lay(key string, keep time.Duration) {
	now := c.h.reading()
	id, start := c.txn(), now.Limit()
	_, ok := c.do(1, kv.Request{Write: &kv.WriteRequest{Txn: id, Start: start, Anchor: kv.Key(key), ReadTS: start, CommitTS: start,
		Puts: []kv.Put{{Key: kv.Key(key), Value: []byte("passing")}}, Laid: now.Earliest}}, 5*time.Second)
	if ok {
		c.h.user.Sleep(keep)
	}
	c.do(1, kv.Request{EndTxn: &kv.EndTxnRequest{Txn: id, Start: start, Anchor: kv.Key(key), Now: c.h.reading().Earliest}}, 5*time.Second)
	c.do(1, kv.Request{Resolve: &kv.ResolveRequest{Txn: id, Status: kv.TxnStatus{State: kv.Aborted}, Keys: []kv.Key{kv.Key(key)}}}, 5*time.Second)
}

// K6: a scan that locks gets through among younger transactions that write its rows all the time. It has their intents removed one after
// the other, and meanwhile the next ones are laid on other rows; so it keeps the keys on which it has met one. (Simulation: seeds 514 and
// 984, where snapshots that lock all accounts read for 30 s, over 77 ms, beside writers of a few keys.)
func TestScanThatLocksIsNotStarved(t *testing.T) {
	var h *harness
	h = newHarness(t, 1, 3, func(o *Options) {
		o.Push = func(q *kv.PushRequest) (*kv.TxnStatus, error) {
			resp, err := h.call(h.leader(1).id, kv.Request{Range: 1, Push: q}, time.Second)
			if err != nil {
				return nil, err
			}
			if resp.Err != nil {
				return nil, resp.Err
			}
			return resp.EndTxn, nil
		}
	})
	h.task(60*time.Second, func() {
		const rows = 8
		for i := range rows {
			h.client(1).write(1, fmt.Sprint("k", i), "row", 10*time.Second)
		}
		scan, over := h.locker(2, "scan"), false
		for i := range rows {
			c := h.client(uint64(10 + i))
			h.user.Go("writer", func() {
				for !over {
					c.lay(fmt.Sprint("k", i), 30*time.Millisecond)
				}
			})
		}
		h.user.Sleep(100 * time.Millisecond)
		q := scan.request(kv.LockQueue, 0)
		q.Read.Spans = []kv.Span{{Start: kv.Key("k"), End: kv.Key("l")}}
		resp, ok := scan.c.do(1, q, 5*time.Second)
		over = true
		if !ok || len(resp.Read.Rows[0].Keys) != rows {
			t.Fatalf("the scan: %+v", resp)
		}
		if n := scan.tell(true); n != rows {
			t.Errorf("it holds %d locks", n)
		}
		h.user.Sleep(time.Second)
	})
	h.converge(1)
}
