package mvcc

import (
	"fmt"
	"math"
	"testing"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

const benchKeys = 10_000

func benchKey(dst []byte, i int) kv.Key { return fmt.Appendf(dst[:0], "\x04table/%06d", i) }

func loaded(b *testing.B, versions int) *storage.Engines {
	e := openStore(b)
	value := make([]byte, 100)
	batch := e.State.NewBatch()
	for i := range benchKeys {
		k := benchKey(nil, i)
		for n := range versions {
			if err := PutVersion(batch, k, clock.Timestamp{Wall: int64(n)}, clock.Timestamp{Wall: int64(n + 1)}, value, false); err != nil {
				b.Fatal(err)
			}
		}
	}
	check(b, e.ApplyState(batch))
	check(b, e.FlushState())
	return e
}

func BenchmarkGet(b *testing.B) {
	for _, versions := range []int{1, 10} {
		b.Run(fmt.Sprintf("versions=%d", versions), func(b *testing.B) {
			e := loaded(b, versions)
			ts := clock.Timestamp{Wall: 100}
			var k kv.Key
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i = (i + 7919) % benchKeys
				k = benchKey(k, i)
				v, err := Open(e.State, Options{TS: ts})
				check(b, err)
				if got, err := v.Get(k); err != nil || len(got) != 100 {
					b.Fatal(got, err)
				}
				check(b, v.Close())
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	for _, reverse := range []bool{false, true} {
		for _, versions := range []int{1, 10} {
			b.Run(fmt.Sprintf("reverse=%t/versions=%d", reverse, versions), func(b *testing.B) {
				e := loaded(b, versions)
				s := kv.Span{Start: benchKey(nil, 1000), End: benchKey(nil, 2000)}
				b.ReportAllocs()
				rows := 0
				for b.Loop() {
					v, err := Open(e.State, Options{TS: clock.Timestamp{Wall: 100}})
					check(b, err)
					got, _, err := v.Scan(s, &Budget{Rows: math.MaxInt, Bytes: math.MaxInt, Keys: math.MaxInt}, reverse)
					if err != nil || len(got.Keys) != 1000 {
						b.Fatal(len(got.Keys), err)
					}
					rows += len(got.Keys)
					check(b, v.Close())
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
			})
		}
	}
}

// The index of the social workload: integers, 100 of them, each with a hundred row ids behind it.
func BenchmarkCount(b *testing.B) {
	for _, where := range []string{"table", "memtable", "2_versions"} {
		b.Run(where, func(b *testing.B) {
			e := openStore(b)
			batch := e.State.NewBatch()
			at := clock.Timestamp{Wall: 1_700_000_000_000_000_000}
			for i := range benchKeys {
				at.Wall += 1000
				k := kv.Key{4, 1, 0x81, 110, 0x81, 2, 0x81, byte(i * 100 / benchKeys), 0x82, byte(i >> 8), byte(i)}
				check(b, PutVersion(batch, k, clock.Timestamp{}, at, []byte{1}, false))
				if where == "2_versions" {
					later := clock.Timestamp{Wall: at.Wall + 1e9}
					check(b, PutVersion(batch, k, at, later, []byte{1}, false))
				}
			}
			check(b, e.ApplyState(batch))
			if where != "memtable" {
				check(b, e.FlushState())
			}
			g := kv.Grouping{Prefix: 6, Columns: []byte{byte(keys.Integer)}}
			s := kv.Span{Start: kv.Key{4}, End: kv.Key{5}}
			b.ReportAllocs()
			for b.Loop() {
				v, err := Open(e.State, Options{TS: clock.Timestamp{Wall: at.Wall + 1e12}})
				check(b, err)
				got, _, err := v.Count(s, &Budget{Rows: math.MaxInt, Bytes: math.MaxInt, Keys: math.MaxInt}, &g)
				if err != nil || len(got.Keys) != 100 || got.Counts[7] != benchKeys/100 {
					b.Fatal(len(got.Keys), err)
				}
				check(b, v.Close())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchKeys, "ns/row")
		})
	}
}

func BenchmarkPut(b *testing.B) {
	value := make([]byte, 100)
	batch := new(storage.Batch)
	var k kv.Key
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		k = benchKey(k, i)
		if err := PutVersion(batch, k, clock.Timestamp{}, clock.Timestamp{Wall: 5}, value, false); err != nil {
			b.Fatal(err)
		}
		if i%1000 == 0 {
			batch.Reset()
		}
	}
}
