package replica

import (
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// record keeps what was sent, and is slow to take what is bulk, as encoding it is.
type record struct {
	rt   rt.Runtime
	sent []*kv.Message
	at   []time.Duration
}

func (r *record) Call(kv.NodeID, *kv.Message, time.Duration) (*kv.Message, error) { panic("no calls") }

func (r *record) Send(_ kv.NodeID, m *kv.Message) {
	if kv.LaneOf(m) == kv.Bulk {
		r.rt.Sleep(time.Second)
	}
	r.sent, r.at = append(r.sent, m), append(r.at, r.rt.Now())
}

// Heartbeats, answers and votes share no batch with entries, and do not wait until those are sent (N7 of package rpc).
func TestOutboxesKeepLanesApart(t *testing.T) {
	loop := eventloop.New(1)
	defer loop.Close()
	r := loop.Runtime("n1")
	sent := &record{rt: r}
	s := &Store{opts: Options{RT: r, Transport: sent, Metrics: NewMetrics()}, tasks: rt.NewGroup(r)}
	s.makeOutboxes()
	for lane := range s.outboxes {
		s.tasks.Go("outbox", s.outboxes[lane].run)
	}
	types := []raftpb.MessageType{raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgApp, raftpb.MsgAppResp, raftpb.MsgVote, raftpb.MsgApp}
	post := func() {
		for _, typ := range types {
			for node := kv.NodeID(2); node <= 3; node++ {
				data := encodeRaft(&raftpb.Message{Type: &typ, Term: proto.Uint64(1)})
				s.send(&kv.RaftMessage{Range: 1, To: kv.Replica{Node: node, ID: kv.ReplicaID(node)}, Data: data})
			}
		}
	}
	r.Go("post", post)
	r.After(500*time.Millisecond, post) // while the entries of before are being sent
	loop.Run(10*time.Second, nil)
	got := map[kv.Lane]int{}
	for i, m := range sent.sent {
		lane := kv.LaneOf(m)
		got[lane] += len(m.Raft.Messages)
		for j := range m.Raft.Messages {
			if l := m.Raft.Messages[j].Lane(); l != lane {
				t.Errorf("a message for the %s lane in a batch of the %s lane", l, lane)
			}
		}
		if lane == kv.Urgent && sent.at[i] > 500*time.Millisecond {
			t.Errorf("what is urgent left after %s", sent.at[i])
		}
	}
	if got[kv.Bulk] != 12 || got[kv.Urgent] != 12 {
		t.Errorf("sent %v", got)
	}
}
