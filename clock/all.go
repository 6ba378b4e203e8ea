package clock

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// All asks several sources and intersects what they say, as of one moment. One that contradicts a majority of those that
// answered is left out and named (Status.FellOut); if there is no majority, an empty intersection contradicts one of
// them, nobody can tell which, and the clock is disrupted until a majority of those that were at odds agree. A source that
// does not answer is named as well: what the others say remains true, there is just less to check it by.
type All struct {
	sources []Source
	news    []news
	events  int   // Host.events at the last Read
	reads   int64 // Sample.Update: what is stale after a disruption is left out here, source by source
	// quorum is how many have to agree before there are readings again, after they contradicted each other; 0: they did not.
	quorum int
	fell   []Finding
	detail Detail
}

// news is how far a source's updates have come.
type news struct {
	seen, lag int64 // of its last sample
	wait      bool  // after a disruption: it takes part again once it is synchronised by an update above need
	need      int64
}

// NewAll makes a source of at least two others. A Static is read as [now-D/2, now+D/2]: about UTC, as the others are.
func NewAll(sources ...Source) (*All, error) {
	if len(sources) < 2 {
		return nil, errors.New("it needs two sources or more, as in all:chrony,clockbound")
	}
	sources = slices.Clone(sources)
	seen := map[string]bool{}
	for i, s := range sources {
		switch s := s.(type) {
		case *All, *Auto:
			return nil, fmt.Errorf("%s cannot be a part of it: name the sources themselves", kindOf(s.String()))
		case Static:
			if s.Offset == 0 {
				s.Offset = -s.D / 2
			}
			sources[i] = s
		}
		name := sources[i].String()
		if seen[name] {
			return nil, fmt.Errorf("%s is named twice: it would confirm itself", name)
		}
		seen[name] = true
	}
	return &All{sources: sources, news: make([]news, len(sources))}, nil
}

// parseAll splits the list: a part that begins with the name of a source is the next one, others are options of the one
// before.
func parseAll(rest string) (Source, error) {
	var specs []string
	for part := range strings.SplitSeq(rest, ",") {
		if kind := kindOf(part); kinds[kind] != nil || len(specs) == 0 {
			specs = append(specs, part)
		} else {
			specs[len(specs)-1] += "," + part
		}
	}
	var sources []Source
	for _, spec := range specs {
		kind := kindOf(spec)
		if kind == "all" || kind == "auto" {
			return nil, fmt.Errorf("%s cannot be a part of it: name the sources themselves", kind)
		}
		src, err := parseOne(spec)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", spec, err)
		}
		sources = append(sources, src)
	}
	return NewAll(sources...)
}

// Read implements Source.
func (a *All) Read(h *Host) (Sample, error) {
	samples := make([]Sample, len(a.sources))
	errs := make([]error, len(a.sources))
	for i, s := range a.sources {
		samples[i], errs[i] = s.Read(h)
		if errs[i] == nil {
			errs[i] = samples[i].check()
		}
	}
	a.reads++
	a.follow(h.events, samples, errs)
	s, err := a.combine(samples, errs)
	a.describe()
	return s, err
}

// combine intersects the samples. It does no I/O.
func (a *All) combine(samples []Sample, errs []error) (Sample, error) {
	a.fell = nil
	var members []int // those with an interval
	var disrupted []string
	out := Sample{State: Synchronized, Update: a.reads}
	for i, s := range samples {
		name := a.sources[i].String()
		switch {
		case errs[i] != nil:
			a.fell = append(a.fell, Finding{name, errs[i].Error()})
		case s.State == Disrupted:
			disrupted = append(disrupted, name+": "+s.Why)
		case s.State == Unknown:
			a.fell = append(a.fell, Finding{name, s.Why})
		case a.news[i].wait:
			a.fell = append(a.fell, Finding{name, "has not learned anything since the disruption"})
		default:
			members = append(members, i)
			out.marker = out.marker.join(s.marker)
			out.Mono = max(out.Mono, s.Mono)
		}
	}
	switch {
	case len(disrupted) > 0:
		// It happened to the machine, or to UTC: what the others have not noticed yet concerns them too.
		out.State, out.Why = Disrupted, strings.Join(disrupted, "; ")
		return out, nil
	case len(members) == 0:
		return a.nobody(errs, out)
	}
	ivs := make([]Interval, len(members))
	for n, i := range members {
		if ivs[n] = newAnchor(samples[i], 0).at(int64(out.Mono - samples[i].Mono)); ivs[n].Earliest > ivs[n].Latest {
			return Sample{}, fmt.Errorf("%w: %s overflows", errMalformed, a.sources[i])
		}
	}
	iv, votes, in := agree(ivs)
	switch {
	case 2*votes <= len(members):
		a.quorum = max(a.quorum, len(members)/2+1)
		out.State, out.Why = Disrupted, a.describeConflict(members, ivs)
		return out, nil
	case votes < a.quorum:
		// One of those that contradicted each other has news before the others do, or the others are gone. It may be the false one.
		return Sample{}, fmt.Errorf("the sources contradicted each other, and fewer than %d agree since then: %s", a.quorum, findings(a.fell))
	}
	a.quorum = 0
	out.Earliest, out.Latest = iv.Earliest, iv.Latest
	a.judge(&out, samples, members, in, ivs)
	return out, nil
}

// nobody is the answer when no source has an interval.
func (a *All) nobody(errs []error, out Sample) (Sample, error) {
	for i, n := range a.news {
		if errs[i] == nil && !n.wait { // it answered, to say that it knows nothing any more
			out.State, out.Why = Unknown, findings(a.fell)
			return out, nil
		}
	}
	return Sample{}, errors.New("none of the sources has an answer: " + findings(a.fell))
}

// describeConflict says which source contradicts which.
func (a *All) describeConflict(members []int, ivs []Interval) string {
	var b strings.Builder
	b.WriteString("the sources contradict each other, and no majority agrees:")
	for n, i := range members {
		sep := " "
		if n > 0 {
			sep = ", "
		}
		fmt.Fprintf(&b, "%s%s says %s", sep, a.sources[i], ivs[n])
	}
	return b.String()
}

// judge fills in what follows from those that reach into the intersection: it is as synchronised as the best of them, since
// each holds by itself; it lasts as long as the one that lasts shortest, and grows as the fastest.
func (a *All) judge(out *Sample, samples []Sample, members []int, in []bool, ivs []Interval) {
	out.State = FreeRunning
	var names []string
	for n, i := range members {
		s, name := samples[i], a.sources[i].String()
		if !in[n] {
			mid := Interval{out.Earliest, out.Latest}
			a.fell = append(a.fell, Finding{name, fmt.Sprintf("contradicted by the others: it is %s away from where they agree", round(distance(ivs[n], mid)))})
			continue
		}
		names = append(names, kindOf(name))
		if s.State == Synchronized {
			out.State = Synchronized
		}
		out.Rate = max(out.Rate, s.Rate)
		late := out.Mono - s.Mono
		out.FreshFor = shorter(out.FreshFor, s.FreshFor, DefaultFreshFor, late)
		out.ValidFor = shorter(out.ValidFor, s.ValidFor, MaxAge, late)
	}
	out.Why = fmt.Sprintf("%d of %d sources agree (%s)", len(names), len(a.sources), strings.Join(names, ", "))
	if len(a.fell) > 0 {
		out.Why += "; not " + findings(a.fell)
	}
}

// shorter is the shorter of two durations of which 0 means standard; d began late ago.
func shorter(now, d, standard, late time.Duration) time.Duration {
	if d == 0 {
		d = standard
	}
	d = max(1, d-late)
	if now == 0 {
		return d
	}
	return min(now, d)
}

// distance is signed: positive if a is ahead of b.
func distance(a, b Interval) time.Duration {
	if a.Earliest > b.Latest {
		return a.Earliest.Sub(b.Latest)
	}
	return a.Latest.Sub(b.Earliest)
}

// follow keeps track of who has learned something since the clock was last disrupted.
func (a *All) follow(events int, samples []Sample, errs []error) {
	event := events != a.events
	a.events = events
	for i := range a.news {
		n, s := &a.news[i], samples[i]
		if event {
			n.wait, n.need = true, n.seen+n.lag
		}
		if errs[i] != nil {
			continue
		}
		n.seen, n.lag = max(n.seen, s.Update), s.UpdateLag
		if s.State == Synchronized && s.Update > n.need {
			n.wait = false
		}
	}
}

// describe collects the details of the members.
func (a *All) describe() {
	a.detail = Detail{FellOut: a.fell}
	for _, s := range a.sources {
		if d, ok := s.(Detailed); ok {
			m := d.Detail()
			if a.detail.VMClock == "" {
				a.detail.VMClock = m.VMClock
			}
			if a.detail.Leap == "" {
				a.detail.Leap = m.Leap
			}
			a.detail.DataAge = max(a.detail.DataAge, m.DataAge)
		}
	}
}

// Detail implements Detailed.
func (a *All) Detail() Detail { return a.detail }

// Close implements io.Closer.
func (a *All) Close() error {
	for _, s := range a.sources {
		shut(s)
	}
	return nil
}

func (a *All) String() string {
	var names []string
	for _, s := range a.sources {
		names = append(names, s.String())
	}
	return "all:" + strings.Join(names, ",")
}

// findings lists them in one line.
func findings(fs []Finding) string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Source+": "+f.Why)
	}
	return strings.Join(out, "; ")
}
