package replica

import (
	"slices"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/eval"
)

// collectLimit is how many records are removed at a time.
const collectLimit = 256

// runCollection removes the records of transactions that ended long ago, in the ranges that this node leads.
func (s *Store) runCollection() {
	for s.rest(s.opts.CollectInterval) {
		for _, r := range s.ranges.all() {
			if _, ok := r.lease.holds(); !ok || s.stopped() {
				continue
			}
			if err := r.collect(); err != nil {
				r.log.Info("records not collected", "err", err)
			}
		}
	}
}

// collect goes over the records of a range once.
func (r *Replica) collect() error {
	for next, more := kv.Key(nil), true; more && !r.store.stopped(); more = next != nil {
		now, err := r.store.opts.Clock.Now()
		if err != nil {
			return err
		}
		var found []eval.Old
		found, next, err = eval.OldRecords(r.store.opts.Engines.State, r.desc.Load(), next, now, collectLimit)
		if err != nil {
			return err
		}
		if found = r.resolved(found); len(found) == 0 {
			continue
		}
		if kerr := r.collectRecords(found); kerr != nil {
			return kerr
		}
	}
	return nil
}

// resolved has the intents of committed transactions resolved, wherever they are, and drops those for which that fails,
// and staged ones after it has had them recovered.
func (r *Replica) resolved(found []eval.Old) (ok []eval.Old) {
	for _, o := range found {
		if o.Push != nil {
			if push := r.store.opts.Push; push != nil {
				if _, err := push(o.Push); err != nil {
					r.log.Debug("an old staged record is not recovered", "err", err)
				}
			}
			continue
		}
		if o.Resolve != nil {
			if err := r.store.opts.Resolve(o.Resolve); err != nil {
				r.log.Debug("intents of an old record not resolved", "err", err)
				continue
			}
		}
		ok = append(ok, o)
	}
	return ok
}

func (r *Replica) collectRecords(found []eval.Old) *kv.Error {
	guard, err := r.latches.Acquire(eval.CollectLatches(found), r.store.opts.RequestLimit)
	if err != nil {
		return kv.Errorf(kv.ErrUnavailable, "requests are in the way")
	}
	d, view, res, kerr := r.evaluateWith(nil, func(env *eval.Env) eval.Result {
		// The range may have been split since they were found.
		here := boundsOf(env.Desc)
		mine := slices.DeleteFunc(found, func(o eval.Old) bool { return !here.own(o.Key) })
		return eval.CollectRecords(env, mine)
	})
	if kerr == nil {
		kerr = res.Response.Err
	}
	if kerr != nil || len(res.Batch) == 0 {
		guard.Release()
		return kerr
	}
	cmd := command{Term: view.term, Generation: d.Generation, Batch: res.Batch}
	kerr = r.proposeWait(&proposal{cmd: cmd}, func(*kv.Error) { guard.Release() })
	if kerr == nil {
		r.store.opts.Metrics.Collected.Add(float64(len(found)))
	}
	return kerr
}
