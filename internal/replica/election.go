package replica

import "time"

// election is when a replica that does not lead begins a campaign: once its leader is taken for gone and no support binds it
// any more. Raft's own election ticks are not used, so followers cost nothing.
//
// A leader is taken for gone when its range has heard nothing of it for quiet, or at once when there is evidence that its store
// has stopped (cluster.Suspected). All voters come to that at about the same moment, so they take turns: the first in the order
// of nodes campaigns at once, each other one somewhat later than the one before it. What follows is spread at random.
type election struct {
	heard   time.Duration // when the leader was last heard; on the runtime's clock
	at      time.Duration // when to campaign; 0: not planned
	spread  time.Duration
	quiet   time.Duration // a leader heard within this time is alive, unless there is evidence that it is not
	stagger time.Duration
	random  func() uint64
	eager   int // so many campaigns follow each other soon
	tries   int // campaigns since the leader was heard
}

// leaderView is what an election is decided by, beside the time.
type leaderView struct {
	suspected bool        // there is evidence that the leader's store has stopped
	turn      int         // how many voters campaign before this one
	free      func() bool // whether support allows a campaign; asked only if the leader is taken for gone
}

// maxHurried bounds the campaigns that evidence hurries; after that they are as rare as without it.
const maxHurried = 40

// hear notes a message of a leader.
func (e *election) hear(now time.Duration) { e.heard, e.at, e.eager, e.tries = now, 0, 0, 0 }

// due reports whether to campaign now.
func (e *election) due(now time.Duration, v leaderView) bool {
	if e.heard != 0 && now-e.heard < e.quiet && !v.suspected {
		return false
	}
	if !v.free() {
		e.at = 0
		return false
	}
	if e.at == 0 {
		e.at = now + e.wait(v)
		if e.at > now {
			return false
		}
	}
	if now < e.at {
		return false
	}
	e.at = 0
	e.tries++
	return true
}

// wait is how long to wait from the moment at which a campaign is possible.
func (e *election) wait(v leaderView) time.Duration {
	switch {
	case v.suspected && e.tries == 0:
		return time.Duration(v.turn) * e.stagger
	case e.heard != 0 && e.tries == 0:
		return time.Duration(v.turn) * e.spread / 4 // ticks are what brings us here, and they are not in step
	case v.suspected && e.tries < maxHurried:
		// The one before lost a vote, or a voter was not released yet. Chance keeps two from going on together.
		return e.stagger/2 + time.Duration(e.random()%uint64(e.stagger))
	case e.eager > 0:
		e.eager--
		return time.Duration(e.random()%uint64(e.spread/8)) + 1
	}
	return time.Duration(e.random()%uint64(e.spread)) + 1
}

// soon plans a campaign for now: of a range that nobody has led yet and that we are to lead. The others may not have it
// yet, so it may take a few.
func (e *election) soon(now time.Duration) { e.heard, e.at, e.eager = 0, max(now, 1), 10 }
