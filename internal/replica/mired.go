package replica

import (
	"fmt"
	"time"
)

// A leader can be heard, and hear its followers, while nothing that it wants to replicate gets through: heartbeats and answers have a lane
// of their own (package rpc, N7), and a path that drops large packets, or a connection that is stuck over and over, takes the bulk
// lane alone. Its lease would go on, and every write would wait in vain. So the task of the ticks looks for leaders that are mired:
//
//   - commands, or the entry with which its term begins, have been on their way for ProgressLimit, and nothing was applied in that time;
//   - a quorum of the voters is heard: else it is the others who are gone, and unheard.go sees to it;
//   - and the transport knows that what is bulk does not get through to so many voters that the rest is no quorum. Commands that
//     are merely slow, because the disks of the followers are, are no reason: the next leader would fare no better.
//
// Such a leader loses its lease and is excluded as one whose task stands still (exclude.go): another may have a way to the others. If none
// is elected, it hands over as soon as it finds a way itself.
//
// Where nothing is written nothing is known to fail, so a connection that broke while it was idle costs no lease.

// waits is how long commands have waited while nothing was applied. Only the task of the ticks uses it.
type waits struct {
	applied uint64
	since   time.Duration
	ticks   int // that passed meanwhile: that time passed is not enough, the process may have been stopped
}

// look takes in how it is at a tick, and returns how long nothing has gone on.
func (w *waits) look(now time.Duration, commands int, applied uint64) (time.Duration, int) {
	if commands == 0 || applied != w.applied || w.ticks == 0 {
		*w = waits{applied: applied, since: now}
		if commands > 0 {
			w.ticks = 1
		}
		return 0, 0
	}
	w.ticks++
	return now - w.since, w.ticks
}

// isMired reports whether this leader's commands find no way to a quorum.
func (r *Replica) isMired() (why string, is bool) {
	o := &r.store.opts
	commands := int(r.proposals.count.Load())
	if !r.lease.begun() {
		commands++
	}
	waited, ticks := r.progress.waits.look(o.RT.Now(), commands, r.appliedIndex.Load())
	if waited < o.ProgressLimit || time.Duration(ticks)*o.Tick < o.ProgressLimit || o.Reaches == nil || o.Unsafe.StayMired {
		return "", false
	}
	heard, reached, voters := 0, 0, r.lease.voters()
	for _, n := range voters {
		if o.Cluster.Hears(n) {
			heard++
		}
		if n == o.Node || o.Reaches(n) {
			reached++
		}
	}
	if reached > len(voters)/2 || heard <= len(voters)/2 {
		return "", false
	}
	return fmt.Sprintf("nothing was applied for %s, and what it sends gets through to %d of %d voters", waited.Round(time.Millisecond), reached, len(voters)), true
}
