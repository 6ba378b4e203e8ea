package sim

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// moveLease asks some node to move the lease of some range. It is a fault in that requests meet it half-way.
func moveLease(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Serving)
	if m == nil {
		return nil, false
	}
	key, to := someRange(w, r), someNode(w, r)
	m.RT.Go("lease", func() {
		err := m.Node.Router.TransferLease(route.WithDeadline(context.Background(), m.RT.Now()+d), key, to)
		m.event("lease of %s to n%d: %v", key, to, err)
	})
	return nil, true
}

// split cuts a range in the middle of a workload's data.
func split(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Serving)
	if m == nil || w.cuts >= w.Config.Cuts {
		return nil, false
	}
	w.cuts++
	loads := w.Config.Workloads
	letter := newWorkload(loads[r.IntN(len(loads))]).Splits()[0][1]
	key := dataKey(letter, r.IntN(parts), digitsOf(r.IntN(10)))
	m.RT.Go("split", func() {
		err := m.Node.Router.Split(route.WithDeadline(context.Background(), m.RT.Now()+d), key)
		m.event("split at %s: %v", key, err)
	})
	return nil, true
}

func digitsOf(n int) string { return string(digits(int64(n))) }

// someRange is the first key of one of the ranges that the workloads' data were cut into.
func someRange(w *World, r *rand.Rand) kv.Key {
	loads := w.Config.Workloads
	return partSpan(newWorkload(loads[r.IntN(len(loads))]).Splits()[0][1], r.IntN(parts)).Start
}

// someNode is a node that has joined.
func someNode(w *World, r *rand.Rand) kv.NodeID {
	return choose(w, r, func(m *Machine) bool { return m.ID != 0 }).ID
}

// addMember gives a range one more replica: a learner first, then a voter.
func addMember(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Serving)
	if m == nil || len(w.Machines) <= w.Config.Factor {
		return nil, false
	}
	key, on := someRange(w, r), someNode(w, r)
	m.RT.Go("member", func() {
		err := m.Node.Router.AddReplica(route.WithDeadline(context.Background(), m.RT.Now()+d+time.Second), key, on)
		m.event("replica of %s on n%d: %v", key, on, err)
	})
	return nil, true
}

// join starts a machine that has never run: it joins the cluster.
func join(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, func(m *Machine) bool { return m.life == 0 && !m.Up() })
	if m == nil {
		return nil, false
	}
	m.Boot()
	return nil, true
}
