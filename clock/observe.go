package clock

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// peers counts the intervals of peers that exclude ours, reported intervals and readings apart. Two reported intervals that
// exclude each other (a conflict) show that one of the two sources is false. Two disjoint readings may both be of honest clocks:
// the ratchet may have carried a third clock's lie into one of them (T5). So a vote counts conflicts alone.
type peers struct {
	mu                 sync.Mutex
	reported, readings map[uint32]*conflictCount
}

type conflictCount struct {
	count uint64
	at    time.Duration
	own   Interval
	peer  Interval
}

// disjointReadings is the log's line for the first disjoint readings of a peer.
const disjointReadings = "disjoint readings: this clock's reading and the peer's cannot both be true"

// Observe takes the reading that a peer took just before sending the message that has just arrived. It reports whether the two
// readings are disjoint: then some clock, one of the two or one that either has learned from, is outside its bound.
//
// Otherwise the peer's earliest is evidence that true time is at least there, and raises our own, unless the peer is a suspect
// (T5). The peer's latest says nothing here: the message may have been under way for long, so it may well be in the past. That
// the peer is behind is found by the peer, when it hears from us, or by ObserveReply.
func (c *Clock) Observe(peer uint32, earliest, latest Instant) (disjoint bool) {
	return c.ObserveReply(peer, Interval{}, earliest, latest)
}

// ObserveReply is Observe for the answer to a message of ours. sent is the reading that we took before sending it: the peer
// took its own after that, so a latest below our earliest of then makes the readings disjoint too.
func (c *Clock) ObserveReply(peer uint32, sent Interval, earliest, latest Instant) (disjoint bool) {
	iv, err := c.Now()
	learns := err == nil
	if !learns {
		if iv, err = c.ReportedInterval(); err != nil {
			return false
		}
	}
	switch {
	case earliest > iv.Latest:
		c.count(c.peers.readings, disjointReadings, peer, iv, Interval{earliest, latest})
		return true
	case latest < sent.Earliest:
		c.count(c.peers.readings, disjointReadings, peer, sent, Interval{earliest, latest})
		return true
	case learns && earliest > iv.Earliest && !c.suspects(peer):
		c.raise(int64(earliest))
	}
	return false
}

// ObserveReported compares the interval that a peer reports (ReportedInterval), in a message that has just arrived, with ours.
// It reports whether the two are in conflict. Either clock may be fenced, so nothing else is learned from it: a reported
// interval raises no earliest (T5).
func (c *Clock) ObserveReported(peer uint32, earliest, latest Instant) (conflict bool) {
	own, err := c.ReportedInterval()
	if err != nil || earliest <= own.Latest {
		return false
	}
	c.count(c.peers.reported, "clock conflict: this clock or the peer's is outside its bound", peer, own, Interval{earliest, latest})
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

func (c *Clock) count(in map[uint32]*conflictCount, what string, peer uint32, own, theirs Interval) {
	now := time.Duration(c.now())
	c.peers.mu.Lock()
	d := in[peer]
	first := d == nil
	if first {
		d = &conflictCount{}
		in[peer] = d
	}
	d.count++
	d.at, d.own, d.peer = now, own, theirs
	c.peers.mu.Unlock()
	if first {
		c.opts.Log.Warn(what, "peer", peer, "own", own.String(), "theirs", theirs.String())
	}
}

// Conflict says how often an interval of a peer and one of ours excluded each other, and what they were the last time.
type Conflict struct {
	Peer        uint32
	Count       uint64
	Age         time.Duration // since the last one
	Own, Theirs Interval
}

// Apart is the distance of the two intervals of the last time; it is positive if the peer was ahead of us.
func (d Conflict) Apart() time.Duration {
	if d.Theirs.Earliest > d.Own.Latest {
		return d.Theirs.Earliest.Sub(d.Own.Latest)
	}
	return d.Theirs.Latest.Sub(d.Own.Earliest)
}

// Conflicts lists by peer the reported intervals that excluded ours: what a vote counts.
func (c *Clock) Conflicts() []Conflict { return c.list(c.peers.reported) }

// DisjointReadings lists by peer the readings that excluded ours. They show that some clock is false, and not which one.
func (c *Clock) DisjointReadings() []Conflict { return c.list(c.peers.readings) }

func (c *Clock) list(of map[uint32]*conflictCount) []Conflict {
	now := time.Duration(c.now())
	c.peers.mu.Lock()
	defer c.peers.mu.Unlock()
	var ds []Conflict
	for id, d := range of {
		ds = append(ds, Conflict{Peer: id, Count: d.count, Age: now - d.at, Own: d.own, Theirs: d.peer})
	}
	slices.SortFunc(ds, func(a, b Conflict) int { return cmp.Compare(a.Peer, b.Peer) })
	return ds
}
