package kv

import "go.etcd.io/raft/v3/raftpb"

// Lane is one of the ways between two nodes. Each has a connection, queues and handlers of its own, so that what is in one
// neither delays nor displaces what is in the other.
type Lane uint8

const (
	// Bulk is for what may be large or waits for work: requests and their answers, Raft's entries, snapshots.
	Bulk Lane = iota
	// Urgent is for what leases and votes hang on. All of it is small, and there is little of it.
	Urgent
	// Lanes is how many there are.
	Lanes
)

func (l Lane) String() string {
	if l == Urgent {
		return "urgent"
	}
	return "bulk"
}

// LaneOf says which lane a message takes. An answer comes back in the lane of its call.
func LaneOf(m *Message) Lane {
	switch {
	case m.Liveness != nil, m.Closed != nil:
		return Urgent
	case m.Raft != nil:
		for i := range m.Raft.Messages {
			if m.Raft.Messages[i].Lane() == Bulk {
				return Bulk
			}
		}
		return Urgent
	}
	// Batch, Snapshot, Join, Control; BatchReply and Ack are answers.
	return Bulk
}

// Lane is the lane of a Raft message: what carries entries or a snapshot is bulk, and so is what this does not know.
func (m *RaftMessage) Lane() Lane {
	// A message's type is the first field of its encoding, a number of one byte (package replica encodes it so).
	if len(m.Data) < 2 || m.Data[0] != 1<<3 {
		return Bulk
	}
	switch raftpb.MessageType(m.Data[1]) {
	case raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp, raftpb.MsgAppResp,
		raftpb.MsgPreVote, raftpb.MsgPreVoteResp, raftpb.MsgVote, raftpb.MsgVoteResp,
		raftpb.MsgTransferLeader, raftpb.MsgTimeoutNow:
		return Urgent
	}
	return Bulk
}

// Patient reports whether a message can wait for others to the same node: it is a heartbeat, or the answer to one. Ranges without
// writes send nothing else.
func (m *RaftMessage) Patient() bool {
	if len(m.Data) < 2 || m.Data[0] != 1<<3 {
		return false
	}
	t := raftpb.MessageType(m.Data[1])
	return t == raftpb.MsgHeartbeat || t == raftpb.MsgHeartbeatResp
}
