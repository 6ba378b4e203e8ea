package replica

import "time"

// publishPause is how long publication rests when there is nothing to do, or nothing succeeds.
const publishPause = time.Second

// runPublication makes the descriptors of ranges that this node leads known, until it has succeeded. Every new leader
// publishes again: whether the one before did is not known, and publishing twice does no harm.
func (s *Store) runPublication() {
	for !s.stopped() {
		if _, open := s.publish.Take(publishPause); !open || s.opts.Publish == nil {
			return
		}
		for _, r := range s.ranges.all() {
			d := r.desc.Load()
			if d == nil || r.published.Load() >= d.Generation {
				continue
			}
			if _, ok := r.lease.holds(); !ok || s.stopped() {
				continue
			}
			if err := s.opts.Publish(*d); err != nil {
				r.log.Debug("descriptor not published yet", "err", err)
				continue
			}
			r.published.Store(d.Generation)
		}
	}
}
