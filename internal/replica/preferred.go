package replica

import "github.com/longitude-db/longitude/internal/kv"

// preference is how a leader finds out that another node should lead: the descriptor's Preferred, if that can serve and has
// kept up for a while. Only the range's task uses it.
type preference struct {
	ready int // ticks for which the preferred node could have led
	rest  int // ticks until the next try
}

const (
	preferAfter = 30  // ticks
	preferRest  = 300 // ticks after a try: a node that cannot hold the lease must not cause an outage every few seconds
)

// tick reports whether to hand over now.
func (p *preference) tick(able bool) bool {
	if p.rest > 0 {
		p.rest--
	}
	if !able {
		p.ready = 0
		return false
	}
	if p.ready++; p.ready < preferAfter || p.rest > 0 {
		return false
	}
	p.ready, p.rest = 0, preferRest
	return true
}

// considerPreferred hands the lease to the preferred node.
func (r *Replica) considerPreferred() {
	d := r.desc.Load()
	to, ok := d.On(d.Preferred)
	able := ok && !to.Learner && to.Node != r.store.opts.Node && r.handover == nil &&
		r.store.opts.Cluster.Serves(to.Node) && r.matches()[to.ID] > 0 && r.matches()[to.ID]+preferLag >= r.raftLog.last.index
	if r.prefer.tick(able) {
		r.store.tasks.Go("prefer", func() {
			if e := r.transferLease(to.Node, false); e != nil && e.Code != kv.ErrNotLeaseholder {
				r.log.Warn("lease not handed to the preferred node", "node", to.Node, "err", e)
			}
		})
	}
}

// preferLag is how many entries the preferred node may be behind.
const preferLag = 64
