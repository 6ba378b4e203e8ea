package server

import (
	"errors"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// serveHTTP answers from the moment the listener is there, so that a node that waits can be asked what for.
func (s *Server) serveHTTP(l net.Listener) {
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.registry.MustRegister(s.engines.Collectors()...)
	s.registry.MustRegister(s.clockCollector())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.handleHealth)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /{$}", s.handleConsole)
	s.handleProfiles(mux)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: httpLimit}
	go func() {
		if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the HTTP listener ended; SQL goes on", "err", err)
		}
	}()
}
