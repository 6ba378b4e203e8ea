package rpc

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts what the transport does.
type Metrics struct {
	Calls            *prometheus.CounterVec // by result: ok, failed, timeout
	CallSeconds      prometheus.Histogram
	Sent             prometheus.Counter // messages and pings written
	SentBytes        prometheus.Counter
	Received         prometheus.Counter
	RecvBytes        prometheus.Counter
	Dropped          *prometheus.CounterVec // one-way messages, by reason: unreachable, queue, urgent-queue, overload, refused
	Refused          prometheus.Counter     // calls beyond MaxHandled
	Connections      *prometheus.GaugeVec   // by side: dialled, accepted
	DialErrors       prometheus.Counter
	Lost             prometheus.Counter // signs that a peer's process has ended
	Damaged          prometheus.Counter // frames; each ended its connection
	DisjointReadings prometheus.Counter // messages whose stamp excludes our clock's reading

	ok, failed, timeout prometheus.Counter
}

// NewMetrics makes the collectors, unregistered.
func NewMetrics() *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "longitude_rpc_" + name, Help: help})
	}
	vec := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "longitude_rpc_" + name, Help: help}, []string{label})
	}
	m := &Metrics{
		Calls: vec("calls_total", "Calls to other nodes.", "result"),
		CallSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "longitude_rpc_call_seconds", Help: "Time from call to answer.", Buckets: prometheus.ExponentialBuckets(25e-6, 2, 20),
		}),
		Sent:      counter("sent_frames_total", "Frames written to other nodes."),
		SentBytes: counter("sent_bytes_total", "Bytes written to other nodes."),
		Received:  counter("received_frames_total", "Frames read from other nodes."),
		RecvBytes: counter("received_bytes_total", "Bytes read from other nodes."),
		Dropped:   vec("dropped_total", "One-way messages that were dropped.", "reason"),
		Refused:   counter("refused_calls_total", "Calls of other nodes that were refused because too many were being handled."),
		Connections: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "longitude_rpc_connections", Help: "Open connections to other nodes.",
		}, []string{"side"}),
		DialErrors:       counter("dial_errors_total", "Attempts to reach another node that failed."),
		Lost:             counter("peers_lost_total", "Connections that broke, or were refused, as they do when the other node's process has ended."),
		Damaged:          counter("damaged_frames_total", "Frames of other nodes that arrived damaged; each ended its connection."),
		DisjointReadings: counter("disjoint_readings_total", "Messages whose clock reading and ours exclude each other."),
	}
	m.ok, m.failed, m.timeout = m.Calls.WithLabelValues("ok"), m.Calls.WithLabelValues("failed"), m.Calls.WithLabelValues("timeout")
	return m
}

// Collectors lists them for registration.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.Calls, m.CallSeconds, m.Sent, m.SentBytes, m.Received, m.RecvBytes, m.Dropped, m.Refused,
		m.Connections, m.DialErrors, m.Lost, m.Damaged, m.DisjointReadings}
}
