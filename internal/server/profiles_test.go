package server

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestProfilesAreForCallersHere asks for profiles from here and from elsewhere, at all pages and with both settings.
func TestProfilesAreForCallersHere(t *testing.T) {
	for _, c := range []struct {
		what, in, from, host string
		here                 bool
	}{
		{"on this machine", "127.0.0.1:8080", "127.0.0.1:5555", "127.0.0.1:8080", true},
		{"by name", "127.0.0.1:8080", "127.0.0.1:5555", "localhost:8080", true},
		{"IPv6", "[::1]:8080", "[::1]:5555", "[::1]:8080", true},
		{"IPv4 on an IPv6 socket", "[::ffff:127.0.0.1]:8080", "[::ffff:127.0.0.1]:5555", "127.0.0.1:8080", true},
		{"without a port", "127.0.0.1:80", "127.0.0.1:5555", "127.0.0.1", true},
		{"from another machine", "192.0.2.1:8080", "192.0.2.7:5555", "192.0.2.1:8080", false},
		{"from another machine that says it is here", "192.0.2.1:8080", "192.0.2.7:5555", "127.0.0.1:8080", false},
		{"a forged sender", "192.0.2.1:8080", "127.0.0.1:5555", "127.0.0.1:8080", false},
		{"a page of elsewhere in a browser here", "127.0.0.1:8080", "127.0.0.1:5555", "pages.example:8080", false},
		{"through a proxy that keeps the host", "127.0.0.1:8080", "127.0.0.1:5555", "db.example", false},
		{"on this machine at its other address", "192.0.2.1:8080", "192.0.2.1:5555", "192.0.2.1:8080", false},
	} {
		for _, remote := range []bool{false, true} {
			s := &Server{opts: Options{RemoteProfiles: remote}}
			mux := http.NewServeMux()
			s.handleProfiles(mux)
			for _, page := range []string{"", "cmdline", "symbol", "heap?debug=1", "profile?seconds=bad", "trace?seconds=bad"} {
				if want := c.here || remote; !want || page == "" || page == "cmdline" { // profiles take their time
					r := httptest.NewRequest(http.MethodGet, "/debug/pprof/"+page, nil)
					in, err := net.ResolveTCPAddr("tcp", c.in)
					if err != nil {
						t.Fatal(err)
					}
					r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, in))
					r.RemoteAddr, r.Host = c.from, c.host
					w := httptest.NewRecorder()
					mux.ServeHTTP(w, r)
					if got := w.Code == http.StatusOK; got != want {
						t.Errorf("%s, page %q, --remote-profiles %v: %d, wanted an answer: %v", c.what, page, remote, w.Code, want)
					}
					if !want && (w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "--remote-profiles")) {
						t.Errorf("%s, page %q: %d %s", c.what, page, w.Code, w.Body)
					}
				}
			}
		}
	}
}

// TestProfilesOverSockets: what the HTTP server hands on is what is looked at.
func TestProfilesOverSockets(t *testing.T) {
	s := &Server{}
	mux := http.NewServeMux()
	s.handleProfiles(mux)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	ask := func(host string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/debug/pprof/cmdline", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := ask(""); got != http.StatusOK {
		t.Errorf("from here: %d", got)
	}
	if got := ask("pages.example"); got != http.StatusForbidden {
		t.Errorf("for another host: %d", got)
	}
}
