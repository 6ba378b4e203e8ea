package server

import (
	"errors"
	"fmt"
	"net"

	"github.com/longitude-db/longitude/internal/sql/engine"
)

// openSQL lets clients in (V2).
func (s *Server) openSQL(l net.Listener) error {
	n := s.running()
	m := engine.NewMetrics()
	s.registry.MustRegister(m.Collectors()...)
	s.sql = engine.New(engine.Options{
		DB: n.DB, Router: n.Router, Clock: s.clock, NodeID: n.Self().ID,
		Refusal: s.refusal, SetClock: s.setClock, ClockStatus: s.clockRows, Nodes: s.nodeRows, Ranges: s.rangeRows,
		DefaultOrdering: s.opts.Ordering, Version: s.opts.Version, Metrics: m, Log: s.log,
	})
	go func() {
		if err := s.sql.Serve(l); err != nil && !errors.Is(err, engine.ErrClosed) {
			s.fail(err)
		}
	}()
	return nil
}

// refusal is what SQL clients are told while the clock gives no readings.
func (s *Server) refusal() string {
	st := s.clock.Status()
	what, hint := st.Refusal()
	if what == "" {
		return ""
	}
	means := "this node refuses transactions until its clock is good again"
	if len(s.running().Cluster.Nodes()) > 1 {
		means = "this node gave up its leases and refuses transactions; the other nodes serve its ranges"
	}
	title := "no clock reading"
	if st.Fenced != "" {
		title = "node fenced"
	}
	return fmt.Sprintf("%s: %s\n%s\nhint: %s", title, what, means, hint)
}
