package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// check is one thing that must hold for a node to be healthy.
type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason"`         // what is so, with values
	Hint   string `json:"hint,omitempty"` // what to do if it is not OK
	// Warning: the node is healthy, and something is wrong all the same.
	Warning bool `json:"warning,omitempty"`
	// WaitSeconds is how long it still takes by itself, if that is known.
	WaitSeconds float64 `json:"wait_seconds,omitempty"`
}

// health is what /healthz answers.
type health struct {
	Status string  `json:"status"` // "ok" or "unavailable"
	Node   uint32  `json:"node"`   // 0: it has no id yet
	Phase  string  `json:"phase"`
	Checks []check `json:"checks"`
}

// healthNow looks at everything, so that all that is wrong is shown at once.
func (s *Server) healthNow() health {
	h := health{Status: "ok", Phase: s.phase.Load().(string)}
	h.Checks = append(h.Checks, check{Name: "lifecycle", OK: h.Phase == phaseServing, Reason: h.Phase})
	h.Checks = append(h.Checks, s.clockCheck(), s.storeCheck())
	if n := s.running(); n != nil {
		self := n.Self()
		h.Node = uint32(self.ID)
		h.Checks = append(h.Checks, s.peersCheck(), s.rangesCheck())
	}
	for _, c := range h.Checks {
		if !c.OK {
			h.Status = "unavailable"
		}
	}
	return h
}

// clockCheck: a node is not ready while its clock gives no readings, and after a restart until the clock has passed every
// timestamp that the process before gave out.
func (s *Server) clockCheck() check {
	st := s.clock.Status()
	if what, hint := st.Refusal(); what != "" {
		return check{Name: "clock", Reason: what, Hint: hint}
	}
	c := check{Name: "clock", OK: true, Reason: st.String()}
	if n := s.opening.Load(); n != nil {
		if left := n.AwaitedMark(); left > 0 {
			c.OK, c.WaitSeconds = false, left.Seconds()
			c.Reason = fmt.Sprintf("the clock is %.3f seconds behind timestamps that this node may have given out before it was stopped; serving begins when it has passed them", left.Seconds())
			if left > suspiciousMark {
				c.Hint = "the clock was ahead then, or is behind now: compare it with a reference (`chronyc tracking`); the wait ends by itself, in as many seconds"
			}
		}
	}
	return c
}

// suspiciousMark is longer than any wait after a kill is on a machine whose clock is right.
const suspiciousMark = 4 * time.Second

func (s *Server) storeCheck() check {
	if err := s.engines.Failed(); err != nil {
		return check{Name: "store", Reason: err.Error()}
	}
	return check{Name: "store", OK: true, Reason: s.opts.Store}
}

// peersCheck: without a majority of the known nodes most ranges have no quorum. A node alone in its cluster is one.
func (s *Server) peersCheck() check {
	n := s.running()
	self, nodes, alive := n.Self(), n.Cluster.Nodes(), 0
	for _, p := range nodes {
		if p.ID == self.ID || n.Cluster.Alive(p.ID) {
			alive++
		}
	}
	c := check{Name: "nodes", OK: 2*alive > len(nodes), Reason: fmt.Sprintf("%d of %d known nodes are alive", alive, len(nodes))}
	if !c.OK {
		c.Hint = "start the missing nodes, or mend the network between them; ranges without a majority of replicas serve nothing"
	}
	return c
}

func (s *Server) handleHealth(w http.ResponseWriter, _ *http.Request) {
	h := s.healthNow()
	w.Header().Set("Content-Type", "application/json")
	if h.Status != "ok" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(h) // a client that went away does not want it
}

// The phases of a node's life.
const (
	phaseStarting = "starting: waiting for the clock"
	phaseJoining  = "starting: joining a cluster"
	phaseServing  = "serving"
	phaseDraining = "draining"
	phaseStopped  = "stopped"
)

// httpLimit bounds what an HTTP client may take.
const httpLimit = 10 * time.Second
