package replica

import (
	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// startLease opens the lease of a new leader for serving, once everything that earlier leaders may have acknowledged is
// applied: its own first entry is in the log behind all of that.
//
// The low water (L3) is above all that an earlier lease can have served:
//
//   - One that ended because its time was up served below its T, and T is past: our latest is above it.
//   - One that was handed over, or of the range that this one was split from, may have served up to its T, which is not
//     past. It wrote what it served into the range's low water, in a command that is applied now: a timestamp for every key,
//     and marks above it for the keys of some reads (lowwater.go), which go into the timestamp cache again.
//   - One of this replica itself, which needed to wait for nobody to be elected again, remembers what it served. If the
//     Its reads are in the timestamp cache, which stays, all else in served. If the
//     process was restarted since, it waited for its own support to expire before it voted for itself.
//
// HAZARD: the first of these compares our latest with a T of another clock. If a bound is broken, a write of this lease may
// land below a read that the earlier one served.
func (r *Replica) startLease() {
	if !r.leading() || r.applied.term != r.soft.term {
		return
	}
	if r.lease.begun() {
		return
	}
	now, err := r.store.opts.Clock.Now()
	if err != nil {
		return // a leader that does not know the time serves nothing; ticks try again
	}
	// There is no view now, so whoever was let in by the earlier one has left its mark in served (leaseUse.check).
	low := r.low.timestamp().Forward(now.Limit()).Forward(r.lease.servedSoFar())
	if r.store.opts.Unsafe.ForgetReads {
		low = clock.Timestamp{}
	}
	r.reads.Raise(low)
	for i := range r.low.Marks {
		r.reads.Add(r.low.Marks[i].span(), r.low.Marks[i].timestamp(), kv.TxnID{})
	}
	r.store.observed.Forward(low)
	r.lease.change(func(l *leaseCore) { l.start(low) })
	r.published.Store(0) // whoever leads publishes; what an earlier leader did is not known
	r.store.publish.Push(struct{}{})
	r.log.Info("lease begins", "term", r.soft.term, "low", low, "ahead", clock.Instant(low.Wall).Sub(now.Latest))
}
