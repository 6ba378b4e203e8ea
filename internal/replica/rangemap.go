package replica

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/longitude-db/longitude/internal/kv"
)

// rangeMap finds replicas by range id, and initialized ones by key. Looking up takes no lock: readers see an immutable map
// that changes replace as a whole. Changes (splits, snapshots, new replicas) are rare.
type rangeMap struct {
	mu   sync.Mutex // of changes
	view atomic.Pointer[rangeView]
}

type rangeView struct {
	byID   map[kv.RangeID]*Replica
	sorted []*Replica // initialized ones by start key; their spans do not overlap
}

func (m *rangeMap) init() { m.view.Store(&rangeView{byID: map[kv.RangeID]*Replica{}}) }

func (m *rangeMap) get(id kv.RangeID) *Replica { return m.view.Load().byID[id] }

// all lists the replicas in order of their range ids.
func (m *rangeMap) all() (out []*Replica) {
	v := m.view.Load()
	for _, r := range v.byID {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Replica) int { return int(min(1, max(-1, int64(a.id)-int64(b.id)))) })
	return out
}

// add takes in a replica of a range that has none here; else it returns the one that is here.
func (m *rangeMap) add(id kv.RangeID, make func() (*Replica, error)) (r *Replica, added bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.get(id); r != nil {
		return r, false, nil
	}
	if r, err = make(); err != nil {
		return nil, false, err
	}
	m.change(func(v *rangeView) { v.byID[id] = r })
	return r, true, nil
}

// moved notes that a replica has another descriptor.
func (m *rangeMap) moved(r *Replica) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.get(r.id) == r {
		m.change(func(*rangeView) {})
	}
}

// change replaces the view.
func (m *rangeMap) change(fn func(*rangeView)) {
	old := m.view.Load()
	v := &rangeView{byID: make(map[kv.RangeID]*Replica, len(old.byID)+1)}
	for id, r := range old.byID {
		v.byID[id] = r
	}
	fn(v)
	for _, r := range v.byID {
		if r.desc.Load() != nil {
			v.sorted = append(v.sorted, r)
		}
	}
	slices.SortFunc(v.sorted, func(a, b *Replica) int { return a.desc.Load().Span.Start.Compare(b.desc.Load().Span.Start) })
	m.view.Store(v)
}

// holder returns the initialized replica whose range holds a key, or nil.
func (m *rangeMap) holder(k kv.Key) *Replica {
	v := m.view.Load()
	i, found := slices.BinarySearchFunc(v.sorted, k, func(r *Replica, k kv.Key) int { return r.desc.Load().Span.Start.Compare(k) })
	if !found {
		i--
	}
	if i >= 0 && v.sorted[i].desc.Load().Span.Contains(k) {
		return v.sorted[i]
	}
	return nil
}

// overlap returns the descriptor of another initialized range that has a key of the span, or nil.
func (m *rangeMap) overlap(id kv.RangeID, s kv.Span) *kv.RangeDescriptor {
	for _, r := range m.view.Load().sorted {
		if d := r.desc.Load(); r.id != id && d.Span.Overlaps(s) {
			return d
		}
	}
	return nil
}
