package sim

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// probe adds what a process's counters say to those of the run: which branches a run has reached, and how often. A node's
// own metrics serve as probes, so that a branch worth probing becomes one worth seeing in production, and the reverse.
func (w *World) probe(m *Machine) {
	if m.Node == nil {
		return
	}
	reg := prometheus.NewRegistry()
	for _, cs := range [][]prometheus.Collector{m.Node.Metrics.Cluster.Collectors(), m.Node.Metrics.Replica.Collectors(),
		m.Node.Metrics.Route.Collectors(), m.Node.Metrics.Txn.Collectors()} {
		for _, c := range cs {
			if err := reg.Register(c); err != nil {
				panic(err)
			}
		}
	}
	families, err := reg.Gather()
	if err != nil {
		panic(err)
	}
	for _, f := range families {
		for _, s := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "longitude_")
			for _, l := range s.GetLabel() {
				name += " " + l.GetValue()
			}
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				w.probes[name] += s.GetCounter().GetValue()
			case dto.MetricType_HISTOGRAM:
				w.probes[name] += float64(s.GetHistogram().GetSampleCount())
			}
		}
	}
}

// Probes sums counters over runs.
type Probes map[string]float64

// Add takes in a run's.
func (p Probes) Add(o Probes) {
	for k, v := range o {
		p[k] += v
	}
}

// Never lists those that stayed at zero.
func (p Probes) Never() (names []string) {
	for k, v := range p {
		if v == 0 {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	return names
}
