package replica

import (
	"time"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/storage"
)

// Each replica truncates its own log, up to what state holds durably (D2), and keeps the last part for followers that are
// behind. State is flushed now and then, so that this goes on in a store that is written little, and sooner when the logs have
// become long, but not as soon as there is something to truncate: each flush is merged with all of the level below, and at
// some thousand writes per second flushes every three seconds made that a quarter of all work.

// truncateInterval is how often logs are looked at.
const truncateInterval = time.Second

// truncateLeast is how many entries have to go at once: each truncation leaves a tombstone.
const truncateLeast = 256

func (s *Store) runTruncation() {
	for flushed := s.opts.RT.Now(); s.rest(truncateInterval); {
		held := int64(0)
		for _, r := range s.ranges.all() {
			st := r.stats.Load()
			if st.Last-st.First+1 < s.opts.KeepEntries+truncateLeast && !r.tooLong.Load() {
				continue
			}
			// Without a durable index everything is held: the first flush writes one.
			v, ok, err := s.opts.Engines.Durable(storage.Key(keys.RangeState(r.id, stateApplied)))
			if err != nil {
				s.fatal(err)
				return
			}
			at := entryID{}
			if ok {
				at = decodeEntryID(v)
			}
			r.queue.Push(&truncation{at})
			held += r.held.Load()
		}
		if now := s.opts.RT.Now(); now-flushed >= s.opts.FlushInterval || (held > s.opts.FlushBytes && now-flushed >= s.opts.FlushInterval/10) {
			if err := s.opts.Engines.FlushState(); err != nil {
				s.fatal(err)
				return
			}
			flushed = now
		}
	}
}

// truncation lets the log go up to what is durable.
type truncation struct{ durable entryID }

func (ev *truncation) handle(r *Replica) {
	l := r.raftLog
	r.held.Store(l.size.after(ev.durable.index))
	if l.restarting > 0 {
		return // the log that a snapshot leaves begins elsewhere
	}
	to := l.size.keep(r.store.opts.KeepBytes)
	if keep := r.store.opts.KeepEntries; l.last.index > keep {
		to = max(to, l.last.index-keep)
	}
	to = min(to, ev.durable.index, r.applied.index, l.last.index)
	if to < l.trunc.index+1 || (to < l.trunc.index+truncateLeast && !r.tooLong.Load()) {
		return
	}
	term, err := l.Term(to)
	if err != nil {
		r.fatal(err)
		return
	}
	from := l.trunc.index + 1
	l.truncate(entryID{to, term})
	r.submit(&logJob{
		r:      r,
		clears: []pair{{entryKey(r.id, from), entryKey(r.id, to+1)}},
		sets:   []pair{{logKey(r.id, logTruncated), l.trunc.encode()}},
	})
	r.store.opts.Metrics.Truncated.Add(float64(to - from + 1))
}
