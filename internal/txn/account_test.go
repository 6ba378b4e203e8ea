package txn

import (
	"context"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// TestRounds counts how often a transaction waits for answers: what it costs where ranges are far.
func TestRounds(t *testing.T) {
	read := func(ks ...string) Func {
		return func(ctx context.Context, x *Txn) error {
			var all []kv.Key
			for _, k := range ks {
				all = append(all, key(k))
			}
			_, err := x.GetMany(ctx, all)
			return err
		}
	}
	write := func(ks ...string) Func {
		return func(_ context.Context, x *Txn) error {
			for _, k := range ks {
				x.Put(key(k), []byte("1"))
			}
			return nil
		}
	}
	both := func(fns ...Func) Func {
		return func(ctx context.Context, x *Txn) error {
			for _, fn := range fns {
				if err := fn(ctx, x); err != nil {
					return err
				}
			}
			return nil
		}
	}
	var w *world
	overtaken := func(k string) Func { // another transaction reads it above where this one stands, and so it is written above that
		return func(ctx context.Context, x *Txn) error {
			if _, err := x.ReadTimestamp(ctx); err != nil {
				return err
			}
			w.nodes[1].rt.Sleep(time.Millisecond)
			return w.nodes[1].db.Run(context.Background(), Options{}, read(k))
		}
	}
	for _, c := range []struct {
		name                     string
		fn                       Func
		rounds, commit, messages int
	}{
		{"nothing", both(), 0, 0, 0},
		{"a read of one range", read("a"), 1, 0, 1},
		{"a read of three ranges", read("a", "i", "q"), 1, 0, 3},
		{"two reads", both(read("a"), read("q")), 2, 0, 2},
		{"a commit in one range", write("a", "b", "c"), 1, 1, 1},
		{"a commit in three ranges", write("a", "i", "q"), 1, 1, 3},
		{"a read, and a commit in its range", both(read("a"), write("a")), 2, 1, 2},
		{"a read of three ranges, and a commit in three", both(read("a", "i", "q"), write("a", "i", "q")), 2, 1, 6},
		{"a commit that lands higher: the record", both(write("a", "q"), overtaken("q")), 2, 2, 3},
		{"the same, with intents that stay behind: a word, the record", both(write("a", "i", "q"), overtaken("q")), 3, 3, 5},
		{"with a read: the word goes with its refresh", both(read("b"), write("a", "i", "q"), overtaken("q")), 4, 3, 7},
	} {
		w = newWorld(eventloop.New(1))
		for id := kv.NodeID(1); id <= 3; id++ {
			w.addNode(id, 0, time.Microsecond, DBOptions{})
		}
		w.split(key("h"), 2)
		w.split(key("p"), 3)
		var st TxnStats
		var err error
		n := w.nodes[1]
		n.in(func(ctx context.Context) {
			if err = n.db.Run(ctx, Options{}, read("a", "i", "q")); err == nil { // finds the ranges and their leaseholders
				n.rt.Sleep(time.Millisecond) // else it commits where that has read
				var last *Txn
				err = n.db.Run(ctx, Options{}, func(ctx context.Context, x *Txn) error { last = x; return c.fn(ctx, x) })
				st = last.Stats()
			}
		})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if st.Rounds != c.rounds || st.CommitRounds != c.commit || st.Messages != c.messages || st.Repeats.N != 0 {
			t.Errorf("%s: %+v, want %d rounds, %d of them to commit, %d messages", c.name, st, c.rounds, c.commit, c.messages)
		}
	}
}

// TestStatsOfARepeatedTransaction: attempts, reasons, and what was lost by them.
func TestStatsOfARepeatedTransaction(t *testing.T) {
	w := newWorld(eventloop.New(1))
	n := w.addNode(1, 0, 5*time.Millisecond, DBOptions{})
	tries := 0
	w.deny = func(*kv.WriteRequest) *kv.Error {
		if tries > 2 {
			return nil
		}
		return &kv.Error{Code: kv.ErrRefresh, Key: key("a")}
	}
	var last *Txn
	n.in(func(ctx context.Context) {
		if _, err := n.router.Lookup(ctx, key("a")); err != nil {
			t.Error(err)
		}
		if err := n.db.Run(ctx, Options{}, func(_ context.Context, x *Txn) error {
			tries++
			last = x
			n.rt.Sleep(3 * time.Millisecond)
			x.Put(key("a"), []byte("1"))
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	st := last.Stats()
	if st.Repeats.N != 2 || st.Repeats.Why["refresh"] != 2 || st.Rounds != 3 || st.CommitRounds != 3 || st.Repeats.Lost < 6*time.Millisecond || st.Repeats.Lost > 30*time.Millisecond {
		t.Errorf("%+v", st)
	}
	if w := st.CommitWait; w.Count != 1 || w.Needed != 10*time.Millisecond || w.Actual < 9*time.Millisecond {
		t.Errorf("commit wait: %+v", w)
	}
	st.Repeats.Lost = 8 * time.Millisecond
	if got, want := st.String(), "3 rounds, commit in 3 rounds, begun again (refresh 2), 8ms lost, commit wait 10ms of 10ms"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestLockingReadsAreAccountedFor: overlapping ones count once, one under way counts up to now, and what an attempt has cost goes
// over to the next, but for the keys that it has found.
func TestLockingReadsAreAccountedFor(t *testing.T) {
	var now time.Duration
	clock := func() time.Duration { return now }
	expect := func(a *account, what string, locking time.Duration, locked int, underWay bool) {
		t.Helper()
		if s, n, l := a.read(now); s.Locking != locking || n != locked || l != underWay {
			t.Errorf("%s: %s in locking reads, %d keys, under way: %v; want %s, %d, %v", what, s.Locking, n, l, locking, locked, underWay)
		}
	}
	var a, b account
	a.begin(TxnStats{})
	first := a.locking(clock)
	now = 3 * time.Millisecond
	second := a.locking(clock)
	now = 5 * time.Millisecond
	first(2)
	expect(&a, "one of two has ended", 5*time.Millisecond, 2, true)
	now = 7 * time.Millisecond
	second(1)
	now = 20 * time.Millisecond
	expect(&a, "both have", 7*time.Millisecond, 3, false)
	a.waited(false, time.Millisecond, time.Millisecond)
	a.waited(true, 4*time.Millisecond, 2*time.Millisecond)
	before, _, _ := a.read(now)
	before.Repeats.Add("conflict", 20*time.Millisecond)
	b.begin(before)
	b.locking(clock)(1)
	expect(&b, "the next attempt", 7*time.Millisecond, 1, false)
	s, _, _ := b.read(now)
	s.Repeats.Add("conflict", time.Millisecond) // ours alone
	if s, _, _ := b.read(now); s.Waited() != 3*time.Millisecond || s.Repeats.N != 1 || s.Repeats.Reasons() != "conflict 1" || s.Repeats.Lost != 20*time.Millisecond {
		t.Errorf("%+v", s)
	}
}
