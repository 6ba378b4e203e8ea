package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// A command that cannot be applied, an assertion that fails while one is applied, or a panic anywhere in a range's task, concerns one
// range. It stops that range's replica, not the node: the replica is quarantined. If it is the command that is wrong, all replicas
// of the range meet it, and the range is unavailable; all others go on.
//
//	Q1  A quarantined replica is to the others as one whose node is down: it votes for nobody, answers nobody and sends nothing, so
//	    it counts in no quorum. It applies nothing and serves nothing, reads of the past neither.
//	Q2  State is a prefix still (A1): a batch is applied whole, with its position, or not at all. What the batch would have done to the
//	    intent filter is not done, or leaves slots that count too much.
//	Q3  If it led, its lease ends for good in its term. Whether it led or not its store excludes the range (cluster P9), so that the
//	    others can elect: they may be bound to this store because they answered a lease of it last that is long over, or one of the
//	    process before, and a replica that never campaigns again would never free them. This process relied on nothing beyond
//	    leaseCore.used in any term, the one before on nothing beyond the high water of its support.
//	Q4  It stays so over restarts: a note in the store says it. `longitude start --unquarantine` takes that back, when there is
//	    a reason to believe that it will fare better: a version in which the bug is mended. Then it goes on where it stopped.
//	Q5  An error of the disk is not the range's: it stops the node (D1), and so does what comes of it.
//
// What it has acknowledged stays in its log, so a quorum that it was counted in has it still. What the log writer has under way for it
// ends; only the answers are not sent.
type quarantine struct {
	Reason  string       `json:"reason"`
	Stack   string       `json:"stack,omitempty"`
	Applied uint64       `json:"applied"` // the last entry that state has
	owed    kv.Exclusion // what the store has to say to the others (Q3)
}

func quarantineNote(id kv.RangeID) string { return fmt.Sprintf("quarantine/%d", id) }

// loadQuarantine reads whether a range's replica is quarantined here.
func (s *Store) loadQuarantine(id kv.RangeID) (*quarantine, error) {
	v, ok, err := s.opts.Engines.Note(quarantineNote(id))
	if err != nil || !ok || len(v) == 0 {
		return nil, err
	}
	q := &quarantine{}
	if err := json.Unmarshal(v, q); err != nil {
		q.Reason = fmt.Sprintf("the note that says why is damaged: %v", err)
	}
	return q, nil
}

// unquarantine takes back what earlier processes noted (Q4).
func (s *Store) unquarantine(ids []kv.RangeID) error {
	for _, id := range ids {
		q, err := s.loadQuarantine(id)
		if err != nil {
			return err
		}
		if q == nil {
			s.opts.Log.Warn("this range is not quarantined here", "range", uint64(id))
			continue
		}
		if err := s.opts.Engines.SetNote(quarantineNote(id), nil); err != nil {
			return err
		}
		s.opts.Log.Warn("no longer quarantined", "range", uint64(id), "was", q.Reason)
	}
	return nil
}

// damage is an error of what is to be applied, and not of the disk.
type damage struct{ error }

func damaged(format string, args ...any) error { return &damage{fmt.Errorf(format, args...)} }

// fails ends what a range's task does because of an error: damage stops the replica, any other the node (Q5).
func (r *Replica) fails(err error) {
	if d := (*damage)(nil); errors.As(err, &d) && r.store.opts.Engines.Failed() == nil {
		r.quarantine(err, "")
		return
	}
	r.fatal(err)
}

// caught takes in a panic of the range's task. It panics again with what is not the range's.
func (r *Replica) caught(p any) {
	if rt.Unwinds(p) {
		panic(p)
	}
	if broken := r.raftLog.broken; broken != nil {
		// Raft has no other way to say that its storage failed than to panic.
		r.fatal(fmt.Errorf("the log cannot be read: %w", broken))
		return
	}
	if failed := r.store.opts.Engines.Failed(); failed != nil {
		r.fatal(fmt.Errorf("%v: %w", p, failed))
		return
	}
	if checked && r.store.opts.Quarantined == nil {
		panic(p) // tests want to see it
	}
	r.quarantine(fmt.Errorf("%v", p), string(debug.Stack()))
}

// quarantine stops the replica for good. It is called in the range's task, which then does nothing more than to dismiss.
func (r *Replica) quarantine(why error, stack string) {
	if checked && r.store.opts.Quarantined == nil {
		panic(fmt.Sprintf("replica: r%d: %v", r.id, why))
	}
	q := &quarantine{Reason: why.Error(), Stack: stack, Applied: r.appliedIndex.Load()}
	used := r.lease.endForGood() // Q3; the task of the ticks says it to the others
	q.owed = kv.Exclusion{Range: r.id, Term: r.soft.term, Until: max(used, r.store.opts.Cluster.SupportForUntil(0))}
	r.quarantined.Store(q)
	r.tooLong.Store(false) // its log is truncated no more
	r.held.Store(0)
	r.stats.Store(&replicaStats{Term: r.soft.term, Applied: r.appliedIndex.Load()})
	r.log.Error("this range's replica is quarantined: it takes part in nothing any more, and stays so over restarts",
		"why", why, "applied", q.Applied, "stack", stack,
		"hint", fmt.Sprintf("the other replicas go on if they can apply what this one could not; keep the store and report this; "+
			"with a version that mends it: longitude start --unquarantine %d", r.id))
	note, err := json.Marshal(q)
	if err == nil {
		err = r.store.opts.Engines.SetNote(quarantineNote(r.id), note)
	}
	if err != nil {
		r.fatal(fmt.Errorf("quarantine: %w", err))
	}
	if told := r.store.opts.Quarantined; told != nil {
		told(r.id, why)
	}
	r.proposals.failAll(kv.Errorf(kv.ErrAmbiguous, "r%d is quarantined on node %d: %s", r.id, r.store.opts.Node, q.Reason))
}

// beQuarantined makes a replica of a range that an earlier process has quarantined. Nothing of it is loaded but where it is.
func (r *Replica) beQuarantined(q *quarantine, desc *kv.RangeDescriptor) error {
	r.desc.Store(desc)
	r.quarantined.Store(q)
	hard := &raftpb.HardState{}
	v, ok, err := getLog(r.store.opts.Engines, logKey(r.id, logHardState))
	if err != nil {
		return err
	}
	r.log.Error("this range's replica is quarantined", "why", q.Reason, "applied", q.Applied,
		"hint", fmt.Sprintf("with a version that mends it: longitude start --unquarantine %d", r.id))
	if ok && proto.Unmarshal(v, hard) == nil { // else its followers may wait for as long as this store lives
		// A term in which it led is not above this one (D1), and no lease went beyond our store's support of itself (P2).
		r.progress.said = hard.GetTerm()
		r.store.opts.Cluster.Exclude(kv.Exclusion{Range: r.id, Term: hard.GetTerm(), Until: r.store.opts.Cluster.SupportForUntil(0)})
	}
	return nil
}

// runQuarantined dismisses what comes, to the end.
func (r *Replica) runQuarantined(rest []event) {
	r.dismiss(rest)
	for {
		evs, open := r.queue.Take(rt.Forever)
		r.dismiss(evs)
		if !open || r.store.stopped() {
			r.queue.Close()
			late, _ := r.queue.Take(0)
			r.dismiss(late)
			return
		}
	}
}

// dismiss answers events that nothing is done about.
func (r *Replica) dismiss(evs []event) {
	for _, ev := range evs {
		switch ev := ev.(type) {
		case *proposeEvent:
			r.proposals.finish((*proposal)(ev), r.refusal())
		case *incoming:
			r.queued.Add(-1)
		case *gotSnapshot:
			ev.done(r.refusal())
		}
	}
}

// refusal is what a quarantined replica answers: nothing was done. nil: it is not quarantined.
func (r *Replica) refusal() *kv.Error {
	q := r.quarantined.Load()
	if q == nil {
		return nil
	}
	return kv.Errorf(kv.ErrUnavailable, "r%d is quarantined on node %d: %s", r.id, r.store.opts.Node, q.Reason)
}

// Quarantine is a replica that takes part in nothing any more.
type Quarantine struct {
	Range  kv.RangeID
	Reason string
}

// Quarantined lists the quarantined replicas of this store.
func (s *Store) Quarantined() (out []Quarantine) {
	for _, r := range s.ranges.all() {
		if q := r.quarantined.Load(); q != nil {
			out = append(out, Quarantine{r.id, q.Reason})
		}
	}
	return out
}
