package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica"
)

// poison makes a machine unable to apply what comes in one range, as if its version had a bug that the others do not have. Its replica
// is quarantined; everything else on the machine goes on. It ends when the process is started again with a version that mends it.
func poison(w *World, r *rand.Rand) (func(), bool) {
	key := someRange(w, r)
	m, id := leaseholder(w, key)
	if m == nil || r.IntN(2) == 0 { // often a follower
		m = choose(w, r, (*Machine).Serving)
	}
	if m == nil || id == 0 || m.poisoned[id] || !m.replicates(id) {
		return nil, false
	}
	m.poisoned[id] = true
	m.event("can apply nothing in r%d any more", id)
	return func() { m.cure(id) }, true
}

// poisonous says which entries the machine cannot apply.
func (m *Machine) poisonous(id kv.RangeID, e *raftpb.Entry) bool {
	return m.poisoned[id] && len(e.GetData()) > 0
}

// quarantined is told that a replica is. It is a failure of the run unless the machine was made so that it cannot apply an entry.
func (m *Machine) quarantined(id kv.RangeID, err error) {
	if !m.poisoned[id] || !strings.Contains(err.Error(), "cannot apply entry") {
		m.Disk.fail(fmt.Errorf("r%d is quarantined: %w", id, err))
		return
	}
	m.w.probes["sim_quarantined_total"]++
	m.event("r%d is quarantined", id)
}

// cure ends it. The processes of a machine are told of all that was cured there: what is not quarantined does not mind.
func (m *Machine) cure(id kv.RangeID) {
	delete(m.poisoned, id)
	m.cured = append(m.cured, id)
	if !m.Up() {
		return // whoever starts it next starts the new version
	}
	// One that is only coming up may have found it quarantined.
	if m.Serving() && !slices.ContainsFunc(m.Node.Store.Quarantined(), func(q replica.Quarantine) bool { return q.Range == id }) {
		return
	}
	m.event("starts again with a version that can apply what is in r%d", id)
	m.Crash(false)
	m.Boot()
}

// replicates reports whether the machine has the state of a range.
func (m *Machine) replicates(id kv.RangeID) bool {
	for _, i := range m.Node.Store.Ranges() {
		if i.Desc.ID == id {
			return true
		}
	}
	return false
}

// spoiled are the machines, as bits, that can do nothing for a range because of what they cannot apply: of it, or of the range that it was
// split from.
func (w *World) spoiled(id kv.RangeID) (set uint) {
	for _, m := range w.Machines {
		if len(m.poisoned) > 0 && m.Serving() && (m.poisoned[id] || !m.replicates(id)) {
			set |= 1 << m.Index
		}
	}
	return set
}
