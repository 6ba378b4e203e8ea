package eval

import (
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
	"github.com/longitude-db/longitude/internal/replica/latch"
	"github.com/longitude-db/longitude/internal/storage"
)

// Old is a record that can be collected, once Resolve (if it is not nil) has succeeded: its intents may be in any range.
// One that is staged is not collected: the transaction may be committed, and acknowledged. Push has it recovered; what
// that makes of it is collected later.
type Old struct {
	Key     kv.Key // of the record itself
	Resolve *kv.ResolveRequest
	Push    *kv.PushRequest
	// Keep: it is too young to go. Its transaction has laid many intents, and nobody has been heard of who would resolve
	// them: that is done, and then forgotten in the record.
	Keep bool

	touched clock.Instant
}

// Unattended is how long nobody has touched the record of a transaction with many intents before these are looked for. Its
// coordinator, if it lives, resolves them at the same time; then both find some of them gone.
const Unattended = time.Minute

// unattended: see Old.Keep.
func unattended(rec *kv.Record, now clock.Interval) bool {
	return len(rec.Spans) > 0 && now.Earliest.Sub(rec.Touched) > Unattended
}

// collectable: nothing of the transaction is still to come. Nobody has touched it for a while, and if a request of it
// does come, it is refused because the transaction began too long ago (tooOld), wherever it is evaluated.
func collectable(rec *kv.Record, now clock.Interval) bool {
	return now.Earliest.Sub(rec.Touched) > Retention && now.Earliest.Sub(clock.Instant(rec.Start.Wall)) > Retention
}

// OldRecords finds records of a range to collect, at most limit. It needs no latches: CollectRecords looks again. The
// next call goes on from next, until that is nil.
func OldRecords(r storage.Reader, d *kv.RangeDescriptor, from kv.Key, now clock.Interval, limit int) (found []Old, next kv.Key, err error) {
	s := keys.RecordSpan(d.Span)
	if from != nil {
		s.Start = from
	}
	looked := 0
	err = mvcc.EachRecord(r, s, func(k kv.Key, rec *kv.Record) bool {
		if looked++; looked > 100*limit || len(found) == limit {
			next = k
			return false
		}
		if old := (Old{Key: k, touched: rec.Touched, Keep: !collectable(rec, now)}); !old.Keep || unattended(rec, now) {
			switch {
			case rec.State == kv.Staged, rec.State == kv.Pending && len(rec.Spans) > 0:
				// A pending one is aborted: it has not been heard of for far too long.
				old.Push = &kv.PushRequest{Txn: keys.RecordTxn(k), Start: rec.Start, Anchor: keys.RecordAnchor(k), Laid: rec.Touched, TS: rec.CommitTS}
			case rec.State == kv.Committed && len(rec.Intents) > 0, rec.State.Final() && len(rec.Spans) > 0:
				old.Resolve = &kv.ResolveRequest{Txn: keys.RecordTxn(k), Keys: rec.Intents, Spans: rec.Spans, Status: status(rec)}
			}
			found = append(found, old)
		}
		return true
	})
	return found, next, err
}

// CollectLatches are what CollectRecords needs.
func CollectLatches(list []Old) (out []latch.Latch) {
	for _, o := range list {
		out = append(out, latch.Write(o.Key, clock.Timestamp{}))
	}
	return out
}

// CollectRecords removes records whose intents the caller has had resolved since OldRecords found them. Those that were
// touched in between stay.
func CollectRecords(env *Env, list []Old) Result {
	ev := evaluation{env: env}
	for _, o := range list {
		rec, err := mvcc.GetRecordAt(env.Reader, o.Key)
		switch {
		case err != nil || rec == nil || rec.State == kv.Staged || rec.Touched != o.touched:
		case o.Keep && rec.State.Final():
			rec.Intents, rec.Spans = nil, nil
			err = mvcc.PutRecordAt(&ev.batch, o.Key, rec, true)
		case !o.Keep && collectable(rec, env.Now):
			err = mvcc.RemoveRecordAt(&ev.batch, o.Key)
		}
		if err != nil {
			return Result{Response: kv.Response{Err: asError(env, err)}}
		}
	}
	if !ev.batch.Empty() {
		ev.res.Batch = ev.batch.Repr()
	}
	return ev.res
}
