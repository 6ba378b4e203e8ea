package cluster

import (
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// trips measures how long it takes from requesting a peer's support until having it, so that a store whose peers are far away
// requests longer support: one of 300 ms that takes 250 ms to get would lapse all the time. Of each peer the shortest
// trip of the last seconds counts, since a process that stood still makes all of them look long.
type trips struct {
	sent  [requestsKept]supportRequest // a ring
	next  int
	peers map[kv.NodeID]*trip
}

type supportRequest struct {
	until clock.Instant
	at    time.Duration
}

// trip is the shortest of a peer, of the present window and of the one before.
type trip struct {
	present, before time.Duration
	began           time.Duration
}

const (
	requestsKept = 64
	tripWindow   = 2 * time.Second
	// maxAllowance bounds what is added to SupportDuration for the round trip.
	maxAllowance = time.Second
)

func newTrips() trips { return trips{peers: map[kv.NodeID]*trip{}} }

// recordRequest notes that support until an instant was requested of all peers.
func (t *trips) recordRequest(until clock.Instant, now time.Duration) {
	if until != 0 {
		t.sent[t.next] = supportRequest{until, now}
		t.next = (t.next + 1) % requestsKept
	}
}

// recordSupport notes a peer's answer.
func (t *trips) recordSupport(from kv.NodeID, until clock.Instant, now time.Duration) {
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

// allowance is what to add to SupportDuration: twice the trip to the farthest peer that still answers.
func (t *trips) allowance(now time.Duration) (d time.Duration) {
	for _, p := range t.peers {
		if now-p.began < 3*tripWindow {
			d = max(d, 2*min(p.present, p.before))
		}
	}
	return min(d, maxAllowance)
}
