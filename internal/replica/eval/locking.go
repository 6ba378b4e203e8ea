package eval

import (
	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
)

// A locking read prepares a write, which has to land above the newest version. So it reads that: any version above r
// counts as uncertain and pulls r up to it, in place if the transaction has read nothing else, with a refresh if it has.
// Read at an older r the transaction would be sure to fail: something that it has read would have changed below its commit.
//
// Who may read is settled before: its locks are taken at the leaseholder (package lock), and are not looked at here. An
// intent is a lock too, one that is kept in state. A locking read meets it as a write does: the older wounds the younger,
// the younger waits.

// quickBumps is how often a locking read follows single versions upwards before it goes above all of this node.
const quickBumps = 8

// aboveLocked is where a locking read goes for a version above r. Going no higher than need be keeps its transaction from
// waiting at the commit (rule 2) for what others have written elsewhere.
func (ev *evaluation) aboveLocked(ts clock.Timestamp, bumped int) clock.Timestamp {
	if bumped < quickBumps {
		return ts
	}
	return ts.Forward(ev.observed())
}

// meetLocking reports the intents in the way of a locking read, whatever their timestamp. One that does not queue only asks
// about them: it wounds nobody, and the answer is whether they are decided.
func (ev *evaluation) meetLocking(found []mvcc.Found, policy kv.LockPolicy) {
	for _, f := range found {
		c := Conflict{Key: f.Key, Intent: f.Intent, Kind: kv.PushAbort}
		if policy != kv.LockQueue {
			c.Kind, c.To, c.Limit = kv.PushQuery, clock.MaxTimestamp, clock.MaxTimestamp
		}
		if !ev.env.Skip[string(f.Key)] {
			ev.conflict(c)
		}
	}
}
