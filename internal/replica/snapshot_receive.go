package replica

import (
	"fmt"
	"sync"
	"time"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// incomingSnapshots gathers the chunks of snapshots on their way here. Few at a time: each may be as large as a range.
type incomingSnapshots struct {
	mu   sync.Mutex
	byID map[uint64]*gathering
}

type gathering struct {
	chunks []*kv.SnapshotChunk
	size   int64
	seen   time.Duration // when the last chunk came
}

// maxIncoming bounds the snapshots that are received at once; the sender of another tries again later.
const maxIncoming = 2

// add takes in a chunk; whole is set with the last one.
func (in *incomingSnapshots) add(c *kv.SnapshotChunk, now time.Duration, limit int64) (whole []*kv.SnapshotChunk, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.byID == nil {
		in.byID = map[uint64]*gathering{}
	}
	for id, g := range in.byID {
		if now-g.seen > 2*snapshotCall {
			delete(in.byID, id) // its sender is gone
		}
	}
	g := in.byID[c.ID]
	if g == nil {
		if c.Seq != 0 {
			return nil, fmt.Errorf("chunk %d of a snapshot whose beginning is not here", c.Seq)
		}
		if len(in.byID) >= maxIncoming {
			return nil, fmt.Errorf("%d snapshots are being received already", maxIncoming)
		}
		g = &gathering{}
		in.byID[c.ID] = g
	}
	fail := func(format string, args ...any) ([]*kv.SnapshotChunk, error) {
		delete(in.byID, c.ID)
		return nil, fmt.Errorf(format, args...)
	}
	if c.Seq != len(g.chunks) {
		return fail("chunk %d of a snapshot, expected %d", c.Seq, len(g.chunks))
	}
	if len(c.Keys) != len(c.Vals) {
		return fail("a chunk with %d keys and %d values", len(c.Keys), len(c.Vals))
	}
	for i := range c.Keys {
		g.size += int64(len(c.Keys[i]) + len(c.Vals[i]))
	}
	if g.size > limit {
		return fail("the snapshot is larger than the %d bytes that are received", limit)
	}
	g.chunks, g.seen = append(g.chunks, c), now
	if !c.Last {
		return nil, nil
	}
	delete(in.byID, c.ID)
	return g.chunks, nil
}

// HandleSnapshot takes in a chunk. The last one is answered when the snapshot has been applied, or was not needed.
func (s *Store) HandleSnapshot(c *kv.SnapshotChunk) *kv.Ack {
	s.serving.Add(1)
	defer s.serving.Add(-1)
	if err := s.handleSnapshot(c); err != nil {
		return &kv.Ack{Error: err.Error()}
	}
	return &kv.Ack{}
}

func (s *Store) handleSnapshot(c *kv.SnapshotChunk) error {
	if s.stopped() {
		return fmt.Errorf("node %d is stopping", s.opts.Node)
	}
	whole, err := s.incoming.add(c, s.opts.RT.Now(), s.opts.MaxSnapshot)
	if err != nil || whole == nil {
		return err
	}
	if c.Start == nil || c.To.Node != s.opts.Node {
		return fmt.Errorf("a snapshot without its message, or for node %d", c.To.Node)
	}
	m := &raftpb.Message{}
	if err := proto.Unmarshal(c.Start.Data, m); err != nil {
		return err
	}
	meta := m.GetSnapshot().GetMetadata()
	desc := c.Desc
	ev := &gotSnapshot{
		s:    &receivedSnapshot{desc: &desc, at: entryID{meta.GetIndex(), meta.GetTerm()}, chunks: whole},
		m:    m,
		from: c.Start.From.Node,
	}
	r := s.receiver(c.Start)
	if r == nil {
		return fmt.Errorf("r%d: replica %d is not wanted on node %d now", desc.ID, c.To.ID, s.opts.Node)
	}
	f := rt.NewFuture[struct{}](s.opts.RT)
	ev.done = func(err error) { f.Set(struct{}{}, err) }
	if !r.queue.Push(ev) {
		return fmt.Errorf("node %d is stopping", s.opts.Node)
	}
	_, err = f.Get(snapshotCall)
	return err
}
