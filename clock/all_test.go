package clock

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// named is a simulated source with a name of its own, so that a test can say who fell out.
type named struct {
	*Sim
	name string
	news func() int64 // Sample.Update; nil: every answer is news
}

func (n *named) String() string { return n.name }

func (n *named) Read(h *Host) (Sample, error) {
	s, err := n.Sim.Read(h)
	if n.news != nil {
		s.Update = n.news()
	}
	return s, err
}

// council is a clock on several simulated sources, of which the test says who is wrong.
type council struct {
	world
	t    *testing.T
	all  *All
	c    *Clock
	sims map[string]*named
}

// newCouncil has a source of ±1 ms for each name.
func newCouncil(t *testing.T, names ...string) *council {
	k := &council{t: t, sims: map[string]*named{}}
	var sources []Source
	for _, name := range names {
		n := &named{Sim: NewSim(Conditions{Bound: time.Millisecond}, k.truth), name: name}
		k.sims[name] = n
		sources = append(sources, n)
	}
	var err error
	if k.all, err = NewAll(sources...); err != nil {
		t.Fatal(err)
	}
	k.c = New(k.all, Options{Mono: k.mono, MaxUncertainty: -1})
	return k
}

func (k *council) lies(name string, by time.Duration) {
	k.sims[name].Set(Conditions{Bound: time.Millisecond, Offset: by, Lying: true})
}

func (k *council) lost(name string)   { k.sims[name].Set(Conditions{Lost: true}) }
func (k *council) honest(name string) { k.sims[name].Set(Conditions{Bound: time.Millisecond}) }

// poll advances 100 ms, polls, and expects an error that contains want, or a reading that holds true time if want is empty.
func (k *council) poll(want string) {
	k.t.Helper()
	k.advance(100 * time.Millisecond)
	err := k.c.Poll()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		k.t.Fatalf("poll: %v; want %q", err, want)
	}
	if err == nil {
		if iv := must(k.t, k.c); k.truth() < iv.Earliest || k.truth() > iv.Latest {
			k.t.Fatalf("%s does not hold %d: %s", iv, k.truth(), k.c.Status())
		}
	}
}

// out checks who took no part, and why, in the order of the sources.
func (k *council) out(want ...string) {
	k.t.Helper()
	fell := k.c.Status().FellOut
	if len(fell) != len(want) {
		k.t.Fatalf("fell out: %v, want %v", fell, want)
	}
	for i, f := range fell {
		if got := f.Source + ": " + f.Why; !strings.HasPrefix(got, want[i]) {
			k.t.Errorf("fell out: %q, want %q", got, want[i])
		}
	}
}

func TestAllAgree(t *testing.T) {
	k := newCouncil(t, "a", "b", "c")
	k.sims["b"].Set(Conditions{Bound: 500 * time.Microsecond, Offset: 300 * time.Microsecond})
	k.poll("")
	k.out()
	// The intersection is the narrowest that all three allow.
	if w := must(t, k.c).Width(); w < time.Millisecond || w > time.Millisecond+time.Microsecond {
		t.Errorf("width %s, want that of b", w)
	}
	if st := k.c.Status(); st.State != Synchronized || st.Why != "3 of 3 sources agree (a, b, c)" {
		t.Errorf("%s", st)
	}
}

func TestAllOneIsFalse(t *testing.T) {
	k := newCouncil(t, "a", "b", "c")
	k.poll("")
	k.lies("b", 5*time.Millisecond)
	k.poll("")
	k.out("b: contradicted by the others: it is 3ms away from where they agree")
	if st := k.c.Status(); !strings.Contains(st.String(), "2 of 3 sources agree (a, c)") || !strings.Contains(st.String(), "b takes no part: contradicted") {
		t.Errorf("the line for people does not name it: %s", st)
	}
	k.lies("b", -5*time.Millisecond)
	k.poll("")
	k.out("b: contradicted by the others: it is -3ms away")
	k.honest("b")
	k.poll("")
	k.out()
}

func TestAllOneIsLost(t *testing.T) {
	k := newCouncil(t, "a", "b", "c")
	k.poll("")
	k.lost("a")
	k.poll("")
	k.out("a: the simulated source is lost")
	k.lost("b")
	k.poll("") // each holds by itself: there is just nothing left to check c by
	k.out("a: the simulated source is lost", "b: the simulated source is lost")
	before := must(t, k.c).Width()
	k.lost("c")
	k.poll("none of the sources has an answer: a: the simulated source is lost; b: ")
	if w := must(t, k.c).Width(); w <= before {
		t.Errorf("nobody answers, but the width went from %s to %s", before, w)
	}
	k.honest("b")
	k.poll("")
}

// Two sources that contradict each other: one of them is false, and nobody here can tell which.
func TestAllConflict(t *testing.T) {
	k := newCouncil(t, "a", "b")
	k.poll("")
	k.lies("b", 10*time.Millisecond)
	k.poll("the sources contradict each other, and no majority agrees: a says [")
	refuses(t, k.c, ErrDisrupted)
	if st := k.c.Status(); st.State != Disrupted || !strings.Contains(st.Why, ", b says [") {
		t.Errorf("%s", st)
	}
	k.poll("contradict each other")
	k.honest("b")
	k.poll("")
	must(t, k.c)
}

func TestAllTwoGroups(t *testing.T) {
	k := newCouncil(t, "a", "b", "c", "d")
	k.poll("")
	k.lies("c", 10*time.Millisecond)
	k.lies("d", 10*time.Millisecond)
	k.poll("no majority agrees: a says [")
	refuses(t, k.c, ErrDisrupted)
	// A majority of those that were at odds, and of those that answer, ends it.
	k.honest("c")
	k.poll("")
	k.out("d: contradicted by the others: it is 8ms away")
}

// After a conflict the first source to have news, or the only one left, may be the false one: readings wait for a majority.
func TestAllConflictIsNotForgotten(t *testing.T) {
	k := newCouncil(t, "a", "b")
	var news [2]int64
	for i, name := range []string{"a", "b"} {
		k.sims[name].news = func() int64 { return news[i] }
	}
	k.poll("")
	k.lies("b", 10*time.Millisecond)
	k.poll("contradict each other")
	k.poll("none of the sources has an answer: a: has not learned anything since the disruption; b: has not")
	news[1]++ // the liar is first
	k.poll("the sources contradicted each other, and fewer than 2 agree since then: a: has not learned anything")
	refuses(t, k.c, ErrDisrupted)
	k.lost("a")
	k.poll("fewer than 2 agree since then: a: the simulated source is lost")
	k.honest("a")
	k.honest("b")
	news[0]++
	k.poll("")
	k.lost("a") // by now it is only lost
	k.poll("")
}

// A member that sees time disrupted speaks for the machine. The others come back each with its own next update.
func TestAllOneSeesADisruption(t *testing.T) {
	k := newCouncil(t, "a", "b")
	var news int64
	k.sims["b"].news = func() int64 { return news }
	k.poll("")
	k.sims["a"].Set(Conditions{Bound: time.Millisecond, State: Disrupted})
	k.poll("a: the simulated source says so")
	refuses(t, k.c, ErrDisrupted)
	k.honest("a")
	k.poll("")
	k.out("b: has not learned anything since the disruption")
	news++
	k.poll("")
	k.out()
}

// The one that does not know takes no part; if all say so, readings stop.
func TestAllUnknown(t *testing.T) {
	w, state := &world{}, Unknown
	mute := sourceFunc(func(h *Host) (Sample, error) {
		return Sample{State: state, Mono: h.Mono(), Earliest: w.truth(), Latest: w.truth(), Update: int64(h.Mono()), Why: "not synchronised"}, nil
	})
	other := &named{Sim: NewSim(Conditions{Bound: time.Millisecond}, w.truth), name: "b"}
	all, err := NewAll(mute, other)
	if err != nil {
		t.Fatal(err)
	}
	c := New(all, Options{Mono: w.mono})
	if err := c.Poll(); err != nil {
		t.Fatal(err)
	}
	if fell := c.Status().FellOut; fmt.Sprint(fell) != "[{func not synchronised}]" {
		t.Errorf("fell out: %v", fell)
	}
	other.Set(Conditions{Lost: true})
	if err := c.Poll(); err == nil || !strings.Contains(err.Error(), "func: not synchronised; b: the simulated source is lost") {
		t.Errorf("%v", err)
	}
	refuses(t, c, ErrUnknown)
}

// What follows from several members: synchronised as the best, growing as the worst, valid as long as the shortest.
func TestAllJudge(t *testing.T) {
	w := &world{}
	w.advance(time.Second)
	sample := func(s Sample) Source {
		return &fixed{s, fmt.Sprint("rate", s.Rate)}
	}
	base := Sample{State: FreeRunning, Mono: 900 * time.Millisecond, Earliest: epoch, Latest: epoch + 2e6, Rate: 1000, FreshFor: 2 * time.Second, ValidFor: time.Minute}
	later := Sample{State: Synchronized, Mono: time.Second, Earliest: epoch + 1e8, Latest: epoch + 1e8 + 1e6, Rate: 50_000, FreshFor: 3 * time.Second}
	all, err := NewAll(sample(base), sample(later))
	if err != nil {
		t.Fatal(err)
	}
	s, err := all.Read(&Host{mono: w.mono})
	if err != nil {
		t.Fatal(err)
	}
	if s.State != Synchronized || s.Mono != time.Second || s.Rate != 50_000 || s.FreshFor != 1900*time.Millisecond || s.ValidFor != time.Minute-100*time.Millisecond {
		t.Errorf("%+v", s)
	}
	// The older one is grown to the moment of the later one; growth is rounded up, and so not 0 at once.
	if s.Earliest != epoch+1e8-1 || s.Latest != epoch+1e8+1e6+1 {
		t.Errorf("[%d, %d]", s.Earliest-epoch, s.Latest-epoch)
	}
}

// fixed always says the same.
type fixed struct {
	s    Sample
	name string
}

func (f *fixed) Read(*Host) (Sample, error) { return f.s, nil }
func (f *fixed) String() string             { return f.name }

func TestAllParts(t *testing.T) {
	src, err := Parse("all:static:1s,chrony")
	if err != nil {
		t.Fatal(err)
	}
	// By itself static:1s is about the fastest clock, here about UTC as the others are.
	if want := "all:static:1s,offset=-500ms,chrony"; src.String() != want || ReferenceOf(src) != UTC {
		t.Errorf("%s about %s", src, ReferenceOf(src))
	}
	if _, err := NewAll(Static{D: time.Second}); err == nil || !strings.Contains(err.Error(), "two sources or more") {
		t.Errorf("%v", err)
	}
}
