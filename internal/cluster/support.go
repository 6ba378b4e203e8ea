package cluster

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// Support is what one store gives another: until then its replicas do not vote against the other's leases (P1).
type Support struct {
	Until clock.Instant
	Epoch clock.Instant // names the unbroken support that this belongs to (P3)
}

// supportCore is the core: the support that this store gives and has. It does no I/O and reads no clock. Its owner makes
// persistHighWater durable, calls highWaterPersisted, and delivers the replies.
type supportCore struct {
	length   time.Duration // L: how far ahead we request support
	maxAhead time.Duration // how far ahead we give support (P4)
	slack    time.Duration // by how much the high water is rounded up, so that it is synced rarely

	// restartHighWater is the high water that an earlier process left: to whom it was bound is forgotten (P2).
	restartHighWater clock.Instant
	durable          clock.Instant // Invariant: the Until and Epoch of all support given are at or below it
	supportFor       map[kv.NodeID]providedSupport
	supportFrom      map[kv.NodeID]Support
	pendingRequests  map[kv.NodeID]clock.Instant // requests that wait for the high water
	stopped          bool
}

type providedSupport struct {
	Support
	withdrawn bool // TryWithdraw has reported true: the epoch must not be continued (P3)
}

// supportReply is support to be delivered.
type supportReply struct {
	to kv.NodeID
	Support
}

// output is what follows from an event.
type output struct {
	persistHighWater clock.Instant // if not 0: make this durable, soon, then call highWaterPersisted; requests without a reply wait for it
	replies          []supportReply
	refused          error
}

func newSupportCore(length, maxAhead, slack time.Duration, restartHighWater clock.Instant) *supportCore {
	return &supportCore{
		length: length, maxAhead: maxAhead, slack: slack, restartHighWater: restartHighWater, durable: restartHighWater,
		supportFor: map[kv.NodeID]providedSupport{}, supportFrom: map[kv.NodeID]Support{}, pendingRequests: map[kv.NodeID]clock.Instant{},
	}
}

// requestUntil is the instant to ask peers for; 0: none (P5). allowance is for the way to them and back.
func (p *supportCore) requestUntil(now clock.Interval, allowance time.Duration) clock.Instant {
	if p.stopped || !now.Passed(p.restartHighWater) {
		return 0
	}
	return now.Latest.Add(p.length + allowance)
}

// maxSupportAhead is how far ahead of our latest a store may be asked for support (P4): the requester's clock may be wider than ours, and
// the way to it long. width is the widest clock that is not fenced; negative: there is no such limit.
func maxSupportAhead(length, width time.Duration) time.Duration {
	if width < 0 {
		width = unlimitedWidth
	}
	return length + maxAllowance + max(length, width)
}

// unlimitedWidth stands for no limit: the longest time for which a clock that is ahead binds a store.
const unlimitedWidth = time.Minute

// handleRequest is a peer's (or our own) wish for support until t.
func (p *supportCore) handleRequest(now clock.Interval, from kv.NodeID, t clock.Instant) output {
	switch {
	case p.stopped:
		return output{}
	case t > now.Latest.Add(p.maxAhead): // P4
		return output{refused: fmt.Errorf("node %d requests support until %d, %s ahead of our latest %d; at most %s is allowed: "+
			"one of the two clocks is wrong", from, t, t.Sub(now.Latest), now.Latest, p.maxAhead)}
	case now.Passed(t):
		return output{} // it arrived too late to be of use
	}
	need := p.nextSupport(now, from, t).requiredHighWater()
	if need > p.durable {
		p.pendingRequests[from] = max(p.pendingRequests[from], t)
		return output{persistHighWater: need.Add(p.slack)}
	}
	out := output{replies: []supportReply{p.provide(now, from, t)}}
	if need.Add(p.slack/2) > p.durable {
		out.persistHighWater = need.Add(p.slack) // ahead of need: later requests must not wait for the disk
	}
	return out
}

// highWaterPersisted says that the high water is durable.
func (p *supportCore) highWaterPersisted(now clock.Interval, highWater clock.Instant) (out output) {
	p.durable = max(p.durable, highWater)
	for _, from := range slices.Sorted(maps.Keys(p.pendingRequests)) {
		t := p.pendingRequests[from]
		if p.nextSupport(now, from, t).requiredHighWater() > p.durable {
			continue // that high water was another request's; the one for this request is still to come
		}
		delete(p.pendingRequests, from)
		if !p.stopped && !now.Passed(t) {
			out.replies = append(out.replies, p.provide(now, from, t))
		}
	}
	return out
}

// nextSupport follows from the support given before: it continues the epoch unless that was withdrawn or has expired (P3).
func (p *supportCore) nextSupport(now clock.Interval, to kv.NodeID, t clock.Instant) Support {
	g := p.supportFor[to]
	if g.Epoch == 0 || g.withdrawn || now.Passed(g.Until) {
		// No epoch of that store ever had this name: restartHighWater is no lower than any epoch of an earlier process.
		return Support{Until: t, Epoch: max(now.Earliest, p.restartHighWater+1, g.Epoch+1)}
	}
	return Support{Until: max(g.Until, t), Epoch: g.Epoch}
}

// requiredHighWater is the lowest high water that allows this support (P2).
func (s Support) requiredHighWater() clock.Instant { return max(s.Until, s.Epoch) }

// provide records the support.
func (p *supportCore) provide(now clock.Interval, to kv.NodeID, t clock.Instant) supportReply {
	s := p.nextSupport(now, to, t)
	if s.requiredHighWater() > p.durable {
		panic(fmt.Sprintf("cluster: support until %d epoch %d for node %d is above the durable high water %d (P2)",
			s.Until, s.Epoch, to, p.durable))
	}
	p.supportFor[to] = providedSupport{Support: s}
	return supportReply{to: to, Support: s}
}

// withdraw reports whether this store's support of another has expired (P1), and if so ends the support epoch.
// Store 0 is an unknown one: then restartHighWater alone counts.
func (p *supportCore) withdraw(now clock.Interval, to kv.NodeID) bool {
	if !now.Passed(p.supportForUntil(to)) {
		return false
	}
	if g, ok := p.supportFor[to]; ok {
		g.withdrawn = true
		p.supportFor[to] = g
	}
	return true
}

// supportForUntil is the instant up to which this store is bound to another.
func (p *supportCore) supportForUntil(to kv.NodeID) clock.Instant {
	return max(p.restartHighWater, p.supportFor[to].Until)
}

// handleSupport takes in support of us. Messages may arrive in any order: the newest epoch counts, and in it the latest end.
func (p *supportCore) handleSupport(from kv.NodeID, s Support) (changed bool) {
	old := p.supportFrom[from]
	if s.Epoch < old.Epoch || (s.Epoch == old.Epoch && s.Until <= old.Until) {
		return false
	}
	p.supportFrom[from] = s
	return true
}

// stop ends all support and returns the exact high water, so that the next start waits no longer than needed.
func (p *supportCore) stop(now clock.Interval) clock.Instant {
	p.stopped = true
	var highWater clock.Instant
	if !now.Passed(p.restartHighWater) {
		highWater = p.restartHighWater
	}
	for _, g := range p.supportFor {
		highWater = max(highWater, g.requiredHighWater())
	}
	return highWater
}
