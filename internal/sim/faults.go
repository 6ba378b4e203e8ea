package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Fault is one kind of fault. Inject causes it now, for about d, and returns a func that ends it (nil: it passes by
// itself); false means that it does not apply at the moment.
type Fault struct {
	Name   string
	Inject func(w *World, r *rand.Rand, d time.Duration) (heal func(), ok bool)
}

// faults is what a run draws from. To add one, add it here.
var faults = []Fault{
	{"power", func(w *World, r *rand.Rand, d time.Duration) (func(), bool) { return crash(w, r, true) }},
	{"kill", func(w *World, r *rand.Rand, d time.Duration) (func(), bool) { return crash(w, r, false) }},
	{"stop", stopCleanly},
	{"sync-crash", crashAtSync},
	{"pause", pause},
	{"freeze", freezeAtReading},
	{"full-disk", func(w *World, r *rand.Rand, d time.Duration) (func(), bool) { return injectDiskFault(w, r, fullDisk) }},
	{"bad-disk", func(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
		return injectDiskFault(w, r, failing[r.IntN(len(failing))])
	}},
	{slowDisk, slowSyncs},
	{"partition", partition},
	{"oneway", oneWay},
	{"isolate", isolate},
	{"bridge", bridge},
	{"bad-links", degradeLinks},
	{"clock", clockFault},
	{"step", stepClock},
	{joins, join},
}

// operators are what those do who run a cluster. They are at work in every run, at a rate of their own. They are faults in that
// requests meet them half-way.
var operators = []Fault{
	{"lease", moveLease},
	{"split", split},
	{"member", addMember},
}

// laterFaults are drawn at the end, beside the others: known seeds stay what they are but for them.
var laterFaults = []Fault{
	{"dial", cutDials},
	{"flood", flood},
	{"suspend", suspendMachine},
	{"deaf", func(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
		return deafen(w, r.IntN(len(w.Machines))), true
	}},
	{"mute", func(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
		return muffle(w, r.IntN(len(w.Machines))), true
	}},
	{"full-disks", fillAll},
	{"stall-disk", stallDisk},
	{"lost-directory", loseDirectory},
	{"damage", damageDisk},
	{"wedge", wedge},
}

// lastFaults are drawn last of all.
var lastFaults = []Fault{
	{"poison", func(w *World, r *rand.Rand, d time.Duration) (func(), bool) { return poison(w, r) }},
	{"block", func(w *World, r *rand.Rand, d time.Duration) (func(), bool) { return blockBulk(w, r) }},
}

// The names of faults that others ask for.
const (
	slowDisk = "slow-disk"
	joins    = "join"
)

func faultNames() (names []string) {
	for _, f := range faults {
		names = append(names, f.Name)
	}
	return names
}

// laterFaultNames are drawn one by one.
func laterFaultNames() (names []string) {
	for _, f := range laterFaults {
		names = append(names, f.Name)
	}
	return names
}

// injectFaults makes faults until the end, then heals everything and calls over. It runs on the loop, on no machine.
func (w *World) injectFaults(end time.Duration, over func()) {
	r := w.faultRand
	var kinds []Fault
	for _, f := range slices.Concat(faults, laterFaults, lastFaults, operators) {
		for _, name := range w.Config.Faults {
			if f.Name == name {
				kinds = append(kinds, f)
			}
		}
	}
	w.faultsEnd = end
	w.Net.conditions.Loss, w.Net.damage = w.Config.Loss, w.Config.Damage
	// The idle time begins in the middle. What was done to the cluster is undone before.
	w.idleFrom = (w.Loop.Now() + end - w.Config.Idle) / 2
	w.idleTo = w.idleFrom + w.Config.Idle
	heal := func() {
		for _, h := range w.heals {
			h()
		}
		w.heals = nil
		w.Net.MendAll()
		w.Net.conditions.Loss, w.Net.damage = 0, 0
		for i, m := range w.Machines {
			m.Source.Set(w.Config.Clocks[i])
			m.freeze = freeze{}
			m.Boot()
		}
		w.avail.look()
	}
	if w.Config.Idle > 0 {
		w.Loop.At(w.idleFrom, func() {
			w.event("idle until %.0f", w.idleTo.Seconds())
			heal()
		})
		w.Loop.At(w.idleFrom+drowsy, w.sleep)
		w.Loop.At(w.idleTo, func() { w.Net.conditions.Loss, w.Net.damage = w.Config.Loss, w.Config.Damage })
	}
	if w.Config.Lie.Offset != 0 {
		w.Loop.At(w.Loop.Now()+w.Config.Lie.After, func() { w.lie(heal, end) })
	}
	if w.Config.Script != nil {
		w.Config.Script(w)
	}
	if len(kinds) > 0 {
		var next func()
		next = func() {
			if w.Loop.Now() >= end {
				return
			}
			if w.idle() {
				w.Loop.At(w.idleTo, next)
				return
			}
			if w.calm {
				w.Loop.At(w.Loop.Now()+100*time.Millisecond, next)
				return
			}
			// Mostly short, now and then longer than every support and timeout.
			d := logUniform(r, 20*time.Millisecond, maxStill)
			if w.Config.LongP > 0 && r.Float64() < w.Config.LongP {
				d = logUniform(r, w.Config.Available/2, 2*w.Config.Available)
			}
			w.inject(kinds[r.IntN(len(kinds))], r, d)
			w.Loop.At(w.Loop.Now()+time.Duration(r.ExpFloat64()*float64(w.Config.FaultEvery)), next)
		}
		w.Loop.At(w.Loop.Now(), next)
	}
	if w.Config.OperateEvery > 0 {
		or := w.operatorRand
		var next func()
		next = func() {
			if w.Loop.Now() >= end {
				return
			}
			if !w.idle() {
				operators[or.IntN(len(operators))].Inject(w, or, logUniform(or, 20*time.Millisecond, 6*time.Second))
			}
			w.Loop.At(w.Loop.Now()+time.Duration(or.ExpFloat64()*float64(w.Config.OperateEvery)), next)
		}
		w.Loop.At(w.Loop.Now(), next)
	}
	w.Loop.At(end, func() {
		w.event("faults end")
		heal()
		over()
	})
}

// still bounds a time in which a machine stands still from now on: no healing ends it, so it may last little longer than the faults.
func (w *World) still(d time.Duration) time.Duration {
	return min(d, max(0, w.faultsEnd-w.Loop.Now())+maxStill)
}

// maxStill is the longest of the usual faults.
const maxStill = 6 * time.Second

// drowsy is how long the idle time has lasted when the processes are stopped.
const drowsy = 20 * time.Second

// sleep stops all processes for the greater part of the idle time. What they have under way is seen when they go on.
func (w *World) sleep() {
	if w.Config.Asleep == 0 {
		return
	}
	until := w.Loop.Now() + w.Config.Asleep
	w.event("all sleep until %.0f", until.Seconds())
	for _, m := range w.Machines {
		if m.Up() {
			m.RT.Pause(until)
		}
	}
}

// inject causes one fault, and heals it after d.
func (w *World) inject(f Fault, r *rand.Rand, d time.Duration) {
	w.said = ""
	heal, ok := f.Inject(w, r, d)
	if !ok {
		return
	}
	w.struck++
	n := w.struck
	w.avail.faults[n] = fmt.Sprintf("%s since %.3f for %s: %s", f.Name, w.Loop.Now().Seconds(), d, w.said)
	w.avail.look()
	done := false
	once := func() {
		if !done {
			done = true
			if heal != nil {
				heal()
			}
			delete(w.avail.faults, n)
			w.avail.look()
		}
	}
	w.heals = append(w.heals, once)
	w.Loop.At(w.Loop.Now()+d, once)
}

// idle reports whether nothing is to happen now.
func (w *World) idle() bool { return w.idleFrom <= w.Loop.Now() && w.Loop.Now() < w.idleTo }
