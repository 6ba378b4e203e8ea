package cluster

import "github.com/prometheus/client_golang/prometheus"

// Metrics of a node's view of the cluster.
type Metrics struct {
	SupportGiven     prometheus.Counter
	SupportRefused   prometheus.Counter
	SupportWithdrawn prometheus.Counter
	SupportSyncs     prometheus.Counter
	Known            prometheus.Gauge
	Alive            prometheus.Gauge
	Falsetickers     prometheus.Gauge
	Stalled          prometheus.Gauge
	Suspected        prometheus.Counter
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
		SupportGiven:     counter("support_given_total", "Times that this store gave support to a store, itself included."),
		SupportRefused:   counter("support_refused_total", "Requests for support refused because they were too far in the future."),
		SupportWithdrawn: counter("support_withdrawn_total", "Times that support had expired and a vote was allowed."),
		SupportSyncs:     counter("support_syncs_total", "Times that the high water of support was made durable."),
		Known:            gauge("nodes_known", "Nodes that this node knows, itself included."),
		Alive:            gauge("nodes_alive", "Nodes heard of lately, this one included."),
		Stalled:          gauge("stalled", "1 while this store requests no support because its disk stands still."),
		Suspected:        counter("suspected_total", "Times that the connection with a node broke, without either side meaning to."),
		Falsetickers:     gauge("falsetickers", "Nodes whose clocks a majority of the nodes contradicts, this one included."),
	}
}

// Collectors lists them for registration.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.SupportGiven, m.SupportRefused, m.SupportWithdrawn, m.SupportSyncs,
		m.Known, m.Alive, m.Falsetickers, m.Stalled, m.Suspected}
}
