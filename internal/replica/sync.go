package replica

import (
	"slices"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/rt"
)

// mutex is a lock that may be held while its holder waits for something (rt, R2).
type mutex struct {
	rt    rt.Runtime
	mu    sync.Mutex
	held  bool
	queue []rt.Signal
}

// lock waits, at most limit, and reports whether the lock is held now. It passes to waiters in the order of their calls.
func (m *mutex) lock(limit time.Duration) bool {
	m.mu.Lock()
	if !m.held {
		m.held = true
		m.mu.Unlock()
		return true
	}
	w := m.rt.NewSignal()
	m.queue = append(m.queue, w)
	m.mu.Unlock()
	if w.Wait(limit) {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.queue, w); i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
		return false
	}
	return true // handed over just now
}

func (m *mutex) unlock() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		m.held = false
		return
	}
	w := m.queue[0]
	m.queue = slices.Delete(m.queue, 0, 1)
	w.Fire()
}

// counter lets so many in at a time.
type counter struct {
	mu    sync.Mutex
	limit int
	n     int
}

func (c *counter) tryLock() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n >= c.limit {
		return false
	}
	c.n++
	return true
}

func (c *counter) unlock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
}
