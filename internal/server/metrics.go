package server

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/longitude-db/longitude/clock"
)

// clockMetrics export what the clock says of itself. Package clock depends on nothing, so this is done for it. All of a
// scrape are from one status.
type clockMetrics struct {
	status func() clock.Status
	all    []clockMetric
}

type clockMetric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(clock.Status) float64
}

var conflictsDesc = prometheus.NewDesc("longitude_clock_interval_conflicts_total",
	"Intervals reported by a peer that excluded ours: one of the two clocks is outside its bound.", []string{"peer"}, nil)

var disjointReadingsDesc = prometheus.NewDesc("longitude_clock_disjoint_readings_total",
	"Readings of a peer that excluded ours: some clock is outside its bound, of the two or one that either has learned from.", []string{"peer"}, nil)

// clockCollector makes the collector.
func (s *Server) clockCollector() prometheus.Collector {
	m := &clockMetrics{status: func() clock.Status { return s.clock.Status() }}
	add := func(kind prometheus.ValueType, name, help string, v func(clock.Status) float64) {
		m.all = append(m.all, clockMetric{prometheus.NewDesc("longitude_clock_"+name, help, nil, nil), kind, v})
	}
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	add(gauge, "error_bound_nanos", "Half the width of a reading: the error that the clock admits.", func(st clock.Status) float64 { return float64(st.Bound) })
	add(gauge, "error_bound_p99_nanos", "Its 99th percentile over the last five minutes.", func(st clock.Status) float64 { return float64(st.BoundP99) })
	add(gauge, "error_bound_max_nanos", "Its maximum over the last five minutes.", func(st clock.Status) float64 { return float64(st.BoundMax) })
	add(gauge, "status", "0 unknown, 1 synchronized, 2 free running, 3 disrupted, 4 fenced. Readings are given in 1 and 2.", clockStatus)
	add(gauge, "readable", "1 if the clock gives readings, 0 if it refuses.", func(st clock.Status) float64 {
		if st.Err != nil {
			return 0
		}
		return 1
	})
	add(gauge, "source_age_seconds", "Time since the source's last good answer.", func(st clock.Status) float64 { return st.Age.Seconds() })
	add(gauge, "ratchet_seconds", "How far earliest is held above what the source alone says.", func(st clock.Status) float64 { return st.Ratchet.Seconds() })
	add(counter, "polls_total", "Times the source was asked.", func(st clock.Status) float64 { return float64(st.Polls) })
	add(counter, "failures_total", "Times the source gave no good answer.", func(st clock.Status) float64 { return float64(st.Failures) })
	add(counter, "disruptions_total", "Steps, suspensions and contradictions.", func(st clock.Status) float64 { return float64(st.Disruptions) })
	return m
}

// clockStatus is the state as a number, with one more for a clock that is fenced.
func clockStatus(st clock.Status) float64 {
	if st.Fenced != "" {
		return 4
	}
	return float64(st.State)
}

// Describe implements prometheus.Collector.
func (m *clockMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, x := range m.all {
		out <- x.desc
	}
	out <- conflictsDesc
	out <- disjointReadingsDesc
}

// Collect implements prometheus.Collector.
func (m *clockMetrics) Collect(out chan<- prometheus.Metric) {
	st := m.status()
	for _, x := range m.all {
		out <- prometheus.MustNewConstMetric(x.desc, x.kind, x.value(st))
	}
	for _, d := range st.Conflicts {
		out <- prometheus.MustNewConstMetric(conflictsDesc, prometheus.CounterValue, float64(d.Count), strconv.Itoa(int(d.Peer)))
	}
	for _, d := range st.DisjointReadings {
		out <- prometheus.MustNewConstMetric(disjointReadingsDesc, prometheus.CounterValue, float64(d.Count), strconv.Itoa(int(d.Peer)))
	}
}
