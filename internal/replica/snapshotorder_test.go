package replica

import (
	"fmt"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// What a proposer does when it hears that a snapshot has passed over its command has to find what the snapshot brought, as it does
// after a command that was applied: the end of a write lets timestamps be closed with the index that is applied (F1).
func TestSnapshotIsVisibleBeforeItsOutcomes(t *testing.T) {
	h := newHarness(t, 1, 3, func(o *Options) { o.KeepEntries, o.FlushInterval = 20, time.Second })
	away := h.leader(1)
	r := away.s.ranges.get(1)
	before := r.appliedIndex.Load()
	h.isolate(away.id, true)
	term, _ := r.lease.holds()
	var outcome *kv.Error
	var seen uint64
	h.task(time.Second, func() {
		r.propose(&proposal{cmd: command{Term: term, Generation: r.desc.Load().Generation}, done: func(e *kv.Error) {
			outcome, seen = e, r.appliedIndex.Load()
		}})
	})
	c := h.client(1)
	c.at = away.id%3 + 1
	h.task(120*time.Second, func() {
		for i := range 700 {
			if resp, ok := c.write(1, fmt.Sprint("k", i%10), fmt.Sprint(i), 20*time.Second); !ok {
				t.Errorf("write: %v", resp.Err)
				return
			}
		}
	})
	h.wait("truncation", 30*time.Second, func() bool {
		l := h.leaders(1)
		return len(l) == 1 && l[0].s.ranges.get(1).raftLog.trunc.index > before+100
	})
	h.isolate(away.id, false)
	h.wait("an outcome", 20*time.Second, func() bool { return outcome != nil })
	if outcome.Code != kv.ErrAmbiguous || seen < before+100 {
		t.Errorf("the outcome is %v, told when %d was applied; before the snapshot it was %d", outcome, seen, before)
	}
	h.converge(1)
}
