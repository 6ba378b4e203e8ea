package eval

import (
	"math"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
)

// read is V1. A reader that has read nothing yet (CanBump) is moved here, at no cost to it, instead of being sent back:
// up to the uncertain version, and up to all else that was observed on this node as far as its limit goes, so that it
// is not uncertain here again.
func (ev *evaluation) read(q *kv.ReadRequest) error {
	switch {
	case q.ReadTS.IsZero():
		return kv.Errorf(kv.ErrInternal, "a read at the zero timestamp")
	case q.Groups != nil && (q.Lock != nil || q.Reverse):
		return kv.Errorf(kv.ErrInternal, "groups are counted without locking rows, and forward")
	}
	var newest kv.Key
	for r, bumped := q.ReadTS, 0; ; bumped++ {
		uncertain, err := ev.readAt(q, r)
		switch {
		case err != nil:
			return err
		case uncertain == nil && bumped > 0 && !q.CanBump && ev.res.Response.Read != nil: // a locking read
			ev.res.Response.Read, ev.res.Reads, ev.res.Served, ev.res.Marked = nil, Reads{}, clock.Timestamp{}, false
			return &kv.Error{Code: kv.ErrUncertain, Key: newest, TS: r, Observed: ev.observed()}
		case uncertain == nil:
			if ev.res.Response.Read != nil {
				ev.res.Response.Read.Bumped = bumped
			}
			return nil
		case q.Lock != nil:
			newest, r = uncertain.Key, ev.aboveLocked(uncertain.TS, bumped)
			continue
		}
		observed := ev.observed()
		if !q.CanBump {
			return &kv.Error{Code: kv.ErrUncertain, Key: uncertain.Key, TS: uncertain.TS, Observed: observed}
		}
		// Upwards at each turn and never above g, so this ends.
		r = uncertain.TS.Forward(earlier(observed, globalLimit(q)))
	}
}

// limit is up to where versions are uncertain: what the transaction observed of this node at first, unless this range
// came to the node after that. Then it is what was acknowledged before it came. Never above g.
func (ev *evaluation) limit(q *kv.ReadRequest) clock.Timestamp {
	if q.Lock != nil {
		return clock.MaxTimestamp
	}
	return q.Limit.Forward(earlier(ev.env.LeaseStart, globalLimit(q)))
}

func globalLimit(q *kv.ReadRequest) clock.Timestamp {
	if q.MaxLimit.IsZero() {
		return q.Limit
	}
	return q.MaxLimit
}

func earlier(a, b clock.Timestamp) clock.Timestamp {
	if a.Less(b) {
		return a
	}
	return b
}

// observed is no lower than any version that was acknowledged on this node before now.
func (ev *evaluation) observed() clock.Timestamp {
	return ev.env.Observed.Get().Forward(ev.env.LeaseStart)
}

// readAt answers at r, or reports an uncertain version or conflicts.
func (ev *evaluation) readAt(q *kv.ReadRequest, r clock.Timestamp) (uncertain *mvcc.Version, err error) {
	resp := &kv.ReadResponse{ReadTS: r}
	reads := Reads{Txn: q.Txn, TS: r, Keys: q.Keys}
	o := mvcc.Options{TS: r, Limit: ev.limit(q), Txn: q.Txn, Own: q.Own, Finished: ev.env.Finished}
	for _, st := range ev.env.Finished {
		ev.env.Observed.Forward(st.CommitTS) // V7: it is as if they were resolved here
	}
	err = ev.view(o, func(v *mvcc.View) error {
		if err := readKeys(v, q, resp); err != nil {
			return err
		}
		if err := readSpans(v, q, resp, &reads); err != nil {
			return err
		}
		uncertain, resp.Newest = v.Uncertain, v.Newest
		if uncertain == nil {
			if q.Lock != nil {
				ev.meetLocking(v.Intents, q.Lock.Policy)
			} else {
				ev.meetReading(v.Intents, r, q.Limit.Forward(globalLimit(q)))
			}
		}
		return nil
	})
	if err == nil && uncertain == nil && len(ev.res.Conflicts) == 0 {
		resp.Observed, resp.Past = ev.observed(), ev.env.Now.Past(resp.Newest)
		ev.res.Response.Read, ev.res.Reads, ev.res.Served, ev.res.Marked = resp, reads, r, true
	}
	return uncertain, err
}

func readKeys(v *mvcc.View, q *kv.ReadRequest, resp *kv.ReadResponse) (err error) {
	switch len(q.Keys) {
	case 0:
	case 1:
		resp.Values = make([][]byte, 1)
		resp.Values[0], err = v.Get(q.Keys[0])
	default:
		resp.Values, err = v.GetMany(q.Keys)
	}
	return err
}

// maxScanKeys bounds the deleted keys that one read passes over, maxCountKeys those that it counts, too.
const (
	maxScanKeys  = 1 << 20
	maxCountKeys = 1 << 18 // some 25 ms, for which latches are held
)

func readSpans(v *mvcc.View, q *kv.ReadRequest, resp *kv.ReadResponse, reads *Reads) error {
	if len(q.Spans) == 0 || v.Uncertain != nil {
		return nil
	}
	budget := mvcc.Budget{Rows: math.MaxInt, Bytes: MaxPageBytes, Keys: maxScanKeys}
	if q.MaxRows > 0 {
		budget.Rows = q.MaxRows
	}
	if q.Groups != nil {
		budget.Keys = maxCountKeys
	}
	resp.Rows = make([]kv.Rows, len(q.Spans))
	reads.Spans = make([]kv.Span, 0, len(q.Spans))
	for i, s := range q.Spans {
		var rows kv.Rows
		var read kv.Span
		var err error
		if q.Groups != nil {
			rows, read, err = v.Count(s, &budget, q.Groups)
		} else {
			rows, read, err = v.Scan(s, &budget, q.Reverse)
		}
		if err != nil || v.Uncertain != nil || len(v.Intents) >= MaxConflicts {
			return err // of no use: what is in the way goes first
		}
		resp.Rows[i] = rows
		if !read.Empty() {
			reads.Spans = append(reads.Spans, read)
		}
	}
	return nil
}

// meetReading reports intents that are in the way of a read at r: their transactions have to commit above r. One whose
// intent is in (r, g] will do so anyway if it is pending; it is asked because it may have been committed, and
// acknowledged, before the reader began.
func (ev *evaluation) meetReading(found []mvcc.Found, r, limit clock.Timestamp) {
	for _, f := range found {
		ev.conflict(Conflict{Key: f.Key, Intent: f.Intent, Kind: kv.PushTimestamp, To: r, Limit: limit.Forward(r)})
	}
}

func (ev *evaluation) conflict(c Conflict) {
	if len(ev.res.Conflicts) < MaxConflicts {
		ev.res.Conflicts = append(ev.res.Conflicts, c)
	}
}

// refresh answers whether reads at From would be the same at To; if so they count as reads at To from here on.
func (ev *evaluation) refresh(q *kv.RefreshRequest) error {
	if q.To.Less(q.From) || q.From.IsZero() {
		return kv.Errorf(kv.ErrInternal, "a refresh from %s to %s", q.From, q.To)
	}
	if q.Note {
		ev.env.Observed.Forward(q.To) // V7
		ev.res.Served = q.To          // and so a later lease begins above it, wherever that will be
		return nil
	}
	who := Who{q.Txn, q.Start}
	err := ev.unchanged(q.Spans, q.From, q.To, q.Txn, func(in *kv.Intent) (kind kv.PushKind, yield bool) {
		if who.OlderThan(holder(in)) {
			return kv.PushTimestamp, false
		}
		return kv.PushQuery, true
	})
	if err == nil && len(ev.res.Conflicts) == 0 {
		ev.env.Observed.Forward(q.To) // V7: a commit at To may be about to be decided
		ev.res.Reads = Reads{Txn: q.Txn, TS: q.To, Spans: q.Spans}
		ev.res.Served = q.To
	}
	return err
}

// unchanged fails with ErrRefresh if anything changed in (from, to], and reports intents that might yet change it.
func (ev *evaluation) unchanged(spans []kv.Span, from, to clock.Timestamp, id kv.TxnID,
	ask func(*kv.Intent) (kind kv.PushKind, yield bool)) error {
	o := mvcc.Options{Txn: id, Pushed: ev.env.Pushed, MaxIntents: MaxConflicts}
	for _, s := range spans {
		changed, found, err := mvcc.ChangedBetween(ev.env.Reader, s, from, to, o)
		if err != nil {
			return err
		}
		if changed != nil {
			return &kv.Error{Code: kv.ErrRefresh, Key: changed.Key, TS: changed.TS}
		}
		for i := range found {
			kind, yield := ask(&found[i].Intent)
			ev.conflict(Conflict{Key: found[i].Key, Intent: found[i].Intent, Kind: kind, To: to, Limit: to, Yield: yield})
		}
	}
	return nil
}
