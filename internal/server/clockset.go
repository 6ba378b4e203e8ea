package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/engine"
)

// controlSetClock changes the clock source of the node that is told: clockOrder in, clockDone out.
const controlSetClock = "set-clock"

type clockOrder struct{ Source string }

type clockDone struct {
	Source string // that the node has now
	Error  string // why it is not the one that was wanted
}

// setClockHere changes this node's source (clock.Switch), and remembers that over restarts as long as the node is started
// with the same --clock: else a restart would quietly bring back a source that the rest of the cluster has left.
func (s *Server) setClockHere(arg []byte) clockDone {
	var o clockOrder
	err := json.Unmarshal(arg, &o)
	var src clock.Source
	if err == nil {
		src, err = clock.Parse(o.Source)
	}
	if err == nil {
		err = s.clock.Switch(src)
	}
	if err == nil {
		if s.alone.Swap(false) {
			s.log.Warn("this node no longer runs alone on its own clock; others may join", "clock", o.Source)
		}
		err = s.rememberClock(o.Source)
	}
	d := clockDone{Source: s.clock.Status().Source}
	if err != nil {
		d.Error = err.Error()
	}
	return d
}

// tellClock tells one node to change its source.
func (s *Server) tellClock(node kv.NodeID, source, why string) (engine.ClockChange, error) {
	arg, err := json.Marshal(clockOrder{source})
	if err != nil {
		return engine.ClockChange{}, err
	}
	b, err := s.running().Command(node, controlSetClock, arg)
	var d clockDone
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err == nil && d.Error != "" {
		err = errors.New(d.Error)
	}
	if err != nil {
		return engine.ClockChange{}, fmt.Errorf("node %d: %w", node, err)
	}
	return engine.ClockChange{Node: node, Source: d.Source, Done: why}, nil
}

// setClock changes the source of a node, or of all nodes one after the other if node is 0, without a moment in which the
// intervals of all nodes contain no common true time. Every step leaves the cluster in a state that is sound, so one that
// fails half-way can be repeated, or taken back. The order, and why: docs/time.md, "Changing the source".
func (s *Server) setClock(ctx context.Context, source string, node kv.NodeID) ([]engine.ClockChange, error) {
	target, err := clock.Parse(source)
	if err != nil {
		return nil, err
	}
	if st, ok := target.(interface{ Close() error }); ok {
		defer st.Close() // each node opens its own
	}
	refs, err := s.references()
	if err != nil {
		return nil, err
	}
	want := clock.ReferenceOf(target)
	if node != 0 {
		if _, known := refs[node]; !known {
			return nil, fmt.Errorf("there is no node %d; see longitude.nodes", node)
		}
		for id, r := range refs {
			if id != node && r.ref != want && r.ref != clock.Either && want != clock.Either {
				return nil, fmt.Errorf("node %d cannot use %s alone: it takes true time to be %s, and node %d (%s) takes it to be %s\n"+
					"hint: change all nodes together: leave --node out", node, source, want, id, r.source, r.ref)
			}
		}
		c, err := s.tellClock(node, source, "changed")
		return []engine.ClockChange{c}, err
	}
	var out []engine.ClockChange
	all := func(source, why string) error {
		for _, p := range s.running().Cluster.Nodes() {
			c, err := s.tellClock(p.ID, source, why)
			if err != nil {
				return fmt.Errorf("%w\nthe nodes before it have changed and the others have not; the cluster is sound as it is\n"+
					"hint: mend what is said above and repeat the command", err)
			}
			out = append(out, c)
		}
		return nil
	}
	if d, across := crossing(refs, target, want); across {
		if err := all(clock.Bridge(d).String(), fmt.Sprintf("1. for both meanings of true time, for %s", d)); err != nil {
			return nil, err
		}
		// What was past under the old meaning, on any node and whoever heard of it, is past under the new one d later.
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(d + d/100 + time.Millisecond): // what Switch itself asks for, and a little more
		}
	}
	return out, all(source, "changed")
}

// reference is what a node's source takes true time to be.
type reference struct {
	source string
	ref    clock.Reference
	static time.Duration // D, if it is static
}

// references asks all nodes for their sources. One that does not answer may come back with the source that it had.
func (s *Server) references() (map[kv.NodeID]reference, error) {
	out := map[kv.NodeID]reference{}
	rows := askAll[engine.ClockRow](s.running(), controlClock)
	for _, p := range s.running().Cluster.Nodes() {
		row, ok := rows[p.ID]
		if !ok {
			return nil, fmt.Errorf("node %d (%s) does not answer; a change of clocks needs all nodes, or it would come back with a source that the others have left\n"+
				"hint: start it, or wait until it answers", p.ID, p.RPCAddr)
		}
		r := reference{source: row.Source}
		if src, err := clock.Parse(row.Source); err == nil {
			r.ref = clock.ReferenceOf(src)
			if st, ok := src.(clock.Static); ok {
				r.static = st.D
			}
			if c, ok := src.(interface{ Close() error }); ok {
				_ = c.Close()
			}
		}
		out[p.ID] = r
	}
	return out, nil
}

// crossing reports whether a change leads from one meaning of true time to the other, and the D between them.
func crossing(refs map[kv.NodeID]reference, target clock.Source, want clock.Reference) (d time.Duration, across bool) {
	if st, ok := target.(clock.Static); ok && want == clock.Fastest {
		d = st.D
	}
	for _, r := range refs {
		if r.ref == clock.Fastest {
			d = max(d, r.static)
		}
		across = across || (r.ref != want && want != clock.Either)
	}
	// A bridge that stands already, from an attempt before, still has to stand for D.
	return d, across && d > 0
}
