package route

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts what the routers of one node do.
type Metrics struct {
	Batches  prometheus.Counter
	Requests prometheus.Counter
	Lookups  prometheus.Counter
	Retries  *prometheus.CounterVec
	Near     *prometheus.CounterVec
}

// NewMetrics makes them at zero.
func NewMetrics() *Metrics {
	return &Metrics{
		Batches:  prometheus.NewCounter(prometheus.CounterOpts{Name: "longitude_route_batches_total", Help: "Batches sent to nodes, this one included."}),
		Requests: prometheus.NewCounter(prometheus.CounterOpts{Name: "longitude_route_requests_total", Help: "Requests sent to ranges, repetitions included."}),
		Lookups:  prometheus.NewCounter(prometheus.CounterOpts{Name: "longitude_route_meta_lookups_total", Help: "Reads of meta for a range that was not in the cache."}),
		Retries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "longitude_route_retries_total",
			Help: "Requests sent again, by what the last try ended with."}, []string{"reason"}),
		Near: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "longitude_route_near_reads_total",
			Help: "Reads of the present that went to this node's replica, to wait until their timestamp is closed there: served, or asked of the leaseholder after all (late)."}, []string{"outcome"}),
	}
}

func (m *Metrics) retry(reason string) { m.Retries.WithLabelValues(reason).Inc() }

// Collectors lists them for registration.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.Batches, m.Requests, m.Lookups, m.Retries, m.Near}
}
