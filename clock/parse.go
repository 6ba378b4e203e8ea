package clock

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Accepted lists the specs that Parse takes, for error messages and --help.
const Accepted = `  auto[,OPTION...]           the best bounded source on this machine: phc, clockbound or chrony; never static.
                             Options: drift, slew, as below
  chrony[:ADDR][,OPTION...]  the system clock with the bound that chronyd computes. ADDR is HOST:PORT or the path of
                             chronyd's unix socket (default 127.0.0.1:323, [::1]:323, /run/chrony/chronyd.sock).
                             Options: drift=50ppm (of the oscillator; chronyd's maxclockerror), slew=500ppm (chronyd's
                             maxslewrate), margin=0s (added to the bound), stratum=8 (the highest that is believed),
                             vmclock=/dev/vmclock0 (the hypervisor's disruption marker; off: not looked at)
  clockbound[:PATH][,...]    the bound that AWS's ClockBound daemon writes (/var/run/clockbound/shm0). Options: drift,
                             slew, margin, vmclock; fresh=5s (age at which it is free running; 60s for release 3),
                             settle=20s (for how long it is not believed after a disruption that it did not notice)
  phc[:DEVICE][,OPTION...]   chronyd following a PTP hardware clock that publishes its error: DEVICE is eth0 or
                             /dev/ptp0. Options: those of chrony; chrony=ADDR, refid=PHC0
  all:SOURCE,SOURCE[,...]    what several of the others agree on; those that contradict the majority are named
  static:D[,offset=X]        nothing is measured: the system clock, assumed to be at most D behind the fastest in the
                             cluster: [now+X, now+X+D]
  sim:eps=E[,OPTION...]      a simulated clock around the system clock, ±E. Options: offset=X, drift=Nppm, widen=Nppm,
                             lying (reports ±E also where true time is outside), lost (never answers)
durations are written as 500ms, 0.4ms, 20us`

// kinds are the sources by the first word of their spec. Each gets the rest: what is behind the colon, and, after a comma,
// the options.
var kinds map[string]func(rest string) (Source, error)

func init() { // kinds refers to itself through parseAll
	kinds = map[string]func(string) (Source, error){
		"static": parseStatic, "sim": parseSim, "chrony": parseChrony, "clockbound": parseClockBound, "phc": parsePHC,
		"all": parseAll, "auto": parseAuto,
	}
}

// Parse makes a source from its spec. It does no I/O. The error says what is wrong, and lists what is accepted.
func Parse(spec string) (Source, error) {
	src, err := parseOne(spec)
	if err != nil {
		return nil, fmt.Errorf("clock source %q: %w; accepted are\n%s", spec, err, Accepted)
	}
	return src, nil
}

func parseOne(spec string) (Source, error) {
	kind := kindOf(spec)
	parse := kinds[kind]
	switch {
	case spec == "":
		return nil, errors.New("it is empty")
	case parse == nil:
		return nil, fmt.Errorf("there is no source %q", kind)
	}
	src, err := parse(strings.TrimPrefix(spec[len(kind):], ":")) // chrony,slew=0 leaves ,slew=0
	if err != nil {
		return nil, err
	}
	return src, nil
}

// kindOf is the first word of a spec.
func kindOf(spec string) string {
	if i := strings.IndexAny(spec, ":,"); i >= 0 {
		return spec[:i]
	}
	return spec
}

// options splits name=value pairs and gives each to its setter. A name without value has the value "".
func options(list string, set map[string]func(string) error) error {
	if list == "" {
		return nil
	}
	for _, o := range strings.Split(list, ",") {
		name, value, _ := strings.Cut(o, "=")
		f := set[name]
		if f == nil {
			return fmt.Errorf("unknown option %q", o)
		}
		if err := f(value); err != nil {
			return fmt.Errorf("option %q: %w", o, err)
		}
	}
	return nil
}

func duration(to *time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil {
			return fmt.Errorf("%q is not a duration", s)
		}
		if d.Abs() > 24*time.Hour {
			return fmt.Errorf("%s is more than a day", d)
		}
		*to = d
		return nil
	}
}

func nonNegative(to *time.Duration) func(string) error {
	return func(s string) error {
		if err := duration(to)(s); err != nil {
			return err
		}
		if *to < 0 {
			return fmt.Errorf("%s is negative", *to)
		}
		return nil
	}
}

// ppb takes 50ppm, 1000ppb, or a bare number of ppm, between low and high (ppb).
func ppb(to *int64, low, high int64) func(string) error {
	return func(s string) error {
		scale := 1000.0
		num := strings.TrimSuffix(s, "ppm")
		if n, ok := strings.CutSuffix(s, "ppb"); ok {
			num, scale = n, 1
		}
		f, err := strconv.ParseFloat(num, 64)
		if err != nil || f != f {
			return fmt.Errorf("%q is not a rate such as 50ppm", s)
		}
		if f *= scale; f < float64(low) || f > float64(high) {
			return fmt.Errorf("%s is not between %gppm and %gppm", s, float64(low)/1000, float64(high)/1000)
		}
		*to = int64(math.Round(f))
		return nil
	}
}

func flag(to *bool) func(string) error {
	return func(s string) error {
		if s != "" {
			return errors.New("takes no value")
		}
		*to = true
		return nil
	}
}

func parseStatic(rest string) (Source, error) {
	var s Static
	d, opts, _ := strings.Cut(rest, ",")
	if d == "" {
		return nil, errors.New("it lacks the bound, as in static:500ms")
	}
	if err := nonNegative(&s.D)(d); err != nil {
		return nil, err
	}
	if s.D == 0 {
		return nil, errors.New("the bound is 0, which no real clocks keep to")
	}
	return s, options(opts, map[string]func(string) error{"offset": duration(&s.Offset)})
}

func parseSim(rest string) (Source, error) {
	c := Conditions{Bound: -1}
	err := options(rest, map[string]func(string) error{
		"eps": nonNegative(&c.Bound), "offset": duration(&c.Offset), "drift": ppb(&c.Drift, -MaxRate/2, MaxRate/2),
		"widen": ppb(&c.Widen, 0, 1e9), "lying": flag(&c.Lying), "lost": flag(&c.Lost),
	})
	if err == nil && c.Bound < 0 {
		err = errors.New("it lacks the bound, as in sim:eps=0.4ms")
	}
	return NewSim(c, nil), err
}
