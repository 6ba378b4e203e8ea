// Package rpc carries messages between nodes over TCP. It implements kv.Transport.
//
//	N1  Every message is stamped with the sender's clock reading when it is handed in, and shown to the receiver's clock when
//	    it arrives (clock.Observe, clock.ObserveReply), in both directions, pings included. A clock without a reading
//	    stamps zeros, which nobody observes.
//	N2  Nodes of different clusters never exchange a message: the handshake refuses them, and says why. Only Join may be
//	    asked by a node that has no cluster yet.
//	N3  A call ends: with the answer, at its limit, or at once when its connection breaks. An error says nothing about whether
//	    the call was handled.
//	N4  Everything is bounded: message size, the queue to each peer in each lane (Send drops, Call fails), calls handled at once.
//	N5  A slow call holds up nothing else: each is handled in a goroutine that has nothing else to do, and past the bound it
//	    is refused, never left unread. (If it were, Raft's messages would wait in the same socket behind calls that wait for
//	    Raft.)
//	N6  A connection that is ended on purpose ends with a goodbye. If one ends without, by the peer's system closing or resetting
//	    it, or if the peer's system refuses a new one and the peer has none open to us, Options.Lost is told: the peer's process has
//	    probably ended. It is evidence, not proof: a wrong address is refused as well, and a firewall resets what it likes.
//	N7  What leases hang on (heartbeats of stores and of Raft and their answers, closed timestamps, votes; kv.LaneOf) has a
//	    lane of its own: a connection in each direction, with queue, reader and handlers. What is in the bulk lane neither
//	    delays nor displaces it.
//	N8  Every frame carries sums. A damaged one, and what no node would send, ends the connection; nothing of it is used.
//	N9  A connection on which nothing is heard, or into which nothing fits, for 6 pings is given up. Heard is what the peer's
//	    process wrote; that its system acknowledges what we write means nothing. A large message may take as long as it needs
//	    while it moves: who receives it says so meanwhile (pong).
//	N10 Whether the bulk lane to a peer gets through can be asked (Reaches): not if in the last 12 pings a connection of it broke, or
//	    something was refused for want of one, unless one has held for 6 pings since. Where there was nothing to say nothing is
//	    known to fail.
//
// A node dials each peer that it has something to say to in a lane, so between two nodes there are up to two connections in each
// lane; each carries the calls of the one that dialled, with their answers. On a connection there are frames:
//
//	length u32 | sum u32 | head's sum u32 | kind u8 | id u64 | body
//
// The length is that from the kind on, the sum is CRC-32C of the same, the head's sum that of length and sum. Kinds:
//
//	call    id, kv.Message              send  0, kv.Message
//	answer  id, kv.Message              fail  id, text: the call was not answered, and why
//	ping    0, earliest i64, latest i64 pong  the same
//	bye     0, the last frame of a connection
//
// before which both sides greet each other (greeting.go). The first five bytes, magic and version, keep their meaning for
// ever, so that versions can refuse each other clearly. Frames by ourselves instead of gRPC or DRPC: docs/dependencies.md.
//
// HAZARD: there is neither authentication nor encryption. Whoever reaches the port is a node.
package rpc
