package replica

import (
	"slices"
	"sync/atomic"
	"time"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
)

// logJob is what one Ready of one range has to make durable.
type logJob struct {
	r       *Replica
	append  *raftpb.Message // its entries, written after sets, and the responses that wait for them; nil: none
	restart *entryID        // after a snapshot: the log is emptied and begins here
	sets    []pair
	clears  []pair // from, to
}

type pair struct{ a, b []byte }

// append hands what Raft wants durable to the log writer.
func (r *Replica) append(m *raftpb.Message) {
	j := &logJob{r: r, append: m}
	if s := m.GetSnapshot(); s != nil && s.GetMetadata().GetIndex() != 0 {
		at := entryID{s.GetMetadata().GetIndex(), s.GetMetadata().GetTerm()}
		if !r.applySnapshot(at) {
			return
		}
		j.restart = &at
		r.raftLog.submitted = at.index
		r.raftLog.restarting++
		j.clears = append(j.clears, pair{logKey(r.id, logEntry), logKey(r.id, logEntry+1)})
		j.sets = append(j.sets, pair{logKey(r.id, logTruncated), at.encode()})
	}
	if m.GetTerm() != 0 || m.GetVote() != 0 || m.GetCommit() != 0 {
		hard := &raftpb.HardState{Term: proto.Uint64(m.GetTerm()), Vote: proto.Uint64(m.GetVote()), Commit: proto.Uint64(m.GetCommit())}
		j.sets = append(j.sets, pair{logKey(r.id, logHardState), encodeHardState(hard)})
		r.raftLog.hard = hard
	}
	if es := m.GetEntries(); len(es) > 0 {
		if old, end := r.raftLog.submitted, es[len(es)-1].GetIndex(); old > end {
			// They replace the end of a longer log; what lies behind them goes with the same write.
			j.clears = append(j.clears, pair{entryKey(r.id, end+1), entryKey(r.id, old+1)})
		}
		r.raftLog.submitted = es[len(es)-1].GetIndex()
	}
	r.submit(j)
}

func (r *Replica) submit(j *logJob) {
	r.writing++
	r.store.writer.queue.Push(j)
}

func mustMarshal(m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err) // Raft's own messages; there is nothing in them that cannot be encoded
	}
	return b
}

// logWriter writes the logs of all ranges: one batch and one sync for all that has gathered while the last one ran.
type logWriter struct {
	s     *Store
	queue *rt.Queue[*logJob]
	began atomic.Int64 // when the write that is under way began, 0: none is; in the runtime's time, plus one
}

// lazyLimit is how long, and lazyJobs how many, writes that nobody waits for are put off: they go with the next sync.
const (
	lazyLimit = time.Second
	lazyJobs  = 256
)

func (w *logWriter) run() {
	var lazy []*logJob
	for {
		limit := rt.Forever
		if len(lazy) > 0 {
			limit = lazyLimit
		}
		jobs, open := w.queue.Take(limit)
		if !open {
			return
		}
		if w.s.stopped() {
			continue // nothing is acknowledged any more
		}
		urgent := len(jobs) == 0 || slices.ContainsFunc(jobs, (*logJob).urgent)
		jobs = append(lazy, jobs...)
		if lazy = nil; !urgent && len(jobs) < lazyJobs {
			lazy = jobs
			continue
		}
		if err := w.write(jobs); err != nil {
			w.s.fatal(err)
			continue
		}
		for _, j := range jobs {
			j.r.queue.Push(&written{j})
		}
	}
}

// urgent reports whether somebody waits for the job: a message that must not go out before it is durable.
func (j *logJob) urgent() bool { return j.append != nil && len(j.append.GetResponses()) > 0 }

// write makes the jobs durable, in their order.
func (w *logWriter) write(jobs []*logJob) error {
	b := w.s.opts.Engines.Log.NewBatch()
	defer b.Close()
	for _, j := range jobs {
		for _, c := range j.clears {
			if err := b.DeleteRange(c.a, c.b, nil); err != nil {
				return err
			}
		}
		for _, p := range j.sets {
			if err := b.Set(p.a, p.b, nil); err != nil {
				return err
			}
		}
		if j.append == nil {
			continue
		}
		for _, e := range j.append.GetEntries() {
			if err := putEntry(b, j.r.id, e); err != nil {
				return err
			}
		}
	}
	began := w.s.opts.RT.Now()
	w.began.Store(int64(began) + 1)
	defer w.began.Store(0)
	w.delay()
	if err := w.s.opts.Engines.CommitLog(b); err != nil {
		return err
	}
	w.delay()
	w.s.opts.Metrics.LogSync.Observe((w.s.opts.RT.Now() - began).Seconds())
	w.s.opts.Metrics.LogBatch.Observe(float64(len(jobs)))
	return nil
}

// putEntry encodes an entry where it goes.
func putEntry(b *storage.Batch, id kv.RangeID, e *raftpb.Entry) error {
	op := b.SetDeferred(entryKeyBytes, sizeEntry(e))
	appendEntryKey(op.Key[:0], id, e.GetIndex())
	appendEntry(op.Value[:0], e)
	return op.Finish()
}

func (w *logWriter) delay() {
	if d := w.s.opts.DiskDelay; d != nil {
		sleep(w.s.opts.RT, d())
	}
}

// written says that a job is durable: its responses may go out (D1).
type written struct{ j *logJob }

func (ev *written) handle(r *Replica) {
	r.writing--
	if ev.j.restart != nil {
		r.raftLog.reset(*ev.j.restart)
		r.raftLog.restarting--
	}
	if ev.j.append == nil {
		return
	}
	r.raftLog.appended(ev.j.append.GetEntries())
	for _, m := range ev.j.append.GetResponses() {
		r.send(m)
		r.observe()
	}
}
