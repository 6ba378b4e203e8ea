package check

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkTransactions judges 100,000 transactions of 20 clients, with 1 to 9 micro-operations, on keys that are appended
// to, or written, 100 times: a clean history of lists, of registers, and one of lists in which 1 transaction in 1,000 misses
// something.
func BenchmarkTransactions(b *testing.B) {
	for _, c := range []struct {
		name      string
		registers bool
		broken    bool
	}{{"lists", false, false}, {"registers", true, false}, {"broken", false, true}} {
		b.Run(c.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			h := perfect(rng, shape{txns: 100_000, clients: 20, keys: 10, mops: 9, loss: 2, perKey: 100, registers: c.registers})
			if c.broken {
				for i := range h {
					for j := range h[i].Mops {
						if m := &h[i].Mops[j]; m.Kind == MopReadList && len(m.List) > 3 && rng.IntN(2500) == 0 {
							m.List = m.List[:len(m.List)-3]
						}
					}
				}
			}
			for b.Loop() {
				r, err := Analyze(h, TxnOptions{})
				if err != nil || (len(r.Anomalies) > 0) != c.broken {
					b.Fatal(err, r.Anomalies)
				}
			}
			b.ReportMetric(float64(len(h))*float64(b.N)/b.Elapsed().Seconds(), "txns/s")
		})
	}
}
