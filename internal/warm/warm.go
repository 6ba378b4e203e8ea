// Package warm runs funcs in goroutines that are used again, so that their stacks have grown already.
//
// A goroutine begins with a few kilobytes of stack, and each time it needs more all that it has is copied, with every pointer
// into it adjusted. A request goes some twenty calls deep before it is in Pebble: with a goroutine for each, copying stacks was
// a sixth of the processor time of a read for another node.
//
//	W1  A func runs at once: in a goroutine that waits for work if there is one, else in a new one. None waits for another.
//	W2  At most Idle goroutines wait for work. After Close none does, once those that are running have ended.
package warm

import "sync"

// Idle is how many goroutines of a pool wait for work at most. Each keeps its stack, some tens of kilobytes; the garbage
// collector halves what is not used.
const Idle = 128

// Pool is a set of goroutines. The zero value is ready for use.
type Pool struct {
	mu     sync.Mutex
	idle   []*worker // the one used last, whose stack is in the caches, comes first
	closed bool
}

type worker struct{ work chan func() }

// Go runs fn in a goroutine (W1).
func (p *Pool) Go(fn func()) {
	p.mu.Lock()
	n := len(p.idle)
	if n == 0 {
		p.mu.Unlock()
		go p.run(fn)
		return
	}
	w := p.idle[n-1]
	p.idle[n-1] = nil
	p.idle = p.idle[:n-1]
	p.mu.Unlock()
	w.work <- fn // there is room: it waits for this one func
}

func (p *Pool) run(fn func()) {
	w := &worker{work: make(chan func(), 1)}
	for {
		fn()
		fn = nil // what it holds may go
		p.mu.Lock()
		if p.closed || len(p.idle) >= Idle {
			p.mu.Unlock()
			return
		}
		p.idle = append(p.idle, w)
		p.mu.Unlock()
		if fn = <-w.work; fn == nil {
			return
		}
	}
}

// Close sends the goroutines that wait home (W2). Go goes on to work.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, w := range idle {
		w.work <- nil
	}
}
