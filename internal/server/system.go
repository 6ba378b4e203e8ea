package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/sql/engine"
)

// What nodes ask each other for the system tables. The answers are JSON: they are small, rare, and for people.
const (
	controlPing   = "ping"   // nothing: that a node answers is the answer
	controlClock  = "clock"  // engine.ClockRow
	controlRanges = "ranges" // []ledRange
)

// ledRange is a replica in the eyes of its node.
type ledRange struct {
	Desc  kv.RangeDescriptor
	Leads bool
	Term  uint64
	// Quarantined is why the replica takes part in nothing any more.
	Quarantined string `json:",omitempty"`
}

// answerControls says how this node answers.
func (s *Server) answerControls(n *node.Node) {
	n.OnControl(controlPing, func() []byte { return []byte("{}") })
	n.OnControl(controlClock, func() []byte { return encode(s.clockRow()) })
	n.OnCommand(controlSetClock, func(arg []byte) []byte { return encode(s.setClockHere(arg)) })
	n.OnControl(controlRanges, func() []byte { return encode(localRanges(n)) })
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs
	}
	return b
}

// clockRow is what this node knows of time. Where the clock refuses, the ends are what its source says all the same.
func (s *Server) clockRow() engine.ClockRow {
	st := s.clock.Status()
	row := engine.ClockRow{Node: s.identity().ID, Source: st.Source, State: st.State.String(), Earliest: st.Now.Earliest, Latest: st.Now.Latest,
		Bound: st.Bound, BoundP99: st.BoundP99, BoundMax: st.BoundMax, Age: st.Age, Fenced: st.Fenced, Detail: st.Why}
	if st.Chosen != "" {
		row.Detail = fmt.Sprintf("%s took %s; %s", st.Source, st.Chosen, st.Why)
	}
	row.IntervalConflicts, row.IntervalConflictsByPeer = countByPeer(st.Conflicts)
	row.DisjointReadings, row.DisjointReadingsByPeer = countByPeer(st.DisjointReadings)
	if st.LastDisruption != "" {
		row.LastStep = fmt.Sprintf("%s ago: %s", st.DisruptionAge.Round(time.Millisecond), st.LastDisruption)
	}
	switch {
	case st.Fenced != "":
		row.State = "fenced"
	case st.Err != nil:
		row.State += " (no reading)"
	}
	return row
}

// countByPeer adds up, and lists each peer's share: "1: 12, 3: 4".
func countByPeer(ds []clock.Conflict) (sum uint64, byPeer string) {
	var peers []string
	for _, d := range ds {
		sum += d.Count
		peers = append(peers, fmt.Sprintf("%d: %d", d.Peer, d.Count))
	}
	return sum, strings.Join(peers, ", ")
}

func localRanges(n *node.Node) (out []ledRange) {
	for _, r := range n.Store.Ranges() {
		out = append(out, ledRange{r.Desc, r.Leads, r.Term, r.Quarantined})
	}
	return out
}

// askAll asks every node that is alive, this one included, at once. A node that does not answer in time is left out: the
// tables show what can be known now.
func askAll[T any](n *node.Node, kind string) map[kv.NodeID]T {
	var mu sync.Mutex
	var wg sync.WaitGroup
	out, self := map[kv.NodeID]T{}, n.Self().ID
	for _, p := range n.Cluster.Nodes() {
		if p.ID != self && !n.Cluster.Alive(p.ID) {
			continue
		}
		wg.Go(func() {
			b, err := n.Ask(p.ID, kind)
			var v T
			if err != nil || json.Unmarshal(b, &v) != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			out[p.ID] = v
		})
	}
	wg.Wait()
	return out
}

// clockRows are the clocks of all nodes. One that cannot be asked is shown as it last described itself.
func (s *Server) clockRows() []engine.ClockRow {
	n := s.running()
	rows := askAll[engine.ClockRow](n, controlClock)
	for _, p := range n.Cluster.Nodes() {
		if _, ok := rows[p.ID]; !ok {
			rows[p.ID] = engine.ClockRow{Node: p.ID, Source: p.Source, State: "not heard of", Age: -1, Fenced: p.Fenced}
		}
	}
	// What this node knows of the others' votes names a liar even if it cannot be asked, or does not admit it yet.
	nodes, why := n.Cluster.Falsetickers()
	for i, id := range nodes {
		if row, ok := rows[id]; ok && row.Fenced == "" {
			row.Fenced = why[i]
			rows[id] = row
		}
	}
	return slices.SortedFunc(maps.Values(rows), func(a, b engine.ClockRow) int { return cmp.Compare(a.Node, b.Node) })
}

// nodeRows are the nodes of the cluster.
func (s *Server) nodeRows() (out []engine.NodeRow) {
	n := s.running()
	self := n.Self().ID
	for _, p := range n.Cluster.Nodes() {
		out = append(out, engine.NodeRow{NodeInfo: p, Alive: p.ID == self || n.Cluster.Alive(p.ID)})
	}
	return out
}

// rangeRows are the ranges of which some node that answers has a replica: of each the newest descriptor, and who leads it
// in the latest term.
func (s *Server) rangeRows() []engine.RangeRow {
	rows, terms := map[kv.RangeID]engine.RangeRow{}, map[kv.RangeID]uint64{}
	for node, ranges := range askAll[[]ledRange](s.running(), controlRanges) {
		for _, r := range ranges {
			row, known := rows[r.Desc.ID]
			if !known || row.Generation < r.Desc.Generation {
				row.RangeDescriptor = r.Desc
			}
			if r.Quarantined != "" {
				row.Quarantined = append(row.Quarantined, engine.QuarantinedReplica{Node: node, Reason: r.Quarantined})
			}
			if r.Leads && r.Term >= terms[r.Desc.ID] {
				row.Leaseholder, terms[r.Desc.ID] = node, r.Term
			}
			rows[r.Desc.ID] = row
		}
	}
	return slices.SortedFunc(maps.Values(rows), func(a, b engine.RangeRow) int { return a.Span.Start.Compare(b.Span.Start) })
}
