package txn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// done is a committed transaction as its client saw it.
type done struct {
	name       string
	ordering   Ordering
	begin, ack time.Duration
	at         clock.Timestamp // its place in the order: c, or r if it wrote nothing
	writes     map[string]string
	reads      map[string]string // of others' writes; "": absent
}

func (d *done) String() string {
	return fmt.Sprintf("%s %s [%s,%s] at %s reads %v writes %v", d.name, d.ordering, d.begin, d.ack, stamp(d.at), d.reads, d.writes)
}

type setup struct {
	unsafe  Unsafe
	without string
	losses  bool
	wide    bool // bounds as wide as a transaction is long
	locks   bool // transactions lock some of what they read
	uneven  bool // the clock of one node is poor, those of the others are good
	dies    bool // coordinators, after they have acknowledged and before the record says so
	spill   bool // buffers hold one or two writes
	copies  bool // writes are delivered again, later
}

// recovered counts over all histories; contradiction is of the last one.
var (
	recovered     int
	spilled       uint64
	contradiction error
)

const letters = "abcdefghijkl"

// history runs random transactions from three nodes while ranges split, leases move and messages get lost.
func history(seed uint64, s setup) (all []*done, stats Stats, steps uint64) {
	contradiction = nil
	loop := eventloop.New(seed)
	rng := rand.New(rand.NewPCG(seed, 7))
	w := newWorld(loop)
	w.refuse[s.without] = true
	w.latency = func() time.Duration { return time.Duration(rng.IntN(1500)) * time.Microsecond }
	if s.losses {
		w.lose = func() bool { return rng.IntN(200) == 0 }
	}
	w.recover = seed%4 < 2
	w.page = int(seed % 3)
	if s.copies {
		w.again = func() time.Duration {
			if rng.IntN(4) > 0 {
				return 0
			}
			return time.Duration(1+rng.IntN(20000)) * time.Microsecond
		}
	}
	if s.dies {
		w.dies = func() bool { return rng.IntN(3) == 0 }
	}
	for id := kv.NodeID(1); id <= 3; id++ {
		eps := time.Duration(1+rng.IntN(4000)) * time.Microsecond
		if s.wide {
			eps *= 10
		}
		if s.uneven {
			eps = []time.Duration{40 * time.Millisecond, 200 * time.Microsecond, 2 * time.Millisecond}[id-1]
		}
		off := time.Duration(rng.Int64N(int64(2*eps))) - eps
		o := DBOptions{Unsafe: s.unsafe}
		if s.spill {
			o.SpillBytes = 1 + rng.IntN(3)*overhead
		}
		w.addNode(id, off, eps, o)
	}
	w.split(key("d"), 2)
	w.split(key("h"), 3)
	loop.At(30*time.Millisecond, func() { w.split(key("f"), 1) })
	loop.At(60*time.Millisecond, func() { w.split(key("c"), 3) })
	for i := range 12 {
		loop.At(time.Duration(10+15*i)*time.Millisecond, func() {
			w.lead(key(string(letters[rng.IntN(len(letters))])), kv.NodeID(1+rng.IntN(3)))
		})
	}
	running := 0
	for id := kv.NodeID(1); id <= 3; id++ {
		n := w.nodes[id]
		for worker := range 4 {
			running++
			n.rt.Go("worker", func() {
				for i := range 12 {
					if d := one(n, rng, s, fmt.Sprintf("n%d.%d.%d", n.id, worker, i)); d != nil {
						all = append(all, d)
					}
				}
				running--
			})
		}
	}
	if !loop.Run(10*time.Minute, func() bool { return running == 0 }) {
		panic("transactions hang")
	}
	for id := kv.NodeID(1); id <= 3; id++ {
		st := w.nodes[id].db.Stats()
		stats.Commits += st.Commits
		stats.Uncertain.Refreshed += st.Uncertain.Refreshed
		stats.Uncertain.Retried += st.Uncertain.Retried
		stats.Aborts += st.Aborts
		stats.Parallel += st.Parallel
		spilled += st.Spilled
	}
	recovered += w.recoveries
	contradiction = cmp.Or(contradiction, w.wrong)
	return all, stats, loop.Steps()
}

// one runs a random transaction to its end.
func one(n *fakeNode, rng *rand.Rand, s setup, name string) *done {
	d := &done{name: name, begin: n.w.now(), ordering: Ordering(rng.IntN(2))}
	readOnly := rng.IntN(4) == 0
	var last *Txn
	err := n.db.Run(context.Background(), Options{Ordering: d.ordering, ReadOnly: readOnly}, func(ctx context.Context, t *Txn) error {
		d.writes, d.reads = map[string]string{}, map[string]string{}
		saw := func(k, v string) {
			if own, mine := d.writes[k]; !mine {
				d.reads[k] = v
			} else if v != own && t.Release(ctx) == nil {
				contradiction = cmp.Or(contradiction, fmt.Errorf("not its own: %s wrote %q to %s and reads %q", name, own, k, v))
			}
		}
		type point struct {
			at     Savepoint
			writes map[string]string
		}
		points := []point{{t.Savepoint(), map[string]string{}}}
		ops := 1 + rng.IntN(4)
		if s.spill {
			ops = 1 + rng.IntN(10)
		}
		for op := range ops {
			k := string(letters[rng.IntN(len(letters))])
			switch x := rng.IntN(9); {
			case x == 8:
				if err := countAll(ctx, t, rng, k, d, saw); err != nil {
					return err
				}
			case x == 7:
				points = append(points, point{t.Savepoint(), maps.Clone(d.writes)})
			case x == 6:
				i := rng.IntN(len(points))
				t.RollbackTo(points[i].at)
				for k := range d.writes {
					// What was read of a key after it was written there is not known: take it for neither.
					if _, ok := points[i].writes[k]; !ok {
						delete(d.reads, k)
					}
				}
				d.writes = maps.Clone(points[i].writes)
				for _, p := range points[i+1:] {
					t.Forget(p.at)
				}
				points = points[:i+1]
			case x == 0:
				span := kv.Span{Start: key(k), End: key("z")}
				rows, err := t.ScanMany(ctx, []kv.Span{span})
				if err != nil {
					return err
				}
				got := map[string]string{}
				for _, r := range rows[0] {
					got[string(r.Key[1:])] = string(r.Value)
				}
				for _, l := range letters {
					if string(l) >= k {
						saw(string(l), got[string(l)])
					}
				}
			case x == 1:
				sc := t.Scan(ctx, kv.Span{Start: key("a"), End: key(k)}, ScanOptions{Reverse: rng.IntN(2) == 0})
				got := map[string]string{}
				for {
					rows, err := sc.Next(ctx)
					if err != nil {
						return err
					}
					if rows == nil {
						break
					}
					for _, r := range rows {
						got[string(r.Key[1:])] = string(r.Value)
					}
				}
				for _, l := range letters {
					if string(l) < k {
						saw(string(l), got[string(l)])
					}
				}
			case x <= 3 && s.locks && !readOnly:
				l := Lock{Mode: kv.LockMode(1 + rng.IntN(2)), Policy: []kv.LockPolicy{kv.LockQueue, kv.LockQueue, kv.LockSkip}[rng.IntN(3)]}
				vs, skipped, err := t.GetLocked(ctx, []kv.Key{key(k)}, l)
				if err != nil {
					return err
				}
				if !skipped[0] {
					saw(k, string(vs[0]))
				}
			case x <= 3 || readOnly:
				v, err := t.Get(ctx, key(k))
				if err != nil {
					return err
				}
				saw(k, string(v))
			case x == 4:
				t.Put(key(k), fmt.Appendf(nil, "%s/%d", name, op))
				d.writes[k] = fmt.Sprintf("%s/%d", name, op)
			default:
				t.Delete(key(k))
				d.writes[k] = ""
			}
		}
		last = t
		return nil
	})
	d.ack = n.w.now()
	var e *kv.Error
	switch {
	case err == nil:
		d.at = last.CommitTimestamp().Forward(last.ord.r)
	case errors.As(err, &e) && e.Code == kv.ErrConflict:
		return nil
	default:
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	return d
}

// countAll counts the letters from k on one by one, and together, and checks what it can at once. That a letter is there
// is noted as a read of the letter and a question mark.
func countAll(ctx context.Context, t *Txn, rng *rand.Rand, k string, d *done, saw func(k, v string)) error {
	span := kv.Span{Start: key(k), End: key("z")}
	one := kv.Grouping{Prefix: len(key(k)), First: rng.IntN(3) == 0}
	groups, rows, err := t.Count(ctx, []Counting{{[]kv.Span{span}, one}, {[]kv.Span{span}, kv.Grouping{}}}, []kv.Span{span})
	if err != nil {
		return err
	}
	total := int64(0)
	for _, g := range groups[1] {
		total += g.Count
	}
	// Z7: who has been aborted may miss its own intents.
	if len(groups[1]) > 1 || len(groups[0]) != len(rows[0]) || total != int64(len(rows[0])) {
		if err := t.Release(ctx); err != nil {
			return err
		}
		panic(fmt.Sprintf("counted %v and %v of %v", groups[0], groups[1], rows[0]))
	}
	there := map[string]string{}
	for i, g := range groups[0] {
		if row := rows[0][i]; !row.Key.Equal(g.Key) || one.First && !slices.Equal(row.Value, g.Value) || g.Count != 1 {
			if err := t.Release(ctx); err != nil {
				return err // Z7 again
			}
			panic(fmt.Sprintf("group %v of row %v", g, row))
		}
		there[string(g.Key[1:])] = "there"
	}
	for _, l := range letters {
		l := string(l)
		if l < k {
			continue
		}
		if v, own := d.writes[l]; own && (v != "") != (there[l] != "") {
			if err := t.Release(ctx); err != nil {
				return err
			}
			panic(fmt.Sprintf("own writes %v, counted %v", d.writes, groups[0]))
		} else if !own {
			saw(l+"?", there[l])
		}
	}
	return nil
}

// serial replays the transactions one after the other in the order of their timestamps, and says which read differs from
// what it would have been.
func serial(all []*done) error {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *done) int { return a.at.Compare(b.at) })
	state := map[string]string{}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].at == all[0].at {
			n++
		}
		if !place(state, all[:n]) {
			return fmt.Errorf("not serializable at %s:\n%v\nstate %v", stamp(all[0].at), all[:n], state)
		}
		all = all[n:]
	}
	return nil
}

// place finds an order for transactions with one timestamp, by trying.
func place(state map[string]string, group []*done) bool {
	if len(group) == 0 {
		return true
	}
	for i, d := range group {
		ok := true
		for k, v := range d.reads {
			if l, count := strings.CutSuffix(k, "?"); count {
				ok = ok && (state[l] != "") == (v != "")
			} else {
				ok = ok && state[k] == v
			}
		}
		if !ok {
			continue
		}
		old := map[string]string{}
		for k, v := range d.writes {
			old[k] = state[k]
			state[k] = v
		}
		if place(state, slices.Delete(slices.Clone(group), i, i+1)) {
			return true
		}
		for k, v := range old {
			state[k] = v
		}
	}
	return false
}

// realTime checks recency, which holds for all, and strictness, which `wait` ordering adds.
func realTime(all []*done) error {
	wrote := map[string]*done{}
	known := map[*done]time.Duration{} // when somebody outside could know of the transaction
	for _, d := range all {
		for _, v := range d.writes {
			if v != "" {
				wrote[v] = d
			}
		}
		known[d] = d.ack
	}
	for _, d := range all {
		for _, v := range d.reads {
			if w := wrote[v]; w != nil {
				known[w] = min(known[w], d.ack)
			}
		}
	}
	for _, w := range all {
		if len(w.writes) == 0 {
			continue
		}
		for _, d := range all {
			if d.begin < known[w] || w == d {
				continue
			}
			if d.ordering == Wait && !w.at.Less(d.at) {
				return fmt.Errorf("not strict:\n%v\nbegan after\n%v\nwas known, and stands before it", d, w)
			}
			for k := range w.writes {
				_, read := d.reads[k]
				_, counted := d.reads[k+"?"]
				if (read || counted) && d.at.Less(w.at) {
					return fmt.Errorf("not recent: key %s:\n%v\nbegan after\n%v\nwas known, and reads before it", k, d, w)
				}
			}
		}
	}
	return nil
}

func judge(all []*done) error { return cmp.Or(contradiction, serial(all), realTime(all)) }

// TestRandomHistories is a random workload against a naive serial model.
func TestRandomHistories(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 30
	}
	var commits, aborts, refreshed, retried, parallel uint64
	recovered, spilled = 0, 0
	for seed := range seeds {
		s := setup{losses: seed%2 == 1, wide: seed%3 == 0, dies: seed%5 > 1, locks: seed%7 > 3, uneven: seed%4 == 1, spill: seed%8 > 4,
			copies: seed%9 > 5}
		all, st, steps := history(seed, s)
		if err := judge(all); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(all) < 100 {
			t.Errorf("seed %d: only %d of 144 transactions committed", seed, len(all))
		}
		parallel += st.Parallel
		commits, aborts, refreshed, retried = commits+st.Commits, aborts+st.Aborts, refreshed+st.Uncertain.Refreshed, retried+st.Uncertain.Retried
		if seed < 3 {
			again, _, steps2 := history(seed, s)
			if fmt.Sprint(again) != fmt.Sprint(all) || steps != steps2 {
				t.Fatalf("seed %d runs differently the second time: %d and %d steps", seed, steps, steps2)
			}
		}
	}
	t.Logf("%d commits (%d parallel, %d large, %d staged ones met by others), %d aborts, uncertainty: %d refreshed, %d retried",
		commits, parallel, spilled, recovered, aborts, refreshed, retried)
	if spilled == 0 || refreshed == 0 || retried == 0 || aborts == 0 || parallel == 0 || recovered == 0 {
		t.Error("the workload does not reach uncertainty, conflicts, or recovery")
	}
}

// TestEachRuleIsNeeded turns the rules off one by one; the checks must find that out.
func TestEachRuleIsNeeded(t *testing.T) {
	for _, c := range []struct {
		name string
		s    setup
		want string
	}{
		{"no commit wait", setup{unsafe: Unsafe{NoCommitWait: true}, wide: true}, "not "},
		{"no read wait", setup{unsafe: Unsafe{NoReadWait: true}, wide: true}, "not "},
		{"no refresh", setup{unsafe: Unsafe{SkipRefresh: true}}, "not serializable"},
		{"recovery asks no writes", setup{without: "queries", dies: true}, "not "},
		{"recovery does not prevent", setup{without: "prevention", dies: true}, "not "},
		{"no refresh, with locks", setup{unsafe: Unsafe{SkipRefresh: true}, locks: true}, "not serializable"},
		{"copies replace later writes", setup{without: "numbers", spill: true, copies: true}, "not "},
		{"intents that moved are not counted", setup{unsafe: Unsafe{ForgetMoved: true}, spill: true}, "not "},
		{"what was taken back is committed", setup{unsafe: Unsafe{ForgetTakenBack: true}, spill: true}, "not "},
		{"no word about higher commits", setup{without: "notes"}, "not recent"},
		{"placed below latest", setup{without: "latest", uneven: true}, "not "},
		{"placed without a mark", setup{without: "marks"}, "not serializable"},
		{"called past without waiting", setup{without: "waits", uneven: true}, "not "},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(400) {
				all, _, _ := history(seed, c.s)
				if err := judge(all); err != nil {
					if !strings.Contains(err.Error(), c.want) {
						t.Fatalf("seed %d: %v", seed, err)
					}
					t.Logf("seed %d: %s", seed, strings.SplitN(err.Error(), ":", 2)[0])
					return
				}
			}
			t.Error("nothing was found")
		})
	}
}
