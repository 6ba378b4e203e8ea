package harness

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// NewHistogram makes one for latencies in µs: up to ten minutes, to three digits.
func NewHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 600_000_000, 3) }

// record puts a latency in. One above the histogram's limit is still an operation; it is recorded at the limit (H1).
func record(h *hdrhistogram.Histogram, d time.Duration) {
	if h.RecordValue(max(1, d.Microseconds())) != nil {
		_ = h.RecordValue(h.HighestTrackableValue())
	}
}

// window is the measurement: from inclusive, to exclusive.
type window struct{ from, to time.Time }

func (w window) holds(t time.Time) bool { return !t.Before(w.from) && t.Before(w.to) }

// recorder gathers what workers measure. Workers are spread over a few shards, each with a lock of its own, because one
// histogram for each of hundreds of workers would fill the memory, and one for all would be a bottleneck.
type recorder struct {
	win    window
	shards []*shard
	next   atomic.Int64
	ended  atomic.Int64 // operations that succeeded, whenever
	note   errorNotes
}

type shard struct {
	mu    sync.Mutex
	total []*hdrhistogram.Histogram // by class: due within the window (H3)
	done  []int64                   // by class: ended within the window (H3)
	tick  []*hdrhistogram.Histogram // by class: ended since the last tick, whenever due
}

func newRecorder(classes int) *recorder {
	r := &recorder{}
	for range 2 * runtime.GOMAXPROCS(0) {
		s := &shard{done: make([]int64, classes)}
		for range classes {
			s.total, s.tick = append(s.total, NewHistogram()), append(s.tick, NewHistogram())
		}
		r.shards = append(r.shards, s)
	}
	return r
}

// shard gives a worker the place where it records.
func (r *recorder) shard() *shard { return r.shards[int(r.next.Add(1))%len(r.shards)] }

// finished records an operation that succeeded.
func (r *recorder) finished(s *shard, class int, due, end time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ended.Add(1)
	record(s.tick[class], end.Sub(due))
	if r.win.holds(due) {
		record(s.total[class], end.Sub(due))
	}
	if r.win.holds(end) {
		s.done[class]++
	}
}

// takeTick empties the histograms of the last second.
func (r *recorder) takeTick() (byClass []*hdrhistogram.Histogram) {
	for i := range r.shards[0].tick {
		sum := NewHistogram()
		for _, s := range r.shards {
			s.mu.Lock()
			sum.Merge(s.tick[i])
			s.tick[i].Reset()
			s.mu.Unlock()
		}
		byClass = append(byClass, sum)
	}
	return byClass
}

// totals merges the shards.
func (r *recorder) totals() (hists []*hdrhistogram.Histogram, done []int64) {
	for i := range r.shards[0].total {
		sum, n := NewHistogram(), int64(0)
		for _, s := range r.shards {
			s.mu.Lock()
			sum.Merge(s.total[i])
			n += s.done[i]
			s.mu.Unlock()
		}
		hists, done = append(hists, sum), append(done, n)
	}
	return hists, done
}

// errorNotes counts what went wrong within the window, and keeps the first error of the whole run.
type errorNotes struct {
	retries, errors, unserved atomic.Int64
	mu                        sync.Mutex
	first                     error
	kinds                     map[string]int64
}

func (n *errorNotes) failed(err error, counted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.first == nil {
		n.first = err
	}
	if !counted {
		return
	}
	n.errors.Add(1)
	if n.kinds == nil {
		n.kinds = map[string]int64{}
	}
	n.kinds[kindOf(err)]++
}
