package replica

import (
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// proposals are the commands of this replica that are on their way through Raft. Each gets one outcome (E1):
//
//	applied    nil: the command has taken effect here
//	dropped    ErrUnavailable: it is in the log without effect (A2), or certainly never will be: an entry of a later term
//	           has been applied, so all of its own term that the log will ever have came before
//	unknown    ErrAmbiguous: the node stops, or a snapshot has passed over where it may have been
//
// A proposer may give up waiting; what the command holds (latches) is let go only with the outcome, because until then it
// may still take effect.
type proposals struct {
	r       *Replica
	pending map[uint64]*proposal
	// submitting are the commands that a step proposes now. If it panics what became of them is not known.
	submitting []event
	last       atomic.Uint64 // id; it begins at random in each process, so that none is met again after a restart
	count      atomic.Int32  // of pending and of those in the queue
}

// proposal is one command on its way.
type proposal struct {
	cmd    command
	data   []byte
	change *raftpb.ConfChangeV2 // a change of membership; its context is data
	done   func(*kv.Error)      // called once, mostly in the range's task, with the outcome; must not block
	at     time.Duration
}

func (p *proposals) init(r *Replica) {
	p.r, p.pending = r, map[uint64]*proposal{}
	p.last.Store(r.store.opts.RT.Uint64())
}

// propose sends a command on its way; any task may call it. done is called exactly once.
func (r *Replica) propose(p *proposal) {
	if r.proposals.count.Add(1) > maxProposals {
		r.proposals.count.Add(-1)
		p.done(kv.Errorf(kv.ErrUnavailable, "%d commands of the range are on their way already", maxProposals))
		return
	}
	p.at = r.store.opts.RT.Now()
	p.cmd.Node, p.cmd.ID = r.store.opts.Node, r.proposals.last.Add(1)
	var err error
	switch p.data, err = p.cmd.encode(); {
	case err != nil:
		r.proposals.finish(p, kv.Errorf(kv.ErrInternal, "%v", err))
		return
	case len(p.data) > r.store.opts.MaxCommand:
		r.proposals.finish(p, kv.Errorf(kv.ErrInternal, "a command of %d bytes is larger than the limit of %d; write less in one transaction", len(p.data), r.store.opts.MaxCommand))
		return
	}
	p.cmd.Batch = nil // data has it
	if !r.queue.Push((*proposeEvent)(p)) {
		r.proposals.finish(p, kv.Errorf(kv.ErrUnavailable, "the node is stopping"))
	}
}

// proposeWait proposes and waits for the outcome. release is called with the outcome, even if nobody waits any more.
func (r *Replica) proposeWait(p *proposal, release func(*kv.Error)) *kv.Error {
	f := rt.NewFuture[*kv.Error](r.store.opts.RT)
	p.done = func(e *kv.Error) {
		release(e)
		f.Set(e, nil)
	}
	r.propose(p)
	e, err := f.Get(r.store.opts.RequestLimit)
	if err != nil {
		r.store.opts.Metrics.Ambiguous.Inc()
		return kv.Errorf(kv.ErrAmbiguous, "no outcome after %s: the command may still take effect", r.store.opts.RequestLimit)
	}
	return e
}

// proposeEvent is a proposal on its way to the range's task.
type proposeEvent proposal

func (ev *proposeEvent) handle(r *Replica) { r.proposals.submit((*proposal)(ev)) }

// A step that proposes several commands at once has at most so many, and so many bytes beside the last one.
const (
	maxStepCommands = 256
	maxStepBytes    = 1 << 20
)

// together is how many of the events, from the first on, are commands that one step can propose. Raft sends what a step
// proposes in one message to each follower, who answers it once; and there are as many when clients are many as when they
// are few.
func together(evs []event) (n int) {
	for bytes := 0; n < min(len(evs), maxStepCommands) && bytes < maxStepBytes; n++ {
		ev, ok := evs[n].(*proposeEvent)
		if !ok || ev.change != nil {
			break
		}
		bytes += len(ev.data)
	}
	return n
}

// submitAll proposes commands in one step.
func (p *proposals) submitAll(evs []event) {
	r := p.r
	es := make([]*raftpb.Entry, 0, len(evs))
	list := make([]*proposal, 0, len(evs))
	for _, ev := range evs {
		q := (*proposal)(ev.(*proposeEvent))
		if !p.current(q) {
			continue
		}
		es, list = append(es, &raftpb.Entry{Data: q.data}), append(list, q)
	}
	if len(list) == 0 {
		return
	}
	err := r.rn.Step(&raftpb.Message{Type: raftpb.MsgProp.Enum(), From: proto.Uint64(uint64(r.rid)), Entries: es})
	if errors.Is(err, raft.ErrProposalDropped) && len(list) > 1 {
		for _, q := range list { // some of them may be taken
			p.submit(q)
		}
		return
	}
	for _, q := range list {
		p.submitted(q, err)
	}
}

// current is A2, the first of the pair; apply has the second.
func (p *proposals) current(q *proposal) bool {
	if r := p.r; r.leading() && r.soft.term == q.cmd.Term {
		return true
	}
	p.finish(q, kv.Errorf(kv.ErrUnavailable, "the lease of term %d is over", q.cmd.Term))
	return false
}

func (p *proposals) submit(q *proposal) {
	if !p.current(q) {
		return
	}
	if q.change != nil {
		q.change.Context = q.data
		p.submitted(q, p.r.rn.ProposeConfChange(q.change))
	} else {
		p.submitted(q, p.r.rn.Propose(q.data))
	}
}

// submitted takes in whether Raft has taken a command.
func (p *proposals) submitted(q *proposal, err error) {
	switch {
	case errors.Is(err, raft.ErrProposalDropped):
		p.finish(q, kv.Errorf(kv.ErrUnavailable, "the command was not taken: too much is uncommitted, or the lease is being handed over"))
	case err != nil:
		p.finish(q, kv.Errorf(kv.ErrInternal, "%v", err))
	default:
		p.r.store.opts.Metrics.Proposals.Inc()
		q.data = nil // Raft has it
		p.pending[q.cmd.ID] = q
	}
}

func (p *proposals) finish(q *proposal, e *kv.Error) {
	p.count.Add(-1)
	if q.done == nil {
		panic("replica: a command has two outcomes")
	}
	done := q.done
	q.done = nil
	done(e)
}

// applied finishes the proposal that a command was, if it was ours.
func (p *proposals) applied(c *command, e *kv.Error) {
	if c.Node != p.r.store.opts.Node {
		return
	}
	if q, ok := p.pending[c.ID]; ok {
		delete(p.pending, c.ID)
		p.r.store.opts.Metrics.Commit.Observe((p.r.store.opts.RT.Now() - q.at).Seconds())
		p.finish(q, e)
	}
}

// passed drops the proposals of earlier terms: an entry of this term has been applied.
func (p *proposals) passed(term uint64) {
	if len(p.pending) == 0 {
		return // without making the error, on every replica for every batch
	}
	p.fail(func(q *proposal) bool { return q.cmd.Term < term },
		kv.Errorf(kv.ErrUnavailable, "the lease was lost before the command was in the log"))
}

// lost gives up the proposals that a snapshot of a later or the same term has passed over.
func (p *proposals) lost() {
	p.fail(func(*proposal) bool { return true }, kv.Errorf(kv.ErrAmbiguous, "a snapshot has passed over the command"))
}

// failAll gives up every command that has no outcome yet, but for those that wait in the queue.
func (p *proposals) failAll(e *kv.Error) {
	for _, ev := range p.submitting {
		if q := (*proposal)(ev.(*proposeEvent)); q.done != nil {
			delete(p.pending, q.cmd.ID)
			p.finish(q, e)
		}
	}
	p.submitting = nil
	p.fail(func(*proposal) bool { return true }, e)
}

func (p *proposals) fail(which func(*proposal) bool, e *kv.Error) {
	if len(p.pending) == 0 {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(p.pending)) {
		if q := p.pending[id]; which(q) {
			delete(p.pending, id)
			p.finish(q, e)
		}
	}
}
