package route

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
)

// Names of system counters.
const (
	RangeCounter = "counter/range"
	NodeCounter  = "counter/node"
)

// Increment takes n numbers from a system counter and returns the first; a new counter begins with 1. Numbers are never
// given twice, but some may be lost: those of a swap of which it is not known whether it was done.
func (r *Router) Increment(ctx context.Context, name string, n uint64) (first uint64, err error) {
	return r.allocate(ctx, name, n, 0)
}

// allocate is Increment for counters whose numbers up to floor are taken already.
func (r *Router) allocate(ctx context.Context, name string, n, floor uint64) (first uint64, err error) {
	key := keys.System(name)
	deadline := r.deadline(ctx)
	have, err := r.Load(ctx, name)
	if err != nil {
		return 0, err
	}
	for try := 0; ; try++ {
		last := floor
		if len(have) == 8 {
			last = max(last, binary.BigEndian.Uint64(have))
		} else if len(have) != 0 {
			return 0, kv.Errorf(kv.ErrInternal, "system counter %s holds %d bytes instead of 8", name, len(have))
		}
		ok, now, err := r.swap(WithDeadline(ctx, deadline), key, have, binary.BigEndian.AppendUint64(nil, last+n))
		if err != nil {
			return 0, fmt.Errorf("taking %d numbers from counter %s: %w", n, name, err)
		}
		if ok {
			return last + 1, nil
		}
		have = now
		if e := r.pause(ctx, try, deadline); e != nil {
			return 0, kv.Errorf(kv.ErrUnavailable, "counter %s: %s", name, e.Msg)
		}
	}
}

func (r *Router) newID() (id kv.TxnID) {
	binary.LittleEndian.PutUint64(id[:], r.o.RT.Uint64())
	binary.LittleEndian.PutUint64(id[8:], r.o.RT.Uint64())
	return id
}

// swap compares and swaps an unversioned key, at most once, however often it is sent. If it was not done, now is the present
// value.
func (r *Router) swap(ctx context.Context, key kv.Key, expect, value []byte) (done bool, now []byte, err error) {
	start, err := r.o.Now()
	if err != nil {
		return false, nil, kv.Errorf(kv.ErrFenced, "the clock gives no reading that a swap could be told from older ones by: %v", err)
	}
	resp, err := r.Do(ctx, key, kv.Request{Inline: &kv.InlineRequest{Swap: true, ID: r.newID(), Start: start.Start(), Key: key, Expect: expect, Value: value}})
	if err != nil {
		return false, nil, err
	}
	if resp.Inline.Swapped {
		return true, value, nil
	}
	if len(resp.Inline.Values) > 0 {
		now = resp.Inline.Values[0]
	}
	return false, now, nil
}

// Load returns a named system value, nil if there is none.
func (r *Router) Load(ctx context.Context, name string) ([]byte, error) {
	return r.loadKey(ctx, keys.System(name))
}

func (r *Router) loadKey(ctx context.Context, key kv.Key) ([]byte, error) {
	resp, err := r.Do(ctx, key, kv.Request{Inline: &kv.InlineRequest{Span: kv.Point(key), Limit: 1}})
	if err != nil {
		return nil, err
	}
	if len(resp.Inline.Values) == 0 {
		return nil, nil
	}
	return resp.Inline.Values[0], nil
}

// Update changes a named system value: fn is given the present one (nil: none) and returns the new one (nil: remove),
// and is called again if another task was faster.
func (r *Router) Update(ctx context.Context, name string, fn func(old []byte) ([]byte, error)) error {
	deadline := r.deadline(ctx)
	have, err := r.Load(ctx, name)
	for try := 0; err == nil; try++ {
		value, ferr := fn(have)
		if ferr != nil {
			return ferr
		}
		var ok bool
		if ok, have, err = r.swap(WithDeadline(ctx, deadline), keys.System(name), have, value); ok || err != nil {
			break
		}
		if e := r.pause(ctx, try, deadline); e != nil {
			return kv.Errorf(kv.ErrUnavailable, "system value %s: %s", name, e.Msg)
		}
	}
	return err
}

// List returns the system values whose names begin with the prefix, by name.
func (r *Router) List(ctx context.Context, prefix string) (names []string, values [][]byte, err error) {
	const page = 256
	start := keys.System(prefix)
	span := kv.Span{Start: start, End: keys.PrefixEnd(start)}
	for {
		resp, err := r.Do(ctx, span.Start, kv.Request{Inline: &kv.InlineRequest{Span: span, Limit: page}})
		if err != nil {
			return nil, nil, err
		}
		for i, k := range resp.Inline.Keys {
			names = append(names, string(k[len(keys.SystemPrefix):]))
			values = append(values, resp.Inline.Values[i])
		}
		if len(resp.Inline.Keys) < page {
			return names, values, nil
		}
		span.Start = keys.Next(resp.Inline.Keys[len(resp.Inline.Keys)-1])
	}
}
