package harness

import (
	"context"
	"testing"
	"time"
)

// BenchmarkDrive is what the harness itself costs an operation, whose own work is nothing: schedule, clocks, histograms.
func BenchmarkDrive(b *testing.B) {
	b.ReportAllocs()
	left := b.N
	rec := newRecorder(1)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	do := func(context.Context) (int, int, error) {
		if left--; left <= 0 {
			stop()
		}
		return 0, 0, nil
	}
	_ = drive(ctx, Load{Workers: 1, Duration: time.Hour}, rec, []attempt{do}, func(time.Time) {}) // ends by the context
	if n := rec.ended.Load(); n < int64(b.N) {
		b.Errorf("%d operations of %d", n, b.N)
	}
}
