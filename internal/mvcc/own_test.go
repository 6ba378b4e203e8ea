package mvcc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// TestScanOver compares scans by a transaction with intents of its own, beside versions and the intents of a transaction that
// is decided, with a map: pages of any size, forwards and backwards, and single keys.
func TestScanOver(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		e, err := storage.Open(storage.Options{FS: vfs.NewMem(), Dir: "store", Cache: 1 << 20, Deterministic: true})
		if err != nil {
			t.Fatal(err)
		}
		at := func(s int64) clock.Timestamp { return clock.Timestamp{Wall: s} }
		mine, other := kv.TxnID{1}, kv.TxnID{2}
		own := &kv.Own{Seq: 1 + rng.Uint64N(6), Ignored: []kv.SeqRange{{After: 2, To: 2 + rng.Uint64N(3)}}}
		commit := at([]int64{15, 25}[rng.IntN(2)]) // at or above the read
		want := map[string]string{}
		b := e.State.NewBatch()
		for i := range 40 {
			k := kv.Key(fmt.Sprintf("\x04%02d", i))
			if rng.IntN(2) == 0 {
				want[string(k)] = "old"
				must(t, PutVersion(b, k, clock.Timestamp{}, at(10), []byte("old"), false))
			}
			in := &kv.Intent{Txn: mine, TS: at(30), Seq: 2 + rng.Uint64N(4), Value: []byte("new"), Delete: false}
			if rng.IntN(3) == 0 {
				in.Value, in.Delete = nil, true
			}
			visible := ""
			switch rng.IntN(3) {
			case 0:
				continue
			case 1:
				if rng.IntN(2) == 0 {
					in.Earlier = []kv.Earlier{{Seq: 1, Value: []byte("first")}}
				}
				hidden := in.Seq > own.Seq || in.Seq > 2 && in.Seq <= own.Ignored[0].To
				if visible = string(in.Value); hidden && in.Earlier != nil {
					visible = "first"
				} else if hidden {
					visible = "-"
				}
			case 2:
				in.Txn, in.TS, in.Seq = other, at(12), 0
				if visible = string(in.Value); at(20).Less(commit) {
					visible = "-"
				}
			}
			must(t, PutIntent(b, k, in, false))
			if visible != "-" {
				if delete(want, string(k)); visible != "" {
					want[string(k)] = visible
				}
			}
		}
		must(t, e.ApplyState(b))
		v, err := Open(e.State, Options{TS: at(20), Limit: at(20), Txn: mine, Own: own,
			Finished: map[kv.TxnID]kv.TxnStatus{other: {State: kv.Committed, CommitTS: commit}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, reverse := range []bool{false, true} {
			got, last := map[string]string{}, kv.Key(nil)
			for rest := (kv.Span{Start: kv.Key{4}, End: kv.Key{5}}); !rest.Empty(); {
				n := 1 + rng.IntN(7)
				rows, read, err := v.Scan(rest, &Budget{Rows: n, Bytes: 1 + rng.IntN(60), Keys: 1 + rng.IntN(20)}, reverse)
				if err != nil || len(v.Intents) > 0 || len(rows.Keys) > n || !rest.ContainsSpan(read) {
					t.Fatalf("seed %d: %v, %d intents, %d rows of %d, read %s of %s", seed, err, len(v.Intents), len(rows.Keys), n, read, rest)
				}
				for i, k := range rows.Keys {
					if last != nil && last.Less(k) == reverse || !read.Contains(k) {
						t.Fatalf("seed %d: %s after %s, read %s", seed, k, last, read)
					}
					got[string(k)], last = string(rows.Values[i]), k
				}
				if rest = rows.Resume; !rows.More {
					break
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d, reverse %t: got %v\nwant %v", seed, reverse, got, want)
			}
		}
		for i := range 40 {
			k := kv.Key(fmt.Sprintf("\x04%02d", i))
			if value, err := v.Get(k); err != nil || string(value) != want[string(k)] {
				t.Fatalf("seed %d: %s is %q, want %q: %v", seed, k, value, want[string(k)], err)
			}
		}
		must(t, v.Close())
		must(t, b.Close())
		must(t, e.Close())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestReachable compares what an intent keeps of earlier values with asking for each mark which value it leads to.
func TestReachable(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var list []kv.Earlier
		var marks []uint64
		seq := uint64(0)
		for range rng.IntN(8) {
			seq += 1 + rng.Uint64N(3)
			list = append(list, kv.Earlier{Seq: seq, Value: []byte{byte(seq)}})
		}
		for m := range seq + 3 {
			if rng.IntN(3) == 0 {
				marks = append(marks, m)
			}
		}
		next := seq + 1 + rng.Uint64N(2)
		kept := kv.Reachable(list, next, marks)
		var want []kv.Earlier
		for i, e := range list {
			after := next
			if i+1 < len(list) {
				after = list[i+1].Seq
			}
			if slices.ContainsFunc(marks, func(m uint64) bool { return e.Seq <= m && m < after }) {
				want = append(want, e)
			}
		}
		if fmt.Sprint(kept) != fmt.Sprint(want) {
			t.Fatalf("seed %d: of %v before %d, marks %v lead to %v, not %v", seed, list, next, marks, want, kept)
		}
	}
}
