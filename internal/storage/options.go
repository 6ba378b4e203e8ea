package storage

import (
	"runtime"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// common is what the two instances share.
func (e *Engines) common(o Options, name string, stalls int) *pebble.Options {
	p := &pebble.Options{
		// Columnar blocks need FormatColumnarBlocks; sync chunks tell a torn tail of the log from corruption.
		FormatMajorVersion: pebble.FormatTableFormatV6,
		Logger:             &pebbleLogger{report: e.report, name: name},
		MaxOpenFiles:       4096,
	}
	p.FS = e.fs
	p.EventListener = e.listener(name, stalls)
	if o.Deterministic {
		p.DisableAutomaticCompactions = true
		p.DisableTableStats = true
		p.L0StopWritesThreshold = 1 << 20
		p.MemTableSize = 64 << 20 // allocated as it fills
		p.MemTableStopWritesThreshold = 8
		p.CompactionConcurrencyRange = func() (int, int) { return 1, 1 }
	}
	return p
}

func (e *Engines) logOptions(o Options) *pebble.Options {
	p := e.common(o, "log", 0)
	if !o.Deterministic {
		// Entries are truncated soon after they are written: with a large memtable most never reach a table.
		p.MemTableSize = 64 << 20
		p.MemTableStopWritesThreshold = 4
		p.L0CompactionThreshold = 4
		p.L0StopWritesThreshold = 1000
		p.LBaseMaxBytes = 64 << 20
		p.CompactionConcurrencyRange = func() (int, int) { return 1, 2 }
	}
	return p
}

func (e *Engines) stateOptions(o Options) *pebble.Options {
	p := e.common(o, "state", 1)
	p.Comparer = &cockroachkvs.Comparer
	p.KeySchema = cockroachkvs.KeySchema.Name
	p.KeySchemas = sstable.MakeKeySchemas(&cockroachkvs.KeySchema)
	p.BlockPropertyCollectors = cockroachkvs.BlockPropertyCollectors
	p.DisableWAL = true
	p.Experimental.EnableColumnarBlocks = func() bool { return true }
	for i := range p.Levels {
		p.Levels[i].BlockSize = 32 << 10
		p.Levels[i].IndexBlockSize = 256 << 10
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		p.Levels[i].FilterType = pebble.TableFilter
	}
	// Most keys live in the last level, where a filter would be large and point reads mostly find their key.
	p.Levels[len(p.Levels)-1].FilterPolicy = pebble.NoFilterPolicy
	if !o.Deterministic {
		p.MemTableSize = 64 << 20
		p.MemTableStopWritesThreshold = 4
		p.L0CompactionThreshold = 2
		// Rather deep reads for a while than writes that stand still, and with them every range of the node.
		p.L0StopWritesThreshold = 1000
		p.LBaseMaxBytes = 64 << 20
		p.TargetFileSizes[0] = 4 << 20
		p.FlushSplitBytes = 4 << 20
		p.CompactionConcurrencyRange = func() (int, int) { return 1, max(2, runtime.GOMAXPROCS(0)/2) }
	}
	return p
}
