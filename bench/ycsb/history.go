package ycsb

import (
	"sync"
	"sync/atomic"
	"time"
)

// history knows which versions of each field can be there at the end. Version 0 is the one that was loaded or inserted.
//
// An update is over and done with once another update of the same field that began after its end has been acknowledged.
// What is not over and done with may be there, in whatever order the database put what ran at the same time. An update
// whose fate the client could not learn may happen at any time, and stays possible.
type history struct {
	next   atomic.Uint64
	shards [64]historyShard
}

type historyShard struct {
	mu     sync.Mutex
	fields map[fieldID][]candidate
}

type fieldID struct {
	record int64
	field  int
}

// candidate is a version that may be the last. end is zero while its fate is not known.
type candidate struct {
	version    uint64
	begin, end time.Time
}

// update notes an update around f, which is given the version to write.
func (h *history) update(record int64, field int, f func(version uint64) error, refused func(error) bool) error {
	id := fieldID{record, field}
	s := &h.shards[uint64(record)%uint64(len(h.shards))]
	c := candidate{version: h.next.Add(1), begin: time.Now()}
	s.mu.Lock()
	if s.fields == nil {
		s.fields = map[fieldID][]candidate{}
	}
	if s.fields[id] == nil {
		s.fields[id] = []candidate{{end: c.begin.Add(-1)}} // what was loaded
	}
	s.fields[id] = append(s.fields[id], c)
	s.mu.Unlock()
	err := f(c.version)
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.fields[id]
	kept := all[:0]
	for _, x := range all {
		switch {
		case x.version == c.version:
			if err != nil && refused(err) {
				continue
			}
			if err == nil {
				x.end = time.Now()
			}
		case err == nil && !x.end.IsZero() && x.end.Before(c.begin):
			continue
		}
		kept = append(kept, x)
	}
	s.fields[id] = kept
	return err
}

// possible reports whether a version can be the last of a field.
func (h *history) possible(record int64, field int, version uint64) bool {
	s := &h.shards[uint64(record)%uint64(len(h.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	all, updated := s.fields[fieldID{record, field}]
	if !updated {
		return version == 0
	}
	for _, c := range all {
		if c.version == version {
			return true
		}
	}
	return false
}

// inserts numbers new records and knows up to which all have been acknowledged, as YCSB's acknowledged counter does: only
// those are read.
type inserts struct {
	mu     sync.Mutex
	next   int64
	newest int64          // everything up to here is there
	acked  map[int64]bool // above it
}

func newInserts(loaded int64) *inserts {
	return &inserts{next: loaded, newest: loaded - 1, acked: map[int64]bool{}}
}

func (i *inserts) begin() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := i.next
	i.next++
	return n
}

func (i *inserts) done(n int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.acked[n] = true
	for i.acked[i.newest+1] {
		i.newest++
		delete(i.acked, i.newest)
	}
}

// last is the newest record such that it and all before it are there.
func (i *inserts) last() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.newest
}

// acknowledged reports whether a record must be there.
func (i *inserts) acknowledged(n int64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return n <= i.newest || i.acked[n]
}

// issued is how many records there are at most.
func (i *inserts) issued() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.next
}
