package replica

import (
	"maps"
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// outbox gathers the messages of all ranges to each node, so that ranges share what is sent.
type outbox struct {
	s     *Store
	queue *rt.Queue[outgoing]
}

type outgoing struct {
	to kv.NodeID
	m  *kv.RaftMessage
}

// maxOutbox bounds the messages that wait; more are dropped. Raft sends them again.
const maxOutbox = 64 << 10

// batchBytes is the size from which a batch is sent without waiting for more.
const batchBytes = 4 << 20

func (s *Store) send(m *kv.RaftMessage) {
	if m.To.Node == 0 || !s.outbox.queue.Push(outgoing{m.To.Node, m}) {
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
		batches, sizes := map[kv.NodeID]*kv.RaftBatch{}, map[kv.NodeID]int{}
		for _, it := range items {
			b := batches[it.to]
			if b == nil || sizes[it.to] > batchBytes {
				if b != nil {
					o.s.opts.Transport.Send(it.to, &kv.Message{To: it.to, Raft: b})
				}
				b = &kv.RaftBatch{}
				batches[it.to], sizes[it.to] = b, 0
			}
			b.Messages = append(b.Messages, *it.m)
			sizes[it.to] += len(it.m.Data)
		}
		for _, to := range slices.Sorted(maps.Keys(batches)) {
			o.s.opts.Transport.Send(to, &kv.Message{To: to, Raft: batches[to]})
		}
	}
}

// wrap addresses a message to another replica.
func (r *Replica) wrap(m *raftpb.Message, since clock.Instant) *kv.RaftMessage {
	rm := &kv.RaftMessage{
		Range: r.id,
		From:  kv.Replica{Node: r.store.opts.Node, ID: r.rid},
		To:    kv.Replica{Node: r.nodeOf(m.GetTo()), ID: kv.ReplicaID(m.GetTo())},
		Data:  mustMarshal(m),
		Since: since,
	}
	if d := r.desc.Load(); d != nil {
		rm.Start = d.Span.Start
	}
	return rm
}
