package replica

import (
	"bytes"
	"fmt"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// raftLog is one range's log as its RawNode sees it (raft.Storage). Only the range's task uses it. What it says of the log's
// ends becomes true for Raft when the task hears that a write is durable (appended); the log writer never touches it.
//
// Invariant: trunc.index <= applied index of state, durably: what is truncated is never needed again (D2).
// Invariant: the cache is a suffix of the log.
type raftLog struct {
	eng   *storage.Engines
	id    kv.RangeID
	hard  *raftpb.HardState
	conf  *raftpb.ConfState // as of the applied index, for starting the RawNode
	trunc entryID           // the position before the first entry
	last  entryID           // the last durable entry
	// submitted is the last index that was given to the log writer: with what is on its way there, the end of the log.
	submitted uint64
	// restarting counts the restarts on their way to the log writer. Until they are done this log is the old one.
	restarting int

	cache     []*raftpb.Entry
	cacheSize int
	size      logSize

	// broken is why entries could not be read. Raft panics with it; the range's task turns that into the end of the store.
	broken error

	snapshot func() (*raftpb.Snapshot, error) // describes what would be sent
}

// cacheLimit is how many bytes of entries are kept in memory. Entries are read back soon after they were written, to be
// applied and to be sent.
const cacheLimit = 1 << 20

var _ raft.Storage = (*raftLog)(nil)

// InitialState implements raft.Storage.
func (l *raftLog) InitialState() (*raftpb.HardState, *raftpb.ConfState, error) {
	return l.hard, l.conf, nil
}

// FirstIndex implements raft.Storage.
func (l *raftLog) FirstIndex() (uint64, error) { return l.trunc.index + 1, nil }

// LastIndex implements raft.Storage.
func (l *raftLog) LastIndex() (uint64, error) { return l.last.index, nil }

// Snapshot implements raft.Storage.
func (l *raftLog) Snapshot() (*raftpb.Snapshot, error) { return l.snapshot() }

// Term implements raft.Storage.
func (l *raftLog) Term(i uint64) (uint64, error) {
	switch {
	case i == l.trunc.index:
		return l.trunc.term, nil
	case i < l.trunc.index:
		return 0, raft.ErrCompacted
	case i == l.last.index:
		return l.last.term, nil
	case i > l.last.index:
		return 0, raft.ErrUnavailable
	}
	if e := l.cached(i); e != nil {
		return e.GetTerm(), nil
	}
	es, err := l.read(i, i+1, 0)
	if err != nil {
		return 0, err
	}
	return es[0].GetTerm(), nil
}

// Entries implements raft.Storage.
func (l *raftLog) Entries(lo, hi, maxSize uint64) ([]*raftpb.Entry, error) {
	switch {
	case lo <= l.trunc.index:
		return nil, raft.ErrCompacted
	case hi > l.last.index+1:
		return nil, raft.ErrUnavailable
	}
	if l.cached(lo) == nil {
		return l.read(lo, hi, maxSize)
	}
	first := l.cache[0].GetIndex()
	es := l.cache[lo-first : hi-first]
	size := uint64(0)
	for i, e := range es {
		if size += uint64(proto.Size(e)); size > maxSize && i > 0 {
			es = es[:i]
			break
		}
	}
	return slices.Clone(es), nil
}

func (l *raftLog) cached(i uint64) *raftpb.Entry {
	if len(l.cache) == 0 || i < l.cache[0].GetIndex() || i > l.cache[len(l.cache)-1].GetIndex() {
		return nil
	}
	return l.cache[i-l.cache[0].GetIndex()]
}

// read takes entries from disk: at least one, and no more than about maxSize bytes.
func (l *raftLog) read(lo, hi, maxSize uint64) (es []*raftpb.Entry, err error) {
	if es, err = l.readDisk(lo, hi, maxSize); err != nil {
		l.broken = err
	}
	return es, err
}

func (l *raftLog) readDisk(lo, hi, maxSize uint64) (es []*raftpb.Entry, err error) {
	it, err := l.eng.Log.NewIter(nil)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	size := uint64(0)
	for ok := it.SeekGE(entryKey(l.id, lo)); ok && lo < hi; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(it.Key(), entryKey(l.id, lo)) {
			break
		}
		if size += uint64(len(v)); size > maxSize && len(es) > 0 {
			return es, nil
		}
		e := &raftpb.Entry{}
		if err := proto.Unmarshal(v, e); err != nil || e.GetIndex() != lo {
			return nil, fmt.Errorf("r%d: entry %d is damaged (index %d): %v", l.id, lo, e.GetIndex(), err)
		}
		es = append(es, e)
		lo++
	}
	if err := it.Error(); err != nil {
		return nil, err
	}
	if lo < hi && (len(es) == 0 || size <= maxSize) {
		return nil, fmt.Errorf("r%d: entry %d is missing; the log is (%d, %d]", l.id, lo, l.trunc.index, l.last.index)
	}
	return es, nil
}

// appended takes in that entries are durable. They may replace the end of the log.
func (l *raftLog) appended(es []*raftpb.Entry) {
	if len(es) == 0 {
		return
	}
	first, end := es[0].GetIndex(), es[len(es)-1]
	if first > l.last.index+1 || first <= l.trunc.index {
		panic(fmt.Sprintf("replica: r%d: append at %d to the log (%d, %d]", l.id, first, l.trunc.index, l.last.index))
	}
	l.size.cut(first)
	if len(l.cache) > 0 && first >= l.cache[0].GetIndex() {
		keep := l.cache[:first-l.cache[0].GetIndex()]
		for _, e := range l.cache[len(keep):] {
			l.cacheSize -= entrySize(e)
		}
		l.cache = keep
	} else {
		l.cache, l.cacheSize = nil, 0
	}
	for _, e := range es {
		l.cache = append(l.cache, e)
		l.cacheSize += entrySize(e)
		l.size.add(e.GetIndex(), entrySize(e))
	}
	drop := 0
	for ; l.cacheSize > cacheLimit && drop < len(l.cache)-1; drop++ {
		l.cacheSize -= entrySize(l.cache[drop])
	}
	// The front goes by slicing, and is left behind when the cache grows out of its array: copying what stays, at each append
	// to a full cache, was a third of all that a write allocated.
	clear(l.cache[:drop])
	l.cache = l.cache[drop:]
	l.last = entryID{end.GetIndex(), end.GetTerm()}
}

// reset empties the log, which then begins after a position that state is at.
func (l *raftLog) reset(at entryID) {
	l.trunc, l.last, l.submitted = at, at, max(l.submitted, at.index)
	l.cache, l.cacheSize, l.size = nil, 0, logSize{}
}

// truncate forgets the entries up to a position.
func (l *raftLog) truncate(to entryID) {
	if to.index < l.trunc.index || to.index > l.last.index {
		panic(fmt.Sprintf("replica: r%d: truncation to %d of the log (%d, %d]", l.id, to.index, l.trunc.index, l.last.index))
	}
	l.trunc = to
	l.size.drop(to.index)
	if n := len(l.cache); n > 0 && l.cache[0].GetIndex() <= to.index {
		drop := min(int(to.index-l.cache[0].GetIndex())+1, n)
		for _, e := range l.cache[:drop] {
			l.cacheSize -= entrySize(e)
		}
		l.cache = slices.Clone(l.cache[drop:])
	}
}

func entrySize(e *raftpb.Entry) int { return len(e.GetData()) + 32 }
