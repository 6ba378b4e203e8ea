package cluster

import (
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// trips measures how long it takes from asking a peer for a promise until having it, so that promises to a store whose peers are
// far away are asked for longer: one of 300 ms that takes 250 ms to get would lapse all the time. Of each peer the shortest
// trip of the last seconds counts, since a process that stood still makes all of them look long.
type trips struct {
	sent  [askedKept]asked // a ring
	next  int
	peers map[kv.NodeID]*trip
}

type asked struct {
	until clock.Instant
	at    time.Duration
}

// trip is the shortest of a peer, of the present window and of the one before.
type trip struct {
	present, before time.Duration
	began           time.Duration
}

const (
	askedKept  = 64
	tripWindow = 2 * time.Second
	// maxAllowance bounds what is added to promises for the way.
	maxAllowance = time.Second
)

func newTrips() trips { return trips{peers: map[kv.NodeID]*trip{}} }

// asked notes that all peers are asked for a promise until an instant.
func (t *trips) asked(until clock.Instant, now time.Duration) {
	if until != 0 {
		t.sent[t.next] = asked{until, now}
		t.next = (t.next + 1) % askedKept
	}
}

// granted notes a peer's promise.
func (t *trips) granted(from kv.NodeID, until clock.Instant, now time.Duration) {
	for _, a := range t.sent {
		if a.until != until {
			continue
		}
		p := t.peers[from]
		if p == nil {
			p = &trip{present: now - a.at, before: now - a.at, began: now}
			t.peers[from] = p
		}
		if now-p.began >= tripWindow {
			p.before, p.present, p.began = p.present, now-a.at, now
		}
		p.present = min(p.present, now-a.at)
		return
	}
}

// allowance is what to add to the length of promises: twice the trip to the farthest peer that still answers.
func (t *trips) allowance(now time.Duration) (d time.Duration) {
	for _, p := range t.peers {
		if now-p.began < 3*tripWindow {
			d = max(d, 2*min(p.present, p.before))
		}
	}
	return min(d, maxAllowance)
}
