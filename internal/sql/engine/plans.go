package engine

import (
	"sync"
	"sync/atomic"
)

// keepPlans bounds the statements that are remembered, with or without a plan; maxPlanText how long one may be, without its
// constants; maxConstants how many it may have.
const (
	keepPlans    = 4000
	maxPlanText  = 4096
	maxConstants = 512
)

// planKey is what a plan is for: a statement without its constants, and what gives it its meaning beside the catalog.
type planKey struct{ database, sqlMode, text string }

// plans remembers compiled statements. A statement that was looked at and not compiled is remembered, too.
type plans struct {
	mu    sync.RWMutex
	byKey map[planKey]*planEntry
	ring  []*planEntry // of all; hand goes round and removes who was not used since it came by last
	hand  int
}

type planEntry struct {
	key  planKey
	plan *compiled // nil: not to be compiled
	// version is that of the catalog that was compiled against.
	version uint64
	used    atomic.Bool
}

func newPlans() *plans { return &plans{byKey: map[planKey]*planEntry{}} }

// find returns what is known of a statement. text is not kept.
func (p *plans) find(database, sqlMode string, text []byte) *planEntry {
	p.mu.RLock()
	e := p.byKey[planKey{database, sqlMode, string(text)}]
	p.mu.RUnlock()
	if e != nil && !e.used.Load() {
		e.used.Store(true)
	}
	return e
}

// put remembers what was found out about a statement.
func (p *plans) put(e *planEntry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.byKey[e.key]; old != nil {
		for i := range p.ring {
			if p.ring[i] == old {
				p.ring[i] = e
			}
		}
		p.byKey[e.key] = e
		return
	}
	p.byKey[e.key] = e
	if len(p.ring) < keepPlans {
		p.ring = append(p.ring, e)
		return
	}
	for p.ring[p.hand].used.Swap(false) {
		p.hand = (p.hand + 1) % len(p.ring)
	}
	delete(p.byKey, p.ring[p.hand].key)
	p.ring[p.hand] = e
	p.hand = (p.hand + 1) % len(p.ring)
}
