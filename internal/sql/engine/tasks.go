package engine

import (
	"context"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/rt"
)

// What the engine does by itself, and what a statement waits for beside the layers below, goes through the runtime, as it does there:
// so the engine can be driven by a simulation (Local), on virtual time and without goroutines.

// now is the time that limits are held against. It orders nothing.
func (e *Engine) now() time.Time { return e.began.Add(e.o.RT.Now()) }

// taskMutex is a mutex that a task may hold while it waits for other nodes.
type taskMutex struct {
	mu    sync.Mutex
	held  bool
	queue []rt.Signal
}

func (m *taskMutex) lock(r rt.Runtime) {
	m.mu.Lock()
	if !m.held {
		m.held = true
		m.mu.Unlock()
		return
	}
	turn := r.NewSignal()
	m.queue = append(m.queue, turn)
	m.mu.Unlock()
	turn.Wait(rt.Forever) // unlock hands the mutex over
}

func (m *taskMutex) unlock() {
	m.mu.Lock()
	if len(m.queue) == 0 {
		m.held = false
		m.mu.Unlock()
		return
	}
	turn := m.queue[0]
	m.queue = m.queue[1:]
	m.mu.Unlock()
	turn.Fire()
}

// slice is how often a task that waits for another one looks whether its caller has gone.
const slice = 100 * time.Millisecond

// awaitSignal waits until the signal is fired, or the context is over.
func awaitSignal(ctx context.Context, s rt.Signal) error {
	for !s.Wait(slice) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}
