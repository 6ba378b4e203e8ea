package kv

import (
	"reflect"
	"testing"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// Every kind of message has its lane on purpose: a new one must be entered here.
func TestLaneOfEachMessage(t *testing.T) {
	lanes := map[string]Lane{
		"Batch": Bulk, "BatchReply": Bulk, "Snapshot": Bulk, "Ack": Bulk, "Join": Bulk, "Control": Bulk,
		"Liveness": Urgent, "Closed": Urgent, "Raft": Urgent, // a batch without messages
	}
	typ := reflect.TypeFor[Message]()
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Type.Kind() != reflect.Pointer {
			continue // of the envelope
		}
		want, ok := lanes[f.Name]
		if !ok {
			t.Errorf("no lane is written down for %s", f.Name)
			continue
		}
		m := new(Message)
		reflect.ValueOf(m).Elem().Field(i).Set(reflect.New(f.Type.Elem()))
		if got := LaneOf(m); got != want {
			t.Errorf("%s goes in the %s lane, want %s", f.Name, got, want)
		}
	}
}

func TestLaneOfEachRaftMessage(t *testing.T) {
	urgent := map[raftpb.MessageType]bool{
		raftpb.MsgHeartbeat: true, raftpb.MsgHeartbeatResp: true, raftpb.MsgAppResp: true,
		raftpb.MsgPreVote: true, raftpb.MsgPreVoteResp: true, raftpb.MsgVote: true, raftpb.MsgVoteResp: true,
		raftpb.MsgTransferLeader: true, raftpb.MsgTimeoutNow: true,

		raftpb.MsgApp: false, raftpb.MsgSnap: false, raftpb.MsgProp: false,
		raftpb.MsgReadIndex: false, raftpb.MsgReadIndexResp: false, // carry entries, and are not used
		// Those that never leave a node.
		raftpb.MsgHup: false, raftpb.MsgBeat: false, raftpb.MsgUnreachable: false, raftpb.MsgSnapStatus: false,
		raftpb.MsgCheckQuorum: false, raftpb.MsgForgetLeader: false, raftpb.MsgStorageAppend: false,
		raftpb.MsgStorageAppendResp: false, raftpb.MsgStorageApply: false, raftpb.MsgStorageApplyResp: false,
	}
	var all []RaftMessage
	for n, name := range raftpb.MessageType_name {
		typ := raftpb.MessageType(n)
		want, ok := urgent[typ]
		if !ok {
			t.Errorf("no lane is written down for %s", name)
			continue
		}
		data, err := proto.Marshal(&raftpb.Message{Type: &typ, Term: proto.Uint64(7), Context: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		m := RaftMessage{Data: data}
		if got := m.Lane() == Urgent; got != want {
			t.Errorf("%s is urgent: %v, want %v", name, got, want)
		}
		if want {
			all = append(all, m)
		}
	}
	if LaneOf(&Message{Raft: &RaftBatch{Messages: all}}) != Urgent {
		t.Error("a batch of urgent messages is not urgent")
	}
	typ := raftpb.MsgApp
	data, _ := proto.Marshal(&raftpb.Message{Type: &typ})
	if LaneOf(&Message{Raft: &RaftBatch{Messages: append(all, RaftMessage{Data: data})}}) != Bulk {
		t.Error("a batch with entries is urgent")
	}
	for _, data := range [][]byte{nil, {8}, {16, 5}} {
		if m := (RaftMessage{Data: data}); m.Lane() != Bulk {
			t.Errorf("% x is urgent", data)
		}
	}
}
