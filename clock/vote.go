package clock

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Vote finds the falsetickers (as NTP calls them): the nodes whose clocks a majority contradicts. If the intervals that two
// nodes report exclude each other (a conflict), one of the two clocks is outside its bound; a pair cannot tell which. Each node
// says in its heartbeats whom it contradicts, so that all nodes see the same graph of conflicts, whichever of the two noticed.
//
//	F1  A node is a falseticker if more than half of the voters, itself included, and at least two, have a conflict with it. The
//	    voters are the nodes that reported an interval lately: a silent node neither votes nor is counted.
//	F2  If more than half of the voters are within their bounds, no node that is within its bound is found to be a falseticker: the
//	    intervals that two such nodes report both hold true time, so they never conflict. So all conflicts of an honest node are
//	    with liars, which are less than half. A single liar makes no other node a falseticker. Conflicts come from reported
//	    intervals alone (Clock.Conflicts): a reported interval is what a node's own source says. A reading may also hold what the
//	    ratchet learned from others (T5), a liar among them, so the readings of two honest nodes can exclude each other
//	    (Clock.DisjointReadings).
//	F3  A falseticker is cleared when, for Calm without a break, more than half of the voters, itself and at least one other
//	    included, have no conflict with it, and F1 does not hold. Silence clears no node: a liar whose last dissenter crashed is
//	    still one.
//	F4  A node is suspect if it is a falseticker, or has a conflict with a node that is not. A liar that conflicts with an honest
//	    node is suspect, whether or not a majority has found it. Readings of suspects raise no earliest (T5).
//
// What F1 leaves open: of two voters none is ever a falseticker, because nothing tells which one lies; both count and show it. A
// clock whose lie is smaller than the bounds plus the time that messages travel has no conflict. Three clocks that all
// contradict each other are all falsetickers, which is right as far as can be known.
//
// Why not intersect the peers' intervals (Marzullo): an interval in a message is as old as the message, so its upper end
// says nothing unless a round trip bounds its age, and that makes it wider by the round trip. A conflict uses each message at its
// sharpest: earliest against latest the moment that it arrives. F2 holds for both. What conflicts give up: a liar that
// reaches into the wide intervals of several others, each at another place, may hold no point that a majority holds, and
// have too few conflicts; it is within the bound of each of those by itself.
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

	heard     map[uint32]time.Duration    // when a node last reported an interval
	conflicts map[[2]uint32]time.Duration // when the two, in order of their ids, were last said to conflict

	falseticker bool          // this node is
	since       time.Duration // falseticker since
	lastBad     time.Duration // when the condition of F3 last failed
	lastDissent dissent       // why it was last found to be a falseticker
}

// VoteOptions of a Vote. The zero value is right for heartbeats of 50 to 250 ms.
type VoteOptions struct {
	// Stand is how long a conflict counts, and how long a node that falls silent stays a voter. Default 5 s: 20
	// heartbeats or more. Longer: a clock that was corrected comes back later. Shorter than a few heartbeats: a lost message clears a
	// falseticker.
	Stand time.Duration
	// Calm is how long a node must be without a majority of conflicts before its fence is taken away. Default 5 s.
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
	return &Vote{self: self, stand: o.Stand, calm: o.Calm, heard: map[uint32]time.Duration{}, conflicts: map[[2]uint32]time.Duration{}}
}

// Stand is how long a conflict counts.
func (v *Vote) Stand() time.Duration { return v.stand }

// RecordReport records that a node reported an interval just now, and whom it said to contradict. This node's own report counts too.
func (v *Vote) RecordReport(now time.Duration, node uint32, contradicted []uint32) {
	v.heard[node] = now
	for _, d := range contradicted {
		v.RecordConflict(now, node, d)
	}
}

// RecordConflict records that the reported intervals of two nodes excluded each other at a moment.
func (v *Vote) RecordConflict(at time.Duration, a, b uint32) {
	if a == b {
		return
	}
	e := [2]uint32{min(a, b), max(a, b)}
	if was, ok := v.conflicts[e]; !ok || was < at {
		v.conflicts[e] = at
	}
}

// Judgement is what the vote says of this node's clock.
type Judgement struct {
	Falseticker bool
	For         time.Duration // since when it is
	Why         string        // with values, for people; empty if it is not a falseticker
}

// dissent is F1 for one node.
type dissent struct {
	node       uint32
	dissenters []uint32
	voters     int
}

func (d dissent) majority() bool { return len(d.dissenters) >= 2 && 2*len(d.dissenters) > d.voters }

// Step forgets what is too old, and judges this node (F1, F3).
func (v *Vote) Step(now time.Duration) Judgement {
	v.forget(now)
	d := v.judge(v.self)
	agree := d.voters - len(d.dissenters) // itself among them
	if d.majority() {
		v.lastDissent = d
	}
	if d.majority() || agree < 2 || 2*agree <= d.voters {
		v.lastBad = now
	}
	switch {
	case !v.falseticker && d.majority():
		v.falseticker, v.since = true, now
	case v.falseticker && now-v.lastBad >= v.calm:
		v.falseticker = false
	}
	if !v.falseticker {
		return Judgement{}
	}
	return Judgement{Falseticker: true, For: now - v.since, Why: v.lastDissent.String()}
}

// Falsetickers lists the nodes that the majority contradicts now (F1), in order of their ids, and why. This node may be among
// them. It does not know which of them are still fenced for what was.
func (v *Vote) Falsetickers(now time.Duration) (nodes []uint32, why []string) {
	v.forget(now)
	if len(v.conflicts) == 0 {
		return nil, nil // as nearly always
	}
	for _, n := range slices.Sorted(maps.Keys(v.heard)) {
		if d := v.judge(n); d.majority() {
			nodes, why = append(nodes, n), append(why, d.String())
		}
	}
	return nodes, why
}

// Suspects lists the nodes whose readings are not to be learned from (F4), in order of their ids. A conflict between a
// falseticker and another node says nothing about the other: the vote has told which of the two it is.
func (v *Vote) Suspects(now time.Duration) (nodes []uint32) {
	v.forget(now)
	if len(v.conflicts) == 0 {
		return nil
	}
	falsetickers := map[uint32]bool{}
	suspects := map[uint32]bool{}
	for n := range v.heard {
		if v.judge(n).majority() {
			falsetickers[n], suspects[n] = true, true
		}
	}
	for e := range v.conflicts {
		suspects[e[0]] = suspects[e[0]] || !falsetickers[e[1]]
		suspects[e[1]] = suspects[e[1]] || !falsetickers[e[0]]
	}
	for _, n := range slices.Sorted(maps.Keys(suspects)) {
		if suspects[n] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

func (v *Vote) judge(node uint32) dissent {
	d := dissent{node: node, voters: len(v.heard)}
	if len(v.conflicts) == 0 {
		return d
	}
	for _, n := range slices.Sorted(maps.Keys(v.heard)) {
		if _, ok := v.conflicts[[2]uint32{min(n, node), max(n, node)}]; ok && n != node {
			d.dissenters = append(d.dissenters, n)
		}
	}
	return d
}

func (v *Vote) forget(now time.Duration) {
	maps.DeleteFunc(v.heard, func(_ uint32, at time.Duration) bool { return now-at > v.stand })
	maps.DeleteFunc(v.conflicts, func(_ [2]uint32, at time.Duration) bool { return now-at > v.stand })
}

func (d dissent) String() string {
	names := make([]string, len(d.dissenters))
	for i, n := range d.dissenters {
		names[i] = fmt.Sprintf("node %d", n)
	}
	return fmt.Sprintf("%d of the %d nodes that are heard of contradict the clock of node %d: %s",
		len(d.dissenters), d.voters, d.node, strings.Join(names, ", "))
}
