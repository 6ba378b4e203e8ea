package cluster

import "github.com/prometheus/client_golang/prometheus"

// Metrics of a node's view of the cluster.
type Metrics struct {
	Given     prometheus.Counter
	Refused   prometheus.Counter
	Broken    prometheus.Counter
	Synced    prometheus.Counter
	Known     prometheus.Gauge
	Alive     prometheus.Gauge
	Guilty    prometheus.Gauge
	Stalled   prometheus.Gauge
	Suspected prometheus.Counter
}

// NewMetrics makes the collectors.
func NewMetrics() *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "longitude_cluster_" + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "longitude_cluster_" + name, Help: help})
	}
	return &Metrics{
		Given:     counter("promises_given_total", "Promises given to stores, this one included."),
		Refused:   counter("promises_refused_total", "Asks refused because they were too far in the future."),
		Broken:    counter("promises_released_total", "Times that a vote was free because no promise bound it."),
		Synced:    counter("promise_syncs_total", "Times that the high water of promises was made durable."),
		Known:     gauge("nodes_known", "Nodes that this node knows, itself included."),
		Alive:     gauge("nodes_alive", "Nodes heard of lately, this one included."),
		Stalled:   gauge("stalled", "1 while this store asks for no promises because its disk stands still."),
		Suspected: counter("suspected_total", "Times that the connection with a node broke, without either side meaning to."),
		Guilty:    gauge("clocks_disproved", "Nodes whose clocks a majority of the nodes disproves, this one included."),
	}
}

// Collectors lists them for registration.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.Given, m.Refused, m.Broken, m.Synced, m.Known, m.Alive, m.Guilty, m.Stalled, m.Suspected}
}
