package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/longitude-db/longitude/clock"
)

// clockCollectors export what the clock says of itself. Package clock depends on nothing, so this is done for it.
func (s *Server) clockCollectors() []prometheus.Collector {
	gauge := func(name, help string, v func(clock.Status) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "longitude_clock_" + name, Help: help},
			func() float64 { return v(s.clock.Status()) })
	}
	counter := func(name, help string, v func(clock.Status) float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "longitude_clock_" + name, Help: help},
			func() float64 { return v(s.clock.Status()) })
	}
	return []prometheus.Collector{
		gauge("bound_seconds", "Half the width of a reading.", func(st clock.Status) float64 { return st.Bound.Seconds() }),
		gauge("readable", "1 if the clock gives readings, 0 if it refuses.", func(st clock.Status) float64 {
			if st.Err != nil {
				return 0
			}
			return 1
		}),
		gauge("source_age_seconds", "Time since the source's last good answer.", func(st clock.Status) float64 { return st.Age.Seconds() }),
		gauge("ratchet_seconds", "How far earliest is held above what the source alone says.", func(st clock.Status) float64 { return st.Ratchet.Seconds() }),
		counter("polls_total", "Times the source was asked.", func(st clock.Status) float64 { return float64(st.Polls) }),
		counter("failures_total", "Times the source gave no good answer.", func(st clock.Status) float64 { return float64(st.Failures) }),
		counter("disruptions_total", "Steps, suspensions and contradictions.", func(st clock.Status) float64 { return float64(st.Disruptions) }),
		counter("disproofs_total", "Messages whose sender's earliest was above our latest.", func(st clock.Status) float64 {
			var n uint64
			for _, d := range st.Disproofs {
				n += uint64(d.Count)
			}
			return float64(n)
		}),
	}
}
