package replica

import "github.com/prometheus/client_golang/prometheus"

// Metrics of a store's ranges.
type Metrics struct {
	Ranges, Leaders, Quarantined       prometheus.Gauge
	Elections, Won                     prometheus.Counter
	Transfers, Splits                  prometheus.Counter
	Proposals, Applied, Dropped        prometheus.Counter
	Ambiguous                          prometheus.Counter
	LogSync, LogBatch, Commit, Latches prometheus.Histogram
	SnapshotsSent, SnapshotsReceived   prometheus.Counter
	SnapshotBytes                      prometheus.Counter
	Truncated                          prometheus.Counter
	MessagesDropped                    prometheus.Counter
	VotesRefused                       prometheus.Counter
	LeaseRefused                       prometheus.Counter
	Unheard, Excluded                  prometheus.Counter
	Bumps, Pushes, Collected           prometheus.Counter
	Locks, LockWaiters                 prometheus.Gauge
	LockWait                           prometheus.Histogram
	LockWounds, LocksExpired           prometheus.Counter
	LocksForgone                       prometheus.Counter
	ClosedReads                        prometheus.Counter
	CountedRows                        prometheus.Counter
	Placed                             prometheus.Counter
}

// NewMetrics makes the collectors.
func NewMetrics() *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "longitude_replica_" + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "longitude_replica_" + name, Help: help})
	}
	seconds := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "longitude_replica_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(50e-6, 2, 18),
		})
	}
	return &Metrics{
		Ranges:            gauge("ranges", "Replicas of this store that have state."),
		Leaders:           gauge("leaders", "Replicas of this store that lead their Raft group."),
		Quarantined:       gauge("quarantined", "Replicas of this store that take part in nothing any more, because what they had to apply failed."),
		Elections:         counter("campaigns_total", "Campaigns begun."),
		Won:               counter("elections_won_total", "Elections won."),
		Transfers:         counter("transfers_total", "Leases handed over on purpose."),
		Splits:            counter("splits_total", "Splits applied."),
		Proposals:         counter("proposals_total", "Commands proposed."),
		Applied:           counter("applied_entries_total", "Log entries applied."),
		Dropped:           counter("dropped_commands_total", "Committed commands without effect: of another term or descriptor."),
		Ambiguous:         counter("ambiguous_total", "Commands whose outcome their proposer did not learn."),
		LogSync:           seconds("log_sync_seconds", "Time to make one batch of log entries of all ranges durable."),
		LogBatch:          prometheus.NewHistogram(prometheus.HistogramOpts{Name: "longitude_replica_log_batch_jobs", Help: "Appends that shared one sync.", Buckets: prometheus.ExponentialBuckets(1, 2, 12)}),
		Commit:            seconds("commit_seconds", "Time from proposing a command until it was applied here."),
		Latches:           seconds("latch_wait_seconds", "Time that requests waited for latches."),
		SnapshotsSent:     counter("snapshots_sent_total", "Snapshots sent."),
		SnapshotsReceived: counter("snapshots_received_total", "Snapshots applied."),
		SnapshotBytes:     counter("snapshot_bytes_total", "Bytes of snapshots sent."),
		Truncated:         counter("truncated_entries_total", "Log entries removed because state holds them for good."),
		MessagesDropped:   counter("messages_dropped_total", "Raft messages dropped because a queue was full."),
		VotesRefused:      counter("votes_refused_total", "Votes and campaigns that support of a leader forbade."),
		LeaseRefused:      counter("lease_refused_total", "Requests refused because the lease could not be used."),
		Unheard:           counter("leaders_unheard_total", "Times that a leader fell silent because it heard no quorum of its voters."),
		Excluded:          counter("excluded_total", "Leases ended because their range's task made no progress, or its replica was quarantined."),
		Bumps:             counter("read_bumps_total", "Reads moved to an uncertain version by the leaseholder."),
		Pushes:            counter("pushes_total", "Transactions pushed because their intents were in the way."),
		ClosedReads:       counter("closed_reads_total", "Reads of the past served from closed timestamps, by whatever replica."),
		CountedRows:       counter("counted_rows_total", "Rows that were counted here instead of being sent."),
		Placed:            counter("placed_total", "Requests whose transactions were placed by this node's reading of the clock."),
		Collected:         counter("collected_records_total", "Records of finished transactions removed."),
		Locks:             gauge("locks", "Locks on keys that transactions hold in ranges led here."),
		LockWaiters:       gauge("lock_waiters", "Requests that wait for a lock."),
		LockWait:          seconds("lock_wait_seconds", "Time that requests waited for a lock that was held."),
		LockWounds:        counter("lock_wounds_total", "Locks that older transactions took from younger ones."),
		LocksExpired:      counter("lock_owners_expired_total", "Transactions that lost their locks because they gave no sign of life."),
		LocksForgone:      counter("locks_forgone_total", "Requests that went on without a lock because there were too many."),
	}
}

// Collectors lists them for registration.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.Ranges, m.Leaders, m.Quarantined, m.Elections, m.Won, m.Transfers, m.Splits, m.Proposals, m.Applied, m.Dropped, m.Ambiguous,
		m.LogSync, m.LogBatch, m.Commit, m.Latches, m.SnapshotsSent, m.SnapshotsReceived, m.SnapshotBytes, m.Truncated,
		m.MessagesDropped, m.VotesRefused, m.LeaseRefused, m.Unheard, m.Excluded, m.Bumps, m.Pushes, m.Collected, m.ClosedReads, m.CountedRows, m.Placed,
		m.Locks, m.LockWaiters, m.LockWait, m.LockWounds, m.LocksExpired, m.LocksForgone,
	}
}
