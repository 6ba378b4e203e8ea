// Package kv holds what the layers say to each other: identities, descriptors, the requests to a range and its replies.
// It knows no behaviour. Everything here that crosses the wire or reaches disk is encoded by code that msgp generates
// (wire_gen.go); structs are maps by field name there, so fields can be added, and an unknown field is skipped.
package kv

//go:generate go run github.com/tinylib/msgp@v1.6.5 -file=. -tests=false -io=false -unexported -o=wire_gen.go
//msgp:replace clock.Timestamp with:wireTimestamp
//msgp:replace clock.Instant with:wireInstant
//msgp:clearomitted
//msgp:ignore Lane

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/longitude-db/longitude/clock"
)

// NodeID names a node; 0 names none. A node has one store, so it names that too.
type NodeID uint32

// Process is a node's process, from its start to its end. Node 0: none in particular.
type Process struct {
	Node    NodeID        `msg:"n"`
	Started clock.Instant `msg:"s"` // NodeInfo.Started: a later process of the node has a later one
}

// RangeID names a range; 0 names none.
type RangeID uint64

// ReplicaID names a replica among those that its range ever had. It is the Raft id.
type ReplicaID uint64

// ClusterID names a cluster. Nodes of different clusters refuse each other.
type ClusterID [16]byte

func (c ClusterID) String() string { return hex.EncodeToString(c[:]) }

// TxnID names one attempt of a transaction; a retry has another.
type TxnID [16]byte

// IsZero reports whether the id names no transaction.
func (t TxnID) IsZero() bool { return t == TxnID{} }

// String is the short form for people: the first four bytes.
func (t TxnID) String() string { return hex.EncodeToString(t[:4]) }

// Key is a position in the ordered key space (see package keys).
type Key []byte

// Compare orders keys by bytes.
func (k Key) Compare(o Key) int { return bytes.Compare(k, o) }

// Less reports whether k is before o.
func (k Key) Less(o Key) bool { return bytes.Compare(k, o) < 0 }

// Equal reports whether the keys are the same.
func (k Key) Equal(o Key) bool { return bytes.Equal(k, o) }

func (k Key) String() string { return fmt.Sprintf("%q", []byte(k)) }

// Span is the keys in [Start, End).
type Span struct {
	Start Key `msg:"s"`
	End   Key `msg:"e"`
}

// Point is the span of one key.
func Point(k Key) Span {
	end := make(Key, len(k)+1)
	copy(end, k)
	return Span{Start: end[:len(k):len(k)], End: end}
}

// Contains reports whether the key lies in the span.
func (s Span) Contains(k Key) bool {
	return bytes.Compare(s.Start, k) <= 0 && bytes.Compare(k, s.End) < 0
}

// ContainsSpan reports whether o lies wholly in the span.
func (s Span) ContainsSpan(o Span) bool {
	return bytes.Compare(s.Start, o.Start) <= 0 && bytes.Compare(o.End, s.End) <= 0
}

// Overlaps reports whether the spans have a key in common.
func (s Span) Overlaps(o Span) bool {
	return bytes.Compare(s.Start, o.End) < 0 && bytes.Compare(o.Start, s.End) < 0
}

// Empty reports whether no key lies in the span.
func (s Span) Empty() bool { return bytes.Compare(s.Start, s.End) >= 0 }

func (s Span) String() string { return fmt.Sprintf("[%q,%q)", []byte(s.Start), []byte(s.End)) }

// Replica is one member of a range.
type Replica struct {
	Node    NodeID    `msg:"n"`
	ID      ReplicaID `msg:"i"`
	Learner bool      `msg:"l,omitempty"` // receives the log, does not vote, is not counted for a lease
}

// RangeDescriptor says what a range holds and where its replicas are. It is part of the range's replicated state; what
// meta holds is a copy that may be old.
// Invariant: of two descriptors of the same range the one with the higher generation is the newer.
type RangeDescriptor struct {
	ID         RangeID   `msg:"id"`
	Span       Span      `msg:"sp"`
	Replicas   []Replica `msg:"rs"`
	NextID     ReplicaID `msg:"nx"`          // of the next replica to be added
	Generation uint64    `msg:"g"`           // grows with each split and membership change
	Preferred  NodeID    `msg:"p,omitempty"` // the node that should lead when it can; 0: any
}

// Voters counts the replicas that vote.
func (d *RangeDescriptor) Voters() (n int) {
	for _, r := range d.Replicas {
		if !r.Learner {
			n++
		}
	}
	return n
}

// On returns the replica on a node.
func (d *RangeDescriptor) On(n NodeID) (Replica, bool) {
	for _, r := range d.Replicas {
		if r.Node == n {
			return r, true
		}
	}
	return Replica{}, false
}

func (d *RangeDescriptor) String() string {
	return fmt.Sprintf("r%d%s gen=%d", d.ID, d.Span, d.Generation)
}

type wireTimestamp struct {
	Wall    int64  `msg:"w"`
	Logical uint32 `msg:"l,omitempty"`
}

type wireInstant int64
