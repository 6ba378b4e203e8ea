package mvcc

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// ChangedBetween looks for what would make a read of the span at `to` differ from one at `from`: the first version in
// (from, to], and the foreign intents at or below `to`, with the exceptions that Options make. Finding nothing guarantees
// nothing by itself: the caller holds latches, and records the span as read at `to`.
func ChangedBetween(r storage.Reader, s kv.Span, from, to clock.Timestamp, o Options) (*Version, []Found, error) {
	if to.LessEq(from) || s.Empty() {
		return nil, nil, nil
	}
	o.TS, o.Limit = to, to
	v, err := Open(r, o)
	if err != nil {
		return nil, nil, err
	}
	changed, err := v.versionAfter(r, s, from)
	if err == nil && changed == nil {
		err = v.intentsIn(keys.LockSpan(s))
	}
	return changed, v.Intents, errors.Join(err, v.Close())
}

func (v *View) versionAfter(r storage.Reader, s kv.Span, from clock.Timestamp) (*Version, error) {
	// Tables and blocks without a version in the interval are passed over. Versions are never rewritten (M2), and what
	// deletes one carries its timestamp too, so what is left agrees with itself.
	filters := make([]pebble.BlockPropertyFilter, 1, 2)
	filters[0] = cockroachkvs.NewMVCCTimeIntervalFilter(uint64(from.Wall), uint64(v.o.TS.Wall))
	lower, upper := storage.Span(s)
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper, PointKeyFilters: filters})
	if err != nil {
		return nil, err
	}
	changed, err := v.firstAfter(it, from)
	return changed, errors.Join(err, it.Error(), it.Close())
}

func (v *View) firstAfter(it *pebble.Iterator, from clock.Timestamp) (*Version, error) {
	tooNew := 0
	for valid := it.First(); valid; {
		k := it.Key()
		n := storage.Split(k)
		ts, err := suffixTS(k, n)
		switch {
		case err != nil:
			return nil, err
		case ts.IsZero():
			valid = it.Next()
		case v.o.TS.Less(ts):
			valid = v.skipTooNew(it, k[:n-1], v.o.TS, &tooNew)
		case from.Less(ts):
			return &Version{Key: v.mem.copy(k[:n-1]), TS: ts}, nil
		default:
			tooNew = 0
			valid = it.NextPrefix()
		}
	}
	return nil, nil
}

// nextTries is how many versions are stepped over before it is worth a seek.
const nextTries = 8

// skipTooNew goes on from a version of k above the limit, at least to the next older one.
func (v *View) skipTooNew(it *pebble.Iterator, k kv.Key, limit clock.Timestamp, tries *int) bool {
	if *tries++; *tries < nextTries {
		return it.Next()
	}
	*tries = 0
	v.seek = storage.AppendVersion(v.seek[:0], k, limit)
	return it.SeekGE(v.seek)
}
