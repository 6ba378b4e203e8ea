package clock

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct{ spec, want string }{
		{"static:500ms", "static:500ms"},
		{"static:1s,offset=-20ms", "static:1s,offset=-20ms"},
		{"chrony", "chrony"},
		{"chrony:127.0.0.1:12323", "chrony:127.0.0.1:12323"},
		{"chrony:[::1]:323", "chrony:[::1]:323"},
		{"chrony:/run/chrony/chronyd.sock,slew=0,drift=10ppm", "chrony:/run/chrony/chronyd.sock,drift=10ppm,slew=0ppm"},
		{"chrony,margin=20us,stratum=4", "chrony,margin=20µs,stratum=4"},
		{"sim:eps=0.4ms", "sim:eps=400µs"},
		{"sim:eps=1ms,offset=-2ms,drift=-1500ppb,widen=10,lying", "sim:eps=1ms,offset=-2ms,drift=-1.5ppm,widen=10ppm,lying"},
		{"sim:eps=0s,lost", "sim:eps=0s,lost"},
		{"chrony,vmclock=off", "chrony,vmclock=off"},
		{"clockbound", "clockbound"},
		{"clockbound:/run/clockbound/shm", "clockbound:/run/clockbound/shm"},
		{"clockbound,drift=10,slew=100ppm,margin=1us,fresh=1m,settle=0s,vmclock=/dev/vmclock1",
			"clockbound,drift=10ppm,slew=100ppm,margin=1µs,fresh=1m0s,settle=0s,vmclock=/dev/vmclock1"},
		{"clockbound,drift=50ppm,slew=500ppm,fresh=5s,settle=20s", "clockbound"}, // the defaults
		{"phc", "phc"},
		{"phc:eth0", "phc:eth0"},
		{"phc:/dev/ptp_ena,stratum=2,drift=20ppm", "phc:/dev/ptp_ena,drift=20ppm,stratum=2"},
		{"phc,chrony=[::1]:323,refid=GPS", "phc,refid=GPS,chrony=[::1]:323"},
		{"phc,refid=PHC0", "phc"},
		{"auto", "auto"},
		{"auto,drift=20ppm,slew=0", "auto,drift=20ppm,slew=0ppm"},
		{"all:chrony,clockbound", "all:chrony,clockbound"},
		{"all:chrony:127.0.0.1:323,slew=0,drift=10ppm,phc:eth0,chrony=/run/chrony/chronyd.sock,sim:eps=1ms,lying",
			"all:chrony:127.0.0.1:323,drift=10ppm,slew=0ppm,phc:eth0,chrony=/run/chrony/chronyd.sock,sim:eps=1ms,lying"},
		{"all:static:500ms,offset=1ms,chrony", "all:static:500ms,offset=1ms,chrony"},
	} {
		s, err := Parse(tc.spec)
		if err != nil {
			t.Errorf("%s: %v", tc.spec, err)
			continue
		}
		if s.String() != tc.want {
			t.Errorf("%s was read as %s, want %s", tc.spec, s, tc.want)
		}
		if again, err := Parse(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("%s does not parse again: %v", s, err)
		}
	}
}

// listsAll reports whether an error lists what is accepted.
func listsAll(err error) bool {
	for kind := range kinds {
		if !strings.Contains(err.Error(), "\n  "+kind) {
			return false
		}
	}
	return true
}

func TestParseErrors(t *testing.T) {
	for _, tc := range []struct{ spec, want string }{
		{"", "it is empty"},
		{"ntp", `no source "ntp"`},
		{"static", "lacks the bound"},
		{"static:", "lacks the bound"},
		{"static:fast", `"fast" is not a duration`},
		{"static:-1ms", "negative"},
		{"static:0s", "no real clocks"},
		{"static:100h", "more than a day"},
		{"static:1ms,offset", "not a duration"},
		{"static:1ms,ofset=1ms", `unknown option "ofset=1ms"`},
		{"chrony:localhost", "neither HOST:PORT nor"},
		{"chrony:localhost:", "neither HOST:PORT nor"},
		{"chrony,slew=83333ppm", "not between 0ppm and 4000ppm"},
		{"chrony,stratum=16", "not between 1 and 15"},
		{"chrony,drift=NaN", "not a rate"},
		{"sim", "lacks the bound"},
		{"sim:0.4ms", "unknown option"},
		{"sim:eps=1ms,lying=yes", "takes no value"},
		{"sim:eps=1ms,,", "unknown option"},
		{"chrony,vmclock=dev", `neither an absolute path nor "off"`},
		{"clockbound:shm0", "not an absolute path"},
		{"clockbound,fresh=-1s", "negative"},
		{"clockbound,stratum=3", `unknown option "stratum=3"`},
		{"phc:/sys/ptp0", "neither a network interface nor a device"},
		{"phc:../eth0", "neither a network interface nor a device"},
		{"phc,refid=LONGER", "not one to four letters"},
		{"phc,refid", "not one to four letters"},
		{"phc,chrony=localhost", "neither HOST:PORT nor"},
		{"auto,static:1ms", "unknown option"}, // it is never an answer of auto
		{"auto,margin=1ms", "unknown option"},
		{"all", "it is empty"},
		{"all:", "it is empty"},
		{"all:chrony", "two sources or more"},
		{"all:chrony,chrony", "named twice"},
		{"all:chrony,slew=0,chrony,slew=0", "named twice"},
		{"all:chrony,ntp", `unknown option "ntp"`},
		{"all:ntp,chrony", `no source "ntp"`},
		{"all:chrony,auto", "auto cannot be a part of it"},
		{"all:chrony,all:chrony,clockbound", "all cannot be a part of it"},
	} {
		_, err := Parse(tc.spec)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !listsAll(err) {
			t.Errorf("%q: got %v; want %q and what is accepted", tc.spec, err, tc.want)
		}
	}
}

// The options that are common to the measured sources reach what they are for.
func TestParseRates(t *testing.T) {
	for _, spec := range []string{"chrony,drift=10ppm,slew=200ppm", "phc,drift=10ppm,slew=200ppm"} {
		src, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		c, ok := src.(*Chrony)
		if !ok {
			c = src.(*PHC).Chrony
		}
		tr := good() // 0.75 ppm of skew and residual frequency
		s, err := c.judge(Pair{Mono: time.Second, Earliest: epoch, Latest: epoch}, &tr)
		if err != nil || s.Rate != 10_000+200_000+750 {
			t.Errorf("%s: rate %d, %v", spec, s.Rate, err)
		}
	}
	src, err := Parse("clockbound,drift=10ppm,slew=200ppm,margin=7us")
	if err != nil {
		t.Fatal(err)
	}
	seg := segment{version: 2, asOf: 0, voidAfter: 1000 * time.Second, bound: 30_000, drift: 5000, status: boundSynchronized}
	s := src.(*ClockBound).judge(Pair{Mono: time.Second, Earliest: epoch, Latest: epoch}, time.Second, seg, false)
	if half := s.Latest.Sub(epoch); s.Rate != 210_000 || half < 247*time.Microsecond || half > 247*time.Microsecond+5 {
		t.Errorf("clockbound: rate %d, ±%s; want 210000, ±(30 + 7 + 210)µs", s.Rate, half)
	}
}
