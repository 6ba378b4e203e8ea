package replica

import (
	"bytes"
	"fmt"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// loadLog reads a log's ends from disk and fits them to what state has applied. A snapshot is made durable in state before
// the log hears of it, so after a crash in between the log is behind state, or is of another history. Then state is right,
// and the log is empty and begins where state is.
func loadLog(eng *storage.Engines, id kv.RangeID, applied entryID) (*raftLog, error) {
	l := &raftLog{eng: eng, id: id, hard: &raftpb.HardState{}}
	if v, ok, err := getLog(eng, logKey(id, logHardState)); err != nil {
		return nil, err
	} else if ok {
		if err := proto.Unmarshal(v, l.hard); err != nil {
			return nil, fmt.Errorf("r%d: hard state is damaged: %w", id, err)
		}
	}
	if v, ok, err := getLog(eng, logKey(id, logTruncated)); err != nil {
		return nil, err
	} else if ok {
		l.trunc = decodeEntryID(v)
	} else {
		l.trunc = entryID{firstApplied, firstTerm}
		if applied.index == 0 {
			l.trunc = entryID{} // it waits for a snapshot
		}
	}
	if l.trunc.index > applied.index {
		return nil, fmt.Errorf("r%d: the log begins after %d, but state has applied only %d: state is from another time than the log", id, l.trunc.index, applied.index)
	}
	var err error
	if l.last, err = l.loadLast(); err != nil {
		return nil, err
	}
	l.submitted = l.last.index
	if l.last.index < applied.index {
		return l, l.restart(applied)
	}
	if t, err := l.Term(applied.index); err != nil || t != applied.term {
		if err != nil {
			return nil, err
		}
		return l, l.restart(applied)
	}
	l.fitHardState(applied)
	return l, nil
}

// loadLast finds the last entry.
func (l *raftLog) loadLast() (entryID, error) {
	it, err := l.eng.Log.NewIter(nil)
	if err != nil {
		return entryID{}, err
	}
	defer it.Close()
	prefix := logKey(l.id, logEntry)
	if !it.SeekLT(logKey(l.id, logEntry+1)) || !bytes.HasPrefix(it.Key(), prefix) {
		return l.trunc, it.Error()
	}
	v, err := it.ValueAndErr()
	if err != nil {
		return entryID{}, err
	}
	e, err := decodeEntry(v)
	if err != nil {
		return entryID{}, fmt.Errorf("r%d: the last entry is damaged: %w", l.id, err)
	}
	if e.GetIndex() <= l.trunc.index {
		return l.trunc, nil // truncated, the removal itself was lost
	}
	return entryID{e.GetIndex(), e.GetTerm()}, nil
}

// restart empties the log on disk too.
func (l *raftLog) restart(at entryID) error {
	l.reset(at)
	l.submitted = at.index
	l.fitHardState(at)
	b := l.eng.Log.NewBatch()
	defer b.Close()
	hard, err := proto.Marshal(l.hard)
	if err != nil {
		return err
	}
	b.DeleteRange(logKey(l.id, logEntry), logKey(l.id, logEntry+1), nil)
	b.Set(logKey(l.id, logTruncated), at.encode(), nil)
	b.Set(logKey(l.id, logHardState), hard, nil)
	return l.eng.CommitLog(b)
}

// fitHardState lifts what state proves to be committed. The term of an applied entry is one that a leader was elected in;
// if it is above ours, we have voted for nobody in it, or the vote would be on disk.
func (l *raftLog) fitHardState(applied entryID) {
	if l.hard.GetTerm() < applied.term {
		l.hard.Term, l.hard.Vote = proto.Uint64(applied.term), proto.Uint64(0)
	}
	if l.hard.GetCommit() < applied.index {
		l.hard.Commit = proto.Uint64(applied.index)
	}
}

func getLog(eng *storage.Engines, key []byte) ([]byte, bool, error) {
	it, err := eng.Log.NewIter(nil)
	if err != nil {
		return nil, false, err
	}
	defer it.Close()
	if !it.SeekGE(key) || !bytes.Equal(it.Key(), key) {
		return nil, false, it.Error()
	}
	v, err := it.ValueAndErr()
	return bytes.Clone(v), err == nil, err
}
