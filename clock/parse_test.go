package clock

import (
	"strings"
	"testing"
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
	} {
		_, err := Parse(tc.spec)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "static:D[,offset=X]") {
			t.Errorf("%q: got %v; want %q and what is accepted", tc.spec, err, tc.want)
		}
	}
}
