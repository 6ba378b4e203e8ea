package replica

import (
	"fmt"
	"slices"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/latch"
)

// A split gives the upper part of a range to a new one, on the same replicas. It is one command, applied by each replica
// alone: the left half's descriptor and all that the right half begins with go to state in one batch, so after a crash
// both are there or neither, and then the command is applied again. The data stay where they are.
//
//	request   latch all of the range; hold closed timestamps; propose {key, id, low water}
//	apply     left: shorter, next generation.  right: new, applied up to a fixed position, low water
//	after     the leader's node campaigns for the right half at once; both descriptors are published
//
// The right half has no lease yet and no support binds anybody for its sake, so it elects a leader as a new range does.
// Its first lease starts above the low water: what the left lease served there before is safe (L3). It may begin before this
// node has applied the split, while the left lease is in use here. So until then nothing may be served of the right half's keys
// that needs no latches: docs/replication.md lists what there is.

// everything latches all keys, local ones too.
var everything = []latch.Latch{{Span: kv.Span{Start: kv.Key{}, End: kv.Key{0xff, 0xff}}, Write: true}}

// split serves AdminRequest.SplitAt.
func (r *Replica) split(at kv.Key, id kv.RangeID) ([]kv.RangeDescriptor, *kv.Error) {
	if !r.admin.lock(r.store.opts.RequestLimit) {
		return nil, kv.Errorf(kv.ErrUnavailable, "another change of the range is under way")
	}
	defer r.admin.unlock()
	d := r.desc.Load()
	switch {
	case d.Span.Start.Equal(at):
		return []kv.RangeDescriptor{*d}, nil // it has been done before
	case !d.Span.Contains(at):
		return nil, r.mismatch(&kv.Request{Range: r.id, Admin: &kv.AdminRequest{SplitAt: at}})
	case keys.IsLocal(at) || at.Less(keys.SystemPrefix):
		// Meta stays in the first range whole: looking up a range must not need another lookup.
		return nil, kv.Errorf(kv.ErrInternal, "%s cannot be split at %s", d, at)
	case id == 0:
		return nil, kv.Errorf(kv.ErrInternal, "a split needs an id for the new range")
	}
	guard, err := r.latches.Acquire(everything, r.store.opts.RequestLimit)
	if err != nil {
		return nil, kv.Errorf(kv.ErrUnavailable, "the range is too busy to be split now")
	}
	view, kerr := r.lease.check(r.lease.servedSoFar())
	if kerr != nil {
		guard.Release()
		return nil, kerr
	}
	if r.desc.Load() != d {
		guard.Release()
		return nil, kv.Errorf(kv.ErrUnavailable, "the range has changed meanwhile")
	}
	// Timestamps are closed without latches. Until this node has applied the split another replica may lead the right half and
	// write there, above low. So what is published meanwhile stays at what was closed before low is computed (F1).
	endClosing := func() {}
	if !r.store.opts.Unsafe.SplitUnclosed {
		endClosing = r.closing.begin()
	}
	low := r.served().within(at)
	cmd := command{Term: view.term, Generation: d.Generation, Split: &splitCommand{Key: slices.Clone(at), Right: id, Low: *low}}
	if kerr := r.proposeWait(&proposal{cmd: cmd}, func(*kv.Error) { endClosing(); guard.Release() }); kerr != nil {
		return nil, kerr
	}
	left, right := halves(d, cmd.Split)
	return []kv.RangeDescriptor{*left, *right}, nil
}

// halves is what a split makes of a descriptor.
func halves(d *kv.RangeDescriptor, c *splitCommand) (left, right *kv.RangeDescriptor) {
	l, r := *d, *d
	l.Generation++
	l.Span.End = c.Key
	l.Replicas, r.Replicas = slices.Clone(d.Replicas), slices.Clone(d.Replicas)
	r.ID, r.Generation = c.Right, l.Generation
	r.Span.Start = c.Key
	return &l, &r
}

// split applies the command.
func (a *application) split(c *splitCommand) error {
	r := a.r
	d := r.desc.Load()
	if !d.Span.Contains(c.Key) || d.Span.Start.Equal(c.Key) {
		panic(fmt.Sprintf("replica: a command splits %s at %s", d, c.Key))
	}
	left, right := halves(d, c)
	if err := putDescriptor(a.b, left); err != nil {
		return err
	}
	if err := putNewRange(a.b, right, &c.Low); err != nil {
		return err
	}
	r.store.opts.Metrics.Splits.Inc()
	r.log.Info("split", "at", c.Key, "right", right.ID)
	var err error
	cerr := a.commitWith(func() {
		// In this order: a message for the right half that finds no holder of its keys would make a replica of it without
		// state, on a log that may not be empty (Store.receiver).
		err = r.store.addRight(right, r.leading())
		r.setDescriptor(left)
	})
	if cerr != nil {
		return cerr
	}
	return err
}

// addRight brings the right half of a split to life. first: this node led the left half, and is to lead the right.
func (s *Store) addRight(d *kv.RangeDescriptor, first bool) error {
	me, ok := d.On(s.opts.Node)
	if !ok {
		panic(fmt.Sprintf("replica: %s was split here but has no replica here", d))
	}
	// It may be here already, without state: its leader was faster than our log.
	r, err := s.replica(d.ID, me.ID, d)
	if err != nil {
		return err
	}
	r.queue.Push(&initialized{first: first})
	return nil
}

// initialized says that state now has the range.
type initialized struct{ first bool }

func (ev *initialized) handle(r *Replica) {
	if r.desc.Load() == nil {
		r.reload = true
	}
	if ev.first {
		r.election.soon(r.store.opts.RT.Now())
		r.heard.Store(0)
		r.campaign()
	} else {
		r.recordLeaderMessage() // leave it to the node that led the left half
	}
}

// initialize makes an uninitialized replica an initialized one, once nothing of it is on its way to disk.
func (r *Replica) initialize() {
	r.reload = false
	d, err := r.store.loadDescriptor(r.id)
	if err == nil {
		err = r.load(d)
	}
	if err != nil {
		r.fatal(err)
		return
	}
	r.setDescriptor(d)
}
