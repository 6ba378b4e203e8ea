package server

import (
	_ "embed"
	"html/template"
	"net/http"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

//go:embed console.html
var consoleHTML string

var consolePage = template.Must(template.New("console").Parse(consoleHTML))

// console is what the page shows.
type console struct {
	Health  health
	Version string
	Addrs   Addrs
	Now     string
	Clock   string
	Nodes   []consoleNode
	Ranges  []consoleRange
}

type consoleNode struct {
	kv.NodeInfo
	Here, Alive bool
}

type consoleRange struct {
	ID         kv.RangeID
	Span       string
	Leader     kv.NodeID
	Here       bool // led by this node
	Voters     int
	Generation uint64
	Applied    uint64
}

func (s *Server) handleConsole(w http.ResponseWriter, _ *http.Request) {
	c := console{Health: s.healthNow(), Version: s.opts.Version, Addrs: s.addrs, Now: time.Now().UTC().Format(time.DateTime), Clock: s.clock.Status().String()}
	if n := s.running(); n != nil {
		self := n.Self().ID
		for _, p := range n.Cluster.Nodes() {
			c.Nodes = append(c.Nodes, consoleNode{p, p.ID == self, p.ID == self || n.Cluster.Alive(p.ID)})
		}
		c.Ranges = consoleRanges(n)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := consolePage.Execute(w, c); err != nil {
		s.log.Debug("the console was not shown", "err", err)
	}
}
