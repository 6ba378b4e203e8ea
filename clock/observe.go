package clock

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// peers counts disproofs: readings of peers that cannot be true together with ours.
type peers struct {
	mu   sync.Mutex
	byID map[uint32]*disproof
}

type disproof struct {
	count uint64
	at    time.Duration
	own   Interval
	peer  Interval
}

// Observe takes the reading that a peer took just before sending the message that has just arrived. It reports whether the
// two readings disprove each other: then one of the two clocks, we cannot know which, is outside its bound.
//
// Otherwise the peer's earliest is evidence that true time is at least there, and raises our own (T5). The peer's latest
// says nothing here: the message may have been under way for long, so it may well be in the past. That the peer is behind is
// found by the peer, when it hears from us, or by ObserveReply.
func (c *Clock) Observe(peer uint32, earliest, latest Instant) (disproof bool) {
	return c.ObserveReply(peer, Interval{}, earliest, latest)
}

// ObserveReply is Observe for the answer to a message of ours. sent is the reading that we took before sending it: the peer
// took its own after that, so a latest below our earliest of then is a disproof too.
func (c *Clock) ObserveReply(peer uint32, sent Interval, earliest, latest Instant) (disproof bool) {
	iv, err := c.Now()
	if err != nil {
		return c.ObserveClaim(peer, earliest, latest)
	}
	switch {
	case earliest > iv.Latest:
		c.countDisproof(peer, iv, Interval{earliest, latest})
		return true
	case latest < sent.Earliest:
		c.countDisproof(peer, sent, Interval{earliest, latest})
		return true
	case earliest > iv.Earliest:
		c.raise(int64(earliest))
	}
	return false
}

// ObserveClaim compares what a peer claims (Claim), in a message that has just arrived, with what we claim. Either clock may
// be fenced, so nothing is learned from it but whether the two disprove each other: a claim raises no earliest (T5).
func (c *Clock) ObserveClaim(peer uint32, earliest, latest Instant) (disproof bool) {
	own, err := c.Claim()
	if err != nil || earliest <= own.Latest {
		return false
	}
	c.countDisproof(peer, own, Interval{earliest, latest})
	return true
}

func (c *Clock) countDisproof(peer uint32, own, theirs Interval) {
	now := time.Duration(c.now())
	c.peers.mu.Lock()
	d := c.peers.byID[peer]
	first := d == nil
	if first {
		d = &disproof{}
		c.peers.byID[peer] = d
	}
	d.count++
	d.at, d.own, d.peer = now, own, theirs
	c.peers.mu.Unlock()
	if first {
		c.opts.Log.Warn("clock disproof: this clock or the peer's is outside its bound", "peer", peer, "own", own.String(), "theirs", theirs.String())
	}
}

// Disproof says how often a peer's reading and ours excluded each other, and what they were the last time.
type Disproof struct {
	Peer        uint32
	Count       uint64
	Age         time.Duration // since the last one
	Own, Theirs Interval
}

// Apart is the distance of the two intervals of the last disproof; it is positive if the peer was ahead of us.
func (d Disproof) Apart() time.Duration {
	if d.Theirs.Earliest > d.Own.Latest {
		return d.Theirs.Earliest.Sub(d.Own.Latest)
	}
	return d.Theirs.Latest.Sub(d.Own.Earliest)
}

// Disproofs lists them by peer.
func (c *Clock) Disproofs() []Disproof {
	now := time.Duration(c.now())
	c.peers.mu.Lock()
	defer c.peers.mu.Unlock()
	var ds []Disproof
	for id, d := range c.peers.byID {
		ds = append(ds, Disproof{Peer: id, Count: d.count, Age: now - d.at, Own: d.own, Theirs: d.peer})
	}
	slices.SortFunc(ds, func(a, b Disproof) int { return cmp.Compare(a.Peer, b.Peer) })
	return ds
}
