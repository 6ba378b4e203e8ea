package engine

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics of the SQL layer.
type Metrics struct {
	Connections prometheus.Gauge
	Statements  *prometheus.CounterVec   // by kind
	Errors      *prometheus.CounterVec   // by MySQL code
	Latency     *prometheus.HistogramVec // by kind
	Repeated    *prometheus.CounterVec   // by reason
	RepeatTime  prometheus.Counter
	Given       prometheus.Counter
	InPlace     *prometheus.CounterVec // by shape
	Planned     *prometheus.CounterVec // by planner

	byKind [control + 1]kindMetrics
}

// kindMetrics are those of one kind of statement: looking them up for each one takes longer than counting it.
type kindMetrics struct {
	count   prometheus.Counter
	latency prometheus.Observer
}

// done counts a statement.
func (m *Metrics) done(k statementKind, took time.Duration) {
	m.byKind[k].count.Inc()
	m.byKind[k].latency.Observe(took.Seconds())
}

// planned counts a statement that reads by its planner.
func (m *Metrics) planned(own bool) {
	if own {
		m.Planned.WithLabelValues("own").Inc()
	} else {
		m.Planned.WithLabelValues("other").Inc()
	}
}

// NewMetrics makes them.
func NewMetrics() *Metrics {
	m := &Metrics{
		Connections: prometheus.NewGauge(prometheus.GaugeOpts{Name: "longitude_sql_connections",
			Help: "Open client connections."}),
		Statements: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "longitude_sql_statements_total",
			Help: "Statements executed, failed ones included."}, []string{"kind"}),
		Errors: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "longitude_sql_errors_total",
			Help: "Errors sent to clients, by MySQL error code."}, []string{"code"}),
		Latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "longitude_sql_statement_seconds",
			Help: "From the arrival of a statement to the end of its answer.", Buckets: prometheus.ExponentialBuckets(0.0001, 2, 18)}, []string{"kind"}),
		Repeated: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "longitude_sql_repeated_statements_total",
			Help: "Times a statement was repeated by the node because its transaction was lost to another one."}, []string{"reason"}),
		RepeatTime: prometheus.NewCounter(prometheus.CounterOpts{Name: "longitude_sql_repeated_seconds_total",
			Help: "Time that went into attempts of statements that had to be repeated, and the pauses after them."}),
		Given: prometheus.NewCounter(prometheus.CounterOpts{Name: "longitude_sql_deadlocks_total",
			Help: "Transactions that the client was told to repeat (error 1213)."}),
		InPlace: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "longitude_sql_counted_in_place_total",
			Help: "Times a GROUP BY was answered by counting where the rows are, by what it was over."}, []string{"over"}),
		Planned: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "longitude_sql_planned_total",
			Help: "Statements that read and had no compiled plan, by the planner that planned them: own, or other."}, []string{"planner"}),
	}
	for k := range m.byKind {
		kind := statementKind(k).String()
		m.byKind[k] = kindMetrics{m.Statements.WithLabelValues(kind), m.Latency.WithLabelValues(kind)}
	}
	return m
}

// Collectors lists them for a registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.Connections, m.Statements, m.Errors, m.Latency, m.Repeated, m.RepeatTime, m.Given, m.InPlace, m.Planned}
}
