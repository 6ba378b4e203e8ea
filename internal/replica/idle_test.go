package replica

import (
	"fmt"
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// TestIdleRange: of a range that nobody asks anything the followers wake when their leader's heartbeats arrive, three or four times a second,
// and not at each tick besides. What a store does at long intervals does not wake it in between.
func TestIdleRange(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	h.run(5 * time.Second)
	leader := h.leader(1)
	if leader == nil {
		t.Fatal("nobody leads")
	}
	woken := map[string]int{}
	h.loop.Trace = func(_ time.Duration, runtime, task string) {
		if runtime != fmt.Sprint("n", leader.id) {
			woken[task]++
		}
	}
	const seconds = 60
	h.run(seconds * time.Second)
	followers := len(h.nodes) - 1
	for task, most := range map[string]int{"range": 5 * seconds, "collect": 1, "truncate": seconds + 1, "placement": seconds + 1} {
		if got := woken[task] / followers; got > most {
			t.Errorf("the task %s of a follower woke %d times in %d s, want at most %d", task, got, seconds, most)
		}
	}
	if woken["range"] == 0 {
		t.Error("no task of a range woke: the test looks at the wrong one")
	}
	// What it shows of itself is up to date all the same.
	h.loop.Trace = nil
	h.task(10*time.Second, func() {
		if _, ok := h.client(1).write(1, "a", "x", 5*time.Second); !ok {
			t.Error("not written")
		}
	})
	h.run(time.Second)
	for _, m := range h.nodes {
		r := m.s.ranges.get(1)
		if st := r.stats.Load(); st.Applied != r.appliedIndex.Load() || st.Last != st.Applied {
			t.Errorf("n%d shows %+v, and has applied %d", m.id, st, r.appliedIndex.Load())
		}
	}
}

// TestHeartbeatsAreGathered: what all ranges say to a node in one tick is one message. What cannot wait does not, and takes the rest along.
func TestHeartbeatsAreGathered(t *testing.T) {
	loop := eventloop.New(1)
	defer loop.Close()
	r := loop.Runtime("n1")
	sent := &record{rt: r}
	s := &Store{opts: Options{RT: r, Transport: sent, Metrics: NewMetrics()}, tasks: rt.NewGroup(r)}
	s.makeOutboxes()
	s.tasks.Go("outbox", s.outboxes[kv.Urgent].run)
	post := func(typ raftpb.MessageType, ranges int) {
		for id := range ranges {
			r.Go("range", func() {
				data := encodeRaft(&raftpb.Message{Type: &typ, Term: proto.Uint64(1)})
				s.send(&kv.RaftMessage{Range: kv.RangeID(id + 1), To: kv.Replica{Node: 2, ID: 2}, Data: data})
			})
		}
	}
	for i, typ := range []raftpb.MessageType{raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp} {
		r.After(time.Duration(i+1)*time.Second, func() { post(typ, 30) })
	}
	r.After(3*time.Second, func() { post(raftpb.MsgVote, 1) })
	loop.Run(10*time.Second, nil)
	if len(sent.sent) != 3 {
		t.Fatalf("%d messages were sent, want 3", len(sent.sent))
	}
	for i, want := range []struct {
		n  int
		at time.Duration
	}{{30, time.Second + gather}, {30, 2*time.Second + gather}, {1, 3 * time.Second}} {
		if got := len(sent.sent[i].Raft.Messages); got != want.n || sent.at[i] != want.at {
			t.Errorf("message %d of %d ranges left at %s, want %d ranges at %s", i, got, sent.at[i], want.n, want.at)
		}
	}
}
