package server

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
)

// handleProfiles answers /debug/pprof. Who can ask for a profile can keep a processor busy for as long as he likes, and reads the
// command line and what goroutines are at: that is for people on the node's own machine, unless the options say otherwise.
func (s *Server) handleProfiles(mux *http.ServeMux) {
	for path, h := range map[string]http.HandlerFunc{"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace} {
		if !s.opts.RemoteProfiles {
			h = fromHere(h)
		}
		mux.HandleFunc("/debug/pprof/"+path, h)
	}
}

// fromHere refuses requests that come, or may come, from another machine. The caller's address alone does not tell: behind a proxy on
// this machine everybody calls from a loopback address, and a browser here can be made to call by a page from elsewhere. So it
// looks at three: the address that the request came in at, the caller's, and the host that was asked for.
// HAZARD: a proxy that is asked on a loopback address and names the host by one too is taken for a caller here.
func fromHere(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if in == nil || !isLoopback(in.String()) || !isLoopback(r.RemoteAddr) || !isLoopback(r.Host) {
			http.Error(w, fmt.Sprintf("profiles are for callers on the node's own machine, on a loopback address; %s asked for %s\nhint: run `curl http://127.0.0.1:PORT/debug/pprof/...` there (if the node listens there), or start it with --remote-profiles", r.RemoteAddr, r.Host),
				http.StatusForbidden)
			return
		}
		h(w, r)
	}
}

// isLoopback takes a host, or a host and a port.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
