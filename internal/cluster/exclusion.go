package cluster

import (
	"fmt"
	"maps"
	"slices"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// A store asks for the support of the others once for all ranges that it leads. If one of these cannot be served any more, because
// its task makes no progress or its replica is quarantined, the others would stay bound for it as long as the store lives. So the
// store takes it out: an exclusion says of a range and a term that in this term, and in any earlier one, its replica relies on
// nothing beyond an instant.
//
//	P9  What an exclusion says stays true: when it is said the lease of its term has ended for good, and its instant is no
//	    lower than any that the replica ever relied on (package replica, exclude.go). A replica that last answered that store
//	    in that term, or an earlier one, is free to vote once its store's earliest has passed the instant.
//
// The support and its epoch (P3) are as they were, for the other ranges. They stay good for this one, too: a lease of a later term counts
// only voters that have answered in it, and an answer in a later term is one that no exclusion of an earlier term frees.
//
// Each heartbeat carries all of them, so one that is lost is said again, and one that is not said any more is forgotten. Old ones do
// no harm.

// exclusions is the core: what this store says, and what it has heard. It does no I/O and reads no clock.
type exclusions struct {
	said  map[kv.RangeID]kv.Exclusion
	heard map[kv.NodeID]map[kv.RangeID]kv.Exclusion
}

func newExclusions() exclusions {
	return exclusions{said: map[kv.RangeID]kv.Exclusion{}, heard: map[kv.NodeID]map[kv.RangeID]kv.Exclusion{}}
}

// say adds an exclusion to what this store says.
func (e *exclusions) say(x kv.Exclusion) {
	if old, ok := e.said[x.Range]; ok && (x.Term < old.Term || x.Term == old.Term && x.Until > old.Until) {
		panic(fmt.Sprintf("cluster: P9: r%d is excluded in term %d until %d, after term %d until %d", x.Range, x.Term, x.Until, old.Term, old.Until))
	}
	e.said[x.Range] = x
}

// list is what this store says, in order of the ranges.
func (e *exclusions) list() (out []kv.Exclusion) {
	for _, id := range slices.Sorted(maps.Keys(e.said)) {
		out = append(out, e.said[id])
	}
	return out
}

// hear takes in what another store says now, and returns the ranges that are new in it.
func (e *exclusions) hear(from kv.NodeID, xs []kv.Exclusion) (news []kv.RangeID) {
	old := e.heard[from]
	if len(xs) == 0 {
		delete(e.heard, from)
		return nil
	}
	now := make(map[kv.RangeID]kv.Exclusion, len(xs))
	for _, x := range xs {
		now[x.Range] = x
		if old[x.Range] != x {
			news = append(news, x.Range)
		}
	}
	e.heard[from] = now
	return news
}

// until is the instant that a store has excluded a range from, for a replica that answered it last in a term.
func (e *exclusions) until(from kv.NodeID, id kv.RangeID, term uint64) (until clock.Instant, ok bool) {
	x, ok := e.heard[from][id]
	return x.Until, ok && term <= x.Term
}

// free is P9, for the replica of a range that answered a store last in a term.
func (e *exclusions) free(now clock.Interval, from kv.NodeID, id kv.RangeID, term uint64) bool {
	until, ok := e.until(from, id, term)
	return ok && now.Passed(until)
}

// Exclude has this store say that it does not use the lease of a range in a term any more (P9). It does not block.
func (c *Cluster) Exclude(x kv.Exclusion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exclusions.say(x)
}

// Include takes back what was said of a range: its replica leads no more in that term.
func (c *Cluster) Include(id kv.RangeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.exclusions.said, id)
}

// LeaseExcluded reports whether a store has given the lease of a range up, so that a replica that answered it last in a term may vote
// against it (P9).
func (c *Cluster) LeaseExcluded(to kv.NodeID, id kv.RangeID, term uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.exclusions.heard) == 0 {
		return false
	}
	now, err := c.opts.Clock.Now()
	return err == nil && c.exclusions.free(now, to, id, term)
}

// Excluded is the end of what a store relies on for a range as the leader of a term, if it has said so.
func (c *Cluster) Excluded(from kv.NodeID, id kv.RangeID, term uint64) (until clock.Instant, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exclusions.until(from, id, term)
}

// OnExcluded has fn called with the ranges that a store has excluded anew. fn must not block.
func (c *Cluster) OnExcluded(fn func(from kv.NodeID, ids []kv.RangeID)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onExcluded = append(c.onExcluded, fn)
}

func (c *Cluster) notifyExcluded(from kv.NodeID, ids []kv.RangeID) {
	c.mu.Lock()
	fns := c.onExcluded
	c.mu.Unlock()
	for _, fn := range fns {
		fn(from, ids)
	}
}

// SaysExcluded lists what this store has excluded.
func (c *Cluster) SaysExcluded() []kv.Exclusion {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exclusions.list()
}
