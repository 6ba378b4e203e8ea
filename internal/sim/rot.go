package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/longitude-db/longitude/internal/storage"
)

// rot is damage at rest: one bit of a file that reads find flipped. Written data is not damaged, so a disk is sound again once
// the rot is taken away, as if it had been copied to another one.
type rot struct {
	file string
	at   int64
	bit  byte
}

func (r *rot) String() string { return fmt.Sprintf("bit %d of byte %d of %s", r.bit, r.at, r.file) }

// damage flips the bit if it is among what was read.
func (f *diskFile) damage(p []byte, at int64) {
	r := f.d.rot
	if r == nil || f.name != r.file || r.at < at || r.at >= at+int64(len(p)) {
		return
	}
	p[r.at-at] ^= 1 << r.bit
	f.d.faults.recordFailure()
}

// recordFailure notes that the process has met what is wrong with its disk.
func (i *diskFaultState) recordFailure() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.failed = true
}

// rotTable chooses a bit of one of the tables of state, or of the log. Only tables that are in use are chosen from: when Pebble
// removes those that are not is not the same in every run. nil: there is none.
func rotTable(m *Machine, r *rand.Rand) *rot {
	type table struct {
		file string
		size uint64
	}
	var all []table
	for _, half := range []struct {
		name string
		db   *storage.DB
	}{{"log", m.Engines.Log}, {"state", m.Engines.State}} {
		levels, err := half.db.SSTables()
		if err != nil {
			return nil
		}
		for _, level := range levels {
			for _, t := range level {
				all = append(all, table{fmt.Sprintf("store/%s/%06d.sst", half.name, uint64(t.FileNum)), t.Size})
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b table) int { return cmp.Compare(a.file, b.file) })
	t := all[r.IntN(len(all))]
	return &rot{file: t.file, at: r.Int64N(int64(t.size)), bit: byte(r.IntN(8))}
}

// rotLog chooses a bit of the write-ahead log of the log, in what was synced but not at its end. Damage to the last of what
// was synced looks like a write that the power failure cut short, and Pebble takes it for that. nil: there is none.
func rotLog(m *Machine, r *rand.Rand) *rot {
	const end = 64 << 10 // two blocks: a later one tells how much was synced
	d := m.Disk
	d.mu.Lock()
	defer d.mu.Unlock()
	var file string
	for name := range d.logs { // the newest
		if strings.HasPrefix(name, "store/log/") && name > file {
			file = name
		}
	}
	if file == "" || d.logs[file].synced <= end {
		return nil
	}
	return &rot{file: file, at: r.Int64N(d.logs[file].synced - end), bit: byte(r.IntN(8))}
}
