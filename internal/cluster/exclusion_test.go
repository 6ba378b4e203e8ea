package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// TestExclusion runs the scripts of the exclusions. Time is in units that mean nothing.
//
//	say r1 term=6 until=100                       we do not use our lease of r1 any more
//	list                                          what each heartbeat says
//	hear n2 r1=(6,100) r4=(9,120)                 a heartbeat of n2; which ranges are new in it
//	free n2 r1 term=6 now=(101,105)               may a replica of r1 that answered n2 last in term 6 vote against it?
func TestExclusion(t *testing.T) {
	datadriven.Walk(t, "testdata/exclusion", func(t *testing.T, path string) {
		e := newExclusions()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) (out string) {
			defer func() {
				if p := recover(); p != nil {
					out = fmt.Sprintf("panic: %v\n", p)
				}
			}()
			number := func(key string) (n uint64) {
				d.MaybeScanArgs(t, key, &n)
				return n
			}
			id := func(s string) (n uint64) {
				fmt.Sscanf(s[1:], "%d", &n)
				return n
			}
			switch d.Cmd {
			case "say":
				e.say(kv.Exclusion{Range: kv.RangeID(id(d.CmdArgs[0].Key)), Term: number("term"), Until: clock.Instant(number("until"))})
				return ""
			case "list":
				var b strings.Builder
				for _, x := range e.list() {
					fmt.Fprintf(&b, "r%d term=%d until=%d\n", x.Range, x.Term, x.Until)
				}
				return b.String()
			case "hear":
				var xs []kv.Exclusion
				for _, a := range d.CmdArgs[1:] {
					x := kv.Exclusion{Range: kv.RangeID(id(a.Key))}
					fmt.Sscan(a.Vals[0], &x.Term)
					fmt.Sscan(a.Vals[1], &x.Until)
					xs = append(xs, x)
				}
				news := e.hear(kv.NodeID(id(d.CmdArgs[0].Key)), xs)
				slices.Sort(news)
				return fmt.Sprintf("new: %v\n", news)
			case "free":
				var earliest, latest uint64
				d.ScanArgs(t, "now", &earliest, &latest)
				now := clock.Interval{Earliest: clock.Instant(earliest), Latest: clock.Instant(latest)}
				return fmt.Sprintf("%t\n", e.free(now, kv.NodeID(id(d.CmdArgs[0].Key)), kv.RangeID(id(d.CmdArgs[1].Key)), number("term")))
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}
