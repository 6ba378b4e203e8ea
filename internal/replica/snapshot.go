package replica

import (
	"fmt"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
	"github.com/longitude-db/longitude/internal/storage"
)

// A snapshot brings a replica forward that the log no longer reaches back to. The sender reads state as of one moment and
// streams it in chunks; the receiver gathers them and then, in the range's task:
//
//	1  one batch of state: clear all that belongs to the range, write what came, with its descriptor and applied position
//	2  make state durable
//	3  one job of the log writer: empty the log, which now begins at that position
//
// A crash before 2 leaves the replica as it was. After 2 the log may still be the old one; whoever finds state ahead of the
// log, or at a position that the log has of another term, takes state for right and empties the log (loadLog). The other
// order would leave a log that begins where state has not been.

// spansOf is what a snapshot of a range holds: data, locks and records; its own state comes beside them.
func spansOf(d *kv.RangeDescriptor) []kv.Span {
	data := d.Span
	if len(data.Start) == 0 {
		data.Start = keys.MetaPrefix // what comes before is local
	}
	return []kv.Span{keys.LockSpan(d.Span), keys.RecordSpan(d.Span), data}
}

// describeSnapshot tells Raft what would be sent now; what is sent in the end may be newer.
func (r *Replica) describeSnapshot() (*raftpb.Snapshot, error) {
	return snapshotAt(r.applied, r.desc.Load()), nil
}

func snapshotAt(at entryID, d *kv.RangeDescriptor) *raftpb.Snapshot {
	return &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
		Index: proto.Uint64(at.index), Term: proto.Uint64(at.term), ConfState: confState(d),
	}}
}

// receivedSnapshot is a snapshot that has arrived whole and waits for Raft to take it.
type receivedSnapshot struct {
	desc    *kv.RangeDescriptor
	at      entryID
	chunks  []*kv.SnapshotChunk
	applied bool
}

// gotSnapshot is its arrival.
type gotSnapshot struct {
	s    *receivedSnapshot
	m    *raftpb.Message
	from kv.NodeID
	done func(error)
}

func (ev *gotSnapshot) handle(r *Replica) {
	if d := r.store.ranges.overlap(r.id, ev.s.desc.Span); d != nil {
		// It is from before a split that this node knows of, or the other way round. The next one will fit.
		ev.done(fmt.Errorf("the snapshot of %s overlaps %s", ev.s.desc, d))
		return
	}
	r.received = ev.s
	r.receive(ev.m, ev.from, 0)
	for r.observe(); r.rn.HasReady() && !r.store.stopped() && r.quarantined.Load() == nil; r.observe() { // until Raft has taken it or has no use for it
		r.ready(r.rn.Ready())
	}
	r.received = nil
	if !ev.s.applied {
		r.log.Debug("snapshot not needed", "at", ev.s.at.index)
	}
	ev.done(nil)
}

// applySnapshot puts the received snapshot into state; Raft has decided that it is needed.
func (r *Replica) applySnapshot(at entryID) bool {
	s := r.received
	if s == nil || s.at != at {
		r.fails(damaged("raft wants a snapshot at %d that has not been received", at.index))
		return false
	}
	r.replacing.Store(true)
	defer r.replacing.Store(false)
	if err := r.replaceState(s); err != nil {
		r.fatal(fmt.Errorf("snapshot at %d: %w", at.index, err))
		return false
	}
	s.applied = true
	r.applied = at
	var err error
	if _, r.low, err = r.store.loadRangeState(r.id); err != nil {
		r.fatal(err)
		return false
	}
	// In the order of application.commitWith: what proposers do next has to find the index and the descriptor.
	r.appliedIndex.Store(at.index)
	r.closed.wake(at.index)
	r.setDescriptor(s.desc)
	r.proposals.lost()
	r.store.opts.Metrics.SnapshotsReceived.Inc()
	r.log.Info("snapshot applied", "at", at.index, "range", s.desc)
	return true
}

func (r *Replica) replaceState(s *receivedSnapshot) error {
	b := r.store.opts.Engines.State.NewBatch()
	defer b.Close()
	var delta mvcc.FilterDelta
	clear := []*kv.RangeDescriptor{s.desc}
	if old := r.desc.Load(); old != nil {
		clear = append(clear, old) // it may have been longer, before a split that the snapshot has behind it
	}
	for _, d := range clear {
		for _, span := range []kv.Span{keys.LockSpan(d.Span), keys.RecordSpan(d.Span)} {
			if err := delta.AddStored(r.store.opts.Engines.State, span); err != nil {
				return err
			}
		}
		for _, span := range spansOf(d) {
			lower, upper := storage.Span(span)
			if err := b.DeleteRange(lower, upper, nil); err != nil {
				return err
			}
		}
	}
	for _, c := range s.chunks {
		for i := range c.Keys {
			if err := b.Set(c.Keys[i], c.Vals[i], nil); err != nil {
				return err
			}
			delta.Add(c.Keys[i], nil, false)
		}
	}
	delta.DedupRemovals(0) // the two descriptors overlap
	r.store.intentFilter.CountWrites(&delta)
	if err := r.store.opts.Engines.ApplyState(b); err != nil {
		return err
	}
	r.store.intentFilter.CountRemovals(&delta)
	return r.store.opts.Engines.FlushState()
}
