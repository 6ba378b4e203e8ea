package eval

import (
	"errors"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
	"github.com/longitude-db/longitude/internal/storage"
)

// Evaluate evaluates a request whose latches are held.
func Evaluate(env *Env, q *kv.Request) Result {
	ev := evaluation{env: env}
	if err := ev.dispatch(q); err != nil {
		return Result{Response: kv.Response{Err: asError(env, err)}}
	}
	if len(ev.res.Conflicts) > 0 {
		return Result{Conflicts: ev.res.Conflicts}
	}
	if !ev.batch.Empty() {
		ev.res.Batch = ev.batch.Repr()
	}
	return ev.res
}

type evaluation struct {
	env   *Env
	res   Result
	batch storage.Batch
}

func (ev *evaluation) dispatch(q *kv.Request) error {
	switch {
	case q.Read != nil:
		return ev.read(q.Read)
	case q.Refresh != nil:
		return ev.refresh(q.Refresh)
	case q.Write != nil:
		return ev.write(q.Write)
	case q.EndTxn != nil:
		return ev.endTxn(q.EndTxn)
	case q.Resolve != nil:
		return ev.resolve(q.Resolve)
	case q.Push != nil:
		return ev.push(q.Push)
	case q.Query != nil:
		return ev.query(q.Query)
	case q.Recover != nil:
		return ev.recover(q.Recover)
	case q.Heartbeat != nil:
		return ev.heartbeat(q.Heartbeat)
	case q.Inline != nil:
		return ev.inline(q.Inline)
	}
	return kv.Errorf(kv.ErrInternal, "not a request that a range evaluates")
}

// asError makes an evaluation's error one for the requester. What is not a refusal is a bug or a broken store.
func asError(env *Env, err error) *kv.Error {
	var refusal *kv.Error
	if !errors.As(err, &refusal) {
		refusal = kv.Errorf(kv.ErrInternal, "%s: %s", env.Desc, err)
	}
	refusal.Node = env.Node
	return refusal
}

// view runs fn on a view of state.
func (ev *evaluation) view(o mvcc.Options, fn func(v *mvcc.View) error) error {
	o.Pushed, o.MaxIntents, o.IntentFilter = ev.env.Pushed, MaxConflicts, ev.env.IntentFilter
	v, err := mvcc.Open(ev.env.Reader, o)
	if err != nil {
		return err
	}
	return errors.Join(fn(v), v.Close())
}

// Who is a transaction and its age.
type Who struct {
	Txn   kv.TxnID
	Start clock.Timestamp
}

// OlderThan is the order of wound-wait: total, the same everywhere, and a transaction's attempts keep their place in it.
func (w Who) OlderThan(o Who) bool {
	if c := w.Start.Compare(o.Start); c != 0 {
		return c < 0
	}
	return string(w.Txn[:]) < string(o.Txn[:])
}

// Requester is the transaction on whose behalf a request is made, if it is one that can meet intents.
func Requester(q *kv.Request) Who {
	switch {
	case q.Read != nil:
		return Who{q.Read.Txn, q.Read.Start}
	case q.Refresh != nil:
		return Who{q.Refresh.Txn, q.Refresh.Start}
	case q.Write != nil:
		return Who{q.Write.Txn, q.Write.Start}
	}
	return Who{}
}

func holder(in *kv.Intent) Who { return Who{in.Txn, in.Start} }
