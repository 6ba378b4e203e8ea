package server

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
)

// AutoClock is the default of Options.Clock: the best bounded source that the machine has.
const AutoClock = "auto"

const (
	clockNote = "clock" // rememberedClock
	// aloneBound is the bound of a node that has no bounded source and no peers: true time is its own clock.
	aloneBound = time.Millisecond
)

// rememberedClock is a source that was set online, and the --clock that it replaced.
type rememberedClock struct{ Instead, Source string }

func (s *Server) rememberClock(source string) error {
	b, err := json.Marshal(rememberedClock{Instead: s.opts.Clock, Source: source})
	if err != nil {
		return err
	}
	if err := s.engines.SetNote(clockNote, b); err != nil {
		return fmt.Errorf("the source is changed, but a restart of the node would bring back --clock=%s: %w", s.opts.Clock, err)
	}
	return nil
}

// chooseClock decides what source the node begins with: the one that was set online if --clock is still what it was then,
// else --clock; and for `auto` whether there is one at all.
func (s *Server) chooseClock(asked clock.Source) (clock.Source, error) {
	var r rememberedClock
	if v, ok, err := s.engines.Note(clockNote); err != nil {
		return nil, err
	} else if ok && json.Unmarshal(v, &r) == nil && r.Source != "" {
		switch src, err := clock.Parse(r.Source); {
		case r.Instead != s.opts.Clock:
			s.log.Warn("the node is started with another --clock than before; that holds, and not what was set online", "clock", s.opts.Clock, "set", r.Source)
		case err != nil:
			return nil, fmt.Errorf("the clock source that was set online cannot be used any more: %w\nhint: name one with --clock", err)
		default:
			s.log.Warn("the clock source is the one that was set online; another --clock than now would take its place", "clock", s.opts.Clock, "set", r.Source)
			return src, nil
		}
	}
	if s.opts.Clock != AutoClock {
		return asked, nil
	}
	alone, err := s.mayRunAlone()
	if err != nil {
		return nil, err
	}
	why := probe(asked)
	switch {
	case why == "":
		return asked, nil
	case !alone:
		return nil, fmt.Errorf("no bounded clock source: %s\nwithout one this node cannot tell how far its clock is off, and would show the other nodes' users the past; it was not started\n"+
			"hint: install chrony (see docs/clock-sources.md) or name a source with --clock; --clock=static:500ms assumes that no two clocks of the cluster differ by more, which nothing checks", why)
	}
	s.alone.Store(true)
	s.log.Warn("THIS NODE RUNS ALONE: the machine has no bounded clock source. With one node there is no other clock to differ from, so nothing is lost; but no node can join it",
		"why", why, "clock", (clock.Static{D: aloneBound}).String(), "hint", "to make a cluster of it, install chrony and restart the node, or name a source with --clock")
	return clock.Static{D: aloneBound}, nil
}

// BoundedSources are the sources that a machine may have, best first: those that auto chooses from.
func BoundedSources() []string { return []string{"phc", "clockbound", "chrony"} }

// ParseClock is clock.Parse, with the default.
func ParseClock(spec string) (clock.Source, error) {
	if spec == "" {
		spec = AutoClock
	}
	return clock.Parse(spec)
}

// mayRunAlone reports whether this node is, and as far as its store knows always was, the only one of its cluster.
func (s *Server) mayRunAlone() (bool, error) {
	if len(s.opts.Join) > 0 {
		return false, nil
	}
	nodes, err := node.KnownNodes(s.engines)
	return len(nodes) <= 1, err
}

// refuseJoin keeps a node that runs alone alone, and clocks with different meanings of true time apart.
func (s *Server) refuseJoin(who kv.NodeInfo) error {
	if s.alone.Load() {
		return fmt.Errorf("node %d runs alone: it was started without --clock on a machine without a bounded clock source\n"+
			"hint: restart it with chrony installed, or with --clock; --clock=static:500ms on every node assumes that no two clocks differ by more", s.ID())
	}
	theirs, err := clock.Parse(who.Source)
	if who.Source == "" || err != nil {
		return nil // an older node, or one of a newer version; the votes on clocks remain
	}
	ours, err := clock.Parse(s.clock.Status().Source)
	if err != nil {
		return nil
	}
	if a, b := clock.ReferenceOf(ours), clock.ReferenceOf(theirs); a != b && a != clock.Either && b != clock.Either {
		return fmt.Errorf("the cluster's clocks (%s on node %d) take true time to be %s, the new node's (%s) %s: they must not be mixed\n"+
			"hint: start the node with a source of the same kind; for a static one about UTC: --clock=static:D,offset=-D/2 with half of D in place of D/2",
			ours, s.ID(), a, theirs, b)
	}
	return nil
}

// probe asks whether there is a source at all, and says why not; "": there is. A daemon that has not synchronised yet is one
// to wait for.
func probe(src clock.Source) string {
	c := clock.New(src, clock.Options{MaxUncertainty: -1})
	if err := c.Poll(); err != nil && clock.Absent(err) {
		return err.Error()
	}
	return ""
}
