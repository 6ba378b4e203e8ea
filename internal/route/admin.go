package route

import (
	"context"
	"errors"
	"slices"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
)

// Ranges returns the ranges that overlap the span, in order, as meta has them now.
func (r *Router) Ranges(ctx context.Context, span kv.Span) ([]kv.RangeDescriptor, error) {
	const page = 256
	meta := keys.MetaLookup(span.Start)
	for {
		resp, err := r.Do(ctx, meta.Start, kv.Request{Inline: &kv.InlineRequest{Span: meta, Limit: page}})
		if err != nil {
			return nil, err
		}
		past := len(resp.Inline.Values) < page
		for _, v := range resp.Inline.Values {
			d, err := decode(v)
			if err != nil {
				return nil, kv.Errorf(kv.ErrInternal, "meta holds a descriptor that cannot be read: %v", err)
			}
			r.cache.insert(d)
			past = past || !d.Span.Start.Less(span.End)
		}
		if past {
			break
		}
		meta.Start = keys.Next(resp.Inline.Keys[len(resp.Inline.Keys)-1])
	}
	// Meta can hold an old left half beside a new right half, so the answer is read from the cache, where generations decide.
	var out []kv.RangeDescriptor
	for at := span.Start; at.Less(span.End); {
		d, err := r.Lookup(ctx, at)
		if err != nil {
			return nil, err
		}
		if !d.Span.Contains(at) {
			return nil, kv.Errorf(kv.ErrUnavailable, "the range of key %s is being published: try again", at)
		}
		out = append(out, *d)
		at = d.Span.End
	}
	return out, nil
}

// Leaseholder is the node that led the range when it was last asked; 0: not known.
func (r *Router) Leaseholder(id kv.RangeID) kv.NodeID { return r.cache.leader(id) }

// Split makes the key the first one of a range. If it is that already, nothing is done.
func (r *Router) Split(ctx context.Context, key kv.Key) error {
	if key.Less(keys.SystemPrefix) || !key.Less(keys.Max) {
		return kv.Errorf(kv.ErrInternal, "cannot split at %s: meta stays in one range", key)
	}
	deadline := r.deadline(ctx)
	ctx = WithDeadline(ctx, deadline)
	// One id serves all tries: a range that was split by an unanswered one is recognised by where it starts.
	var id uint64
	for try := 0; ; try++ {
		d, err := r.Lookup(ctx, key)
		if err != nil {
			return err
		}
		if d.Span.Start.Equal(key) {
			return nil
		}
		if id == 0 {
			if id, err = r.allocate(ctx, RangeCounter, 1, 1); err != nil { // 1 is the range of the bootstrap
				return err
			}
		}
		resp, err := r.Do(ctx, key, kv.Request{Admin: &kv.AdminRequest{SplitAt: key, NewRange: kv.RangeID(id)}})
		if err == nil {
			for i := range resp.Admin.Descriptors {
				r.cache.insert(&resp.Admin.Descriptors[i])
			}
			// The leaseholder publishes too, and goes on until it has. Doing it here makes the split visible to
			// everybody when this call returns.
			return r.PublishDescriptors(ctx, resp.Admin.Descriptors)
		}
		var e *kv.Error
		if !errors.As(err, &e) || e.Code != kv.ErrRangeMismatch {
			return err
		}
		if e := r.pause(ctx, try, deadline); e != nil {
			return kv.Errorf(kv.ErrUnavailable, "split at %s: %s", key, e.Msg)
		}
	}
}

// TransferLease makes a node lead the range that holds the key, now and whenever it can.
func (r *Router) TransferLease(ctx context.Context, key kv.Key, to kv.NodeID) error {
	resp, err := r.Do(ctx, key, kv.Request{Admin: &kv.AdminRequest{Key: key, TransferLease: to}})
	if err != nil {
		return err
	}
	for i := range resp.Admin.Descriptors {
		r.cache.insert(&resp.Admin.Descriptors[i])
		r.cache.lead(resp.Admin.Descriptors[i].ID, to)
	}
	return nil
}

// AddReplica makes a node a voter of the range that holds the key.
func (r *Router) AddReplica(ctx context.Context, key kv.Key, on kv.NodeID) error {
	resp, err := r.Do(ctx, key, kv.Request{Admin: &kv.AdminRequest{Key: key, AddReplica: on}})
	if err != nil {
		return err
	}
	for i := range resp.Admin.Descriptors {
		r.cache.insert(&resp.Admin.Descriptors[i])
	}
	return r.PublishDescriptors(ctx, resp.Admin.Descriptors)
}

// PublishDescriptors writes descriptors to meta, each at its end key, unless meta has something newer there. It may be
// repeated at any time. They are written from left to right: a right half alone would leave its left half without an entry.
func (r *Router) PublishDescriptors(ctx context.Context, descs []kv.RangeDescriptor) error {
	descs = slices.Clone(descs)
	slices.SortFunc(descs, func(a, b kv.RangeDescriptor) int { return a.Span.Start.Compare(b.Span.Start) })
	for i := range descs {
		if err := r.publish(ctx, &descs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Router) publish(ctx context.Context, d *kv.RangeDescriptor) error {
	key := keys.Meta(d.Span.End)
	value, err := d.MarshalMsg(nil)
	if err != nil {
		return kv.Errorf(kv.ErrInternal, "encoding %s: %v", d, err)
	}
	deadline := r.deadline(ctx)
	ctx = WithDeadline(ctx, deadline)
	have, err := r.loadKey(ctx, key)
	for try := 0; err == nil; try++ {
		if len(have) > 0 {
			old, err := decode(have)
			if err != nil {
				return kv.Errorf(kv.ErrInternal, "meta key %s holds a descriptor that cannot be read: %v", key, err)
			}
			if old.Generation > d.Generation || (old.Generation == d.Generation && old.Preferred == d.Preferred) {
				return nil
			}
		}
		var done bool
		if done, have, err = r.swap(ctx, key, have, value); done {
			return nil
		}
		if try > 0 && err == nil {
			if e := r.pause(ctx, try, deadline); e != nil {
				return kv.Errorf(kv.ErrUnavailable, "publishing %s: %s", d, e.Msg)
			}
		}
	}
	return err
}
