package replica

import "time"

// election is when a replica that does not lead begins a campaign: some random time after its leader has fallen silent and
// no promise binds it any more. Raft's own election ticks are not used, so followers cost nothing.
type election struct {
	heard  time.Duration // when the leader was last heard; on the runtime's clock
	at     time.Duration // when to campaign; 0: not planned
	spread time.Duration
	quiet  time.Duration // a leader heard within this time is alive
	random func() uint64
	eager  int // so many campaigns follow each other soon
}

// hear notes a message of a leader.
func (e *election) hear(now time.Duration) { e.heard, e.at, e.eager = now, 0, 0 }

// due reports whether to campaign now. free asks whether promises allow it; it is asked only if the leader is silent.
func (e *election) due(now time.Duration, free func() bool) bool {
	if e.heard != 0 && now-e.heard < e.quiet {
		return false
	}
	if !free() {
		e.at = 0
		return false
	}
	if e.at == 0 {
		spread := e.spread
		if e.eager > 0 {
			e.eager--
			spread = e.spread / 8
		}
		e.at = now + time.Duration(e.random()%uint64(spread)) + 1
		return false
	}
	if now < e.at {
		return false
	}
	e.at = 0
	return true
}

// soon plans a campaign for now: of a range that nobody has led yet and that we are to lead. The others may not have it
// yet, so it may take a few.
func (e *election) soon(now time.Duration) { e.heard, e.at, e.eager = 0, max(now, 1), 10 }
