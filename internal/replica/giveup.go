package replica

// GiveUp hands every lease of this store to a node that can use it: our clock gives no readings, so we can use none (the
// lease check asks the clock first), but as long as we lead our followers elect nobody else. It does not wait. Leases for
// which there is no successor stay: stopping to serve for good in the term would only make the return slower.
//
// It is a handover like any other, and no reading is needed for it: what it rests on is the low water that it commits (L3)
// and that nothing is served after (L4), not the end T of the lease.
//
// HAZARD: if the clock was ahead, the low water is too, by as much: the next leaseholder's writes land above it and their
// commits wait until it is past.
func (s *Store) GiveUp() {
	if s.stopped() {
		return
	}
	for _, r := range s.ranges.all() {
		if _, leads := r.lease.leads(); !leads || r.successor() == 0 || !r.givingUp.CompareAndSwap(false, true) {
			continue
		}
		s.tasks.Go("give up", func() {
			defer r.givingUp.Store(false)
			r.giveUp()
		})
	}
}

func (r *Replica) giveUp() {
	if !r.admin.lock(r.store.opts.RequestLimit) {
		return // another change is under way; whoever called GiveUp calls again
	}
	defer r.admin.unlock()
	term, leads := r.lease.leads()
	to := r.successor()
	if _, err := r.store.opts.Clock.Now(); err == nil || !leads || to == 0 {
		return
	}
	r.lease.change(func(l *leaseCore) {
		if l.term == term {
			l.stop()
		}
	})
	r.store.opts.Metrics.Transfers.Inc()
	r.log.Warn("gives its lease up, the clock gives no readings", "to", to, "term", term)
	r.handOverUntilDone(term, to, false)
}
