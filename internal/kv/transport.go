package kv

import "time"

// Transport carries messages between nodes. There are two: package rpc (TCP) and the simulated network of package sim.
// Both stamp each message with the sender's reading and show the receiver's clock what arrives, and hand a
// message to the Handler of the node it is addressed to, in a task of its own.
type Transport interface {
	// Call sends a message and waits, at most limit, for the answer. An error means that the message may or may not
	// have been handled. A node never calls itself.
	Call(to NodeID, m *Message, limit time.Duration) (*Message, error)
	// Send sends a message without an answer. It never blocks; the message may be lost. Messages of one sender to one
	// receiver that do arrive may arrive in any order.
	Send(to NodeID, m *Message)
}

// Handler takes messages in. It returns the answer to a call, and nil for a message that was sent one way. From, To,
// Cluster and the reading are filled in by the transport on both ways.
type Handler func(m *Message) *Message
