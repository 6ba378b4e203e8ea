package replica

import (
	"cmp"
	"slices"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// outbox gathers the messages of all ranges to each node, so that ranges share what is sent. There is one for each lane, with a
// task of its own: a heartbeat waits neither in a queue nor for the encoding of entries.
type outbox struct {
	s          *Store
	queue      *rt.Queue[outgoing]
	batchBytes int // a batch of so many is sent without waiting for more
}

type outgoing struct {
	to kv.NodeID
	m  *kv.RaftMessage
}

// maxOutbox bounds the messages that wait; more are dropped. Raft sends them again.
const maxOutbox = 64 << 10

// batchBytes is the size from which a batch is sent without waiting for more.
var batchBytes = [kv.Lanes]int{kv.Bulk: 4 << 20, kv.Urgent: 64 << 10}

// gather is how long heartbeats of ranges and answers to them wait for those of other ranges: a tick comes to all ranges, each
// of which has a task of its own, so without it each would be a message by itself. Nothing else waits.
const gather = time.Millisecond

func (s *Store) makeOutboxes() {
	for lane := range s.outboxes {
		s.outboxes[lane] = outbox{s: s, queue: rt.NewQueue[outgoing](s.opts.RT, maxOutbox), batchBytes: batchBytes[lane]}
	}
}

func (s *Store) send(m *kv.RaftMessage) {
	if m.To.Node == 0 || !s.outboxes[m.Lane()].queue.Push(outgoing{m.To.Node, m}) {
		s.opts.Metrics.MessagesDropped.Inc()
	}
}

func (o *outbox) run() {
	for {
		items, open := o.queue.Take(rt.Forever)
		if !open {
			return
		}
		if o.s.stopped() {
			continue
		}
		if !slices.ContainsFunc(items, func(i outgoing) bool { return !i.m.Patient() }) {
			o.s.opts.RT.Sleep(gather)
			more, _ := o.queue.Take(0)
			items = append(items, more...)
		}
		// By node, and for each in the order of sending.
		slices.SortStableFunc(items, func(a, b outgoing) int { return cmp.Compare(a.to, b.to) })
		for len(items) > 0 {
			to, n, bytes := items[0].to, 0, 0
			for n < len(items) && items[n].to == to && bytes <= o.batchBytes {
				bytes += len(items[n].m.Data)
				n++
			}
			b := &kv.RaftBatch{Messages: make([]kv.RaftMessage, n)}
			for i := range n {
				b.Messages[i] = *items[i].m
			}
			items = items[n:]
			o.s.opts.Transport.Send(to, &kv.Message{To: to, Raft: b})
		}
	}
}

// wrap addresses a message to another replica.
func (r *Replica) wrap(m *raftpb.Message, since clock.Instant) *kv.RaftMessage {
	rm := &kv.RaftMessage{
		Range:        r.id,
		From:         kv.Replica{Node: r.store.opts.Node, ID: r.rid},
		To:           kv.Replica{Node: r.nodeOf(m.GetTo()), ID: kv.ReplicaID(m.GetTo())},
		Data:         encodeRaft(m),
		SupportEpoch: since,
	}
	if d := r.desc.Load(); d != nil {
		rm.Start = d.Span.Start
	}
	return rm
}
