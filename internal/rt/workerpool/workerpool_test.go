package workerpool

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// W1: funcs that wait for each other all run, however many there are.
func TestNoneWaitsForAnother(t *testing.T) {
	var p Pool
	defer p.Close()
	for range 3 {
		const n = 4 * Idle
		var all, done sync.WaitGroup
		all.Add(n)
		done.Add(n)
		for range n {
			p.Go(func() {
				defer done.Done()
				all.Done()
				all.Wait()
			})
		}
		done.Wait()
	}
}

// Each func runs once.
func TestEachRunsOnce(t *testing.T) {
	var p Pool
	defer p.Close()
	const callers, each = 8, 2000
	var ran [callers * each]atomic.Int32
	var senders, funcs sync.WaitGroup
	funcs.Add(callers * each)
	for c := range callers {
		senders.Go(func() {
			for i := range each {
				p.Go(func() {
					defer funcs.Done()
					ran[c*each+i].Add(1)
				})
			}
		})
	}
	senders.Wait()
	funcs.Wait()
	for i := range ran {
		if n := ran[i].Load(); n != 1 {
			t.Fatalf("func %d ran %d times", i, n)
		}
	}
}

// W2: what waits is bounded, and goes with Close.
func TestIdleIsBounded(t *testing.T) {
	before := runtime.NumGoroutine()
	settle := func(what string, most int) {
		t.Helper()
		for began := time.Now(); runtime.NumGoroutine() > most; runtime.Gosched() {
			if time.Since(began) > 10*time.Second {
				t.Fatalf("%s: %d goroutines, %d before", what, runtime.NumGoroutine(), before)
			}
		}
	}
	var p Pool
	var done sync.WaitGroup
	hold := make(chan struct{})
	for range 3 * Idle {
		done.Add(1)
		p.Go(func() { <-hold; done.Done() })
	}
	close(hold)
	done.Wait()
	settle("idle", before+Idle)
	again := make(chan struct{})
	p.Go(func() { close(again) })
	<-again
	p.Close()
	settle("closed", before)
	last := make(chan struct{})
	p.Go(func() { close(last) }) // still runs
	<-last
	settle("after the close", before)
}
