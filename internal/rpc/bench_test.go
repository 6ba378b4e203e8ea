package rpc

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// BenchmarkCall is the round trip of a message of about 200 bytes, both ends in this process, with everything that a call
// has: encoding, stamps, the clock's observation, a goroutine per call. docs/dependencies.md compares the frames beneath it
// with gRPC and DRPC.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			var net addresses
			answer := message200()
			from := node(b, &net, 1, func(*kv.Message) *kv.Message { return answer }, nil)
			node(b, &net, 2, func(*kv.Message) *kv.Message { return answer }, nil)
			m := message200()
			if _, err := from.Call(2, m, 5*time.Second); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			start := cpuTime()
			var n atomic.Int64
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for n.Add(1) <= int64(b.N) {
						if _, err := from.Call(2, m, 5*time.Second); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(cpuTime()-start)/float64(b.N), "cpu-ns/op")
		})
	}
}

// message200 is a one-row read, as large on the wire as they are.
func message200() *kv.Message {
	return &kv.Message{Batch: &kv.Batch{Requests: []kv.Request{{Range: 7, Read: &kv.ReadRequest{
		Txn: kv.TxnID{1, 2, 3}, Keys: []kv.Key{kv.Key("a key of about thirty two bytes!"), kv.Key("and another of thirty two bytes!"), kv.Key("and a third of the same length!!")},
	}}}}}
}

func TestMessage200(t *testing.T) {
	b, err := message200().MarshalMsg(nil)
	if err != nil || len(b) < 180 || len(b) > 260 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
}
