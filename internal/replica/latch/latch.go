// Package latch keeps requests that touch the same keys of a range from being evaluated at the same time. A latch is
// held for the evaluation of one request, and by a write until it has been applied; it is not a transaction's lock.
//
//	A1  Two latches conflict if they have a key in common, at least one of them writes, and they are not a read limited
//	    to timestamps below those that the write can touch.
//	A2  A request holds all of its latches or none, and holds them only when no earlier request in conflict with it
//	    still holds or awaits its own. So order is first come, first served among those in conflict, and nobody starves.
//	A3  A request waits only for earlier ones. So there are no deadlocks.
//
// Why A1 may spare a read with limit L and a write at W > L each other: the write leaves versions and intents at W or
// above and takes nothing away, while the read looks at nothing above L; and what the read leaves in the timestamp cache
// is at L or below, which W is already above. Whoever sets Latch.TS vouches for that.
package latch

import (
	"bytes"
	"sync"
	"time"

	"github.com/google/btree"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// Latch covers a span of keys, or with an empty End the one key Start.
type Latch struct {
	Span  kv.Span
	Write bool
	// TS: a read looks at nothing above it, a write touches nothing below it. Zero: no such guarantee.
	TS clock.Timestamp
}

// Read latches one key for reading.
func Read(k kv.Key, limit clock.Timestamp) Latch { return Latch{Span: kv.Span{Start: k}, TS: limit} }

// Write latches one key for writing.
func Write(k kv.Key, lowest clock.Timestamp) Latch {
	return Latch{Span: kv.Span{Start: k}, Write: true, TS: lowest}
}

func (l *Latch) point() bool { return len(l.Span.End) == 0 }

// conflicts is A1 but for the keys.
func (l *Latch) conflicts(o *Latch) bool {
	if !l.Write && !o.Write {
		return false
	}
	r, w := l, o
	if l.Write {
		r, w = o, l
	}
	return r.Write || r.TS.IsZero() || w.TS.IsZero() || !r.TS.Less(w.TS)
}

// Manager holds the latches of one range. Its methods may be called from any task.
type Manager struct {
	r rt.Runtime

	mu     sync.Mutex
	seq    uint64 // of acquisitions
	order  uint64 // of entries
	points *btree.BTreeG[*entry]
	from   entry // to search from
	// spans are few, one per scan in flight, so each new latch is simply compared with all of them.
	spans []*entry
}

// entry is one latch of a request that holds or awaits its latches.
type entry struct {
	*Latch
	g     *Guard
	order uint64 // makes entries of one key distinct; 0: only a place to search from
	index int    // in spans
}

// Guard is a request's latches.
type Guard struct {
	m       *Manager
	entries []entry  // of those that cover anything; other guards and the tree point into it
	few     [2]entry // is all that most requests need
	pending int      // earlier guards in conflict that are not released yet
	blocks  []*Guard // later ones that count this one in their pending
	ready   rt.Signal
	counted uint64 // the last acquisition that found this guard in its way
	gone    bool   // released, or given up
}

// New makes a manager without latches.
func New(r rt.Runtime) *Manager {
	return &Manager{r: r, points: btree.NewG(32, func(a, b *entry) bool {
		if c := bytes.Compare(a.Span.Start, b.Span.Start); c != 0 {
			return c < 0
		}
		return a.order < b.order
	})}
}

// Acquire waits, at most limit, until the caller holds all of the latches. Afterwards it must Release the guard. The
// error is rt.ErrTimeout; then nothing is held. The latches must not be changed while they are held.
func (m *Manager) Acquire(latches []Latch, limit time.Duration) (*Guard, error) {
	g := &Guard{m: m}
	if g.entries = g.few[:0]; len(latches) > len(g.few) {
		g.entries = make([]entry, 0, len(latches))
	}
	m.mu.Lock()
	m.seq++
	for i := range latches {
		m.queueBehind(g, &latches[i])
	}
	for i := range latches {
		m.insert(g, &latches[i])
	}
	if g.pending == 0 {
		m.mu.Unlock()
		return g, nil
	}
	g.ready = m.r.NewSignal()
	m.mu.Unlock()
	if g.ready.Wait(limit) {
		return g, nil
	}
	return g.giveUp()
}

// queueBehind makes g wait for all that hold or await a latch in conflict with l.
func (m *Manager) queueBehind(g *Guard, l *Latch) {
	meet := func(e *entry) bool {
		if e.g.counted != m.seq && l.conflicts(e.Latch) {
			e.g.counted = m.seq
			e.g.blocks = append(e.g.blocks, g)
			g.pending++
		}
		return true
	}
	from := &m.from
	from.Latch = l
	defer func() { from.Latch = nil }()
	switch {
	case l.point():
		m.points.AscendGreaterOrEqual(from, func(e *entry) bool {
			return e.Span.Start.Equal(l.Span.Start) && meet(e)
		})
	case l.Span.Empty():
		return
	default:
		m.points.AscendGreaterOrEqual(from, func(e *entry) bool {
			return e.Span.Start.Less(l.Span.End) && meet(e)
		})
	}
	for _, e := range m.spans {
		if (l.point() && e.Span.Contains(l.Span.Start)) || (!l.point() && e.Span.Overlaps(l.Span)) {
			meet(e)
		}
	}
}

func (m *Manager) insert(g *Guard, l *Latch) {
	if !l.point() && l.Span.Empty() {
		return
	}
	m.order++
	g.entries = append(g.entries, entry{Latch: l, g: g, order: m.order}) // there is room: pointers stay good
	e := &g.entries[len(g.entries)-1]
	if l.point() {
		m.points.ReplaceOrInsert(e)
		return
	}
	e.index = len(m.spans)
	m.spans = append(m.spans, e)
}

// Release gives the latches back. It is called once.
func (g *Guard) Release() {
	g.m.mu.Lock()
	if g.gone {
		g.m.mu.Unlock()
		panic("latch: a guard was released twice")
	}
	ready := g.remove()
	g.m.mu.Unlock()
	for _, s := range ready {
		s.Fire()
	}
}

// giveUp takes a guard that waited too long out of the queue, unless its turn has come just now.
func (g *Guard) giveUp() (*Guard, error) {
	g.m.mu.Lock()
	if g.pending == 0 {
		g.m.mu.Unlock()
		return g, nil
	}
	ready := g.remove()
	g.m.mu.Unlock()
	for _, s := range ready {
		s.Fire()
	}
	return nil, rt.ErrTimeout
}

// remove takes the guard's latches away and returns the signals of those whose turn it is.
func (g *Guard) remove() (ready []rt.Signal) {
	m := g.m
	g.gone = true
	for i := range g.entries {
		e := &g.entries[i]
		if e.point() {
			m.points.Delete(e)
			continue
		}
		last := len(m.spans) - 1
		m.spans[e.index] = m.spans[last]
		m.spans[e.index].index = e.index
		m.spans[last] = nil
		m.spans = m.spans[:last]
	}
	for _, b := range g.blocks {
		if b.pending--; b.pending == 0 && !b.gone {
			ready = append(ready, b.ready)
		}
	}
	g.entries, g.blocks = nil, nil
	return ready
}

// Len counts the latches held or awaited.
func (m *Manager) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.points.Len() + len(m.spans)
}
