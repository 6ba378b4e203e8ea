package sim

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/txn"
)

// Availability during faults (V6). The simulator knows at each moment which machines are well and which of them are connected.
// A quorum of a range is a set of machines that
//
//   - are well: their process serves, is not paused, and neither its disk nor its clock is ill;
//   - are connected with each other, each with each, in both directions, with no link worse than the others;
//   - have a majority of the range's voters among them, and a majority of the voters of the ranges that say where data is.
//
// If a set of machines has been a quorum of a range for Config.Available without a break, some transaction that began on one of
// the set's voters must have read and written the range in that time. Otherwise the run fails. Nothing is demanded for
// clients on other machines. The transactions are the prober's: every voter of a range reads and deletes a key of its own in the
// range, again and again. (A deleted key is in no scan, so the workloads do not see it.)
type availability struct {
	w      *World
	within time.Duration
	began  bool
	err    error // a range was not served

	wells  []holding   // of each machine
	links  [][]holding // of each pair of machines, both directions together; the higher index first
	ranges map[kv.RangeID]*watched
	faults map[int]string // at work now, by their number

	// gap is the longest time for which a quorum was not served.
	gap time.Duration
}

// holding is something that holds now, or does not.
type holding struct {
	holds bool
	since time.Duration
	life  int // of the machine's process
}

// set notes how it is now. It begins anew with another life.
func (c *holding) set(now time.Duration, holds bool, life int) {
	if holds && (!c.holds || c.life != life) {
		c.since = now
	}
	c.holds, c.life = holds, life
}

// watched is a range.
type watched struct {
	desc   kv.RangeDescriptor // the newest that any machine has shown
	voters uint               // the machines, as bits
	since  time.Duration      // when these became its voters
	// spoiled are machines that can do nothing for this range (World.spoiled), since spoiledAt.
	spoiled   uint
	spoiledAt time.Duration
	data      bool
	served    map[int]time.Duration // by machine: when a probe of it last succeeded
	next      map[int]time.Duration // by machine: when to probe again
	flying    map[int]int           // by machine: probes under way
	failed    map[int]error         // by machine: what the last probe that failed said
}

// availableWithin is how long after the beginning of the conditions a range may take to be served. The terms are
//
//   - support: it lasts for up to SupportDuration from when it is requested, and a node that was restarted waits for the end of
//     the support that it may have given before, its high water, which is up to 2 s higher. Bounds of clocks lengthen that, once
//     at the supporter and once at the supported store;
//   - elections: a second until the silence of a store is noticed, some ticks until that of a leader is, some more between
//     campaigns that fail, of which there may be a few;
//   - requests: callers that wait for an answer which does not come notice the silence of a node after some heartbeats, and then
//     try others; a transaction takes some round trips and syncs, and waits for its commit timestamp to be past;
//   - what is lost has to be sent again, at the next heartbeat or the next try.
func (c *Config) availableWithin() time.Duration {
	var bound time.Duration
	for _, k := range c.Clocks {
		bound = max(bound, k.Bound)
	}
	trip := 2 * (c.Link.Base + c.Link.Jitter + c.Far)
	if c.Link.SpikeP > 0 {
		trip += c.Link.Spike / 2
	}
	x := 2*(c.SupportDuration+2*bound) + 30*c.Tick + 16*c.Heartbeat + 10*(trip+10*c.Disk) + 5*time.Second
	if c.StallP > 0 {
		x += time.Duration(float64(200*c.Stall) * c.StallP)
	}
	if c.Rate > 0 {
		x += c.Room
	}
	x += time.Duration((c.Loss + 3*c.Damage) * float64(100*time.Second))
	return x
}

func newAvailability(w *World) *availability {
	n := len(w.Machines)
	a := &availability{w: w, within: w.Config.Available, wells: make([]holding, n), links: make([][]holding, n),
		ranges: map[kv.RangeID]*watched{}, faults: map[int]string{}}
	for i := range n {
		a.links[i] = make([]holding, n)
	}
	return a
}

// watchEvery is the time between two looks. Besides, there is one after each fault begins or ends.
const watchEvery = 100 * time.Millisecond

// start begins to watch.
func (a *availability) start() {
	if a.within == 0 || a.began {
		return
	}
	a.began = true
	var tick func()
	tick = func() {
		if a.began && a.err == nil {
			a.look()
			a.w.Loop.At(a.w.Loop.Now()+watchEvery, tick)
		}
	}
	tick()
}

// stop ends the watch: the clients end, and so do the probers.
func (a *availability) stop() { a.began = false }

// look takes in how the world is now.
func (a *availability) look() {
	if !a.began || a.err != nil {
		return
	}
	now := a.w.Loop.Now()
	idle := a.w.idle()
	for i, m := range a.w.Machines {
		a.wells[i].set(now, m.well() && !idle, m.life)
		for j := range i {
			a.links[i][j].set(now, a.w.Net.fine(i, j), 0)
		}
	}
	a.learn(now)
	a.judge(now)
}

// well reports whether nothing is wrong with a machine.
func (m *Machine) well() bool {
	return m.Serving() && !m.dying() && !m.RT.Paused() && m.diskFault.current() == "" && m.rot == nil && m.slow == 0 && m.still.until == 0 && !m.isWedged() &&
		m.w.Loop.Now() >= max(m.slowUntil, m.logStall, m.stateStall) && m.goodClock()
}

// goodClock reports whether the machine's clock is as it was drawn, and honest, and no vote has to be waited for that says so.
func (m *Machine) goodClock() bool {
	if _, err := m.peek(); err == clock.ErrFenced {
		return false
	}
	usual, now := m.w.Config.Clocks[m.Index], m.Source.Conditions()
	return !now.Lying && !now.Lost && (now.State == clock.Unknown || now.State == clock.Synchronized) && now.Bound <= 2*usual.Bound
}

// fine reports whether two machines are connected in both directions, on every lane, as well as any two.
func (net *Network) fine(a, b int) bool {
	return net.Connected(a, b) && net.worse[a][b] == nil && net.worse[b][a] == nil && net.standing[a] == 0 && net.standing[b] == 0
}

// learn takes in the newest descriptors. A machine that is paused or about to die knows them as well as any.
func (a *availability) learn(now time.Duration) {
	for id, r := range a.ranges {
		if s := a.w.spoiled(id); s != r.spoiled {
			r.spoiled, r.spoiledAt = s, now
		}
	}
	for _, m := range a.w.Machines {
		if !m.Serving() {
			continue
		}
		for _, info := range m.Node.Store.Ranges() {
			d := &info.Desc
			r := a.ranges[d.ID]
			if r != nil && r.desc.Generation >= d.Generation {
				continue
			}
			if r == nil {
				r = &watched{served: map[int]time.Duration{}, next: map[int]time.Duration{}, flying: map[int]int{}, failed: map[int]error{}}
				a.ranges[d.ID] = r
			}
			r.desc, r.data = *d, d.Span.Start.Compare(keys.DataPrefix) >= 0
			if v := a.machines(d); v != r.voters {
				r.voters, r.since = v, now
			}
		}
	}
}

func (a *availability) machines(d *kv.RangeDescriptor) (set uint) {
	for _, rep := range d.Replicas {
		if m := a.w.byID(rep.Node); m != nil && !rep.Learner {
			set |= 1 << m.Index
		}
	}
	return set
}

// majority reports whether a set has a majority of the range's voters.
func (r *watched) majority(set uint) bool {
	return bits.OnesCount(r.voters&set) > r.desc.Voters()/2
}

// judge fails the run if a quorum of a range has not been served.
func (a *availability) judge(now time.Duration) {
	for _, set := range a.connected(now) {
		if !a.finds(set, now-a.within) {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(a.ranges)) {
			r := a.ranges[id]
			able := set &^ r.spoiled
			if !r.data || !r.majority(able) {
				continue
			}
			since := max(r.since, r.spoiledAt, a.since(set))
			for i := range a.w.Machines {
				if r.voters&able&(1<<i) != 0 {
					since = max(since, r.served[i])
				}
			}
			a.gap = max(a.gap, now-since)
			if now-since >= a.within {
				a.err = a.complain(id, r, able, since)
				return
			}
		}
	}
}

// finds reports whether a set has majorities of the ranges that say where data is, since before then.
func (a *availability) finds(set uint, then time.Duration) bool {
	for _, r := range a.ranges {
		if !r.data && (!r.majority(set) || r.since > then) {
			return false
		}
	}
	return true
}

// since is when the machines of a set became all well and connected.
func (a *availability) since(set uint) (t time.Duration) {
	for i := range a.w.Machines {
		if set&(1<<i) == 0 {
			continue
		}
		t = max(t, a.wells[i].since)
		for j := range i {
			if set&(1<<j) != 0 {
				t = max(t, a.links[i][j].since)
			}
		}
	}
	return t
}

// connected lists the largest sets of machines that are now well and connected, each with each, and have been so for half of the
// time that a range may take. The half is so that gaps which nearly fail the run are seen too.
func (a *availability) connected(now time.Duration) (sets []uint) {
	old := func(c *holding) bool { return c.holds && now-c.since >= a.within/2 }
	peers := make([]uint, len(a.w.Machines))
	for i := range peers {
		if !old(&a.wells[i]) {
			continue
		}
		peers[i] |= 1 << i
		for j := range i {
			if old(&a.wells[j]) && old(&a.links[i][j]) {
				peers[i] |= 1 << j
				peers[j] |= 1 << i
			}
		}
	}
	for set := uint(1<<len(peers)) - 1; set > 0; set-- {
		whole := true
		for rest := set; rest != 0 && whole; rest &= rest - 1 {
			whole = peers[bits.TrailingZeros(rest)]&set == set
		}
		if whole && !slices.ContainsFunc(sets, func(s uint) bool { return s&set == set }) {
			sets = append(sets, set)
		}
	}
	return sets
}

// complain says what is not served, and what is known about it.
func (a *availability) complain(id kv.RangeID, r *watched, set uint, since time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "not available: r%d %s of %s was not served from %.3f to %.3f, longer than %s, by the connected majority %s of %s\n",
		id, r.desc.Span, a.names(r.voters), since.Seconds(), a.w.Loop.Now().Seconds(), a.within, a.names(set&r.voters), a.names(set))
	for _, n := range slices.Sorted(maps.Keys(a.faults)) {
		fmt.Fprintf(&b, "  at work: %s\n", a.faults[n])
	}
	for _, i := range slices.Sorted(maps.Keys(r.failed)) {
		fmt.Fprintf(&b, "  m%d's last probe: %v\n", i+1, r.failed[i])
	}
	for _, m := range a.w.Machines {
		if !m.Serving() || r.voters&(1<<m.Index) == 0 {
			continue
		}
		for _, i := range m.Node.Store.Ranges() {
			if i.Desc.ID != id {
				continue
			}
			fmt.Fprintf(&b, "  %s n%d paused=%v: gen %d, leader n%d, leads %v, term %d, applied %d, committed %d, last %d, lease until %s", m.Name, m.ID, m.RT.Paused(),
				i.Desc.Generation, i.Leader, i.Leads, i.Term, i.Applied, i.Committed, i.Last, sinceTruth(i.LeaseUntil, a.w.Truth()))
			for _, o := range a.w.Machines {
				if r.voters&(1<<o.Index) != 0 && o != m {
					fmt.Fprintf(&b, "; n%d: supported until %s, supports us until %s", o.ID,
						sinceTruth(m.Node.Cluster.SupportForUntil(o.ID), a.w.Truth()), sinceTruth(m.Node.Cluster.SupportFromUntil(o.ID), a.w.Truth()))
				}
			}
			fmt.Fprintln(&b)
		}
	}
	return fmt.Errorf("%s", strings.TrimSuffix(b.String(), "\n"))
}

func sinceTruth(t, truth clock.Instant) string {
	if t == 0 {
		return "never"
	}
	return fmt.Sprintf("%+.3fs", t.Sub(truth).Seconds())
}

func (a *availability) names(set uint) string {
	var names []string
	for i, m := range a.w.Machines {
		if set&(1<<i) != 0 {
			names = append(names, m.Name)
		}
	}
	return "{" + strings.Join(names, " ") + "}"
}

// probeEvery is how often each voter probes each of its ranges, and probeLimit when it gives a probe up.
func (a *availability) probeEvery() time.Duration { return max(a.within/6, 500*time.Millisecond) }
func (a *availability) probeLimit() time.Duration { return a.within / 3 }

// maxFlying bounds the probes of a range that are under way on one machine.
const maxFlying = 3

// startProber gives a machine that has come up its prober.
func (r *run) startProber(m *Machine) {
	a := r.avail
	if a.within == 0 {
		return
	}
	m.RT.Go("prober", func() {
		for !r.quiet && a.err == nil {
			now := m.RT.Now()
			for _, id := range slices.Sorted(maps.Keys(a.ranges)) {
				w := a.ranges[id]
				if !w.data || w.voters&(1<<m.Index) == 0 || w.next[m.Index] > now || w.flying[m.Index] >= maxFlying || r.idle() {
					continue
				}
				first := w.next[m.Index] == 0
				w.next[m.Index] = now + a.probeEvery()
				if first { // not all of them at once
					w.next[m.Index] = now + a.probeEvery()*time.Duration((int(id)*5+m.Index*3)%8)/8 + 1
					continue
				}
				w.flying[m.Index]++
				m.RT.Go("probe", func() { a.probe(m, w) })
			}
			m.RT.Sleep(a.probeEvery() / 4)
			if r.idle() {
				m.RT.Sleep(r.idleTo - r.Loop.Now())
			}
		}
	})
}

// probe reads and writes a key of the machine's own in a range.
func (a *availability) probe(m *Machine, r *watched) {
	life, limit := m.life, a.probeLimit()
	defer func() { r.flying[m.Index]-- }() // also when the process is killed
	key := append(append(kv.Key{}, r.desc.Span.Start...), fmt.Sprintf("\x01%d", m.Index)...)
	ctx, cancel := context.WithCancel(route.WithDeadline(context.Background(), m.RT.Now()+limit))
	stop := m.RT.After(limit, cancel)
	err := m.Node.DB.Run(ctx, txn.Options{Ordering: a.w.Config.Orderings[0], Name: m.Name + "/probe"}, func(ctx context.Context, t *txn.Txn) error {
		_, err := t.Get(ctx, key)
		t.Delete(key)
		return err
	})
	stop()
	cancel()
	if m.life != life || m.dying() {
		return
	}
	if err != nil {
		r.failed[m.Index] = err
		return
	}
	delete(r.failed, m.Index)
	r.served[m.Index] = a.w.Loop.Now()
}
