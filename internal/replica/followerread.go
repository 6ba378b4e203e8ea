package replica

import (
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/eval"
)

// readClosed serves a read of the past from this replica's own state, without lease and latches (F3). ok is false if it
// cannot: then the leaseholder has to be asked.
//
// State is read as of one moment after the closed timestamp was looked at, and has all that was applied until then.
// A snapshot that replaces state while it is read shows in the descriptor, or in replacing: it may take away keys that the
// descriptor still names.
func (r *Replica) readClosed(q *kv.Request) (resp kv.Response, ok bool) {
	read := q.Read
	if read.Limit != read.ReadTS || read.MaxLimit.Forward(read.ReadTS) != read.ReadTS {
		return failed(kv.Errorf(kv.ErrInternal, "a read at %s that any replica may serve, with limits %s and %s", read.ReadTS, read.Limit, read.MaxLimit)), true
	}
	hasty := r.store.opts.Unsafe.Unclosed && read.Patience > 0
	if read.Patience > 0 && !hasty && r.closedAt().Less(read.ReadTS) && !r.awaitClosed(read.ReadTS, read.Patience) {
		return resp, false
	}
	d := r.desc.Load()
	if r.closedAt().Less(read.ReadTS) && !hasty || r.replacing.Load() || !eval.InBounds(d, q) {
		return resp, false
	}
	now, err := r.store.opts.Clock.Now()
	if err != nil {
		return failed(kv.Errorf(kv.ErrFenced, "%v", err)), true
	}
	res := eval.Evaluate(&eval.Env{
		Reader: r.store.opts.Engines.State, Desc: d, Now: now, Node: r.store.opts.Node, Observed: &r.store.observed,
	}, q)
	if len(res.Conflicts) > 0 || r.replacing.Load() || r.quarantined.Load() != nil || r.desc.Load() != d {
		return resp, false
	}
	if len(res.Batch) > 0 || res.Response.Err == nil && read.ReadTS.Less(res.Response.Read.Newest) {
		panic("replica: F3: a read of the past writes, or has seen what was not asked for")
	}
	r.store.opts.Metrics.ClosedReads.Inc()
	r.store.counted(res.Response.Read)
	return res.Response, true
}
