package txn

import "github.com/prometheus/client_golang/prometheus"

// Metrics of the transactions that one node coordinates.
type Metrics struct {
	Commits    *prometheus.CounterVec // by kind
	Aborts     prometheus.Counter
	Restarts   *prometheus.CounterVec // by reason
	Uncertain  *prometheus.CounterVec // by outcome
	Refreshes  *prometheus.CounterVec // by outcome
	CommitWait waitMetrics
	ReadWait   waitMetrics
	Cleanups   *prometheus.CounterVec // by outcome
	Unlocks    *prometheus.CounterVec // by outcome
	Unlocking  prometheus.Gauge
	Overtaken  prometheus.Counter
	Recoveries *prometheus.CounterVec // by outcome
}

// waitMetrics are the two sides of rule 2's cost.
type waitMetrics struct{ Needed, Actual prometheus.Histogram }

func newWait(what, help string) waitMetrics {
	h := func(side, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "longitude_txn_" + what + "_wait_" + side + "_seconds", Help: help,
			Buckets: prometheus.ExponentialBuckets(10e-6, 2.5, 16)})
	}
	return waitMetrics{
		Needed: h("needed", help+": distance, at the transaction's start, to the newest timestamp it depends on."),
		Actual: h("actual", help+": what was left to wait at its end; the rest was hidden under other work."),
	}
}

// NewMetrics makes them at zero.
func NewMetrics() *Metrics {
	vec := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "longitude_txn_" + name, Help: help}, []string{label})
	}
	return &Metrics{
		Commits:    vec("commits_total", "Transactions committed: read-only, one-phase (all writes in one range), over several in one round (parallel) or in more (intents).", "kind"),
		Aborts:     prometheus.NewCounter(prometheus.CounterOpts{Name: "longitude_txn_aborts_total", Help: "Attempts that ended without a commit, restarts included."}),
		Restarts:   vec("restarts_total", "Attempts that have to be repeated from the beginning.", "reason"),
		Uncertain:  vec("uncertainty_total", "Reads that met a version within the uncertainty limit: moved up in place, or the transaction restarted.", "outcome"),
		Refreshes:  vec("refreshes_total", "Rounds that asked whether what was read is still so at a later timestamp.", "outcome"),
		CommitWait: newWait("commit", "Commit wait (rule 2)"),
		ReadWait:   newWait("read", "Wait before rows leave (rule 2)"),
		Unlocks:    vec("unlocks_total", "Releases of a transaction's locks in one range: told, or left to expire.", "outcome"),
		Unlocking:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "longitude_txn_unlocks_pending", Help: "Releases of locks that are still to be told to ranges."}),
		Cleanups:   vec("cleanups_total", "Transactions whose intents were resolved in the background, or left to whoever meets them.", "outcome"),
		Overtaken:  prometheus.NewCounter(prometheus.CounterOpts{Name: "longitude_txn_overtaken_total", Help: "Commits that were told to land higher because a reader had passed them, each time."}),
		Recoveries: vec("recoveries_total", "Staged transactions of others that were found out about: committed, or a write was missing.", "outcome"),
	}
}

// Collectors lists them for registration.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.Commits, m.Aborts, m.Restarts, m.Uncertain, m.Refreshes, m.CommitWait.Needed, m.CommitWait.Actual,
		m.ReadWait.Needed, m.ReadWait.Actual, m.Cleanups, m.Unlocks, m.Unlocking, m.Overtaken, m.Recoveries}
}
