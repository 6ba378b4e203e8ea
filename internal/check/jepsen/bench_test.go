package jepsen

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/longitude-db/longitude/internal/check"
)

// BenchmarkRead reads 10,000 transactions with lists of up to 50 elements.
func BenchmarkRead(b *testing.B) {
	h := &History{}
	var list []int64
	for i := range int64(10_000) {
		if i%50 == 0 {
			list = nil
		}
		list = append(list, i)
		key := fmt.Sprint(i / 50)
		h.Txns = append(h.Txns, check.Txn{Op: check.Op{Client: "c", Invoke: 2*i + 1, Return: 2*i + 2, Outcome: check.OK},
			Mops: []check.Mop{check.Append(key, i), check.ReadList(key, list...), check.Append("o", i), check.ReadNil("n")}})
	}
	var file bytes.Buffer
	if err := Write(&file, h, nil); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		got, err := Read(bytes.NewReader(file.Bytes()))
		if err != nil || len(got.Txns) != len(h.Txns) {
			b.Fatal(err)
		}
	}
}
