package storage

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Collectors are the store's metrics, read from Pebble when scraped. Each has the label engine: log or state.
func (e *Engines) Collectors() []prometheus.Collector { return []prometheus.Collector{(*collector)(e)} }

type collector Engines

type gauge struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*pebble.Metrics) float64
}

func desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("longitude_storage_"+name, help, []string{"engine"}, nil)
}

var (
	stallsDesc = desc("write_stalls_total", "Times that writes had to wait for flushes or compactions.")
	fsyncDesc  = desc("fsync_seconds", "Time that a sync of the write-ahead log took.")
	failedDesc = prometheus.NewDesc("longitude_storage_failed", "1 once a write has failed and the store stopped.", nil, nil)

	gauges = []gauge{
		{desc("disk_bytes", "Space used on disk."), prometheus.GaugeValue,
			func(m *pebble.Metrics) float64 { return float64(m.DiskSpaceUsage()) }},
		{desc("memtable_bytes", "Memory held by memtables."), prometheus.GaugeValue,
			func(m *pebble.Metrics) float64 { return float64(m.MemTable.Size + m.MemTable.ZombieSize) }},
		{desc("compaction_debt_bytes", "Bytes to compact before the tree is in shape."), prometheus.GaugeValue,
			func(m *pebble.Metrics) float64 { return float64(m.Compact.EstimatedDebt) }},
		{desc("compactions_total", "Compactions."), prometheus.CounterValue,
			func(m *pebble.Metrics) float64 { return float64(m.Compact.Count) }},
		{desc("flushes_total", "Memtables flushed."), prometheus.CounterValue,
			func(m *pebble.Metrics) float64 { return float64(m.Flush.Count) }},
		{desc("l0_sublevels", "Tables of level 0 that a read may have to look at."), prometheus.GaugeValue,
			func(m *pebble.Metrics) float64 { return float64(m.Levels[0].Sublevels) }},
		{desc("read_amplification", "Levels that a read may have to look at."), prometheus.GaugeValue,
			func(m *pebble.Metrics) float64 { return float64(m.ReadAmp()) }},
		{desc("wal_written_bytes_total", "Bytes written to the write-ahead log."), prometheus.CounterValue,
			func(m *pebble.Metrics) float64 { return float64(m.WAL.BytesWritten) }},
		{desc("block_cache_bytes", "Size of the block cache, which both engines share."), prometheus.GaugeValue,
			func(m *pebble.Metrics) float64 { return float64(m.BlockCache.Size) }},
		{desc("block_cache_hits_total", "Blocks found in the cache."), prometheus.CounterValue,
			func(m *pebble.Metrics) float64 { return float64(m.BlockCache.Hits) }},
		{desc("block_cache_misses_total", "Blocks read from the file system."), prometheus.CounterValue,
			func(m *pebble.Metrics) float64 { return float64(m.BlockCache.Misses) }},
	}
)

func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- stallsDesc
	ch <- fsyncDesc
	ch <- failedDesc
	for _, g := range gauges {
		ch <- g.desc
	}
}

func (c *collector) Collect(ch chan<- prometheus.Metric) {
	failed := 0.0
	if (*Engines)(c).Failed() != nil {
		failed = 1
	}
	ch <- prometheus.MustNewConstMetric(failedDesc, prometheus.GaugeValue, failed)
	if !c.isOpen.Load() {
		return
	}
	for i, db := range []*pebble.DB{c.Log, c.State} {
		name := [...]string{"log", "state"}[i]
		m := db.Metrics()
		ch <- prometheus.MustNewConstMetric(stallsDesc, prometheus.CounterValue, float64(c.stalls[i].Load()), name)
		for _, g := range gauges {
			ch <- prometheus.MustNewConstMetric(g.desc, g.kind, g.value(m), name)
		}
		if name == "log" { // state has no log of its own
			collectFsync(ch, m.LogWriter.FsyncLatency, name)
		}
	}
}

// collectFsync gives Pebble's histogram, which has no name and counts nanoseconds, ours.
func collectFsync(ch chan<- prometheus.Metric, h prometheus.Histogram, name string) {
	var d dto.Metric
	if h == nil || h.Write(&d) != nil || d.Histogram == nil {
		return
	}
	// Pebble has 100 buckets; every fifth is fine enough to plot and to find the tail.
	buckets := map[float64]uint64{}
	for i, b := range d.Histogram.Bucket {
		if i%5 == 0 {
			buckets[b.GetUpperBound()/1e9] = b.GetCumulativeCount()
		}
	}
	ch <- prometheus.MustNewConstHistogram(fsyncDesc, d.Histogram.GetSampleCount(),
		d.Histogram.GetSampleSum()/1e9, buckets, name)
}
