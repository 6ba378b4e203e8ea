package kv

import "github.com/longitude-db/longitude/clock"

// Message is what travels between two nodes, one way or as one half of a call. Exactly one of the pointers is set.
type Message struct {
	From     NodeID        `msg:"f"`
	To       NodeID        `msg:"t"`
	Cluster  ClusterID     `msg:"cl"`
	Earliest clock.Instant `msg:"e"` // the sender's reading just before sending: see clock.Observe
	Latest   clock.Instant `msg:"l"`

	Batch      *Batch          `msg:"b,omitempty"`
	BatchReply *BatchReply     `msg:"br,omitempty"`
	Raft       *RaftBatch      `msg:"r,omitempty"`
	Liveness   *Liveness       `msg:"lv,omitempty"`
	Snapshot   *SnapshotChunk  `msg:"sn,omitempty"`
	Closed     *ClosedBatch    `msg:"cd,omitempty"` // one way
	Ack        *Ack            `msg:"k,omitempty"`  // answers Snapshot
	Join       *Join           `msg:"j,omitempty"`  // asks for an id and the cluster; answered by Join
	Control    *ControlRequest `msg:"ct,omitempty"`
}

// RaftBatch is Raft messages of any number of ranges.
type RaftBatch struct {
	Messages []RaftMessage `msg:"m"`
}

// RaftMessage is a message of one Raft group.
type RaftMessage struct {
	Range RangeID `msg:"r"`
	// Start is the range's first key, so that a node without a replica knows whether one is to come from a split.
	Start Key     `msg:"s"`
	From  Replica `msg:"f"`
	To    Replica `msg:"t"`
	Data  []byte  `msg:"d"` // raftpb.Message
	// SupportEpoch, on a follower's answer to the leader of its term: the support epoch (Liveness.SupportEpoch) that was unbroken when
	// it answered. 0 supports no lease.
	SupportEpoch clock.Instant `msg:"ps"`
}

// Liveness is the heartbeat between two stores. It requests support, gives the support requested before, and gossips.
type Liveness struct {
	// Heartbeat tells a heartbeat, which a store sends of its own accord, from the answer to a request.
	Heartbeat bool `msg:"hb,omitempty"`
	// SupportRequest asks the receiver not to vote against the sender's leases until this instant is past. 0 requests nothing: in a
	// heartbeat, that the sender does not hear the receiver, or can use no lease.
	SupportRequest clock.Instant `msg:"a"`
	// SupportUntil is the latest end of the support that the sender of this message has given its receiver and made durable.
	SupportUntil clock.Instant `msg:"g"`
	// SupportEpoch names the unbroken support that SupportUntil belongs to. It changes whenever support may have lapsed: what
	// was agreed under an earlier run is void then, because the sender was free to vote against the receiver in between.
	SupportEpoch clock.Instant    `msg:"gs"`
	Nodes        []NodeInfo       `msg:"n,omitempty"`
	First        *RangeDescriptor `msg:"r1,omitempty"` // the range that holds meta
	// ReportedEarliest and ReportedLatest are what the sender's clock says, also while the node is fenced (clock.ReportedInterval); 0: it
	// says nothing. Contradicted are the nodes whose reported intervals and the sender's excluded each other lately (clock.Vote).
	ReportedEarliest clock.Instant `msg:"ce"`
	ReportedLatest   clock.Instant `msg:"cl"`
	Contradicted     []NodeID      `msg:"dp,omitempty"`
	// Closed are the closed timestamps of ranges that the sender leads and of which the receiver has a replica.
	Closed []ClosedRange `msg:"cr,omitempty"`
	// Excluded are all the ranges whose leases the sender does not use any more although it goes on asking for support.
	Excluded []Exclusion `msg:"x,omitempty"`
}

// Exclusion is the word of a store on one range: as the leader of this term, or of an earlier one, its replica relies on nothing
// beyond Until.
type Exclusion struct {
	Range RangeID       `msg:"r"`
	Term  uint64        `msg:"t"`
	Until clock.Instant `msg:"u"`
}

// ClosedBatch tells a follower what is closed, between heartbeats.
type ClosedBatch struct {
	Ranges []ClosedRange `msg:"r"`
}

// ClosedRange says that no write at or below TS will ever land in a range but those in its log up to Index.
type ClosedRange struct {
	Range RangeID         `msg:"r"`
	Index uint64          `msg:"i"`
	TS    clock.Timestamp `msg:"t"`
}

// SnapshotChunk is a part of a range's state, for a replica that is too far behind for the log.
type SnapshotChunk struct {
	ID    uint64          `msg:"i"` // of this transfer
	Seq   int             `msg:"s"`
	Desc  RangeDescriptor `msg:"d"`
	To    Replica         `msg:"t"`
	Keys  [][]byte        `msg:"k,omitempty"` // engine keys, with their versions
	Vals  [][]byte        `msg:"v,omitempty"`
	Last  bool            `msg:"z,omitempty"`
	Start *RaftMessage    `msg:"m,omitempty"` // the MsgSnap to step, with Last
}

// Ack answers a message that only needs to know that it was taken; Error is empty if it was.
type Ack struct {
	Error string `msg:"e,omitempty"`
}

// Join asks a node of a cluster for a node id (request), and gives it (reply).
type Join struct {
	Info NodeInfo `msg:"i"`
	// Token names the request, over all its copies and repetitions: they get one id. (16 random bytes, kept by the node's
	// store.) Empty: an older node asks, and each time gets another.
	Token []byte     `msg:"k,omitempty"`
	ID    NodeID     `msg:"n,omitempty"`
	Nodes []NodeInfo `msg:"ns,omitempty"`
	Error string     `msg:"e,omitempty"`
}

// ControlRequest asks a node something of its own, or to do something, answered by a ControlRequest with Reply: for system
// tables and administration.
type ControlRequest struct {
	Kind  string `msg:"k"`
	Arg   []byte `msg:"a,omitempty"`
	Reply []byte `msg:"r,omitempty"`
}
