package txn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// TestOnGoroutines runs random transactions, small and large ones, on the runtime of production, for the race detector.
func TestOnGoroutines(t *testing.T) {
	for name, s := range map[string]setup{"small": {locks: true}, "large": {locks: true, spill: true}} {
		t.Run(name, func(t *testing.T) { onGoroutines(t, s) })
	}
}

func onGoroutines(t *testing.T, s setup) {
	contradiction = nil
	w := newWorld(nil)
	w.latency = func() time.Duration { return 100 * time.Microsecond }
	for id := kv.NodeID(1); id <= 3; id++ {
		w.addNode(id, (time.Duration(id)-2)*300*time.Microsecond, 500*time.Microsecond, DBOptions{SpillBytes: map[bool]int{true: 1}[s.spill]})
	}
	w.split(key("d"), 2)
	w.split(key("h"), 3)
	var mu sync.Mutex
	var all []*done
	var wg sync.WaitGroup
	for id := kv.NodeID(1); id <= 3; id++ {
		for worker := range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				rng := rand.New(rand.NewPCG(uint64(id), uint64(worker)))
				for i := range 10 {
					if d := one(w.nodes[id], rng, s, fmt.Sprintf("n%d.%d.%d", id, worker, i)); d != nil {
						mu.Lock()
						all = append(all, d)
						mu.Unlock()
					}
				}
			}()
		}
	}
	wg.Wait()
	for _, n := range w.nodes {
		n.db.Close(5 * time.Second)
	}
	if err := judge(all); err != nil {
		t.Fatal(err)
	}
	if len(all) < 60 {
		t.Errorf("only %d of 120 transactions committed", len(all))
	}
}

// TestOneTransactionOfSeveralTasks lets tasks of one transaction read at once while uncertain versions move it up. What they
// return is of one timestamp (X4): two keys are always written together.
func TestOneTransactionOfSeveralTasks(t *testing.T) {
	for seed := range uint64(60) {
		loop := eventloop.New(seed)
		rng := rand.New(rand.NewPCG(seed, 9))
		w := newWorld(loop)
		w.latency = func() time.Duration { return time.Duration(rng.IntN(1500)) * time.Microsecond }
		w.addNode(1, 4*time.Millisecond, 5*time.Millisecond, DBOptions{})
		w.addNode(2, -4*time.Millisecond, 5*time.Millisecond, DBOptions{})
		w.split(key("m"), 2)
		writer, reader := w.nodes[1], w.nodes[2]
		stop := false
		writer.rt.Go("writer", func() {
			for i := 0; !stop; i++ {
				_ = writer.db.Run(context.Background(), Options{Ordering: Uncertainty}, func(ctx context.Context, tx *Txn) error {
					tx.Put(key("a"), fmt.Append(nil, i))
					tx.Put(key("z"), fmt.Append(nil, i))
					return nil
				})
			}
		})
		reader.in(func(ctx context.Context) {
			for range 20 {
				err := reader.db.Run(ctx, Options{Ordering: Uncertainty}, func(ctx context.Context, tx *Txn) error {
					var got [4]string
					var errs [4]error
					left := len(got)
					for i := range got {
						reader.rt.Go("part", func() {
							v, err := tx.Get(ctx, key([]string{"a", "z"}[i%2]))
							got[i], errs[i] = string(v), err
							left--
						})
					}
					for left > 0 {
						reader.rt.Sleep(time.Millisecond)
					}
					for i := range got {
						if errs[i] != nil {
							return errs[i]
						}
						if got[i] != got[0] {
							t.Errorf("seed %d: one transaction read %q", seed, got)
						}
					}
					return nil
				})
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
		stop = true
	}
}
