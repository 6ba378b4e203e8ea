package replica

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/tscache"
)

//msgp:clearomitted

// lowWater says what leases have served, as it is kept and handed on: no lease that begins later serves a write at or below it
// (L3). One timestamp holds for every key; marks hold for some keys and lie above it. A few reads are far ahead of all others: each
// node reads the catalog at a time to come. Were there one timestamp for all, every write of the next lease would land as far ahead,
// and have to be waited for (rule 2).
//
// What is served has to be in one of the two before it is handed on:
//
//	a read                  leaves a mark in the timestamp cache for all that it has read, and nothing else (Result.Marked)
//	all else                raises leaseUse.served, and so the timestamp for every key: writes and commits, since a lease's beginning
//	                        also says what was acknowledged before it (Env.LeaseStart); refreshes and words, after which something may
//	                        be committed elsewhere; pushes and queries; closed timestamps
//
// Invariant: every mark is above the timestamp. Both only rise.
type lowWater struct {
	Wall    int64     `msg:"w"`
	Logical uint32    `msg:"l,omitempty"`
	Marks   []lowMark `msg:"m,omitempty"`
}

// lowMark is what was served in [Start, End).
type lowMark struct {
	Start   kv.Key `msg:"s"`
	End     kv.Key `msg:"e"`
	Wall    int64  `msg:"w"`
	Logical uint32 `msg:"l,omitempty"`
}

// Marks are few and short: a low water is part of a command and of the range's state. What does not fit raises the timestamp.
const (
	maxMarks   = 16
	maxMarkKey = 1 << 10
)

func (l *lowWater) timestamp() clock.Timestamp {
	return clock.Timestamp{Wall: l.Wall, Logical: l.Logical}
}

func (m *lowMark) timestamp() clock.Timestamp {
	return clock.Timestamp{Wall: m.Wall, Logical: m.Logical}
}

func (m *lowMark) span() kv.Span { return kv.Span{Start: m.Start, End: m.End} }

func lowOf(ts clock.Timestamp, marks ...tscache.Mark) *lowWater {
	l := &lowWater{Wall: ts.Wall, Logical: ts.Logical}
	for _, m := range marks {
		l.Marks = append(l.Marks, lowMark{Start: m.Span.Start, End: m.Span.End, Wall: m.TS.Wall, Logical: m.TS.Logical})
	}
	l.bound()
	return l
}

// raise makes l no lower than o is for any key.
func (l *lowWater) raise(o *lowWater) {
	ts := l.timestamp().Forward(o.timestamp())
	l.Wall, l.Logical = ts.Wall, ts.Logical
	l.Marks = slices.Clone(l.Marks)
	for _, m := range o.Marks {
		m.Start, m.End = slices.Clone(m.Start), slices.Clone(m.End) // o may be part of what is decoded into again
		l.Marks = append(l.Marks, m)
	}
	l.bound()
}

// bound drops marks that say no more than the timestamp, keeps the highest, and raises the timestamp to the others.
func (l *lowWater) bound() {
	fold := func(m *lowMark) {
		ts := l.timestamp().Forward(m.timestamp())
		l.Wall, l.Logical = ts.Wall, ts.Logical
	}
	marks := slices.Clone(l.Marks)
	slices.SortFunc(marks, func(a, b lowMark) int {
		return cmp.Or(-a.timestamp().Compare(b.timestamp()), a.Start.Compare(b.Start), a.End.Compare(b.End))
	})
	marks = slices.CompactFunc(marks, func(a, b lowMark) bool {
		return a.timestamp() == b.timestamp() && a.Start.Equal(b.Start) && a.End.Equal(b.End)
	})
	for i := range marks {
		if i >= maxMarks || len(marks[i].Start) > maxMarkKey || len(marks[i].End) > maxMarkKey {
			fold(&marks[i])
		}
	}
	l.Marks = slices.DeleteFunc(marks, func(m lowMark) bool { return m.timestamp().LessEq(l.timestamp()) })
	if len(l.Marks) == 0 {
		l.Marks = nil
	}
}

// within is what l says about a range that gets the keys from at on: marks that lie below at whole, and are not of local keys,
// are no concern of it.
func (l *lowWater) within(at kv.Key) *lowWater {
	out := &lowWater{Wall: l.Wall, Logical: l.Logical}
	for _, m := range l.Marks {
		if keys.IsLocal(m.Start) || at.Less(m.End) {
			out.Marks = append(out.Marks, m)
		}
	}
	return out
}

// served is what this replica's leases may have served so far. The caller holds all latches: a read that was let in has left its
// marks.
//
// Timestamps that are past cost the next lease nothing, so marks are kept for what is above our earliest, if that is known.
func (r *Replica) served() *lowWater {
	low := r.lease.servedSoFar()
	if now, err := r.store.opts.Clock.Now(); err == nil {
		low = low.Forward(now.Start())
	}
	low, marks := r.reads.Above(low, maxMarks)
	if r.store.opts.Unsafe.DropMarks {
		marks = nil
	}
	return lowOf(low, marks...)
}

// appendLow is how a low water is kept in state: the timestamp in 12 bytes, and then, if there are marks, all of it.
func (l *lowWater) appendLow(b []byte) ([]byte, error) {
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, uint64(l.Wall)), l.Logical)
	if len(l.Marks) == 0 {
		return b, nil
	}
	return l.MarshalMsg(b)
}

func decodeLow(v []byte) (l lowWater, err error) {
	if len(v) < 12 {
		return l, fmt.Errorf("a low water of %d bytes: %w", len(v), errFormat)
	}
	l.Wall, l.Logical = int64(binary.BigEndian.Uint64(v)), binary.BigEndian.Uint32(v[8:])
	if len(v) > 12 {
		_, err = l.UnmarshalMsg(v[12:])
	}
	return l, err
}
