package route

import (
	"context"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// prefetch is how many descriptors a lookup brings along: the neighbours are usually wanted next.
const prefetch = 32

// Lookup returns the descriptor of the range that holds the key, from memory or from meta. It may be old (O1).
func (r *Router) Lookup(ctx context.Context, key kv.Key) (*kv.RangeDescriptor, error) {
	d, err := r.lookup(ctx, key, r.deadline(ctx))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// lookup retries until the deadline.
func (r *Router) lookup(ctx context.Context, key kv.Key, deadline time.Duration) (*kv.RangeDescriptor, *kv.Error) {
	if !key.Less(keys.Max) {
		return nil, kv.Errorf(kv.ErrInternal, "key %s is at or past the end of the key space %s", key, keys.Max)
	}
	for try := 0; ; try++ {
		if d, _ := r.cache.get(key); d != nil {
			return d, nil
		}
		var d *kv.RangeDescriptor
		err := kv.Errorf(kv.ErrUnavailable, "no node has said yet which range holds meta: is a majority of the cluster up?")
		if key.Less(keys.SystemPrefix) {
			if d = r.o.FirstRange(); d != nil {
				r.cache.insert(d)
			}
		} else {
			d, err = r.flight.do(string(key), deadline-r.o.RT.Now(), func() (*kv.RangeDescriptor, *kv.Error) {
				return r.readMeta(WithDeadline(ctx, deadline), key)
			})
		}
		if d != nil {
			return d, nil
		}
		if e := r.pause(ctx, try, deadline); e != nil {
			return nil, kv.Errorf(kv.ErrUnavailable, "cannot find the range of key %s: %s; last: %s", key, e.Msg, err.Error())
		}
	}
}

// readMeta asks meta for the range that holds the key, and remembers its neighbours too. Between a split and its
// publication meta can hold no descriptor that covers the key; then the nearest one is returned as a guess: its nodes are
// the most likely to hold the key, and answer with the true descriptor.
func (r *Router) readMeta(ctx context.Context, key kv.Key) (*kv.RangeDescriptor, *kv.Error) {
	r.m.Lookups.Inc()
	span := keys.MetaLookup(key)
	res := r.DoMany(ctx, []Addressed{{Key: keys.Meta(key), Request: kv.Request{Inline: &kv.InlineRequest{Span: span, Limit: prefetch}}}})[0]
	if res.Err != nil {
		return nil, res.Err
	}
	var guess *kv.RangeDescriptor
	for _, v := range res.Response.Inline.Values {
		d, err := decode(v)
		if err != nil {
			return nil, kv.Errorf(kv.ErrInternal, "meta holds a descriptor that cannot be read: %v", err)
		}
		r.cache.insert(d)
		if guess == nil {
			guess = d
		}
	}
	if d, _ := r.cache.get(key); d != nil {
		return d, nil
	}
	if guess == nil {
		guess = r.o.FirstRange() // nothing is published yet: the cluster is being bootstrapped
	}
	if guess == nil {
		return nil, kv.Errorf(kv.ErrUnavailable, "meta is empty")
	}
	return guess, nil
}

func decode(v []byte) (*kv.RangeDescriptor, error) {
	d := new(kv.RangeDescriptor)
	_, err := d.UnmarshalMsg(v)
	return d, err
}

// flights lets the tasks that miss the same key share one lookup.
type flights struct {
	rt rt.Runtime
	mu sync.Mutex
	m  map[string]*rt.Future[found]
}

type found struct {
	d   *kv.RangeDescriptor
	err *kv.Error
}

func newFlights(r rt.Runtime) *flights { return &flights{rt: r, m: map[string]*rt.Future[found]{}} }

func (f *flights) do(key string, limit time.Duration, fn func() (*kv.RangeDescriptor, *kv.Error)) (*kv.RangeDescriptor, *kv.Error) {
	f.mu.Lock()
	if fut := f.m[key]; fut != nil {
		f.mu.Unlock()
		v, err := fut.Get(limit)
		if err != nil {
			return nil, kv.Errorf(kv.ErrUnavailable, "a lookup of the same key has not come back")
		}
		return v.d, v.err
	}
	fut := rt.NewFuture[found](f.rt)
	f.m[key] = fut
	f.mu.Unlock()
	d, err := fn()
	f.mu.Lock()
	delete(f.m, key)
	f.mu.Unlock()
	fut.Set(found{d, err}, nil)
	return d, err
}
