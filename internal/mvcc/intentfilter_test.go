package mvcc

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// TestIntentFilter writes intents and records at random, several to a command and several commands to a batch, and compares what the
// intent filter says of each key with what is there. One that is made from state says the same as the one that was kept.
func TestIntentFilter(t *testing.T) {
	e, err := storage.Open(storage.Options{FS: vfs.NewMem(), Dir: "store", Cache: 1 << 20, Deterministic: true})
	check(t, err)
	defer e.Close()
	r := rand.New(rand.NewPCG(1, 2))
	s, there := new(IntentFilter), map[string]bool{}
	key := func(i int) kv.Key { return kv.Key(fmt.Sprintf("k%d\x00", i)) }
	for range 2000 {
		b := e.State.NewBatch()
		var f FilterDelta
		for range 1 + r.IntN(3) {
			c := e.State.NewBatch() // a command
			written := map[string]bool{}
			for range 1 + r.IntN(4) {
				i := r.IntN(40)
				k, id := key(i), kv.TxnID{byte(i), 1}
				intent := r.IntN(2) == 0
				name := string(keys.Record(k, id))
				if intent {
					name = string(keys.Lock(k))
				}
				switch {
				case written[name]: // a command writes a key once
				case there[name] && r.IntN(3) == 0 && intent:
					check(t, RemoveIntent(c, k))
					check(t, RemoveIntent(c, k)) // E2
					delete(there, name)
				case there[name] && r.IntN(2) == 0 && !intent:
					check(t, RemoveRecordAt(c, keys.Record(k, id)))
					delete(there, name)
				case intent:
					check(t, PutIntent(c, k, &kv.Intent{Txn: id, TS: clock.Timestamp{Wall: 1}, Value: []byte("v")}, there[name]))
					there[name] = true
				default:
					check(t, PutRecord(c, k, id, &kv.Record{State: kv.Staged}, there[name]))
					there[name] = true
				}
				written[name] = true
			}
			check(t, PutVersion(c, kv.Key("k1"), clock.Timestamp{}, clock.Timestamp{Wall: 1}, []byte("v"), false)) // is not counted
			from := f.Removals()
			for rd := c.Reader(); ; {
				kind, k, v, ok, err := rd.Next()
				check(t, err)
				if !ok {
					break
				}
				f.Add(k, v, kind == storage.KindDelete)
			}
			f.DedupRemovals(from)
			check(t, b.Apply(c, nil))
			check(t, c.Close())
		}
		s.CountWrites(&f)
		check(t, e.ApplyState(b))
		s.CountRemovals(&f)
		check(t, b.Close())
		var names []string
		held := map[*atomic.Uint32]uint32{} // by slot: two keys may share one
		for i := range 40 {
			k, id := key(i), kv.TxnID{byte(i), 1}
			for _, name := range []string{string(keys.Lock(k)), string(keys.Record(k, id))} {
				names = append(names, name)
				if there[name] {
					held[s.slot(filterHash(storage.Key(kv.Key(name))))]++
				}
			}
		}
		for _, name := range names {
			k := storage.Key(kv.Key(name))
			if n := held[s.slot(filterHash(k))]; s.slot(filterHash(k)).Load() != n || s.provesAbsence(k) != (n == 0) {
				t.Fatalf("%q: there: %t, and the intent filter says none: %t, counts %d where %d are", name, there[name],
					s.provesAbsence(k), s.slot(filterHash(k)).Load(), n)
			}
		}
	}
	loaded := new(IntentFilter)
	check(t, loaded.Load(e.State))
	for h := range uint64(2 * len(s.records)) {
		if a, b := s.slot(h).Load(), loaded.slot(h).Load(); a != b {
			t.Fatalf("slot %d: kept %d, loaded %d", h, a, b)
		}
	}
	if len(there) == 0 {
		t.Fatal("nothing is left")
	}
}

// TestIntentFilterRefuses: what was not counted is not removed. If that costs only one range its replica, the slot must not come
// to say that it is empty when others use it: it counts too much from then on.
func TestIntentFilterRefuses(t *testing.T) {
	s, key := new(IntentFilter), storage.Key(keys.Lock(kv.Key("k")))
	defer func() {
		if recover() == nil {
			t.Error("more was removed than there was")
		}
		var f FilterDelta
		f.Add(key, []byte{0}, false)
		for range 3 {
			if s.provesAbsence(key) {
				t.Error("the slot says that there is nothing")
			}
			s.CountWrites(&f)
			f.Add(key, nil, true)
			s.CountRemovals(&f)
			f.Add(key, []byte{0}, false)
		}
	}()
	var f FilterDelta
	f.Add(key, nil, true)
	s.CountRemovals(&f)
}
