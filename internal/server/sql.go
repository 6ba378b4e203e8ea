package server

import (
	"errors"
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
		ClockStatus: s.clockRows, Nodes: s.nodeRows, Ranges: s.rangeRows,
		DefaultOrdering: s.opts.Ordering, Version: s.opts.Version, Metrics: m, Log: s.log,
	})
	go func() {
		if err := s.sql.Serve(l); err != nil && !errors.Is(err, engine.ErrClosed) {
			s.fail(err)
		}
	}()
	return nil
}
