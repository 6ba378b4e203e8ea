package hrsleep

import (
	"sync"
	"testing"
	"time"
)

// A sleep is never too short, alone or beside others; how long it may be depends on the machine.
func TestSleepIsNotTooShort(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for range 20 {
				d := time.Duration(i*50) * time.Microsecond
				began := time.Now()
				Sleep(d)
				if took := time.Since(began); took < d {
					t.Errorf("slept %s instead of %s", took, d)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkSleep400us(b *testing.B) {
	for b.Loop() {
		Sleep(400 * time.Microsecond)
	}
}

func BenchmarkTimeSleep400us(b *testing.B) {
	for b.Loop() {
		time.Sleep(400 * time.Microsecond)
	}
}
