package clock

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// script is a few machines with clocks under one true time that the script moves. Commands, each with an example:
//
//	clock a eps=1ms offset=5ms lying      a machine; its clock reports ±eps. Repeated, it changes the clock's conditions
//	source a static:20ms                  change the source (Clock.Switch); the system clock is true time plus the offset
//	advance 10ms                          true time passes; a poll of each clock follows, unless nopoll is given
//	poll a                                ask the source of one clock
//	read a                                its reading, as distances from true time
//	keep x a latest                       remember an end of a reading (earliest, latest, middle) under a name
//	true x                                whether true time has passed what was kept, and by how much
//	past a x                              whether a says that x is past (rule 2)
//	limit a x                             whether a transaction that begins on a now observes x (rule 1)
//	send a b delay=5ms                    a message with a's reading arrives at b after the delay
//	call a b delay=5ms                    a message from a to b and its answer, each with the delay
//	beat 3                                heartbeats between all machines, so many rounds, a quarter of a second apart
//	verdict                               which nodes each vote finds to be falsetickers, whose readings it does not learn from if those are
//	                                      others, and who is fenced
//	down a / up a                         a says nothing any more / again
//	status a                              why there is no reading
//
// Further lines before the ---- are further commands.
type script struct {
	t        *testing.T
	ns       int64
	machines []*scriptMachine
	kept     map[string]Instant
}

type scriptMachine struct {
	name string
	id   uint32
	sim  *Sim
	c    *Clock
	vote *Vote
	off  time.Duration // of the system clock, for static sources
	down bool
}

func (s *script) truth() Instant { return epoch + Instant(s.ns) }

func (s *script) machine(d *datadriven.TestData, at int) *scriptMachine {
	name := d.CmdArgs[at].Key
	for _, m := range s.machines {
		if m.name == name {
			return m
		}
	}
	d.Fatalf(s.t, "there is no clock %q", name)
	return nil
}

func (s *script) duration(d *datadriven.TestData, name string) time.Duration {
	if !d.HasArg(name) {
		return 0
	}
	var text string
	d.ScanArgs(s.t, name, &text)
	v, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(s.t, "%v", err)
	}
	return v
}

func (s *script) clock(d *datadriven.TestData) string {
	c := Conditions{Bound: s.duration(d, "eps"), Offset: s.duration(d, "offset"), Lying: d.HasArg("lying"), Lost: d.HasArg("lost")}
	name := d.CmdArgs[0].Key
	for _, m := range s.machines {
		if m.name == name {
			m.sim.Set(c)
			return ""
		}
	}
	m := &scriptMachine{name: name, id: uint32(len(s.machines) + 1), sim: NewSim(c, s.truth), off: s.duration(d, "wall")}
	o := Options{Mono: func() time.Duration { return time.Duration(s.ns) }, MaxUncertainty: -1, Wall: func() Instant { return s.truth().Add(m.off) }}
	if d.HasArg("max") {
		o.MaxUncertainty = s.duration(d, "max")
	}
	var src Source = m.sim
	if d.HasArg("source") {
		var spec string
		d.ScanArgs(s.t, "source", &spec)
		src = s.parse(d, spec)
	}
	m.c, m.vote = New(src, o), NewVote(m.id, VoteOptions{})
	_ = m.c.Poll()
	s.machines = append(s.machines, m)
	return ""
}

func (s *script) parse(d *datadriven.TestData, spec string) Source {
	src, err := Parse(strings.ReplaceAll(spec, "@", ",offset="))
	if err != nil {
		d.Fatalf(s.t, "%v", err)
	}
	return src
}

func (s *script) reading(m *scriptMachine) string {
	iv, err := m.c.Now()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("[%s, %s]", signed(iv.Earliest.Sub(s.truth())), signed(iv.Latest.Sub(s.truth())))
}

// signed rounds outward noise of the arithmetic away.
func signed(d time.Duration) string {
	d = d.Round(10 * time.Microsecond)
	if d > 0 {
		return "+" + d.String()
	}
	return d.String()
}

func (s *script) advance(d time.Duration, poll bool) {
	s.ns += int64(d)
	for _, m := range s.machines {
		if poll {
			_ = m.c.Poll()
		}
	}
}

// beat exchanges reported intervals between all that are up, each with each, and counts the votes.
func (s *script) beat() {
	now := time.Duration(s.ns)
	contradicted := func(m *scriptMachine) (ids []uint32) {
		for _, d := range m.c.Conflicts() {
			if d.Age <= time.Second {
				ids = append(ids, d.Peer)
			}
		}
		return ids
	}
	for _, from := range s.machines {
		iv, err := from.c.ReportedInterval()
		if err != nil || from.down {
			continue
		}
		for _, to := range s.machines {
			if to != from && !to.down {
				to.c.ObserveReported(from.id, iv.Earliest, iv.Latest)
				to.vote.RecordReport(now, from.id, contradicted(from))
			}
		}
	}
	for _, m := range s.machines {
		if _, err := m.c.ReportedInterval(); err == nil {
			m.vote.RecordReport(now, m.id, contradicted(m))
		}
		m.c.Suspect(m.vote.Suspects(now))
		switch j := m.vote.Step(now); {
		case j.Falseticker:
			m.c.Fence(j.Why)
		default:
			m.c.Unfence()
		}
	}
}

func (s *script) verdict() string {
	var b strings.Builder
	for _, m := range s.machines {
		names := func(ids []uint32) (out []string) {
			for _, id := range ids {
				out = append(out, s.machines[id-1].name)
			}
			return out
		}
		ids, _ := m.vote.Falsetickers(time.Duration(s.ns))
		fmt.Fprintf(&b, "%s: names %v", m.name, names(ids))
		if suspects := m.vote.Suspects(time.Duration(s.ns)); !slices.Equal(suspects, ids) {
			fmt.Fprintf(&b, ", suspects %v", names(suspects))
		}
		if why, _ := m.c.Fenced(); why != "" {
			fmt.Fprintf(&b, ", fenced: %s", why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// all runs the command and those on the lines below it.
func (s *script) all(d *datadriven.TestData) string {
	out := s.run(d)
	for line := range strings.Lines(d.Input) {
		cmd, args, err := datadriven.ParseLine(strings.TrimSpace(line))
		if err != nil {
			d.Fatalf(s.t, "%v", err)
		}
		out += s.run(&datadriven.TestData{Pos: d.Pos, Cmd: cmd, CmdArgs: args})
	}
	return out
}

func (s *script) run(d *datadriven.TestData) string {
	var m *scriptMachine
	if slices.Contains([]string{"poll", "read", "past", "limit", "send", "call", "down", "up", "status", "source"}, d.Cmd) {
		m = s.machine(d, 0)
	}
	switch d.Cmd {
	case "clock":
		return s.clock(d)
	case "source":
		if err := m.c.Switch(s.parse(d, strings.TrimSpace(d.CmdArgs[1].String()))); err != nil {
			return strings.ReplaceAll(err.Error(), fmt.Sprintf("%d.", int64(epoch)/1e9), "T.") + "\n"
		}
		return "changed\n"
	case "advance":
		v, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			d.Fatalf(s.t, "%v", err)
		}
		s.advance(v, !d.HasArg("nopoll"))
		return ""
	case "poll":
		if err := m.c.Poll(); err != nil {
			return "poll failed\n"
		}
		return ""
	case "read":
		return s.reading(m) + "\n"
	case "status":
		what, _ := m.c.Status().Refusal()
		return what + "\n"
	case "keep":
		iv, err := s.machine(d, 1).c.Now()
		if err != nil {
			return err.Error() + "\n"
		}
		s.kept[d.CmdArgs[0].Key] = map[string]Instant{"earliest": iv.Earliest, "latest": iv.Latest, "middle": iv.Earliest.Add(iv.Width() / 2)}[d.CmdArgs[2].Key]
		return ""
	case "true":
		by := s.truth().Sub(s.kept[d.CmdArgs[0].Key])
		if by > 0 {
			return fmt.Sprintf("past, by %s\n", signed(by)[1:])
		}
		return fmt.Sprintf("still to come, in %s\n", by.Abs().Round(10*time.Microsecond))
	case "past":
		iv, err := m.c.Now()
		if err != nil {
			return err.Error() + "\n"
		}
		return fmt.Sprintln(iv.Passed(s.kept[d.CmdArgs[1].Key]))
	case "limit":
		iv, err := m.c.Now()
		if err != nil {
			return err.Error() + "\n"
		}
		if by := s.kept[d.CmdArgs[1].Key].Sub(iv.Latest); by > 0 {
			return fmt.Sprintf("missed: beyond the limit by %s\n", signed(by)[1:])
		}
		return "observed\n"
	case "send", "call":
		return s.message(d, m, s.machine(d, 1))
	case "beat":
		n := 1
		if len(d.CmdArgs) > 0 {
			_, _ = fmt.Sscan(d.CmdArgs[0].Key, &n)
		}
		for range n {
			s.advance(250*time.Millisecond, true)
			s.beat()
		}
		return ""
	case "verdict":
		return s.verdict()
	case "down", "up":
		m.down = d.Cmd == "down"
		return ""
	}
	d.Fatalf(s.t, "there is no command %q", d.Cmd)
	return ""
}

// message carries a reading, and with call brings an answer back.
func (s *script) message(d *datadriven.TestData, from, to *scriptMachine) string {
	delay := s.duration(d, "delay")
	sent, err := from.c.Now()
	if err != nil {
		return err.Error() + "\n"
	}
	s.advance(delay, false)
	out := map[bool]string{true: "disjoint", false: "not disjoint"}
	text := fmt.Sprintf("%s: %s\n", to.name, out[to.c.Observe(from.id, sent.Earliest, sent.Latest)])
	if d.Cmd == "call" {
		back, err := to.c.Now()
		if err != nil {
			return err.Error() + "\n"
		}
		s.advance(delay, false)
		text += fmt.Sprintf("%s: %s\n", from.name, out[from.c.ObserveReply(to.id, sent, back.Earliest, back.Latest)])
	}
	return text
}

func TestScripts(t *testing.T) {
	for _, dir := range []string{"testdata/traps", "testdata/vote", "testdata/switch"} {
		datadriven.Walk(t, dir, func(t *testing.T, path string) {
			s := &script{t: t, kept: map[string]Instant{}}
			datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string { return s.all(d) })
		})
	}
}
