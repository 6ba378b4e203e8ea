// Package workerpool runs funcs in goroutines that it reuses, so that their stacks have grown already.
//
// A goroutine begins with a few kilobytes of stack. Each time it needs more, the runtime copies the stack and adjusts every pointer
// into it. A request goes some twenty calls deep before it is in Pebble: with a new goroutine for each request, copying stacks was a
// sixth of the processor time of a read for another node.
//
//	W1  A func runs at once: in an idle goroutine if there is one, else in a new one. No func waits for another.
//	W2  At most Idle goroutines are idle. After Close none is, once the running funcs have ended.
package workerpool

import "sync"

// Idle is the largest number of idle goroutines of a pool. Each keeps its stack, some tens of kilobytes; the garbage collector
// halves a stack that is mostly unused.
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
	w.work <- fn // does not block: the buffer holds one func, and the worker waits for it
}

func (p *Pool) run(fn func()) {
	w := &worker{work: make(chan func(), 1)}
	for {
		fn()
		fn = nil // the garbage collector may take what it refers to
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

// Close ends the idle goroutines (W2). Go still works afterwards.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, w := range idle {
		w.work <- nil
	}
}
