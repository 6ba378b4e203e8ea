package cluster

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// Support is a promise of one store to another.
type Support struct {
	Until clock.Instant
	Since clock.Instant // names the unbroken run that the promise belongs to (P3)
}

// promises is the core: what this store has promised, and what it was promised. It does no I/O and reads no clock. Its
// owner makes Persist durable and then calls persisted, and delivers Grants.
type promises struct {
	length   time.Duration // L: how far ahead we ask
	furthest time.Duration // how far ahead we grant (P4)
	slack    time.Duration // by how much the high water is rounded up, so that it is synced rarely

	// fence is the high water that an earlier process left: to whom it was bound is forgotten (P2).
	fence   clock.Instant
	durable clock.Instant // Invariant: no promise's Until or Since is above it
	given   map[kv.NodeID]given
	got     map[kv.NodeID]Support
	pending map[kv.NodeID]clock.Instant // asks that wait for the high water
	closed  bool
}

type given struct {
	Support
	broken bool // Released has said true: the run must not be continued (P3)
}

// grant is a promise to be delivered.
type grant struct {
	to kv.NodeID
	Support
}

// output is what follows from an event.
type output struct {
	persist clock.Instant // if not 0: make this durable, soon, then call persisted; asks without a grant wait for it
	grants  []grant
	refused error
}

func newPromises(length, furthest, slack time.Duration, fence clock.Instant) *promises {
	return &promises{
		length: length, furthest: furthest, slack: slack, fence: fence, durable: fence,
		given: map[kv.NodeID]given{}, got: map[kv.NodeID]Support{}, pending: map[kv.NodeID]clock.Instant{},
	}
}

// want is the instant to ask peers for; 0: none (P5). allowance is for the way to them and back.
func (p *promises) want(now clock.Interval, allowance time.Duration) clock.Instant {
	if p.closed || !now.Passed(p.fence) {
		return 0
	}
	return now.Latest.Add(p.length + allowance)
}

// furthest is how far ahead of our latest a store may be asked for a promise (P4): the asker's clock may be wider than ours, and
// the way to it long. width is the widest clock that is not fenced; negative: there is no such limit.
func furthest(length, width time.Duration) time.Duration {
	if width < 0 {
		width = unlimitedWidth
	}
	return length + maxAllowance + max(length, width)
}

// unlimitedWidth stands for no limit: for so long at most a store is bound by a clock that is ahead.
const unlimitedWidth = time.Minute

// ask is a peer's (or our own) wish for a promise until t.
func (p *promises) ask(now clock.Interval, from kv.NodeID, t clock.Instant) output {
	switch {
	case p.closed:
		return output{}
	case t > now.Latest.Add(p.furthest): // P4
		return output{refused: fmt.Errorf("node %d asks for a promise until %d, %s ahead of our latest %d; at most %s is given: one of the two clocks is wrong",
			from, t, t.Sub(now.Latest), now.Latest, p.furthest)}
	case now.Passed(t):
		return output{} // it arrived too late to be of use
	}
	need := p.next(now, from, t).highest()
	if need > p.durable {
		p.pending[from] = max(p.pending[from], t)
		return output{persist: need.Add(p.slack)}
	}
	out := output{grants: []grant{p.give(now, from, t)}}
	if need.Add(p.slack/2) > p.durable {
		out.persist = need.Add(p.slack) // ahead of need: the next promises must not wait for the disk
	}
	return out
}

// persisted says that the high water is durable at mark.
func (p *promises) persisted(now clock.Interval, mark clock.Instant) (out output) {
	p.durable = max(p.durable, mark)
	for _, from := range slices.Sorted(maps.Keys(p.pending)) {
		t := p.pending[from]
		if p.next(now, from, t).highest() > p.durable {
			continue // the mark was another ask's; this one's own is still to come
		}
		delete(p.pending, from)
		if !p.closed && !now.Passed(t) {
			out.grants = append(out.grants, p.give(now, from, t))
		}
	}
	return out
}

// next is the promise that follows from those given before: it continues the run if that was never broken (P3).
func (p *promises) next(now clock.Interval, to kv.NodeID, t clock.Instant) Support {
	g := p.given[to]
	if g.Since == 0 || g.broken || now.Passed(g.Until) {
		// The name is one that no run to this store ever had: the fence is no lower than any of an earlier process.
		return Support{Until: t, Since: max(now.Earliest, p.fence+1, g.Since+1)}
	}
	return Support{Until: max(g.Until, t), Since: g.Since}
}

// highest is what the high water has to cover.
func (s Support) highest() clock.Instant { return max(s.Until, s.Since) }

// give makes the promise.
func (p *promises) give(now clock.Interval, to kv.NodeID, t clock.Instant) grant {
	s := p.next(now, to, t)
	if s.highest() > p.durable {
		panic(fmt.Sprintf("cluster: promise until %d since %d to node %d is above the durable high water %d (P2)", s.Until, s.Since, to, p.durable))
	}
	p.given[to] = given{Support: s}
	return grant{to: to, Support: s}
}

// released reports whether nothing binds this store to another any more (P1), and if so ends the run of promises to it.
// Store 0 is an unknown one: then only the fence counts.
func (p *promises) released(now clock.Interval, to kv.NodeID) bool {
	if !now.Passed(p.until(to)) {
		return false
	}
	if g, ok := p.given[to]; ok {
		g.broken = true
		p.given[to] = g
	}
	return true
}

// until is the instant up to which this store is bound to another.
func (p *promises) until(to kv.NodeID) clock.Instant { return max(p.fence, p.given[to].Until) }

// granted takes in a promise to us. Messages may arrive in any order: the newest run counts, in it the furthest promise.
func (p *promises) granted(from kv.NodeID, s Support) (changed bool) {
	old := p.got[from]
	if s.Since < old.Since || (s.Since == old.Since && s.Until <= old.Until) {
		return false
	}
	p.got[from] = s
	return true
}

// close ends all promising and returns the exact high water, so that the next start waits no longer than needed.
func (p *promises) close(now clock.Interval) clock.Instant {
	p.closed = true
	var mark clock.Instant
	if !now.Passed(p.fence) {
		mark = p.fence
	}
	for _, g := range p.given {
		mark = max(mark, g.highest())
	}
	return mark
}
