package sim

import (
	"math/rand/v2"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// partition cuts the machines into two groups.
func partition(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	side := make([]bool, len(w.Machines))
	for i := range side {
		side[i] = r.IntN(2) == 0
	}
	w.event("partition %v", side)
	return cutBetween(w, func(a, b int) bool { return side[a] != side[b] }), true
}

func oneWay(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	from := r.IntN(len(w.Machines))
	to := (from + 1 + r.IntN(len(w.Machines)-1)) % len(w.Machines)
	w.event("one way: nothing from %s to %s", w.Machines[from].Name, w.Machines[to].Name)
	return cutBetween(w, func(a, b int) bool { return a == from && b == to }), true
}

func isolate(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	x := r.IntN(len(w.Machines))
	w.event("isolate %s", w.Machines[x].Name)
	return cutBetween(w, func(a, b int) bool { return (a == x) != (b == x) }), true
}

// bridge leaves one machine connected with all others, and these not with each other.
func bridge(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	x := r.IntN(len(w.Machines))
	w.event("bridge %s", w.Machines[x].Name)
	return cutBetween(w, func(a, b int) bool { return a != x && b != x }), true
}

func cutBetween(w *World, apart func(a, b int) bool) (mend func()) {
	each := func(do func(a, b int)) {
		for a := range w.Machines {
			for b := range w.Machines {
				if a != b && apart(a, b) {
					do(a, b)
				}
			}
		}
	}
	each(w.Net.Cut)
	return func() {
		w.event("mended")
		each(w.Net.Mend)
	}
}

// degradeLinks makes one machine's links slow and lossy.
func degradeLinks(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	x := r.IntN(len(w.Machines))
	bad := w.Config.Link
	bad.Jitter += logUniform(r, time.Millisecond, time.Second)
	bad.Loss, bad.Dup = r.Float64()/2, r.Float64()/4
	w.event("bad link at %s: +%s loss %.2f", w.Machines[x].Name, bad.Jitter, bad.Loss)
	set := func(wt *LinkConditions) {
		for i := range w.Machines {
			if i != x {
				w.Net.worse[i][x], w.Net.worse[x][i] = wt, wt
			}
		}
	}
	set(&bad)
	return func() { set(nil) }, true
}

// cutDials stops what goes over the connections that are dialled to a machine, by one other or by all: they hear it, and it does not
// hear them.
func cutDials(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	x := r.IntN(len(w.Machines))
	one := -1
	if r.IntN(2) == 0 {
		one = (x + 1 + r.IntN(len(w.Machines)-1)) % len(w.Machines)
	}
	var from []int
	for i := range w.Machines {
		if i != x && (one < 0 || i == one) {
			from = append(from, i)
			w.Net.CutDial(i, x)
		}
	}
	w.event("nothing passes that %v dial to %s", from, w.Machines[x].Name)
	return func() {
		w.event("%s can be dialled", w.Machines[x].Name)
		for _, i := range from {
			w.Net.MendDial(i, x)
		}
	}, true
}

// flood fills most of the room of what one machine sends in the bulk lane, as a snapshot or a large insert does.
func flood(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	if w.Net.rate == 0 {
		return nil, false
	}
	x, part := r.IntN(len(w.Machines)), 0.5+r.Float64()/2
	w.event("%s sends a flood: %.2f of the room is taken", w.Machines[x].Name, part)
	return w.flood(x, part), true
}

func (w *World) flood(x int, part float64) (end func()) {
	w.Net.standing[x] = time.Duration(part * float64(w.Net.room))
	return func() { delete(w.Net.standing, x) }
}

// blockBulk lets nothing bulk through what a machine dials to the others, or to most of them: it is heard, hears them, and can replicate
// nothing.
func blockBulk(w *World, r *rand.Rand) (func(), bool) {
	x := r.IntN(len(w.Machines))
	spared := -1
	if len(w.Machines) > 3 && r.IntN(2) == 0 {
		spared = r.IntN(len(w.Machines))
	}
	return w.block(x, spared), true
}

func (w *World) block(x, spared int) (mend func()) {
	each := func(do func(from, to int)) {
		for i := range w.Machines {
			if i != x && i != spared {
				do(x, i)
			}
		}
	}
	w.event("nothing bulk passes that %s dials, but to m%d", w.Machines[x].Name, spared+1)
	each(w.Net.Block)
	return func() {
		w.event("what %s dials is whole again", w.Machines[x].Name)
		each(w.Net.Unblock)
	}
}

// reaches reports whether what is bulk gets through to a node, as the machine's transport sees it.
func (m *Machine) reaches(id kv.NodeID) bool {
	peer := m.w.byID(id)
	return peer == nil || m.w.Net.reaches(m.w.Loop.Now(), m.Index, peer.Index)
}
