package clock

import (
	"slices"
	"sync"
	"time"
)

// widthsKept is how many polls the statistics of the width reach back: five minutes at ten a second.
const widthsKept = 3000

// widths remembers how wide readings were when the next answer came: as wide as they got.
type widths struct {
	mu   sync.Mutex
	ring []time.Duration // grows up to widthsKept
	next int
	tmp  []time.Duration
}

func (w *widths) add(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ring) < widthsKept {
		w.ring = append(w.ring, d)
		return
	}
	w.ring[w.next] = d
	w.next = (w.next + 1) % widthsKept
}

// summary gives a quantile and the maximum; zeros if there was no reading yet.
func (w *widths) summary(q float64) (quantile, most time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ring) == 0 {
		return 0, 0
	}
	w.tmp = append(w.tmp[:0], w.ring...)
	slices.Sort(w.tmp)
	n := len(w.tmp)
	return w.tmp[min(n-1, int(q*float64(n)))], w.tmp[n-1]
}

// noteWidth remembers how wide a reading is right now, if there is one.
func (c *Clock) noteWidth() {
	if iv, err := c.Now(); err == nil {
		c.widths.add(iv.Width())
	}
}
