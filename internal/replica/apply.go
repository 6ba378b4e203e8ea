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

// apply applies committed entries, in one batch of state as far as nothing in between needs to be seen by others. It
// reports whether to go on. An error here stops the node if it is the disk's, else the replica (quarantine.go); that a
// command is dropped is no error, and the same on all replicas.
func (r *Replica) apply(es []*raftpb.Entry) bool {
	a := &application{r: r, b: r.store.opts.Engines.State.NewBatch(), done: make([]outcome, 0, len(es))}
	defer func() { a.b.Close() }()
	if r.store.opts.Unsafe.Disorder {
		es = disorder(es)
	}
	for _, e := range es {
		if poison := r.store.opts.Unsafe.Poison; poison != nil && poison(r.id, e) {
			panic(fmt.Sprintf("replica: r%d cannot apply entry %d", r.id, e.GetIndex()))
		}
		if err := a.entry(e); err != nil {
			r.fails(err)
			return false
		}
	}
	if err := a.commit(); err != nil {
		r.fails(err)
		return false
	}
	r.store.opts.Metrics.Applied.Add(float64(len(es)))
	r.startLease()
	return true
}

// application is entries on their way into state.
type application struct {
	r           *Replica
	b           *storage.Batch
	done        []outcome
	term        uint64 // of the last entry
	scratch     []byte // for the batch of a command
	filterDelta mvcc.FilterDelta
}

// outcome is told to the proposer once the batch is visible.
type outcome struct {
	c *command
	e *kv.Error
}

func (a *application) entry(e *raftpb.Entry) error {
	r := a.r
	if e.GetIndex() != r.applied.index+1 || e.GetTerm() < r.applied.term { // A1
		panic(fmt.Sprintf("replica: r%d applies entry %d of term %d after %d of term %d", r.id, e.GetIndex(), e.GetTerm(), r.applied.index, r.applied.term))
	}
	data, change := e.GetData(), (*raftpb.ConfChangeV2)(nil)
	switch e.GetType() {
	case raftpb.EntryConfChangeV2:
		change = &raftpb.ConfChangeV2{}
		if err := proto.Unmarshal(data, change); err != nil {
			return damaged("entry %d: %w", e.GetIndex(), err)
		}
		data = change.Context
	case raftpb.EntryConfChange:
		return damaged("entry %d is a change of membership of a kind that is never proposed", e.GetIndex())
	}
	r.applied = entryID{e.GetIndex(), e.GetTerm()}
	a.term = e.GetTerm()
	if len(data) == 0 {
		return nil // a new leader's first entry
	}
	c := command{Batch: a.scratch[:0]}
	if err := c.decode(data); err != nil {
		return damaged("entry %d: %w", e.GetIndex(), err)
	}
	if c.Batch != nil {
		a.scratch = c.Batch
	}
	if e := r.refuse(&c, e.GetTerm()); e != nil {
		r.store.opts.Metrics.Dropped.Inc()
		a.done = append(a.done, outcome{&c, e})
		return nil
	}
	return a.command(&c, change)
}

// refuse is A2: the same on all replicas, because it depends on the log alone.
func (r *Replica) refuse(c *command, term uint64) *kv.Error {
	if c.Term != term {
		return kv.Errorf(kv.ErrUnavailable, "evaluated in term %d, in the log in term %d", c.Term, term)
	}
	if g := r.desc.Load().Generation; c.Generation != g {
		return kv.Errorf(kv.ErrUnavailable, "evaluated under generation %d of the range, now it is %d", c.Generation, g)
	}
	return nil
}

func (a *application) command(c *command, change *raftpb.ConfChangeV2) error {
	r := a.r
	if len(c.Batch) > 0 {
		if err := a.write(c.Batch); err != nil {
			return err
		}
		c.Batch = nil // the next command's takes its place
	}
	if c.LowWater != nil {
		r.low.raise(c.LowWater)
		if err := putLow(a.b, r.id, &r.low); err != nil {
			return err
		}
	}
	a.done = append(a.done, outcome{c: c})
	switch {
	case c.Split != nil:
		return a.split(c.Split)
	case c.Desc != nil:
		return a.describe(c.Desc, change)
	case change != nil:
		panic("replica: a change of membership without a descriptor")
	}
	return nil
}

// write adds a command's batch, after checking that it keeps to the range (A3).
func (a *application) write(repr []byte) error {
	var sub storage.Batch // not one of the engine's, which would be used again with what repr lies in
	if err := sub.SetRepr(repr); err != nil {
		return damaged("command: %w", err)
	}
	d := a.r.desc.Load()
	if a.r.bounds.of != d {
		a.r.bounds = boundsOf(d)
	}
	removed := a.filterDelta.Removals()
	for rd := sub.Reader(); ; {
		kind, key, value, ok, err := rd.Next()
		if err != nil {
			return damaged("command: %w", err)
		}
		if !ok {
			break
		}
		if k := key[:storage.Split(key)]; !a.r.bounds.own(k[:len(k)-1]) {
			panic(fmt.Sprintf("replica: a command writes %q, which is not in %s", key, d))
		}
		a.filterDelta.Add(key, value, kind == storage.KindDelete)
	}
	a.filterDelta.DedupRemovals(removed)
	return a.b.Apply(&sub, nil)
}

// bounds are the keys that belong to a range: its own, and the local ones of their locks and records.
type bounds struct {
	of             *kv.RangeDescriptor
	locks, records kv.Span
}

func boundsOf(d *kv.RangeDescriptor) bounds {
	return bounds{d, keys.LockSpan(d.Span), keys.RecordSpan(d.Span)}
}

func (b *bounds) own(k kv.Key) bool {
	if keys.IsLocal(k) {
		return b.locks.Contains(k) || b.records.Contains(k)
	}
	return b.of.Span.Contains(k)
}

// describe changes the descriptor, and with it perhaps the membership.
func (a *application) describe(d *kv.RangeDescriptor, change *raftpb.ConfChangeV2) error {
	r := a.r
	if old := r.desc.Load(); d.Generation != old.Generation+1 || d.ID != r.id {
		panic(fmt.Sprintf("replica: %s does not follow %s", d, old))
	}
	if err := putDescriptor(a.b, d); err != nil {
		return err
	}
	if err := a.commitWith(func() { r.setDescriptor(d) }); err != nil {
		return err
	}
	if change != nil {
		r.rn.ApplyConfChange(change)
		r.lease.refresh()
	}
	return nil
}

func (a *application) commit() error { return a.commitWith(func() {}) }

// commitWith makes the batch visible, with where it leaves the log; then between runs, and then the proposers hear of it:
// what they do next has to find both.
func (a *application) commitWith(between func()) error {
	r := a.r
	if err := putApplied(a.b, r.id, r.applied); err != nil {
		return err
	}
	r.store.intentFilter.CountWrites(&a.filterDelta)
	if err := r.applyState(a.b); err != nil {
		return err
	}
	r.store.intentFilter.CountRemovals(&a.filterDelta)
	a.b.Close()
	a.b = r.store.opts.Engines.State.NewBatch()
	r.appliedIndex.Store(r.applied.index)
	r.closed.wake(r.applied.index)
	between()
	for _, o := range a.done {
		r.proposals.applied(o.c, o.e)
	}
	a.done = nil
	r.proposals.passed(a.term)
	return nil
}

// setDescriptor takes a descriptor into use.
func (r *Replica) setDescriptor(d *kv.RangeDescriptor) {
	r.desc.Store(d)
	r.locks.keep(d.Span)
	r.store.ranges.moved(r)
	r.store.publish.Push(struct{}{})
	r.store.toldFirst(d)
}
