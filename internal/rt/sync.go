package rt

import (
	"sync"
	"time"
)

// Future is a value that one task sets once and others wait for.
type Future[T any] struct {
	sig Signal
	mu  sync.Mutex
	set bool
	val T
	err error
}

// NewFuture makes an unset future.
func NewFuture[T any](r Runtime) *Future[T] { return &Future[T]{sig: r.NewSignal()} }

// Set gives the future its value and reports true, or reports false if it has one already.
func (f *Future[T]) Set(v T, err error) bool {
	f.mu.Lock()
	if f.set {
		f.mu.Unlock()
		return false
	}
	f.set, f.val, f.err = true, v, err
	f.mu.Unlock()
	f.sig.Fire()
	return true
}

// Get waits for the value, at most limit; then it returns ErrTimeout.
func (f *Future[T]) Get(limit time.Duration) (T, error) {
	if !f.sig.Wait(limit) {
		var zero T
		return zero, ErrTimeout
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.val, f.err
}

// Queue passes items from any number of tasks to one task that takes all that have gathered at once.
type Queue[T any] struct {
	r      Runtime
	limit  int
	mu     sync.Mutex
	items  []T
	closed bool
	wake   Signal // not nil while the taker waits
}

// NewQueue makes a queue that holds at most limit items; 0 means no limit.
func NewQueue[T any](r Runtime, limit int) *Queue[T] { return &Queue[T]{r: r, limit: limit} }

// Push adds an item. It never blocks; false means that the queue is full or closed and the item was not taken.
func (q *Queue[T]) Push(v T) bool {
	q.mu.Lock()
	if q.closed || (q.limit > 0 && len(q.items) >= q.limit) {
		q.mu.Unlock()
		return false
	}
	q.items = append(q.items, v)
	w := q.wake
	q.wake = nil
	q.mu.Unlock()
	if w != nil {
		w.Fire()
	}
	return true
}

// Take waits, at most limit, until there are items and returns all of them in the order of their pushes. It returns
// nothing on timeout; open is false once the queue is closed and empty.
func (q *Queue[T]) Take(limit time.Duration) (items []T, open bool) {
	q.mu.Lock()
	if len(q.items) == 0 && !q.closed {
		if q.wake == nil {
			q.wake = q.r.NewSignal()
		}
		w := q.wake
		q.mu.Unlock()
		w.Wait(limit)
		q.mu.Lock()
	}
	items, q.items = q.items, nil
	open = !q.closed || len(items) > 0
	q.mu.Unlock()
	return items, open
}

// Close makes later pushes fail and wakes the taker.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	w := q.wake
	q.wake = nil
	q.mu.Unlock()
	if w != nil {
		w.Fire()
	}
}

// Group waits for tasks that it started.
type Group struct {
	r    Runtime
	mu   sync.Mutex
	n    int
	idle Signal // not nil while somebody waits
}

// NewGroup makes an empty group.
func NewGroup(r Runtime) *Group { return &Group{r: r} }

// Go starts fn as a task of the group.
func (g *Group) Go(name string, fn func()) {
	g.mu.Lock()
	g.n++
	g.mu.Unlock()
	g.r.Go(name, func() {
		defer g.done()
		fn()
	})
}

func (g *Group) done() {
	g.mu.Lock()
	g.n--
	var w Signal
	if g.n == 0 {
		w, g.idle = g.idle, nil
	}
	g.mu.Unlock()
	if w != nil {
		w.Fire()
	}
}

// Wait waits, at most limit, until every task of the group has ended, and reports whether that is so.
func (g *Group) Wait(limit time.Duration) bool {
	g.mu.Lock()
	if g.n == 0 {
		g.mu.Unlock()
		return true
	}
	if g.idle == nil {
		g.idle = g.r.NewSignal()
	}
	w := g.idle
	g.mu.Unlock()
	return w.Wait(limit)
}
