package replica

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

const (
	snapshotChunk = 1 << 20          // bytes of one message
	snapshotCall  = 30 * time.Second // for one message to be taken
)

// sendSnapshot sends what Raft wants sent, in a task of its own. State is read as of now, and the message is made to say
// so: Raft asked for it a moment ago, and more may have been applied since.
func (r *Replica) sendSnapshot(m *raftpb.Message) {
	report := func(err error) {
		if err != nil {
			r.log.Warn("snapshot not sent", "to", m.GetTo(), "err", err)
		}
		r.queue.Push(&snapshotSent{to: m.GetTo(), ok: err == nil})
	}
	d := r.desc.Load()
	to, ok := replicaOf(d, m.GetTo())
	if !ok {
		report(fmt.Errorf("%s has no replica %d", d, m.GetTo()))
		return
	}
	if !r.store.sending.tryLock() {
		report(errors.New("as many snapshots as allowed are being sent"))
		return
	}
	out := proto.Clone(m).(*raftpb.Message)
	out.Snapshot = snapshotAt(r.applied, d)
	first := &kv.SnapshotChunk{ID: r.store.opts.RT.Uint64(), Desc: *d, To: to}
	state := r.store.opts.Engines.State.NewSnapshot()
	last := r.wrap(out, 0)
	r.store.tasks.Go("snapshot", func() {
		defer r.store.sending.unlock()
		defer state.Close()
		report((&snapshotSender{s: r.store, next: first, to: to.Node}).send(state, last))
	})
}

func replicaOf(d *kv.RangeDescriptor, id uint64) (kv.Replica, bool) {
	i := slices.IndexFunc(d.Replicas, func(m kv.Replica) bool { return uint64(m.ID) == id })
	if i < 0 {
		return kv.Replica{}, false
	}
	return d.Replicas[i], true
}

// snapshotSent tells Raft how it went. It probes the follower again then, or sends another.
type snapshotSent struct {
	to uint64
	ok bool
}

func (ev *snapshotSent) handle(r *Replica) {
	status := raft.SnapshotFinish
	if !ev.ok {
		status = raft.SnapshotFailure
	}
	r.rn.ReportSnapshot(ev.to, status)
}

// snapshotSender streams one snapshot.
type snapshotSender struct {
	s     *Store
	to    kv.NodeID
	next  *kv.SnapshotChunk
	size  int
	total int64
}

func (o *snapshotSender) send(state *storage.Snapshot, last *kv.RaftMessage) error {
	it, err := state.NewIter(nil)
	if err != nil {
		return err
	}
	defer it.Close()
	if err := o.stream(it, o.next.Desc); err != nil {
		return err
	}
	o.next.Last, o.next.Start = true, last
	if err := o.flush(); err != nil {
		return err
	}
	o.s.opts.Metrics.SnapshotsSent.Inc()
	return nil
}

func (o *snapshotSender) stream(it *storage.Iterator, d kv.RangeDescriptor) error {
	own := keys.RangeState(d.ID, "")
	spans := append([]kv.Span{{Start: own, End: keys.RangeState(d.ID+1, "")}}, spansOf(&d)...)
	for _, span := range spans {
		lower, upper := storage.Span(span)
		for ok := it.SeekGE(lower); ok; ok = it.Next() {
			// Compared up to where the version begins: the end is a key of its own, which sorts as its bytes do.
			k := it.Key()
			if bytes.Compare(k[:storage.Split(k)], upper) >= 0 {
				break
			}
			v, err := it.ValueAndErr()
			if err != nil {
				return err
			}
			if err := o.add(bytes.Clone(k), bytes.Clone(v)); err != nil {
				return err
			}
		}
		if err := it.Error(); err != nil {
			return err
		}
	}
	return nil
}

func (o *snapshotSender) add(k, v []byte) error {
	o.next.Keys, o.next.Vals = append(o.next.Keys, k), append(o.next.Vals, v)
	o.size += len(k) + len(v)
	o.total += int64(len(k) + len(v))
	if o.total > o.s.opts.MaxSnapshot {
		return fmt.Errorf("%s holds more than the %d bytes that can be sent; split it", &o.next.Desc, o.s.opts.MaxSnapshot)
	}
	if o.size < snapshotChunk {
		return nil
	}
	return o.flush()
}

func (o *snapshotSender) flush() error {
	if o.s.stopped() {
		return errors.New("the node is stopping")
	}
	c := o.next
	reply, err := o.s.opts.Transport.Call(o.to, &kv.Message{To: o.to, Snapshot: c}, snapshotCall)
	switch {
	case err != nil:
		return err
	case reply.Ack == nil:
		return errors.New("no answer to a chunk")
	case reply.Ack.Error != "":
		return errors.New(reply.Ack.Error)
	}
	o.s.opts.Metrics.SnapshotBytes.Add(float64(o.size))
	o.next = &kv.SnapshotChunk{ID: c.ID, Seq: c.Seq + 1, Desc: c.Desc, To: c.To}
	o.size = 0
	return nil
}
