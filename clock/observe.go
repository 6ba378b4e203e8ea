package clock

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// peers counts what cannot be true together: intervals of peers, and ours. Claims and readings are counted apart. Two claims
// that exclude each other show that one of the two sources is false (a disproof). Two readings that do (a conflict) may both be of
// honest clocks: the ratchet may have carried a third one's lie into one of them (T5). So a vote counts disproofs alone.
type peers struct {
	mu              sync.Mutex
	claims, reading map[uint32]*disproof
}

type disproof struct {
	count uint64
	at    time.Duration
	own   Interval
	peer  Interval
}

// Observe takes the reading that a peer took just before sending the message that has just arrived. It reports whether the
// two readings are in conflict: then some clock, of the two or one that either has learned from, is outside its bound.
//
// Otherwise the peer's earliest is evidence that true time is at least there, and raises our own, unless the peer is a suspect
// (T5). The peer's latest says nothing here: the message may have been under way for long, so it may well be in the past. That
// the peer is behind is found by the peer, when it hears from us, or by ObserveReply.
func (c *Clock) Observe(peer uint32, earliest, latest Instant) (conflict bool) {
	return c.ObserveReply(peer, Interval{}, earliest, latest)
}

// ObserveReply is Observe for the answer to a message of ours. sent is the reading that we took before sending it: the peer
// took its own after that, so a latest below our earliest of then is a conflict too.
func (c *Clock) ObserveReply(peer uint32, sent Interval, earliest, latest Instant) (conflict bool) {
	iv, err := c.Now()
	learns := err == nil
	if !learns {
		if iv, err = c.Claim(); err != nil {
			return false
		}
	}
	switch {
	case earliest > iv.Latest:
		c.count(c.peers.reading, "clock conflict: this clock's reading and the peer's cannot both be true", peer, iv, Interval{earliest, latest})
		return true
	case latest < sent.Earliest:
		c.count(c.peers.reading, "clock conflict: this clock's reading and the peer's cannot both be true", peer, sent, Interval{earliest, latest})
		return true
	case learns && earliest > iv.Earliest && !c.suspects(peer):
		c.raise(int64(earliest))
	}
	return false
}

// ObserveClaim compares what a peer claims (Claim), in a message that has just arrived, with what we claim. It reports whether
// the two disprove each other. Either clock may be fenced, so nothing else is learned from it: a claim raises no earliest (T5).
func (c *Clock) ObserveClaim(peer uint32, earliest, latest Instant) (disproof bool) {
	own, err := c.Claim()
	if err != nil || earliest <= own.Latest {
		return false
	}
	c.count(c.peers.claims, "clock disproof: this clock or the peer's is outside its bound", peer, own, Interval{earliest, latest})
	return true
}

// Suspect names the peers whose readings are not learned from (T5), in place of those named before: see Vote.Suspects.
func (c *Clock) Suspect(peers []uint32) {
	if len(peers) == 0 {
		c.suspected.Store(nil)
		return
	}
	peers = slices.Clone(peers)
	c.suspected.Store(&peers)
}

func (c *Clock) suspects(peer uint32) bool {
	s := c.suspected.Load()
	return s != nil && slices.Contains(*s, peer)
}

func (c *Clock) count(in map[uint32]*disproof, what string, peer uint32, own, theirs Interval) {
	now := time.Duration(c.now())
	c.peers.mu.Lock()
	d := in[peer]
	first := d == nil
	if first {
		d = &disproof{}
		in[peer] = d
	}
	d.count++
	d.at, d.own, d.peer = now, own, theirs
	c.peers.mu.Unlock()
	if first {
		c.opts.Log.Warn(what, "peer", peer, "own", own.String(), "theirs", theirs.String())
	}
}

// Disproof says how often an interval of a peer and one of ours excluded each other, and what they were the last time.
type Disproof struct {
	Peer        uint32
	Count       uint64
	Age         time.Duration // since the last one
	Own, Theirs Interval
}

// Apart is the distance of the two intervals of the last time; it is positive if the peer was ahead of us.
func (d Disproof) Apart() time.Duration {
	if d.Theirs.Earliest > d.Own.Latest {
		return d.Theirs.Earliest.Sub(d.Own.Latest)
	}
	return d.Theirs.Latest.Sub(d.Own.Earliest)
}

// Disproofs lists by peer the claims that excluded ours: what a vote counts.
func (c *Clock) Disproofs() []Disproof { return c.list(c.peers.claims) }

// Conflicts lists by peer the readings that excluded ours. They are signs that some clock is false, and tell nothing of which.
func (c *Clock) Conflicts() []Disproof { return c.list(c.peers.reading) }

func (c *Clock) list(of map[uint32]*disproof) []Disproof {
	now := time.Duration(c.now())
	c.peers.mu.Lock()
	defer c.peers.mu.Unlock()
	var ds []Disproof
	for id, d := range of {
		ds = append(ds, Disproof{Peer: id, Count: d.count, Age: now - d.at, Own: d.own, Theirs: d.peer})
	}
	slices.SortFunc(ds, func(a, b Disproof) int { return cmp.Compare(a.Peer, b.Peer) })
	return ds
}
