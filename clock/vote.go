package clock

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Vote finds the nodes whose clocks a majority disproves. Two claims that exclude each other show that one of the two
// clocks is outside its bound; which one, a pair cannot tell. Each node says in its heartbeats whom it disproves, so that
// all see the same graph: an edge joins two nodes whose claims excluded each other lately, whichever of the two noticed.
//
//	F1  A node is guilty if more than half of the bench, itself included, and at least two, have an edge to it. The bench is
//	    every node that was lately heard to claim a reading: who says nothing neither votes nor is counted.
//	F2  If more than half of the bench are within their bounds, nobody who is within its bound is found guilty: the claims of
//	    two who are both hold true time, so they never have an edge. So all edges of an honest node lead to liars, who are
//	    less than half. A liar alone makes nobody guilty. Edges come from claims alone (Clock.Disproofs): a claim is what a
//	    node's own source says. A reading may also hold what the ratchet learned from others (T5), a liar among them, so the
//	    readings of two honest nodes can exclude each other (Clock.Conflicts).
//	F3  A node that was found guilty is acquitted when, for Calm without a break, more than half of the bench, itself and at
//	    least one other included, have no edge to it, and F1 does not hold. Silence acquits nobody: a liar whose last accuser
//	    crashed is still one.
//	F4  A node is suspect if it is guilty, or has an edge to a node that is not. A liar that has an edge to an honest node is
//	    suspect, whether or not a majority has found it guilty. Readings of suspects raise no earliest (T5).
//
// What F1 leaves open: in a bench of two nobody is ever guilty, because nothing tells who lies; both count and show it.
// A clock whose lie is smaller than the bounds plus the time that messages travel has no edge. Three clocks that all
// contradict each other are all guilty, which is right as far as anybody can tell.
//
// Why not intersect the peers' intervals (Marzullo): an interval in a message is as old as the message, so its upper end
// says nothing unless a round trip bounds its age, and that makes it wider by the round trip. An edge uses each message at
// its sharpest: earliest against latest the moment that it arrives. F2 holds for both. What edges give up: a liar that
// reaches into the wide intervals of several others, each at another place, may hold no point that a majority holds, and
// have too few edges; it is within the bound of each of those by itself.
//
// A Vote is a core: it does no I/O and reads no clock. now is any monotonic clock, the same in all calls. It is used by
// one caller at a time.
//
// HAZARD: F2 assumes that fewer than half of those heard are outside their bounds. If more are, and agree with each other
// (one reference that went wrong, behind all of them), they fence the honest ones. Nothing about order is lost by that: a
// fenced node does nothing. What the others then serve is only as good as their clocks.
type Vote struct {
	self  uint32
	stand time.Duration
	calm  time.Duration

	heard map[uint32]time.Duration    // when a node was last heard to claim a reading
	edges map[[2]uint32]time.Duration // when the two, in order of their ids, were last said to exclude each other

	guilty       bool          // we are
	since        time.Duration // guilty since
	lastBad      time.Duration // when the condition of F3 last failed
	lastBadCount count         // what it was found guilty for last
}

// VoteOptions of a Vote. The zero value is right for heartbeats of 50 to 250 ms.
type VoteOptions struct {
	// Stand is how long a disproof counts, and how long a node that falls silent stays on the bench. Default 5 s: 20
	// heartbeats or more. Longer: a clock that was corrected comes back later. Shorter than a few heartbeats: a lost message
	// acquits.
	Stand time.Duration
	// Calm is how long a node has to be agreed with before its fence is taken away. Default 5 s.
	Calm time.Duration
}

// NewVote makes the vote of a node.
func NewVote(self uint32, o VoteOptions) *Vote {
	if o.Stand <= 0 {
		o.Stand = 5 * time.Second
	}
	if o.Calm <= 0 {
		o.Calm = 5 * time.Second
	}
	return &Vote{self: self, stand: o.Stand, calm: o.Calm, heard: map[uint32]time.Duration{}, edges: map[[2]uint32]time.Duration{}}
}

// Stand is how long a disproof counts.
func (v *Vote) Stand() time.Duration { return v.stand }

// Heard says that a node claimed a reading just now, and whom it said to disprove. Our own claim is one too.
func (v *Vote) Heard(now time.Duration, node uint32, disproved []uint32) {
	v.heard[node] = now
	for _, d := range disproved {
		v.Disproved(now, node, d)
	}
}

// Disproved says that the claims of two nodes excluded each other at a moment.
func (v *Vote) Disproved(at time.Duration, a, b uint32) {
	if a == b {
		return
	}
	e := [2]uint32{min(a, b), max(a, b)}
	if was, ok := v.edges[e]; !ok || was < at {
		v.edges[e] = at
	}
}

// Judgement is what the vote says of this node's clock.
type Judgement struct {
	Guilty bool
	For    time.Duration // since when it is
	Why    string        // with values, for people; empty if it is not guilty
}

// count is F1 for one node.
type count struct {
	node     uint32
	accusers []uint32
	bench    int
}

func (d count) majority() bool { return len(d.accusers) >= 2 && 2*len(d.accusers) > d.bench }

// Step forgets what is too old, and judges this node (F1, F3).
func (v *Vote) Step(now time.Duration) Judgement {
	v.forget(now)
	d := v.judge(v.self)
	agree := d.bench - len(d.accusers) // itself among them
	if d.majority() {
		v.lastBadCount = d
	}
	if d.majority() || agree < 2 || 2*agree <= d.bench {
		v.lastBad = now
	}
	switch {
	case !v.guilty && d.majority():
		v.guilty, v.since = true, now
	case v.guilty && now-v.lastBad >= v.calm:
		v.guilty = false
	}
	if !v.guilty {
		return Judgement{}
	}
	return Judgement{Guilty: true, For: now - v.since, Why: v.lastBadCount.String()}
}

// Guilty lists the nodes that the majority disproves now (F1), in order of their ids, and why. This node may be among
// them. It does not know which of them are still fenced for what was.
func (v *Vote) Guilty(now time.Duration) (nodes []uint32, why []string) {
	v.forget(now)
	if len(v.edges) == 0 {
		return nil, nil // as nearly always
	}
	for _, n := range slices.Sorted(maps.Keys(v.heard)) {
		if d := v.judge(n); d.majority() {
			nodes, why = append(nodes, n), append(why, d.String())
		}
	}
	return nodes, why
}

// Suspects lists the nodes whose readings are not to be learned from (F4), in order of their ids. An edge between a guilty node
// and another one says nothing about the other: the vote has told which of the two it is.
func (v *Vote) Suspects(now time.Duration) (nodes []uint32) {
	v.forget(now)
	if len(v.edges) == 0 {
		return nil
	}
	guilty := map[uint32]bool{}
	suspects := map[uint32]bool{}
	for n := range v.heard {
		if v.judge(n).majority() {
			guilty[n], suspects[n] = true, true
		}
	}
	for e := range v.edges {
		suspects[e[0]] = suspects[e[0]] || !guilty[e[1]]
		suspects[e[1]] = suspects[e[1]] || !guilty[e[0]]
	}
	for _, n := range slices.Sorted(maps.Keys(suspects)) {
		if suspects[n] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// Accusers lists the nodes that have an edge to this one.
func (v *Vote) Accusers(now time.Duration) []uint32 {
	v.forget(now)
	return v.judge(v.self).accusers
}

func (v *Vote) judge(node uint32) count {
	d := count{node: node, bench: len(v.heard)}
	if len(v.edges) == 0 {
		return d
	}
	for _, n := range slices.Sorted(maps.Keys(v.heard)) {
		if _, ok := v.edges[[2]uint32{min(n, node), max(n, node)}]; ok && n != node {
			d.accusers = append(d.accusers, n)
		}
	}
	return d
}

func (v *Vote) forget(now time.Duration) {
	maps.DeleteFunc(v.heard, func(_ uint32, at time.Duration) bool { return now-at > v.stand })
	maps.DeleteFunc(v.edges, func(_ [2]uint32, at time.Duration) bool { return now-at > v.stand })
}

func (d count) String() string {
	names := make([]string, len(d.accusers))
	for i, n := range d.accusers {
		names[i] = fmt.Sprintf("node %d", n)
	}
	return fmt.Sprintf("%d of the %d nodes that are heard of disprove the clock of node %d: %s", len(d.accusers), d.bench, d.node, strings.Join(names, ", "))
}
