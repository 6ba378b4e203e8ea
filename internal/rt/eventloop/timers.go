package eventloop

import "time"

type timer struct {
	at    time.Duration
	seq   uint64   // of those for one instant the one that was set first goes off first
	index int      // in the heap; -1: it is in none
	of    *Runtime // whose clock it goes by; nil: the loop's
	fire  func()
}

func (t *timer) before(o *timer) bool { return t.at < o.at || t.at == o.at && t.seq < o.seq }

// timerHeap is a binary heap: container/heap calls everything through an interface, and timers are half of what a loop does by itself.
type timerHeap []*timer

func (h *timerHeap) push(t *timer) {
	t.index = len(*h)
	*h = append(*h, t)
	h.up(t.index)
}

// pop takes the next one out.
func (h *timerHeap) pop() *timer {
	t := (*h)[0]
	h.remove(t)
	return t
}

// remove takes one out, wherever it is.
func (h *timerHeap) remove(t *timer) {
	old, i := *h, t.index
	last := len(old) - 1
	h.swap(i, last)
	old[last] = nil
	*h = old[:last]
	if i < last && !h.down(i) {
		h.up(i)
	}
	t.index = -1
}

// order makes a heap of timers of which any may have been changed.
func (h *timerHeap) order() {
	for i := len(*h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *timerHeap) swap(i, j int) {
	s := *h
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

func (h *timerHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !(*h)[i].before((*h)[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

// down reports whether the timer has moved.
func (h *timerHeap) down(i int) bool {
	s, from := *h, i
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if right := child + 1; right < len(s) && s[right].before(s[child]) {
			child = right
		}
		if !s[child].before(s[i]) {
			break
		}
		h.swap(i, child)
		i = child
	}
	return i > from
}
